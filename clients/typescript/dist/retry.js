import { APIConnectionError } from './errors.js';
/** The longest `Retry-After` that is waited for, in seconds. */
const patience = 60;
/**
 * retryDelay returns after how many milliseconds a failed call is repeated, or undefined
 * if another attempt is of no use. Attempts are counted from 0.
 *
 * The call must be a read or have an idempotency key, because the failed attempt may have
 * had its effect.
 */
export function retryDelay(error, attempt) {
    const isEarly = error.code === 'IDEMPOTENCY_KEY_IN_USE' || (error.status === 429 && error.code !== 'STREAM_LIMIT_REACHED');
    const isUnknown = error instanceof APIConnectionError || (error.status ?? 0) >= 500;
    if (!isEarly && !isUnknown)
        return undefined;
    if (error.retryAfter === undefined)
        return backoff(attempt);
    return error.retryAfter > patience ? undefined : error.retryAfter * 1000 + jitter(250);
}
/** backoff returns a delay in milliseconds that doubles with each attempt, up to 30 s. */
export function backoff(attempt) {
    const longest = Math.min(30_000, 500 * 2 ** attempt);
    return longest / 2 + jitter(longest / 2);
}
const jitter = (most) => Math.random() * most;
/** sleep waits. It ends early, with the signal's reason, if the signal is aborted. */
export function sleep(milliseconds, signal) {
    return new Promise((resolve, reject) => {
        if (signal?.aborted)
            return reject(signal.reason);
        const abort = () => {
            clearTimeout(timer);
            reject(signal?.reason);
        };
        const timer = setTimeout(() => {
            signal?.removeEventListener('abort', abort);
            resolve();
        }, milliseconds);
        signal?.addEventListener('abort', abort, { once: true });
    });
}
