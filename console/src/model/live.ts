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
/** After how long a silent connection is dead. The server sends something every 15 s. */
const silence = 20_000

/** listen fills the store with what happens in its channel, until the signal is aborted. */
export function listen(client: Moderato, store: Store, signal: AbortSignal): Promise<void> {
  return new Listener(client, store, signal).run()
}

class Listener {
  readonly #client: Moderato
  readonly #store: Store
  readonly #signal: AbortSignal
  #types = moderatorTypes
  #rightLost = false
  /** The latest stream, whose cursor says where the next one begins. */
  #stream: { readonly cursor: string } | undefined
  /** Counts when a connection is made or lost, so that what an earlier one began knows that it is over. */
  #turn = 0
  /** Until when the page has all messages, while it has not read those after that. */
  #complete: string | undefined

  constructor(client: Moderato, store: Store, signal: AbortSignal) {
    this.#client = client
    this.#store = store
    this.#signal = signal
  }

  async run(): Promise<void> {
    while (!this.#signal.aborted) {
      try {
        await this.#receive()
        this.#types = moderatorTypes
      } catch (error) {
        if (error instanceof ModeratoError && error.code === 'NOT_CHANNEL_MODERATOR' && this.#types === moderatorTypes) {
          this.#rightLost = true
          this.#types = publicTypes
        } else if (error instanceof ModeratoError && (error.status === undefined || error.status >= 500 || error.status === 429)) {
          this.#disconnected()
          await pause(error, this.#signal)
        } else {
          return this.#show('ended', error instanceof Error ? error.message : String(error))
        }
      }
    }
  }

  /** receive receives events until the browser is offline, or until it is time to ask for the right again. */
  async #receive(): Promise<void> {
    const { channelId } = this.#store.state
    const end = new AbortController()
    const stop = (): void => end.abort()
    this.#signal.addEventListener('abort', stop, { signal: end.signal })
    addEventListener('offline', () => (this.#disconnected(), stop()), { signal: end.signal })
    // Who lost the right may get it back, so they ask again from time to time.
    const timer = this.#types === moderatorTypes ? undefined : setTimeout(stop, askAgain)
    try {
      const stream = await this.#client.events.listen({
        channelId, type: this.#types, cursor: this.#stream?.cursor || undefined, signal: end.signal, idleTimeout: silence,
        onConnect: () => void this.#connected(),
        onDisconnect: () => this.#disconnected(),
        onMissed: (count) => (this.#store.dispatch({ type: 'missed', count }), void readQueue(this.#client, this.#store, this.#signal)),
      })
      this.#stream = stream
      for await (const event of stream) this.#store.dispatch({ type: 'events', events: [event] })
    } catch (error) {
      if (!end.signal.aborted) throw error
    } finally {
      clearTimeout(timer)
      stop()
      this.#broke()
    }
  }

  /** connected says that the page is up to date when it has read what it missed. */
  async #connected(): Promise<void> {
    this.#broke()
    this.#rightLost = this.#types !== moderatorTypes
    this.#store.dispatch({ type: 'connection', connection: { ...this.#store.state.connection, rightLost: this.#rightLost } })
    if (!this.#rightLost) void readQueue(this.#client, this.#store, this.#signal)
    for (const turn = this.#turn; turn === this.#turn && !this.#signal.aborted; ) {
      try {
        await readHistory(this.#client, this.#store, this.#signal, this.#complete)
        if (turn !== this.#turn) return
        this.#complete = undefined
        this.#show('live')
        if (!this.#rightLost) await readEvidence(this.#client, this.#store, this.#signal)
        return
      } catch (error) {
        if (turn === this.#turn) this.#show('reconnecting')
        await pause(error, this.#signal)
      }
    }
  }

  #broke(): void {
    const { messages, waiting } = this.#store.state
    this.#turn++
    this.#complete ??= (waiting.at(-1) ?? messages.at(-1))?.at ?? ''
  }

  #disconnected(): void {
    this.#broke()
    this.#show('reconnecting')
  }

  #show(state: 'live' | 'reconnecting' | 'ended', reason = ''): void {
    if (this.#signal.aborted) return
    const { connection } = this.#store.state
    const since = state === connection.state ? connection.since : performance.now()
    this.#store.dispatch({ type: 'connection', connection: { state, since, reason, rightLost: this.#rightLost } })
  }
}

/** How many pages of messages are read to find those that were missed, or are visible again. */
const maxPages = 5

/**
 * readHistory reads the latest messages, which a new connection does not send. It reads on to
 * those of the time since which the page misses some, and to the struck messages that the page
 * shows: some of them may be visible again.
 */
export async function readHistory(client: Moderato, store: Store, signal?: AbortSignal, since = ''): Promise<void> {
  const channelId = store.state.channelId
  let hasAll = !since
  for (let attempt = 0; attempt < 5; attempt++) {
    const { deletions } = store.state
    const until = [since, store.state.messages.find((m) => m.deletion)?.at ?? ''].filter(Boolean).sort()[0]
    let isEnd = false
    for (let page = 1, cursor: string | undefined; page <= maxPages; page++) {
      const { messages, pagination } = await client.chat.listMessages({ channelId, limit: 100, ...(cursor && { cursor }) }, { signal })
      store.dispatch({ type: 'history', messages, deletions })
      cursor = pagination.cursor
      isEnd ||= !cursor || messages.some((m) => m.createdAt < since)
      if (!cursor || !until || messages.some((m) => m.createdAt < until)) break
    }
    if (deletions !== store.state.deletions) continue
    hasAll ||= isEnd
    break
  }
  if (!hasAll) store.dispatch({ type: 'gap' })
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

function pause(error: unknown, signal: AbortSignal): Promise<void> {
  return wait(1000 * ((error instanceof ModeratoError && error.retryAfter) || 1 + Math.random()), signal)
}

function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds)
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true })
  })
}
