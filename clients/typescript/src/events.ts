import { Deadline } from './deadline.js'
import { APIConnectionError, ModeratoError } from './errors.js'
import { eventOf, type Event, type EventType } from './event.js'
import { backoff, sleep } from './retry.js'
import { Parser, type Message } from './sse.js'
import { isTokenRefused, type Transport } from './transport.js'

/** Which events to receive, and from where. */
export interface ListenOptions<Type extends EventType = EventType> {
  /** The channel; if not given, every channel that the user owns or moderates. */
  channelId?: string | undefined
  /** The types; if not given, all types that the caller may hear. */
  type?: Type[] | undefined
  /** Where to resume: the `cursor` of the last event that you handled. If not given, from now on. */
  cursor?: string | undefined
  /** Ends the stream. */
  signal?: AbortSignal | undefined
  /** After how many milliseconds of silence to connect again; 40000 by default. The server sends something every 15 s. */
  idleTimeout?: number | undefined
  /** Called when the server has confirmed a connection: the first one, and each one after a break. */
  onConnect?: (() => void) | undefined
  /** Called when the connection breaks, before it is made again. */
  onDisconnect?: ((error: ModeratoError) => void) | undefined
  /** Called when chat messages were lost, because they were not received fast enough. */
  onMissed?: ((count: number) => void) | undefined
}

interface Connection {
  deadline: Deadline
  messages: AsyncGenerator<Message, void, undefined>
}

/**
 * A stream of events, which connects again by itself and resumes where it was. No stored
 * event is missed; an event can come twice, with the same `metadata.messageId`. Chat
 * messages are live, and those during a break are missed.
 *
 * ```js
 * for await (const event of await moderato.events.listen({ type: ['channel.ban'] })) {
 *   console.log(event.payload.bannedUserDisplayName)
 * }
 * ```
 */
export class EventStream<Type extends EventType = EventType> implements AsyncIterableIterator<Event<Type>> {
  readonly #transport: Transport
  readonly #options: ListenOptions<Type>
  readonly #closing = new AbortController()
  readonly #events: AsyncGenerator<Event<Type>, void, undefined>
  #connection: Connection | undefined
  #cursor: string

  private constructor(transport: Transport, options: ListenOptions<Type>) {
    this.#transport = transport
    this.#options = options
    this.#cursor = options.cursor ?? ''
    this.#events = this.#run()
    if (options.signal?.aborted) this.#closing.abort()
    options.signal?.addEventListener('abort', () => this.#closing.abort(), { signal: this.#closing.signal })
  }

  /** @internal */
  static async open<Type extends EventType>(transport: Transport, options: ListenOptions<Type>): Promise<EventStream<Type>> {
    const stream = new EventStream(transport, options)
    stream.#connection = await stream.#connect()
    return stream
  }

  /**
   * Where the stream is. It includes the event that was received last, so store it when
   * that event is handled.
   */
  get cursor(): string {
    return this.#cursor
  }

  /** Ends the stream. */
  close(): void {
    this.#closing.abort()
    this.#connection?.deadline.end()
  }

  /** Returns the next event. */
  next(): Promise<IteratorResult<Event<Type>, void>> {
    return this.#events.next()
  }

  /** Ends the stream, as leaving a loop over it does. */
  async return(): Promise<IteratorResult<Event<Type>, void>> {
    this.close()
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async *#run(): AsyncGenerator<Event<Type>, void, undefined> {
    for (let failures = 0; !this.#closing.signal.aborted; ) {
      try {
        this.#connection ??= await this.#connect()
        for await (const message of this.#connection.messages) {
          failures = 0
          const event = this.#received(message)
          if (event) yield event
        }
        throw new APIConnectionError('The connection was closed.', { code: 'CONNECTION_FAILED' })
      } catch (error) {
        if (this.#closing.signal.aborted) return
        this.#connection?.deadline.end()
        this.#connection = undefined
        if (!(error instanceof ModeratoError) || !isTemporary(error)) throw error
        this.#options.onDisconnect?.(error)
        // A server that stops, and a token that ends, are no reason to wait.
        if (failures++ > 0) await this.#pause(Math.max((error.retryAfter ?? 0) * 1000, backoff(failures)))
      }
    }
  }

  async #pause(milliseconds: number): Promise<void> {
    await sleep(milliseconds, this.#closing.signal).catch(() => undefined)
  }

  /** connect resolves when the server has confirmed the stream: no later event is missed. */
  async #connect(): Promise<Connection> {
    const { channelId, type, idleTimeout = 40_000 } = this.#options
    const deadline = new Deadline(idleTimeout, this.#closing.signal)
    try {
      const query = { channelId, type, cursor: this.#cursor || undefined }
      const response = await this.#transport.open({ method: 'GET', path: '/v1/events', query }, deadline, { accept: 'text/event-stream' })
      const messages = read(response, deadline, idleTimeout)
      const first = await messages.next()
      if (!first.done) this.#received(first.value)
      this.#options.onConnect?.()
      return { deadline, messages }
    } catch (error) {
      deadline.end()
      throw error
    }
  }

  /** received returns the event of a message, if it has one. */
  #received(message: Message): Event<Type> | undefined {
    if (message.id !== '') this.#cursor = message.id
    if (message.data === undefined) return undefined
    const data = JSON.parse(message.data)
    if (message.event === 'end') throw endOf(data)
    if (message.event === 'missed') this.#options.onMissed?.(data.missedMessages)
    return data.metadata ? eventOf<Type>(data, this.#cursor) : undefined
  }
}

/** read returns the messages of a response. It fails if the server is silent for too long. */
async function* read(response: Response, deadline: Deadline, idleTimeout: number): AsyncGenerator<Message, void, undefined> {
  const parser = new Parser()
  const decoder = new TextDecoder()
  const reader = response.body!.getReader()
  for (;;) {
    deadline.extend(idleTimeout)
    const { done, value } = await reader.read().catch((error: unknown) => Promise.reject(deadline.failure(error)))
    deadline.rest() // while events are handled, the server need not be heard
    if (done) return
    yield* parser.push(decoder.decode(value, { stream: true }))
  }
}

/** endOf returns why the server ended a stream. */
function endOf(body: { message: string; data: { code: string; requestId?: string } }): ModeratoError {
  return new ModeratoError(body.message, { code: body.data.code, requestId: body.data.requestId, data: body.data })
}

const temporary = new Set(['UNAVAILABLE', 'OVERLOADED', 'WATCHER_TOO_SLOW', 'DEADLINE_EXCEEDED', 'INTERNAL'])

/** isTemporary reports whether a stream that ended with an error is worth another try. */
function isTemporary(error: ModeratoError): boolean {
  if (error.status !== undefined) return error.status >= 500 || error.status === 429
  // A new connection renews the token, or fails with the status 401.
  return error instanceof APIConnectionError || temporary.has(error.code) || isTokenRefused(error)
}
