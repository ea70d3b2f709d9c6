import { ModeratoError, type EventType, type Moderato } from '@moderato-live/client'
import type { Store } from './store'

const publicTypes: EventType[] = [
  'channel.chat.message', 'channel.chat.message_delete', 'channel.chat.clear', 'channel.chat.clear_user_messages', 'channel.chat.pin',
  'channel.update', 'stream.online', 'stream.offline', 'channel.raid',
]
// Moderators name the types that only they hear. So the stream ends when they lose the right,
// instead of going on without these types.
const moderatorTypes: EventType[] = [
  ...publicTypes, 'channel.ban', 'channel.unban', 'channel.mute', 'channel.unmute', 'channel.mute.expire',
  'channel.moderator.add', 'channel.moderator.remove', 'channel.vip.add', 'channel.vip.remove', 'channel.og.add', 'channel.og.remove',
  'channel.follow', 'channel.subscribe', 'channel.subscription.gift',
]

/** listen fills the store with what happens in its channel, until the signal is aborted. */
export async function listen(client: Moderato, store: Store, signal: AbortSignal): Promise<void> {
  const channelId = store.state.channelId
  let rightLost = false
  const connected = (): void => store.dispatch({ type: 'connection', connection: { state: 'live', since: performance.now(), reason: '', rightLost } })
  for (let types = moderatorTypes; !signal.aborted; ) {
    try {
      const stream = await client.events.listen({
        channelId, type: types, signal,
        onConnect: () => {
          connected()
          void readHistory(client, store, signal)
        },
        onDisconnect: () => disconnected(store, rightLost),
        onMissed: (count) => store.dispatch({ type: 'missed', count }),
      })
      for await (const event of stream) store.dispatch({ type: 'events', events: [event] })
      return
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof ModeratoError)) throw error
      if (error.code === 'NOT_CHANNEL_MODERATOR' && !rightLost) {
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

/** readHistory reads the latest messages, which a new connection does not send. */
export async function readHistory(client: Moderato, store: Store, signal?: AbortSignal): Promise<void> {
  const channelId = store.state.channelId
  try {
    for (let attempt = 0; attempt < 5; attempt++) {
      const { deletions } = store.state
      const { messages } = await client.chat.listMessages({ channelId, limit: 100 }, { signal })
      store.dispatch({ type: 'history', messages, deletions })
      if (deletions === store.state.deletions) return
    }
  } catch {
    // The connection shows that the server cannot be reached; the next one reads the history.
  }
}

function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds)
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true })
  })
}
