import { ModeratoError } from './errors.js';
import { type Event, type EventType } from './event.js';
import { type Transport } from './transport.js';
/** Which events to receive, and from where. */
export interface ListenOptions<Type extends EventType = EventType> {
    /** The channel; if not given, every channel that the user owns or moderates. */
    channelId?: string | undefined;
    /** The types; if not given, all types that the caller may hear. */
    type?: Type[] | undefined;
    /** Where to resume: the `cursor` of the last event that you handled. If not given, from now on. */
    cursor?: string | undefined;
    /** Ends the stream. */
    signal?: AbortSignal | undefined;
    /** After how many milliseconds of silence to connect again; 40000 by default. The server sends something every 15 s. */
    idleTimeout?: number | undefined;
    /** Called when the server has confirmed a connection: the first one, and each one after a break. */
    onConnect?: (() => void) | undefined;
    /** Called when the connection breaks, before it is made again. */
    onDisconnect?: ((error: ModeratoError) => void) | undefined;
    /** Called when chat messages were lost, because they were not received fast enough. */
    onMissed?: ((count: number) => void) | undefined;
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
export declare class EventStream<Type extends EventType = EventType> implements AsyncIterableIterator<Event<Type>> {
    #private;
    private constructor();
    /** @internal */
    static open<Type extends EventType>(transport: Transport, options: ListenOptions<Type>): Promise<EventStream<Type>>;
    /**
     * Where the stream is. It includes the event that was received last, so store it when
     * that event is handled.
     */
    get cursor(): string;
    /** Ends the stream. */
    close(): void;
    /** Returns the next event. */
    next(): Promise<IteratorResult<Event<Type>, void>>;
    /** Ends the stream, as leaving a loop over it does. */
    return(): Promise<IteratorResult<Event<Type>, void>>;
    [Symbol.asyncIterator](): this;
}
