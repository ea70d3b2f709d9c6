import { EventStream, type ListenOptions } from './events.js';
import type { EventType } from './event.js';
import { List } from './paging.js';
import type { RequestOptions, Transport } from './transport.js';
/** A group of operations. */
export declare class Resource {
    /** @internal */
    protected readonly transport: Transport;
    /** @internal */
    constructor(transport: Transport);
    /** @internal */
    protected get<Data>(path: string, query: object, options: RequestOptions | undefined): Promise<Data>;
    /** @internal */
    protected list<Data>(path: string, query: object, limit: number, options: RequestOptions | undefined): List<Data>;
    /** @internal */
    protected send<Data>(method: string, path: string, body: object, options: RequestOptions | undefined): Promise<Data>;
}
/** The operations about events, with the stream. */
export declare class EventsResource extends Resource {
    /**
     * Opens a stream of events. When the promise resolves, the server has confirmed the
     * stream: no later event is missed.
     */
    listen<Type extends EventType = EventType>(options?: ListenOptions<Type>): Promise<EventStream<Type>>;
}
