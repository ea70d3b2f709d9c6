import { APIConnectionError, type ModeratoError } from './errors.js'

/** The longest `Retry-After` that is waited for, in seconds. */
const patience = 60

/**
 * retryDelay returns after how many milliseconds a failed call is repeated, or undefined
 * if it must not be repeated. Attempts are counted from 0.
 *
 * A call that the server refused before it did anything is always repeated. Any other
 * call may have had its effect, so it is repeated only if a repetition changes nothing.
 */
export function retryDelay(error: ModeratoError, attempt: number, isIdempotent: boolean): number | undefined {
  const isRefused = error.code === 'OVERLOADED' || (error.status === 429 && error.code !== 'STREAM_LIMIT_REACHED')
  const isTransient = error instanceof APIConnectionError || (error.status ?? 0) >= 500
  if (!isRefused && !(isTransient && isIdempotent)) return undefined
  if (error.retryAfter === undefined) return backoff(attempt)
  return error.retryAfter > patience ? undefined : error.retryAfter * 1000 + jitter(250)
}

/** backoff returns a delay in milliseconds that doubles with each attempt, up to 30 s. */
export function backoff(attempt: number): number {
  const longest = Math.min(30_000, 500 * 2 ** attempt)
  return longest / 2 + jitter(longest / 2)
}

const jitter = (most: number): number => Math.random() * most

/** sleep waits. It ends early, with the signal's reason, if the signal is aborted. */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const abort = (): void => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, milliseconds)
    signal?.addEventListener('abort', abort, { once: true })
  })
}
