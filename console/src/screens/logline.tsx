import type { LogEntry } from '@moderato-live/client'
import { formatDuration, formatWhen, plural, withoutEmotes } from '../format'
import { statuses } from '../hold'
import { Time } from '../ui/basics'

const verbs: Record<string, string> = {
  'channel.ban': 'Banned', 'channel.unban': 'Unbanned', 'channel.mute': 'Muted', 'channel.unmute': 'Unmuted', 'channel.mute.expire': 'Mute ended',
  'channel.chat.clear_user_messages': 'Messages hidden', 'channel.chat.message_delete': 'Message deleted', 'channel.chat.clear': 'Chat cleared',
  'channel.chat.pin': 'Pinned message changed', 'channel.update': 'Stream info changed',
  'channel.moderator.add': 'Made moderator', 'channel.moderator.remove': 'Removed as moderator', 'channel.vip.add': 'Made VIP',
  'channel.vip.remove': 'Removed as VIP', 'channel.og.add': 'Made OG', 'channel.og.remove': 'Removed as OG',
  'stream.online': 'Stream started', 'stream.offline': 'Stream ended', 'channel.raid': 'Raid arrived',
  'channel.chat.settings': 'Settings of the chat changed', 'channel.chat.rules': 'Chat rules changed',
  'channel.shield.preset': 'Shield preset changed', 'channel.shield.begin': 'Shield raised', 'channel.shield.end': 'Shield lowered',
}

/** verbOf returns what an entry of the log says was done. */
export function verbOf({ type, payload }: Pick<LogEntry, 'type' | 'payload'>): string {
  if (type === 'channel.chat.hold.update') return `Held message ${(statuses[String(payload.status)] ?? '').toLowerCase()}`
  return verbs[type] ?? type
}

const causes: Record<string, string> = { expired: 'it ended by itself', batch: 'in a batch', revert: 'in a revert', rule: 'by a rule', shield: 'with the shield', automatic: 'by itself', restore: 'an earlier version' }

/** detailOf returns for how long somebody was banned or muted, or what else an entry changed. */
export function detailOf({ type, payload, createdAt, expiresAt }: LogEntry): string {
  const { put, deleted, version, changed, endsAt } = payload as { put?: string[]; deleted?: string[]; version?: number; changed?: string[]; endsAt?: string }
  if (type === 'channel.ban' || type === 'channel.mute') return expiresAt ? `for ${formatDuration((Date.parse(expiresAt) - Date.parse(createdAt)) / 1000)}` : 'permanently'
  if (type === 'channel.chat.rules') return `version ${version}${put?.length ? `, ${plural(put.length, 'rule')} saved` : ''}${deleted?.length ? `, ${deleted.length} deleted` : ''}`
  if (type === 'channel.shield.preset') return (changed ?? []).map((name) => ({ autoStart: 'when it is raised by itself' })[name] ?? name).join(', ')
  return type === 'channel.shield.begin' && endsAt ? `until ${formatWhen(endsAt)}` : ''
}

/** causeOf returns how something was done, unless a moderator did it by hand. */
export function causeOf(entry: LogEntry): string {
  const cause = (entry.payload as { cause?: string }).cause
  return entry.type === 'channel.mute.expire' ? causes.expired! : causes[cause ?? ''] ?? ''
}

/** actorOf returns who did it. Nobody decided a held message that was cancelled or has expired, whoever caused it. */
export function actorOf(entry: LogEntry): LogEntry['moderator'] {
  const isUndecided = entry.type === 'channel.chat.hold.update' && !['APPROVED', 'DENIED'].includes(String(entry.payload.status))
  return isUndecided || causeOf(entry) === causes.expired ? null : entry.moderator
}

/** LogLine tells what was done, by whom, when and why, with the messages that led to it. */
export function LogLine({ entry }: { entry: LogEntry }) {
  const cause = causeOf(entry)
  const actor = actorOf(entry)
  return (
    <>
      <p class="row wrap tight">
        <strong>{verbOf(entry)}</strong>
        {actor && <span>by <bdi>{actor.displayName}</bdi></span>}
        {detailOf(entry) && <span>{detailOf(entry)}</span>}
        {cause && <span class="muted">({cause})</span>}
        <span class="muted small"><Time at={entry.createdAt} /></span>
      </p>
      {entry.reason && <p class="user-text">“<bdi>{entry.reason}</bdi>”</p>}
      {entry.endReason && <p class="user-text">“<bdi>{entry.endReason}</bdi>”</p>}
      <Evidence entry={entry} />
    </>
  )
}

/** Evidence shows the messages of a user before a ban or mute. */
export function Evidence({ entry }: { entry: LogEntry }) {
  if (!entry.evidence?.length) return null
  return (
    <ul class="evidence" aria-label="Messages before it">
      {entry.evidence.map((m) => <li key={m.messageId} class="user-text"><bdi>{withoutEmotes(m.text)}</bdi></li>)}
    </ul>
  )
}
