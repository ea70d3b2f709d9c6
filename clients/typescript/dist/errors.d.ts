import type { ErrorCode } from './operations.js';
/** A field of a request that is not valid. */
export interface FieldError {
    /** The field, as the request spells it; empty for the request as a whole. */
    field: string;
    /** What is wrong with the field. */
    description: string;
}
/** What an error knows beside its message. */
export interface ErrorDetails {
    code: string;
    status?: number | undefined;
    requestId?: string | undefined;
    retryAfter?: number | undefined;
    data?: Record<string, unknown> | undefined;
    cause?: unknown;
}
/**
 * A call that failed. `code` tells what happened: one of the codes of the API, such as
 * `MUTE_ACTIVE`, or what a subclass documents.
 */
export declare class ModeratoError extends Error {
    /** The stable code of the condition, for programs. */
    readonly code: ErrorCode | (string & {});
    /** The HTTP status; undefined if there was no response. */
    readonly status: number | undefined;
    /** The id to mention when you report a problem to the operator. */
    readonly requestId: string | undefined;
    /** When to try again, in seconds; undefined if the server did not say. */
    readonly retryAfter: number | undefined;
    /** All details that the server sent. */
    readonly data: Readonly<Record<string, unknown>>;
    constructor(message: string, details: ErrorDetails);
    /** The fields that are wrong, on `INVALID_ARGUMENT`. */
    get fields(): readonly FieldError[];
    /** The scope that the token or the grant lacks, on `SCOPE_MISSING` and `GRANT_MISSING`. */
    get requiredScope(): string | undefined;
    /** The kinds of token that the operation accepts, on `TOKEN_KIND_NOT_ACCEPTED`. */
    get acceptedTokens(): readonly string[];
    /** When the mute ends, on `MUTE_ACTIVE` and `USER_MUTED`. */
    get muteExpiresAt(): Date | undefined;
    /** When the ban ends, on `USER_BANNED`; undefined if it lasts until it is removed. */
    get banExpiresAt(): Date | undefined;
}
/**
 * There was no response. The code is `TIMEOUT`, or `CONNECTION_FAILED` for every other
 * reason, which is the `cause`. A change may or may not have happened.
 */
export declare class APIConnectionError extends ModeratoError {
}
/**
 * The idempotency key of the call was used for a call with other arguments, within the
 * last 24 hours. Nothing was changed. The code is `IDEMPOTENCY_KEY_REUSED`.
 */
export declare class IdempotencyKeyReusedError extends ModeratoError {
}
/**
 * A user could not be signed in, or not be kept signed in. The code is that of OAuth 2:
 * `access_denied` if the user refused, `expired_token` if the user took too long, and
 * `invalid_grant` if the user must sign in again.
 */
export declare class SignInError extends ModeratoError {
}
/** A webhook delivery is not authentic, or is too old. */
export declare class WebhookVerificationError extends Error {
    readonly name = "WebhookVerificationError";
}
/**
 * refuseRedirect throws if a response is a redirect. The client follows none, because that
 * would send the token to another address, or a change as a GET.
 */
export declare function refuseRedirect(response: Response): void;
/** errorOf returns the error of a response. */
export declare function errorOf(response: Response): Promise<ModeratoError>;
