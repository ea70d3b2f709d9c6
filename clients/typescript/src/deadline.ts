import { APIConnectionError } from './errors.js'

/** Deadline aborts its signal when it passes, or when another signal is aborted. */
export class Deadline {
  readonly #controller = new AbortController()
  readonly #outer: AbortSignal | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  readonly #abort = (): void => this.#controller.abort(this.#outer?.reason)

  constructor(milliseconds: number, outer?: AbortSignal) {
    this.#outer = outer
    if (outer?.aborted) this.#abort()
    outer?.addEventListener('abort', this.#abort, { once: true })
    this.extend(milliseconds)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** extend lets the deadline begin again. */
  extend(milliseconds: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(
      () => this.#controller.abort(new APIConnectionError(`The server sent nothing for ${milliseconds} ms.`, { code: 'TIMEOUT' })),
      milliseconds,
    )
  }

  /** rest stops the clock until the deadline is extended. */
  rest(): void {
    clearTimeout(this.#timer)
  }

  /** end releases the timer, and what is still being received. */
  end(): void {
    clearTimeout(this.#timer)
    this.#outer?.removeEventListener('abort', this.#abort)
    this.#controller.abort()
  }

  /** failure returns what to report when an operation with the signal failed. */
  failure(error: unknown): unknown {
    if (this.signal.aborted) return this.signal.reason
    return new APIConnectionError('The server cannot be reached.', { code: 'CONNECTION_FAILED', cause: error })
  }
}
