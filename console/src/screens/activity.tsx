import type { Event } from '@moderato-live/client'
import { useDesk } from '../desk'
import { formatClock, plural } from '../format'
import { statuses } from '../hold'
import { useName } from '../model/names'
import { useStored } from '../model/store'
import { verbOf } from './logline'

/** Activity lists what moderators did and who followed, beside the chat of a wide screen. */
export function Activity() {
  const { store } = useDesk()
  const recent = useStored(store, (state) => state.recent)
  return (
    <aside class="activity" aria-label="Activity">
      <h2>Activity</h2>
      {recent.length === 0 && <p class="muted small">What moderators do, follows and subscriptions appear here.</p>}
      {recent.map((event) => (
        <div class="entry" key={event.metadata.messageId}>
          <time dateTime={event.metadata.messageTimestamp}>{formatClock(event.metadata.messageTimestamp)}</time>
          <p><Sentence event={event} /></p>
        </div>
      ))}
    </aside>
  )
}

function By({ id }: { id: string }) {
  const { names } = useDesk()
  const name = useName(names, id)
  return id ? <> by <bdi>{name}</bdi></> : null
}

const roles = { 'channel.moderator': 'moderator', 'channel.vip': 'VIP', 'channel.og': 'OG' } as Record<string, string>

function Sentence({ event }: { event: Event }) {
  switch (event.type) {
    case 'channel.ban': return <><b><bdi>{event.payload.bannedUserDisplayName}</bdi></b> banned<By id={event.payload.moderatorId} /></>
    case 'channel.unban': return <><b><bdi>{event.payload.unbannedUserDisplayName}</bdi></b> {event.payload.cause === 'expired' ? 'is no longer banned' : <>unbanned<By id={event.payload.moderatorId} /></>}</>
    case 'channel.mute': return <><b><bdi>{event.payload.mutedUserDisplayName}</bdi></b> muted<By id={event.payload.moderatorId} /></>
    case 'channel.unmute': return <><b><bdi>{event.payload.unmutedUserDisplayName}</bdi></b> unmuted<By id={event.payload.moderatorId} /></>
    case 'channel.mute.expire': return <UserSentence userId={event.payload.mutedUserId} text="is no longer muted" />
    case 'channel.follow': return <><b><bdi>{event.payload.userDisplayName}</bdi></b> followed</>
    case 'channel.subscribe': return <><b><bdi>{event.payload.userDisplayName}</bdi></b> subscribed</>
    case 'channel.subscription.gift': return <><b><bdi>{event.payload.userDisplayName}</bdi></b> gave {plural(event.payload.giftCount, 'subscription')}</>
    case 'channel.raid': return <>Raid by <b><bdi>{event.payload.raider.displayName}</bdi></b> with {plural(event.payload.viewerCount, 'viewer')}</>
    case 'channel.chat.pin': return <>{event.payload.message ? 'Message pinned' : 'Pin removed'}<By id={event.payload.moderatorId} /></>
    case 'channel.chat.hold.update': return <>Held message {(statuses[event.payload.status] ?? '').toLowerCase()}<By id={event.payload.decidedBy?.id ?? ''} /></>
    default: {
      const { userId = '', moderatorId } = event.payload as { userId?: string; moderatorId?: string | null }
      const [, role, verb] = /^(.*)\.(add|remove)$/.exec(event.type) ?? []
      if (!role) return <>{verbOf(event)}<By id={moderatorId ?? ''} /></>
      return <UserSentence userId={userId} text={`${verb === 'add' ? 'is now' : 'is no longer'} a ${roles[role] ?? ''}`} by={moderatorId ?? ''} />
    }
  }
}

function UserSentence({ userId, text, by = '' }: { userId: string; text: string; by?: string }) {
  const { names } = useDesk()
  const name = useName(names, userId, 'A user')
  return <><b><bdi>{name}</bdi></b> {text}<By id={by} /></>
}
