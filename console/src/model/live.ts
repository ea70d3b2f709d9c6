import { ModeratoError, type EventType, type Moderato } from '@moderato-live/client'
import type { Store } from './store'

const publicTypes: EventType[] = [
  'channel.chat.message', 'channel.chat.message_delete', 'channel.chat.clear', 'channel.chat.clear_user_messages', 'channel.chat.pin',
  'channel.update', 'stream.online', 'stream.offline', 'channel.raid',
  'channel.chat.settings', 'channel.shield.begin', 'channel.shield.end',
]
// Moderators name the types that only they hear. So the stream ends when they lose the right,
// instead of going on without these types.
const moderatorTypes: EventType[] = [
  ...publicTypes, 'channel.ban', 'channel.unban', 'channel.mute', 'channel.unmute', 'channel.mute.expire',
  'channel.moderator.add', 'channel.moderator.remove', 'channel.vip.add', 'channel.vip.remove', 'channel.og.add', 'channel.og.remove',
  'channel.chat.rules', 'channel.chat.flag', 'channel.chat.hold', 'channel.chat.hold.update', 'channel.shield.preset',
  'channel.follow', 'channel.subscribe', 'channel.subscription.gift',
]

/** After how long somebody without the right asks whether they have it again. */
const askAgain = 30_000

/** listen fills the store with what happens in its channel, until the signal is aborted. */
export async function listen(client: Moderato, store: Store, signal: AbortSignal): Promise<void> {
  const channelId = store.state.channelId
  let rightLost = false
  for (let types = moderatorTypes; !signal.aborted; ) {
    // Who lost the right may get it back, so they ask again from time to time.
    const turn = types === moderatorTypes ? signal : AbortSignal.any([signal, AbortSignal.timeout(askAgain)])
    try {
      const stream = await client.events.listen({
        channelId, type: types, signal: turn,
        onConnect: () => {
          rightLost = types !== moderatorTypes
          store.dispatch({ type: 'connection', connection: { state: 'live', since: performance.now(), reason: '', rightLost } })
          void readHistory(client, store, signal).then(() => rightLost ? undefined : readEvidence(client, store, signal))
          if (!rightLost) void readQueue(client, store, signal)
        },
        onDisconnect: () => disconnected(store, rightLost),
        onMissed: (count) => (store.dispatch({ type: 'missed', count }), void readQueue(client, store, signal)),
      })
      for await (const event of stream) store.dispatch({ type: 'events', events: [event] })
      if (!turn.aborted) return
      types = moderatorTypes
    } catch (error) {
      if (signal.aborted) return
      if (turn.aborted) {
        types = moderatorTypes
        continue
      }
      if (!(error instanceof ModeratoError)) throw error
      if (error.code === 'NOT_CHANNEL_MODERATOR' && types === moderatorTypes) {
        rightLost = true
        types = publicTypes
      } else if (error.status === undefined || error.status >= 500 || error.status === 429) {
        disconnected(store, rightLost)
        await wait(1000 * (error.retryAfter ?? 1 + Math.random()), signal)
      } else {
        return store.dispatch({ type: 'connection', connection: { state: 'ended', since: performance.now(), reason: error.message, rightLost } })
      }
    }
  }
}

function disconnected(store: Store, rightLost: boolean): void {
  const { state, since } = store.state.connection
  store.dispatch({
    type: 'connection',
    connection: { state: 'reconnecting', since: state === 'reconnecting' ? since : performance.now(), reason: '', rightLost },
  })
}

/** How many pages of messages are read to find those that are visible again. */
const maxPages = 5

/**
 * readHistory reads the latest messages, which a new connection does not send, and reads on while
 * the page shows struck messages that are older: some of them may be visible again.
 */
export async function readHistory(client: Moderato, store: Store, signal?: AbortSignal): Promise<void> {
  const channelId = store.state.channelId
  try {
    for (let attempt = 0; attempt < 5; attempt++) {
      const { deletions } = store.state
      const struck = store.state.messages.find((m) => m.deletion)?.at ?? ''
      for (let page = 1, cursor: string | undefined; page <= maxPages; page++) {
        const { messages, pagination } = await client.chat.listMessages({ channelId, limit: 100, ...(cursor && { cursor }) }, { signal })
        store.dispatch({ type: 'history', messages, deletions })
        cursor = pagination.cursor
        if (!cursor || !struck || messages.some((m) => m.createdAt < struck)) break
      }
      if (deletions === store.state.deletions) return
    }
  } catch {
    // The connection shows that the server cannot be reached; the next one reads the history.
  }
}

/**
 * readEvidence reads the messages that bans and mutes hid since the first one that the page shows:
 * the history has only those that viewers see.
 */
async function readEvidence(client: Moderato, store: Store, signal: AbortSignal): Promise<void> {
  const since = store.state.messages[0]?.at
  if (!since) return
  try {
    const { rows } = await client.moderation.listLog({ channelId: store.state.channelId, type: ['channel.ban', 'channel.mute'], since, limit: 100 }, { signal })
    store.dispatch({ type: 'evidence', entries: rows })
  } catch {
    // The log screen has them, and says why it cannot be read.
  }
}

/** How many held messages the page reads at first; more when these are decided. */
const firstHeld = 100

/** readQueue reads the held messages that wait the longest: a new connection does not send them. */
export async function readQueue(client: Moderato, store: Store, signal?: AbortSignal): Promise<void> {
  const { queue: before } = store.state
  try {
    const { rows, pagination } = await client.held.listHeldMessages({ channelId: store.state.channelId, status: 'PENDING', limit: firstHeld }, { signal })
    store.dispatch({ type: 'queue', rows, hasMore: pagination.cursor !== '', before })
  } catch (error) {
    if (!signal?.aborted) store.dispatch({ type: 'queue-failed', problem: error instanceof Error ? error.message : String(error) })
  }
}

function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds)
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true })
  })
}
