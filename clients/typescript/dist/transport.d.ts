import { Deadline } from './deadline.js';
import { ModeratoError } from './errors.js';
/** Options of one call. */
export interface RequestOptions {
    /** Cancels the call. */
    signal?: AbortSignal | undefined;
    /** How long an attempt may take, in milliseconds; by default as for the client. */
    timeout?: number | undefined;
    /** How often the call is repeated after transient failures; by default as for the client. */
    retries?: number | undefined;
    /**
     * The idempotency key of a change, by default a new UUID. Choose one and store it to
     * repeat the call after a restart of your program.
     */
    idempotencyKey?: string | undefined;
}
/** A call of the API. */
export interface Call extends RequestOptions {
    method: string;
    path: string;
    query?: object | undefined;
    body?: object | undefined;
}
/** What calls are authenticated with. */
export interface Credentials {
    /** current returns the access token; undefined if there is none. */
    current(): string | undefined;
    /** renew replaces an access token that was refused, and reports whether there is another one. */
    renew(refused: string): Promise<boolean>;
}
/** The settings of a transport. */
export interface TransportSettings {
    baseUrl: string;
    clientId: string;
    timeout: number;
    retries: number;
    fetch: typeof fetch;
}
/** Transport sends calls, and repeats them after transient failures. */
export declare class Transport {
    #private;
    readonly settings: TransportSettings;
    constructor(settings: TransportSettings, credentials: Credentials);
    /** call returns the data of a response, and its headers. */
    call<Data>(call: Call): Promise<{
        data: Data;
        headers: Headers;
    }>;
    /**
     * open sends a call once, and returns the response if the call succeeded. An access
     * token that has expired is renewed.
     */
    open(call: Call, deadline: Deadline, headers?: Record<string, string>): Promise<Response>;
}
/** isTokenRefused reports whether a new access token helps. */
export declare function isTokenRefused(error: ModeratoError): boolean;
/** urlOf returns the URL of a call. A list has `[]` behind its name, and undefined is left out. */
export declare function urlOf(baseUrl: string, path: string, query?: object): string;
