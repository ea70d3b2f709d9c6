import { EventStream } from './events.js';
import { List } from './paging.js';
/** A group of operations. */
export class Resource {
    /** @internal */
    transport;
    /** @internal */
    constructor(transport) {
        this.transport = transport;
    }
    /** @internal */
    async get(path, query, options) {
        return (await this.transport.call({ ...options, method: 'GET', path, query })).data;
    }
    /** @internal */
    list(path, query, limit, options) {
        return new List((page) => this.transport.call({ ...options, method: 'GET', path, query: { ...page, ...query, ...(page.cursor && { cursor: page.cursor }) } }), limit);
    }
    /** @internal */
    async send(method, path, body, options) {
        return (await this.transport.call({ ...options, method, path, body })).data;
    }
}
/** The operations about events, with the stream. */
export class EventsResource extends Resource {
    /**
     * Opens a stream of events. When the promise resolves, the server has confirmed the
     * stream: no later event is missed.
     */
    listen(options = {}) {
        return EventStream.open(this.transport, options);
    }
}
