import type { Event } from '@moderato-live/client'
import { useDesk } from '../desk'
import { formatClock, plural } from '../format'
import { useName } from '../model/names'
import { useStored } from '../model/store'

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
  const { names } = useDesk()
  switch (event.type) {
    case 'channel.ban': return <><b><bdi>{event.payload.bannedUserDisplayName}</bdi></b> banned<By id={event.payload.moderatorId} /></>
    case 'channel.unban': return <><b><bdi>{event.payload.unbannedUserDisplayName}</bdi></b> {event.payload.cause === 'expired' ? 'is no longer banned' : <>unbanned<By id={event.payload.moderatorId} /></>}</>
    case 'channel.mute': return <><b><bdi>{event.payload.mutedUserDisplayName}</bdi></b> muted<By id={event.payload.moderatorId} /></>
    case 'channel.unmute': return <><b><bdi>{event.payload.unmutedUserDisplayName}</bdi></b> unmuted<By id={event.payload.moderatorId} /></>
    case 'channel.mute.expire': return <UserSentence userId={event.payload.mutedUserId} text="is no longer muted" names={names} by="" />
    case 'channel.follow': return <><b><bdi>{event.payload.userDisplayName}</bdi></b> followed</>
    case 'channel.subscribe': return <><b><bdi>{event.payload.userDisplayName}</bdi></b> subscribed</>
    case 'channel.subscription.gift': return <><b><bdi>{event.payload.userDisplayName}</bdi></b> gave {plural(event.payload.giftCount, 'subscription')}</>
    case 'channel.raid': return <>Raid by <b><bdi>{event.payload.raider.displayName}</bdi></b> with {plural(event.payload.viewerCount, 'viewer')}</>
    case 'channel.chat.message_delete': return <>Message deleted<By id={event.payload.moderatorId} /></>
    case 'channel.chat.clear': return <>Chat cleared<By id={event.payload.moderatorId} /></>
    case 'channel.chat.pin': return <>{event.payload.message ? 'Message pinned' : 'Pin removed'}<By id={event.payload.moderatorId} /></>
    case 'channel.update': return <>Stream info changed<By id={event.payload.moderatorId} /></>
    case 'stream.online': return <>Stream started</>
    case 'stream.offline': return <>Stream ended</>
    default: {
      const [, prefix, verb] = /^(.*)\.(add|remove)$/.exec(event.type) ?? []
      const payload = event.payload as { userId: string; moderatorId: string }
      return <UserSentence userId={payload.userId} text={`${verb === 'add' ? 'is now' : 'is no longer'} a ${roles[prefix ?? ''] ?? ''}`} names={names} by={payload.moderatorId} />
    }
  }
}

function UserSentence({ userId, text, names, by }: { userId: string; text: string; names: Parameters<typeof useName>[0]; by: string }) {
  const name = useName(names, userId, 'A user')
  return <><b><bdi>{name}</bdi></b> {text}<By id={by} /></>
}
