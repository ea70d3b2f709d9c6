/** Deadline aborts its signal when it passes, or when another signal is aborted. */
export declare class Deadline {
    #private;
    constructor(milliseconds: number, outer?: AbortSignal);
    get signal(): AbortSignal;
    /** extend lets the deadline begin again. */
    extend(milliseconds: number): void;
    /** rest stops the clock until the deadline is extended. */
    rest(): void;
    /** end releases the timer, and what is still being received. */
    end(): void;
    /** failure returns what to report when an operation with the signal failed. */
    failure(error: unknown): unknown;
}
