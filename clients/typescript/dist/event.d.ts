import type { EventMetadata, EventPayloads } from './operations.js';
/** A type of events, such as `channel.ban`. */
export type EventType = keyof EventPayloads;
/**
 * An event. Its `type` tells what its `payload` is:
 *
 * ```ts
 * if (event.type === 'channel.ban') console.log(event.payload.bannedUserDisplayName)
 * ```
 */
export type Event<Type extends EventType = EventType> = {
    [T in Type]: {
        type: T;
        payload: EventPayloads[T];
        metadata: EventMetadata;
        /** Where to resume after this event; empty in a delivery without a cursor. */
        cursor: string;
    };
}[Type];
/** eventOf returns an event in the form of this library. */
export declare function eventOf<Type extends EventType>(data: {
    metadata: EventMetadata;
    payload: unknown;
}, cursor: string): Event<Type>;
