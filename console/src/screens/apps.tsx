import type { UserGrant } from '@moderato-live/client'
import { useState } from 'preact/hooks'
import { actions } from '../actions'
import { clientId } from '../api/session'
import { useDesk } from '../desk'
import { Button, Empty } from '../ui/basics'
import { Confirm } from '../ui/dialog'
import { useLoad } from '../ui/load'
import { Waiting } from '../ui/page'

const scopes: Record<string, string> = {
  'users.read': 'read your profile, your channel and your lists', 'channel.moderate': 'moderate in your name, here and in channels that you moderate',
  'users.bot': 'post messages as you', 'offline.access': 'do this while you are away',
}
const may = (scope: string): string => scopes[scope] ?? scope

/** Apps lists to which apps the user gave rights, and takes the rights back. */
export function Apps() {
  const { client } = useDesk()
  const [revoking, setRevoking] = useState<UserGrant | undefined>()
  const grants = useLoad((signal) => client.users.listGrants({ signal }), [])
  const revoke = async (grant: UserGrant): Promise<void> => {
    setRevoking(undefined)
    await actions.run(`Revoking ${grant.clientName}`, `${grant.clientName} has no more rights`, (options) => client.users.revokeGrant({ clientId: grant.clientId }, options))
    grants.reload()
  }
  if (!grants.data) return <Waiting of={grants} />
  return (
    <>
      <p class="muted">These apps act in your name. You gave them these rights when you signed in to them.</p>
      {grants.data.length === 0 && <Empty icon="link" title="No app has rights">Apps that you sign in to appear here.</Empty>}
      {grants.data.map((grant) => (
        <section class="box inside row wrap top" key={grant.clientId}>
          <div class="grow">
            <h2 class="row wrap"><bdi>{grant.clientName}</bdi>{grant.clientId === clientId && <span class="chip accent">This console</span>}</h2>
            <p class="small muted user-text">{grant.clientId}</p>
            <ul class="bullets">{grant.scopes.map((scope) => <li>May {may(scope)}</li>)}</ul>
          </div>
          <Button onClick={() => setRevoking(grant)}>Revoke<span class="hidden-text"> {grant.clientName}</span></Button>
        </section>
      ))}
      {revoking && (
        <Confirm title={`Revoke ${revoking.clientName}?`} action="Revoke" danger onConfirm={() => void revoke(revoking)} onClose={() => setRevoking(undefined)}>
          <p>The app can no longer:</p>
          <ul class="bullets">{revoking.scopes.map((scope) => <li>{may(scope)}</li>)}</ul>
          <p>It is signed out at once, and the webhooks that it made in your name are deleted. You can give the rights again when you sign in to it.</p>
          {revoking.clientId === clientId && <p><strong>This is the console: you are signed out too.</strong></p>}
        </Confirm>
      )}
    </>
  )
}
