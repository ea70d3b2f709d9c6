import { type ModeratoError } from './errors.js';
/**
 * retryDelay returns after how many milliseconds a failed call is repeated, or undefined
 * if another attempt is of no use. Attempts are counted from 0.
 *
 * The call must be a read or have an idempotency key, because the failed attempt may have
 * had its effect.
 */
export declare function retryDelay(error: ModeratoError, attempt: number): number | undefined;
/** backoff returns a delay in milliseconds that doubles with each attempt, up to 30 s. */
export declare function backoff(attempt: number): number;
/** sleep waits. It ends early, with the signal's reason, if the signal is aborted. */
export declare function sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
