import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { messageOf, newKey, type Target } from '../actions'
import { plural } from '../format'
import { Button, Note } from '../ui/basics'
import { Dialog } from '../ui/dialog'
import { JobProgress, useJob } from '../ui/job'

export interface BulkUser extends Target {
  key: string
}

interface Props {
  /** What happens, as "Unban", "Unbanning", "unbanned". */
  verbs: readonly [string, string, string]
  users: BulkUser[]
  /** What happens to one user. */
  change: (user: BulkUser, options: { idempotencyKey: string }) => Promise<unknown>
  onDone: (keys: string[]) => void
  onClose: () => void
  /** What there is to choose. */
  children?: ComponentChildren
}

/** How many names the question lists. */
const maxNamed = 8

/** Bulk does the same to many users, one after another, and tells where it failed. */
export function Bulk({ verbs: [verb, doing, done], users, change, onDone, onClose, children }: Props) {
  const job = useJob()
  const [failed, setFailed] = useState<{ user: BulkUser; reason: string }[]>([])
  const left = useRef(users)
  const finished = useRef(0)
  const keys = useRef(new Map<string, string>())
  const run = (): void => {
    const todo = left.current
    setFailed([])
    void job.start(todo.length, async (step) => {
      const undone: BulkUser[] = []
      for (const [i, user] of todo.entries()) {
        if (!step.goesOn()) {
          left.current = [...undone, ...todo.slice(i)]
          return
        }
        // A user who is tried again has the same key, so that it happens once.
        if (!keys.current.has(user.key)) keys.current.set(user.key, newKey())
        try {
          await change(user, { idempotencyKey: keys.current.get(user.key)! })
          finished.current++
          onDone([user.key])
        } catch (error) {
          undone.push(user)
          setFailed((before) => [...before, { user, reason: messageOf(error) }])
        }
        left.current = [...undone, ...todo.slice(i + 1)]
        step.advance(i + 1)
      }
    })
  }
  const isRunning = job.state === 'running'
  const rest = left.current.length
  return (
    <Dialog title={`${verb} ${plural(users.length, 'user')}${job.state === 'idle' ? '?' : ''}`} onClose={() => isRunning ? job.stop() : onClose()} onSubmit={() => (isRunning ? undefined : rest > 0 ? run() : onClose())}
      footer={isRunning ? undefined : rest === 0
        ? <Button type="submit" kind="main">Close</Button>
        : <><Button onClick={onClose}>{job.state === 'idle' ? 'Cancel' : 'Close'}</Button><Button type="submit" kind="main">{job.state === 'idle' ? `${verb} ${plural(rest, 'user')}` : failed.length === rest ? 'Try again' : `Go on with ${plural(rest, 'user')}`}</Button></>}>
      {job.state === 'idle' && <><Names users={users} />{children}</>}
      {isRunning && <JobProgress job={job}>{doing}</JobProgress>}
      {!isRunning && job.state !== 'idle' && <Note kind={rest ? 'warn' : 'good'}><p role="status">{plural(finished.current, 'user')} {done}{job.state === 'stopped' && ', then stopped'}.{rest > 0 && ` ${plural(rest, 'user')} left.`}</p></Note>}
      {failed.length > 0 && <ul class="lines" aria-label="What failed">{failed.map(({ user, reason }) => <li><strong><bdi>{user.displayName}</bdi></strong> <span class="user-text">{reason}</span></li>)}</ul>}
    </Dialog>
  )
}

function Names({ users }: { users: BulkUser[] }) {
  return (
    <p>
      {users.slice(0, maxNamed).map((user, i) => <>{i > 0 && ', '}<strong><bdi>{user.displayName}</bdi></strong></>)}
      {users.length > maxNamed && ` and ${plural(users.length - maxNamed, 'other')}`}
    </p>
  )
}
