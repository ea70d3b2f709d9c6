/** A page of a list. */
export interface Page<Row> {
    rows: Row[];
    /** The cursor of the next page; empty on the last page. */
    cursor: string;
}
/** What a list operation returns: an object with the rows or messages of a page, or the rows themselves. */
type Rows<Data> = Data extends readonly (infer Row)[] ? Row : Data extends {
    rows: readonly (infer Row)[];
} ? Row : Data extends {
    messages: readonly (infer Row)[];
} ? Row : never;
/** fetchPage requests a page. */
export type FetchPage<Data> = (page: {
    cursor?: string;
    limit?: number;
}) => Promise<{
    data: Data;
    headers: Headers;
}>;
/**
 * A list that is read when it is used. Iterate over it for all rows, page by page, or
 * await it for the response of one call.
 *
 * ```js
 * for await (const follower of moderato.channels.listFollowers()) console.log(follower.displayName)
 * const { rows } = await moderato.channels.listFollowers({ limit: 5 })
 * ```
 */
export declare class List<Data> implements PromiseLike<Data>, AsyncIterable<Rows<Data>> {
    #private;
    /** @internal */
    constructor(fetch: FetchPage<Data>, limit: number);
    /** Makes one call, and returns its response. */
    then<Result = Data, Failure = never>(resolved?: ((data: Data) => Result | PromiseLike<Result>) | null, rejected?: ((reason: unknown) => Failure | PromiseLike<Failure>) | null): Promise<Result | Failure>;
    /** Iterates over the pages. */
    pages(): AsyncGenerator<Page<Rows<Data>>, void, undefined>;
    /** Iterates over all rows. */
    [Symbol.asyncIterator](): AsyncGenerator<Rows<Data>, void, undefined>;
}
export {};
