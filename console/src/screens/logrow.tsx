import type { LogEntry } from '@moderato-live/client'
import { useState } from 'preact/hooks'
import { actions, type Change } from '../actions'
import { useDesk } from '../desk'
import { formatNumber, plural } from '../format'
import { batchOf, type Filters, kindOf } from '../model/logfilter'
import { Button, nameColor, Time } from '../ui/basics'
import { actorOf, causeOf, detailOf, Evidence, verbOf } from './logline'

/** LogRow tells what was done, to whom, by whom and why, and undoes it. */
function LogRow({ entry, canUndo, onFilter }: { entry: LogEntry; canUndo: boolean; onFilter?: (change: Partial<Filters>) => void }) {
  const { openCard } = useDesk()
  const { user, evidence } = entry
  const actor = actorOf(entry)
  const cause = causeOf(entry)
  const reason = entry.endReason ?? entry.reason
  return (
    <li>
      <Time at={entry.createdAt} />
      <div class="grow">
        <p class="row wrap entry-line">
          <strong>{verbOf(entry)}</strong>
          {user && <button type="button" class={`user-link user-text ${nameColor(user.id)}`} onClick={() => openCard(user.id)}><bdi>{user.displayName}</bdi></button>}
          {detailOf(entry) && <span class="muted">{detailOf(entry)}</span>}
          {actor && <span class="muted">by <bdi class="user-text">{actor.displayName}</bdi></span>}
          {cause && (entry.batchId && onFilter ? <button type="button" class="chip accent link-chip" title="Show the batch" onClick={() => onFilter({ batchId: entry.batchId! })}>{cause}</button> : <span class="chip">{cause}</span>)}
        </p>
        <div class="row wrap entry-line">
          {reason && <p class="user-text">“<bdi>{reason}</bdi>”</p>}
          {evidence && evidence.length > 0 && <details class="small"><summary>{plural(evidence.length, 'message')} before it</summary><Evidence entry={entry} /></details>}
        </div>
      </div>
      {canUndo && user && <UndoEntry entry={entry} user={user} />}
    </li>
  )
}

/** UndoEntry lifts a ban or mute with the messages, if it is still the one in force. */
function UndoEntry({ entry, user }: { entry: LogEntry; user: NonNullable<LogEntry['user']> }) {
  const { client, channel } = useDesk()
  const [state, setState] = useState<'' | 'busy' | 'done'>('')
  const kind = kindOf(entry)!
  const lift: Change<unknown> = async (options) => {
    const { ban, mute } = await client.moderation.getUser({ channelId: channel.id, userId: user.id })
    const isInForce = kind === 'ban' ? ban?.bannedAt === (entry.payload.bannedAt ?? entry.createdAt) : mute?.muteExpiresAt === entry.expiresAt
    if (!isInForce) throw new Error(`This ${kind} is no longer in force. The card of the user shows what is.`)
    const body = { channelId: channel.id, restoreMessages: true }
    await (kind === 'ban' ? client.moderation.removeBan({ ...body, banUserId: user.id }, options) : client.moderation.removeMute({ ...body, mutedUserId: user.id }, options))
    return true
  }
  const undo = async (): Promise<void> => {
    setState('busy')
    const [doing, done] = kind === 'ban' ? ['Unbanning', 'Unbanned'] : ['Unmuting', 'Unmuted']
    setState(await actions.run(`${doing} ${user.displayName}`, `${done} ${user.displayName}`, lift) ? 'done' : '')
  }
  return state === 'done' ? <span class="chip good">Undone</span> : <Button little icon="undo" busy={state === 'busy'} onClick={() => void undo()}>{kind === 'ban' ? 'Unban' : 'Unmute'}</Button>
}

/** LogGroup shows entries of the same kind as one, which opens. */
export function LogGroup({ group, canUndo, onFilter }: { group: LogEntry[]; canUndo?: ReadonlySet<string>; onFilter?: (change: Partial<Filters>) => void }) {
  const [isOpen, setOpen] = useState(false)
  const first = group[0]!
  const row = (entry: LogEntry) => <LogRow key={entry.id} entry={entry} canUndo={canUndo?.has(entry.id) ?? false} {...(onFilter && { onFilter })} />
  if (group.length === 1) return row(first)
  const actor = actorOf(first)
  const batchId = batchOf(first)
  return (
    <li>
      <Time at={first.createdAt} />
      <details class="grow" onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <strong>{verbOf(first)}</strong>: {formatNumber(group.length)} {batchId ? 'users' : 'times'}{actor && <>, by <bdi>{actor.displayName}</bdi></>}
          {batchId && onFilter && <> <button type="button" class="chip accent link-chip" title="Show the batch" onClick={() => onFilter({ batchId })}>{causeOf(first)}</button></>}
        </summary>
        {isOpen && <ul class="entries">{group.map(row)}</ul>}
      </details>
    </li>
  )
}
