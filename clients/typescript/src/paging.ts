/** A page of a list. */
export interface Page<Row> {
  rows: Row[]
  /** The cursor of the next page; empty on the last page. */
  cursor: string
}

/** What a list operation returns: an object with the rows or messages of a page, or the rows themselves. */
type Rows<Data> = Data extends readonly (infer Row)[]
  ? Row
  : Data extends { rows: readonly (infer Row)[] }
    ? Row
    : Data extends { messages: readonly (infer Row)[] }
      ? Row
      : never

/** fetchPage requests a page. */
export type FetchPage<Data> = (page: { cursor?: string; limit?: number }) => Promise<{ data: Data; headers: Headers }>

/**
 * A list that is read when it is used. Iterate over it for all rows, page by page, or
 * await it for the response of one call.
 *
 * ```js
 * for await (const follower of moderato.channels.listFollowers()) console.log(follower.displayName)
 * const { rows } = await moderato.channels.listFollowers({ limit: 5 })
 * ```
 */
export class List<Data> implements PromiseLike<Data>, AsyncIterable<Rows<Data>> {
  readonly #fetch: FetchPage<Data>
  readonly #limit: number
  #response: Promise<Data> | undefined

  /** @internal */
  constructor(fetch: FetchPage<Data>, limit: number) {
    this.#fetch = fetch
    this.#limit = limit
  }

  /** Makes one call, and returns its response. */
  then<Result = Data, Failure = never>(
    resolved?: ((data: Data) => Result | PromiseLike<Result>) | null,
    rejected?: ((reason: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Result | Failure> {
    this.#response ??= this.#fetch({}).then(({ data }) => data)
    return this.#response.then(resolved, rejected)
  }

  /** Iterates over the pages. */
  async *pages(): AsyncGenerator<Page<Rows<Data>>, void, undefined> {
    let cursor: string | undefined
    do {
      const { data, headers } = await this.#fetch({ limit: this.#limit, ...(cursor && { cursor }) })
      cursor = nextCursor(data, headers)
      yield { rows: rowsOf(data), cursor }
    } while (cursor !== '')
  }

  /** Iterates over all rows. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Rows<Data>, void, undefined> {
    for await (const page of this.pages()) yield* page.rows
  }
}

function rowsOf<Data>(data: Data): Rows<Data>[] {
  if (Array.isArray(data)) return data as Rows<Data>[]
  const page = data as { rows?: Rows<Data>[]; messages: Rows<Data>[] }
  return page.rows ?? page.messages
}

/** nextCursor finds the cursor in the data or, if these are the rows themselves, in the header `Link`. */
function nextCursor(data: unknown, headers: Headers): string {
  if (!Array.isArray(data)) return (data as { pagination: { cursor: string } }).pagination.cursor
  const next = /<([^>]*)>; *rel="next"/.exec(headers.get('link') ?? '')?.[1]
  return next === undefined ? '' : (new URL(next, 'http://localhost').searchParams.get('cursor') ?? '')
}
