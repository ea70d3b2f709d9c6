import { Auth, type Tokens } from './auth.js';
import { Resources } from './operations.js';
import { type Call } from './transport.js';
/** The settings of a client. */
export interface ModeratoOptions {
    /** The address of the server, such as `https://api.example.com`. */
    baseUrl: string;
    /** The id of your client. */
    clientId: string;
    /** The secret of your client, if it has one. Keep it out of browsers. */
    clientSecret?: string | undefined;
    /** The tokens of an earlier sign-in, or `{ accessToken }` alone. */
    tokens?: Tokens | undefined;
    /**
     * Stores new tokens. Each refresh replaces the refresh token, and the former one soon
     * stops working, so a program that is to stay signed in must store them here.
     */
    onTokens?: ((tokens: Tokens) => void | Promise<void>) | undefined;
    /** How long an attempt of a call may take, in milliseconds; 20000 by default, longer than a server takes. */
    timeout?: number | undefined;
    /** How often a call is repeated after a transient failure; 2 by default. */
    retries?: number | undefined;
    /** What sends requests; the global `fetch` by default. */
    fetch?: typeof fetch | undefined;
}
/**
 * A client of Moderato.
 *
 * ```js
 * const moderato = new Moderato({ baseUrl: 'https://api.example.com', clientId: 'my-bot' })
 * await moderato.auth.signInWithDevice({ scopes: ['users.read'], onPrompt: ({ url }) => console.log(url) })
 * console.log(await moderato.users.getProfile())
 * ```
 */
export declare class Moderato extends Resources {
    #private;
    /** Signs users in, and keeps them signed in. */
    readonly auth: Auth;
    constructor(options: ModeratoOptions);
    /** Calls an operation for which this version of the library has no method. */
    request<Data = unknown>(call: Call): Promise<Data>;
}
