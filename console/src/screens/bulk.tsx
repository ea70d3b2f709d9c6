import { ModeratoError } from '@moderato-live/client'
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { actions, messageOf, newKey, type Change, type Target } from '../actions'
import { plural } from '../format'
import { Button, Note, Problem } from '../ui/basics'
import { Dialog } from '../ui/dialog'
import { JobProgress, useJob, type Step } from '../ui/job'

export interface BulkUser extends Target {
  key: string
}

interface Props {
  /** What happens, as "Unban", "Unbanning", "unbanned". */
  verbs: readonly [string, string, string]
  users: BulkUser[]
  /** What happens to one user. */
  change: (user: BulkUser, options: { idempotencyKey: string; retries: number }) => Promise<unknown>
  /** What undoes it; without it, Z tells that nothing does. */
  back?: (user: BulkUser) => Change<unknown>
  onDone: (keys: string[]) => void
  onClose: () => void
  /** What there is to choose. */
  children?: ComponentChildren
}

/** How many names the question lists. */
const maxNamed = 8

/** Bulk does the same to many users, one after another. Those with whom it fails stay selected. */
export function Bulk({ verbs: [verb, doing, done], users, change, back, onDone, onClose, children }: Props) {
  const job = useJob()
  const [failed, setFailed] = useState<{ user: BulkUser; reason: string }[]>([])
  useEffect(() => focusAfter, [])
  const run = async (): Promise<void> => {
    const changed: BulkUser[] = []
    await job.start(users.length, (step) => changeAll(step, changed))
    if (changed.length) void actions.run(doing, `${plural(changed.length, 'user')} ${done}`, () => Promise.resolve(true), back && (() => undoAll(changed, back)))
  }
  const changeAll = async (step: Step, changed: BulkUser[]): Promise<void> => {
    for (const [i, user] of users.entries()) {
      if (!step.goesOn()) return
      try {
        await change(user, { idempotencyKey: newKey(), retries: 3 })
        changed.push(user)
        onDone([user.key])
      } catch (error) {
        // Without the right, or signed out, it fails with all others too.
        if (error instanceof ModeratoError && (error.status === 401 || error.code === 'NOT_CHANNEL_MODERATOR' || error.code === 'NOT_CHANNEL_OWNER')) throw error
        setFailed((before) => [...before, { user, reason: messageOf(error) }])
      }
      step.advance(i + 1)
    }
  }
  const isAsking = job.state === 'idle'
  const isRunning = job.state === 'running'
  const count = plural(users.length, 'user')
  const left = users.length - job.done + failed.length
  return (
    <Dialog title={`${verb} ${count}${isAsking ? '?' : ''}`} onClose={isRunning ? job.stop : onClose} onSubmit={() => (isAsking ? void run() : isRunning || onClose())}
      footer={isRunning ? undefined : <>{isAsking && <Button onClick={onClose}>Cancel</Button>}<Button type="submit" kind="main">{isAsking ? `${verb} ${count}` : 'Close'}</Button></>}>
      {isAsking && <><p>{users.slice(0, maxNamed).map((user, i) => <>{i > 0 && ', '}<strong><bdi>{user.displayName}</bdi></strong></>)}{users.length > maxNamed && ` and ${plural(users.length - maxNamed, 'other')}`}</p>{children}</>}
      {isRunning && <JobProgress job={job}>{doing}</JobProgress>}
      {!isAsking && !isRunning && (
        <Note kind={left ? 'warn' : 'good'}>
          <p role="status">{plural(users.length - left, 'user')} {done}{job.state === 'stopped' && ', then stopped'}.{left > 0 && ` ${plural(left, 'user')} left, who ${left === 1 ? 'stays' : 'stay'} selected.`}</p>
        </Note>
      )}
      {job.state === 'failed' && <Problem error={job.error} />}
      {failed.length > 0 && <ul class="lines" aria-label="What failed">{failed.map(({ user, reason }) => <li><strong><bdi>{user.displayName}</bdi></strong> <span class="user-text">{reason}</span></li>)}</ul>}
    </Dialog>
  )
}

/** undoAll undoes it for each user once, also if it is tried again. */
function undoAll(users: BulkUser[], back: NonNullable<Props['back']>): Change<unknown> {
  const keys = users.map(newKey)
  return async () => {
    for (const [i, user] of users.entries()) await back(user)({ idempotencyKey: keys[i]! })
  }
}

/** focusAfter focuses a row after the dialog if the button that opened it went with the selection. */
function focusAfter(): void {
  setTimeout(() => {
    if (document.activeElement === document.body) document.querySelector<HTMLElement>('tr.ended button, input[data-user]:enabled')?.focus({ preventScroll: true })
  })
}
