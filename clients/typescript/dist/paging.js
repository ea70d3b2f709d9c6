/**
 * A list that is read when it is used. Iterate over it for all rows, page by page, or
 * await it for the response of one call.
 *
 * ```js
 * for await (const follower of moderato.channels.listFollowers()) console.log(follower.displayName)
 * const { rows } = await moderato.channels.listFollowers({ limit: 5 })
 * ```
 */
export class List {
    #fetch;
    #limit;
    #response;
    /** @internal */
    constructor(fetch, limit) {
        this.#fetch = fetch;
        this.#limit = limit;
    }
    /** Makes one call, and returns its response. */
    then(resolved, rejected) {
        this.#response ??= this.#fetch({}).then(({ data }) => data);
        return this.#response.then(resolved, rejected);
    }
    /** Iterates over the pages. */
    async *pages() {
        let cursor;
        do {
            const { data, headers } = await this.#fetch({ limit: this.#limit, ...(cursor && { cursor }) });
            cursor = nextCursor(data, headers);
            yield { rows: rowsOf(data), cursor };
        } while (cursor !== '');
    }
    /** Iterates over all rows. */
    async *[Symbol.asyncIterator]() {
        for await (const page of this.pages())
            yield* page.rows;
    }
}
function rowsOf(data) {
    if (Array.isArray(data))
        return data;
    const page = data;
    return page.rows ?? page.messages;
}
/** nextCursor finds the cursor in the data or, if these are the rows themselves, in the header `Link`. */
function nextCursor(data, headers) {
    if (!Array.isArray(data))
        return data.pagination.cursor;
    const next = /<([^>]*)>; *rel="next"/.exec(headers.get('link') ?? '')?.[1];
    return next === undefined ? '' : (new URL(next, 'http://localhost').searchParams.get('cursor') ?? '');
}
