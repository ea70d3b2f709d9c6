import type { LogEntry } from '@moderato-live/client'
import { withoutEmotes } from '../format'
import { Time } from '../ui/basics'

const verbs: Record<string, string> = {
  'channel.ban': 'Banned', 'channel.unban': 'Unbanned', 'channel.mute': 'Muted', 'channel.unmute': 'Unmuted', 'channel.mute.expire': 'Mute ended',
  'channel.chat.clear_user_messages': 'Messages hidden', 'channel.chat.message_delete': 'Message deleted', 'channel.chat.clear': 'Chat cleared',
  'channel.chat.pin': 'Pinned message changed', 'channel.update': 'Stream info changed',
  'channel.moderator.add': 'Made moderator', 'channel.moderator.remove': 'Removed as moderator', 'channel.vip.add': 'Made VIP',
  'channel.vip.remove': 'Removed as VIP', 'channel.og.add': 'Made OG', 'channel.og.remove': 'Removed as OG',
  'stream.online': 'Stream started', 'stream.offline': 'Stream ended', 'channel.raid': 'Raid arrived',
}

/** verbOf returns what an entry of the log says was done. */
export const verbOf = (type: string): string => verbs[type] ?? type

/** causeOf returns how something was done, unless a moderator did it by hand. */
export function causeOf(entry: LogEntry): string {
  const cause = (entry.payload as { cause?: string }).cause
  return cause === 'expired' || entry.type === 'channel.mute.expire' ? 'it ended by itself' : cause === 'batch' ? 'in a batch' : cause === 'revert' ? 'in a revert' : ''
}

/** LogLine tells what was done, by whom, when and why, with the messages that led to it. */
export function LogLine({ entry }: { entry: LogEntry }) {
  const cause = causeOf(entry)
  return (
    <>
      <p class="row wrap tight">
        <strong>{verbOf(entry.type)}</strong>
        {entry.moderator && cause !== 'it ended by itself' && <span>by <bdi>{entry.moderator.displayName}</bdi></span>}
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
