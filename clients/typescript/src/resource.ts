import { EventStream, type ListenOptions } from './events.js'
import type { EventType } from './event.js'
import { List } from './paging.js'
import type { RequestOptions, Transport } from './transport.js'

/** A group of operations. */
export class Resource {
  /** @internal */
  protected readonly transport: Transport

  /** @internal */
  constructor(transport: Transport) {
    this.transport = transport
  }

  /** @internal */
  protected async get<Data>(path: string, query: object, options: RequestOptions | undefined): Promise<Data> {
    return (await this.transport.call<Data>({ ...options, method: 'GET', path, query })).data
  }

  /** @internal */
  protected list<Data>(path: string, query: object, limit: number, options: RequestOptions | undefined): List<Data> {
    return new List<Data>(
      (page) => this.transport.call<Data>({ ...options, method: 'GET', path, query: { ...page, ...query, ...(page.cursor && { cursor: page.cursor }) } }),
      limit,
    )
  }

  /** @internal */
  protected async send<Data>(method: string, path: string, body: object, options: RequestOptions | undefined): Promise<Data> {
    return (await this.transport.call<Data>({ ...options, method, path, body })).data
  }
}

/** The operations about events, with the stream. */
export class EventsResource extends Resource {
  /**
   * Opens a stream of events. When the promise resolves, the server has confirmed the
   * stream: no later event is missed.
   */
  listen<Type extends EventType = EventType>(options: ListenOptions<Type> = {}): Promise<EventStream<Type>> {
    return EventStream.open(this.transport, options)
  }
}
