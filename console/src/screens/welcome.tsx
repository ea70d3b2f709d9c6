import { useState } from 'preact/hooks'
import { session, type SignInState } from '../api/session'
import { settings } from '../api/settings'
import { Avatar, Button, Note, Progress } from '../ui/basics'

/** Welcome is what a user sees who is not signed in. */
export function Welcome({ state }: { state: SignInState }) {
  const [busy, setBusy] = useState(false)
  const signIn = (hint?: string): void => {
    setBusy(true)
    void session.signIn(hint).finally(() => setBusy(false))
  }
  return (
    <main class="welcome">
      <div class="panel">
        <div class="row">
          <img class="logo" src="icon.svg" alt="" />
          <h1>Moderato console</h1>
        </div>
        {state === 'starting' && <Progress text="Signing in" />}
        {state === 'unreachable' && <>
          <Note kind="danger">The server cannot be reached. {session.reason}</Note>
          <Button kind="main" onClick={() => location.reload()}>Try again</Button>
        </>}
        {state === 'signed-out' && <>
          {session.reason && <Note kind="warn">{session.reason}</Note>}
          {!isSecureContext && <Note kind="danger">The console needs HTTPS (or localhost).</Note>}
          {!settings.signIn && <Note kind="warn">This server has no sign-in. The operator enables it with --login-url.</Note>}
          {isSecureContext && settings.demoUsers.length > 0 && <DemoUsers busy={busy} onChoose={signIn} />}
          {isSecureContext && settings.signIn && settings.demoUsers.length === 0 && <>
            <p class="muted">Moderate your channels: live chat, bans and mutes, raids, and the log of who did what.</p>
            <Button kind="main" busy={busy} onClick={() => signIn()}>Sign in</Button>
          </>}
        </>}
      </div>
    </main>
  )
}

const roles: Record<string, string> = { owner: 'Owner of a channel', moderator: 'Moderator of the channel', viewer: 'Viewer without a role' }

function DemoUsers({ busy, onChoose }: { busy: boolean; onChoose: (id: string) => void }) {
  return (
    <div class="stack">
      <p class="muted">This is a demo. Choose whom to sign in as:</p>
      {settings.demoUsers.map((user) => (
        <button type="button" class="demo-user" disabled={busy} onClick={() => onChoose(user.id)}>
          <Avatar user={{ displayName: user.name }} />
          <span class="grow"><strong class="cut">{user.name}</strong><br /><span class="muted small">{roles[user.role] ?? user.role}</span></span>
        </button>
      ))}
    </div>
  )
}
