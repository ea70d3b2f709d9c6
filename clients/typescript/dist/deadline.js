import { APIConnectionError } from './errors.js';
/** Deadline aborts its signal when it passes, or when another signal is aborted. */
export class Deadline {
    #controller = new AbortController();
    #outer;
    #timer;
    #abort = () => this.#controller.abort(this.#outer?.reason);
    constructor(milliseconds, outer) {
        this.#outer = outer;
        if (outer?.aborted)
            this.#abort();
        outer?.addEventListener('abort', this.#abort, { once: true });
        this.extend(milliseconds);
    }
    get signal() {
        return this.#controller.signal;
    }
    /** extend lets the deadline begin again. */
    extend(milliseconds) {
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => this.#controller.abort(new APIConnectionError(`The server sent nothing for ${milliseconds} ms.`, { code: 'TIMEOUT' })), milliseconds);
    }
    /** rest stops the clock until the deadline is extended. */
    rest() {
        clearTimeout(this.#timer);
    }
    /** end releases the timer, and what is still being received. */
    end() {
        clearTimeout(this.#timer);
        this.#outer?.removeEventListener('abort', this.#abort);
        this.#controller.abort();
    }
    /** failure returns what to report when an operation with the signal failed. */
    failure(error) {
        if (this.signal.aborted)
            return this.signal.reason;
        return new APIConnectionError('The server cannot be reached.', { code: 'CONNECTION_FAILED', cause: error });
    }
}
