import type { Tokens } from './auth.js';
import type { Event, EventType } from './event.js';
import type { EventStream } from './events.js';
/**
 * What a program must not forget when it restarts: its tokens, and which events it has
 * handled. It is a file that only its owner may read, because it has the tokens. Each change
 * replaces the file as a whole, so that a crash leaves the former or the new one. Two
 * programs need two files.
 *
 * ```js
 * const state = new FileState('bot.json')
 * const moderato = new Moderato({ baseUrl, clientId, tokens: state.tokens, onTokens: state.saveTokens })
 * for await (const event of state.events((cursor) => moderato.events.listen({ ...cursor }))) {
 *   console.log(event.type)
 * }
 * ```
 */
export declare class FileState {
    #private;
    constructor(path: string);
    /** The tokens that were saved last; undefined before the first sign-in. */
    get tokens(): Tokens | undefined;
    /** Saves tokens: pass it as `onTokens`. */
    readonly saveTokens: (tokens: Tokens) => Promise<void>;
    /** Where the events that were handled end; undefined before the first. */
    get cursor(): string | undefined;
    /**
     * Yields the events that were not handled yet, each once. `listen` opens the stream: it
     * gets the option `cursor`, or none. An event counts as handled when the loop asks for
     * the next one: if the program ends before, the event comes again.
     */
    events<Type extends EventType>(listen: (resume: {
        cursor?: string;
    }) => Promise<EventStream<Type>>): AsyncGenerator<Event<Type>, void, undefined>;
}
