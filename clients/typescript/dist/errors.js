/**
 * A call that failed. `code` tells what happened: one of the codes of the API, such as
 * `MUTE_ACTIVE`, or what a subclass documents.
 */
export class ModeratoError extends Error {
    /** The stable code of the condition, for programs. */
    code;
    /** The HTTP status; undefined if there was no response. */
    status;
    /** The id to mention when you report a problem to the operator. */
    requestId;
    /** When to try again, in seconds; undefined if the server did not say. */
    retryAfter;
    /** All details that the server sent. */
    data;
    constructor(message, details) {
        super(message, { cause: details.cause });
        this.name = new.target.name;
        this.code = details.code;
        this.status = details.status;
        this.requestId = details.requestId;
        this.retryAfter = details.retryAfter;
        this.data = details.data ?? {};
    }
    /** The fields that are wrong, on `INVALID_ARGUMENT`. */
    get fields() {
        return this.data.violations ?? [];
    }
    /** The scope that the token or the grant lacks, on `SCOPE_MISSING` and `GRANT_MISSING`. */
    get requiredScope() {
        return this.data.requiredScope;
    }
    /** The kinds of token that the operation accepts, on `TOKEN_KIND_NOT_ACCEPTED`. */
    get acceptedTokens() {
        return this.data.acceptedTokens ?? [];
    }
    /** When the mute ends, on `MUTE_ACTIVE` and `USER_MUTED`. */
    get muteExpiresAt() {
        const at = this.data.muteExpiresAt;
        return at === undefined ? undefined : new Date(at);
    }
    /** When the ban ends, on `USER_BANNED`; undefined if it lasts until it is removed. */
    get banExpiresAt() {
        const at = this.data.expiresAt;
        return at == null ? undefined : new Date(at);
    }
}
/**
 * There was no response. The code is `TIMEOUT`, or `CONNECTION_FAILED` for every other
 * reason, which is the `cause`. A change may or may not have happened.
 */
export class APIConnectionError extends ModeratoError {
}
/**
 * The idempotency key of the call was used for a call with other arguments, within the
 * last 24 hours. Nothing was changed. The code is `IDEMPOTENCY_KEY_REUSED`.
 */
export class IdempotencyKeyReusedError extends ModeratoError {
}
/**
 * A user could not be signed in, or not be kept signed in. The code is that of OAuth 2:
 * `access_denied` if the user refused, `expired_token` if the user took too long, and
 * `invalid_grant` if the user must sign in again.
 */
export class SignInError extends ModeratoError {
}
/** A webhook delivery is not authentic, or is too old. */
export class WebhookVerificationError extends Error {
    name = 'WebhookVerificationError';
}
/**
 * refuseRedirect throws if a response is a redirect. The client follows none, because that
 * would send the token to another address, or a change as a GET.
 */
export function refuseRedirect(response) {
    if (response.type !== 'opaqueredirect' && (response.status < 300 || response.status >= 400))
        return;
    const address = response.headers.get('location') ?? 'another address';
    throw new ModeratoError(`The server redirects to ${address}: give the client the address of the API as baseUrl.`, { code: 'REDIRECTED', status: response.status || undefined });
}
/** errorOf returns the error of a response. */
export async function errorOf(response) {
    const body = await bodyOf(response);
    return new (classOf(body, response.status))(body.message ?? body.error_description ?? `The server responded with ${response.status}.`, {
        code: body.data?.code ?? body.error ?? `HTTP_${response.status}`,
        status: response.status,
        requestId: response.headers.get('x-request-id') ?? undefined,
        retryAfter: retryAfterOf(response.headers),
        data: body.data,
    });
}
function classOf(body, status) {
    if (body.data?.code === 'IDEMPOTENCY_KEY_REUSED')
        return IdempotencyKeyReusedError;
    return body.error !== undefined && status < 500 && status !== 429 ? SignInError : ModeratoError;
}
/** bodyOf returns an empty body if the response is not of the server, but of a proxy. */
async function bodyOf(response) {
    try {
        const body = await response.json();
        return body !== null && typeof body === 'object' ? body : {};
    }
    catch {
        return {};
    }
}
function retryAfterOf(headers) {
    const text = headers.get('retry-after');
    if (text === null)
        return undefined;
    const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
    return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}
