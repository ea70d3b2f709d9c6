import { Deadline } from './deadline.js';
import { errorOf, ModeratoError, refuseRedirect } from './errors.js';
import { retryDelay, sleep } from './retry.js';
import { randomUUID } from './webcrypto.js';
/** Transport sends calls, and repeats them after transient failures. */
export class Transport {
    settings;
    #credentials;
    constructor(settings, credentials) {
        this.settings = settings;
        this.#credentials = credentials;
    }
    /** call returns the data of a response, and its headers. */
    async call(call) {
        const retries = call.retries ?? this.settings.retries;
        const headers = await keyOf(call);
        for (let attempt = 0;; attempt++) {
            try {
                return await this.#attempt(call, headers);
            }
            catch (error) {
                const delay = error instanceof ModeratoError && attempt < retries ? retryDelay(error, attempt) : undefined;
                if (delay === undefined)
                    throw error;
                await sleep(delay, call.signal);
            }
        }
    }
    async #attempt(call, headers) {
        const deadline = new Deadline(call.timeout ?? this.settings.timeout, call.signal);
        try {
            const response = await this.open(call, deadline, headers);
            const answer = await response.json().catch((error) => Promise.reject(deadline.failure(error)));
            return { data: answer.data, headers: response.headers };
        }
        finally {
            deadline.end();
        }
    }
    /**
     * open sends a call once, and returns the response if the call succeeded. An access
     * token that has expired is renewed.
     */
    async open(call, deadline, headers = {}) {
        const token = this.#credentials.current();
        const response = await this.#send(call, token, deadline, headers);
        if (response.ok)
            return response;
        const error = await errorOf(response);
        if (!token || !isTokenRefused(error) || !(await this.#credentials.renew(token)))
            throw error;
        const again = await this.#send(call, this.#credentials.current(), deadline, headers);
        if (!again.ok)
            throw await errorOf(again);
        return again;
    }
    async #send(call, token, deadline, extra) {
        const headers = { 'client-id': this.settings.clientId, ...extra };
        if (token)
            headers.authorization = `Bearer ${token}`;
        const init = { method: call.method, headers, signal: deadline.signal, redirect: 'manual' };
        if (call.body) {
            headers['content-type'] = 'application/json';
            init.body = JSON.stringify(call.body);
        }
        let response;
        try {
            response = await this.settings.fetch(urlOf(this.settings.baseUrl, call.path, call.query), init);
        }
        catch (error) {
            throw deadline.failure(error);
        }
        refuseRedirect(response);
        return response;
    }
}
/** keyOf returns the header with the idempotency key of a change, which all its attempts share. */
async function keyOf(call) {
    return call.method === 'GET' ? {} : { 'idempotency-key': call.idempotencyKey ?? (await randomUUID()) };
}
/** isTokenRefused reports whether a new access token helps. */
export function isTokenRefused(error) {
    return error.code === 'TOKEN_EXPIRED' || error.code === 'TOKEN_INVALID';
}
/** urlOf returns the URL of a call. A list has `[]` behind its name, and undefined is left out. */
export function urlOf(baseUrl, path, query = {}) {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
        const isList = Array.isArray(value);
        for (const one of isList ? value : [value]) {
            if (one !== undefined && one !== null)
                parameters.append(isList ? `${name}[]` : name, String(one));
        }
    }
    const text = parameters.toString();
    return baseUrl + path + (text && `?${text}`);
}
