import { useCallback, useEffect, useRef, useState } from 'preact/hooks'

/** After how long a wait is shown. What is faster does not flicker. */
export const patience = 300

export interface Loaded<Data> {
  data: Data | undefined
  error: unknown
  /** Whether the page waits for the server for longer than 300 ms. */
  slow: boolean
  reload: () => void
}

/** useLoad reads something when a component appears, and again when the inputs change. */
export function useLoad<Data>(read: (signal: AbortSignal) => Promise<Data>, inputs: readonly unknown[]): Loaded<Data> {
  const [result, setResult] = useState<{ data?: Data; error?: unknown }>({})
  const [slow, setSlow] = useState(false)
  const [attempt, setAttempt] = useState(0)
  useEffect(() => {
    const abort = new AbortController()
    const timer = setTimeout(() => setSlow(true), patience)
    const done = (next: { data?: Data; error?: unknown }): void => {
      if (abort.signal.aborted) return
      clearTimeout(timer)
      setSlow(false)
      setResult(next)
    }
    read(abort.signal).then((data) => done({ data }), (error: unknown) => done({ error }))
    return () => (abort.abort(), clearTimeout(timer))
  }, [...inputs, attempt])
  return { data: result.data, error: result.error, slow, reload: useCallback(() => setAttempt((n) => n + 1), []) }
}

/** After how long is read again what could not be read again. */
const retryAfter = 5_000

/**
 * useKept keeps what was read last while it cannot be read again, so that a form that shows it stays
 * as well. The inputs of what is loaded must not change whose data it is.
 */
export function useKept<Data>(loaded: Loaded<Data>): Loaded<Data> {
  const last = useRef(loaded.data)
  last.current = loaded.data ?? last.current
  useEffect(() => {
    if (!loaded.error || last.current === undefined) return
    const timer = setTimeout(loaded.reload, retryAfter)
    return () => clearTimeout(timer)
  }, [loaded.error])
  return { ...loaded, data: last.current }
}

/** How many pages without rows are passed over until the user decides to search on. */
const maxEmptyPages = 20

interface PageOf<Row> {
  rows: Row[]
  pagination: { cursor: string }
}

export interface Listed<Row> extends Omit<Loaded<Row[]>, 'data'> {
  rows: Row[] | undefined
  /** Reads the next page; undefined if there is none. */
  more: (() => void) | undefined
  loadingMore: boolean
}

/** useList reads a list page by page. A search can have pages without rows, which it passes over. */
export function useList<Row>(read: (cursor: string | undefined, signal: AbortSignal) => PromiseLike<PageOf<Row>>, inputs: readonly unknown[]): Listed<Row> {
  const [extra, setExtra] = useState<{ rows: Row[]; cursor: string } | undefined>()
  const [loadingMore, setLoadingMore] = useState(false)
  const [moreError, setMoreError] = useState<unknown>()
  const generation = useRef(0)
  const readOn = async (cursor: string | undefined, signal: AbortSignal): Promise<PageOf<Row>> => {
    for (let pages = 1; ; pages++) {
      const page = await read(cursor, signal)
      if (page.rows.length > 0 || !page.pagination.cursor || pages === maxEmptyPages) return page
      cursor = page.pagination.cursor
    }
  }
  const first = useLoad((signal) => {
    generation.current++
    setExtra(undefined)
    setMoreError(undefined)
    return readOn(undefined, signal)
  }, inputs)
  const cursor = extra?.cursor ?? first.data?.pagination.cursor
  const more = async (): Promise<void> => {
    const own = generation.current
    setLoadingMore(true)
    setMoreError(undefined)
    try {
      const page = await readOn(cursor, new AbortController().signal)
      if (own === generation.current) setExtra({ rows: [...(extra?.rows ?? []), ...page.rows], cursor: page.pagination.cursor })
    } catch (error) {
      setMoreError(error)
    } finally {
      setLoadingMore(false)
    }
  }
  return {
    rows: first.data && [...first.data.rows, ...(extra?.rows ?? [])],
    error: first.error ?? moreError, slow: first.slow, reload: first.reload,
    more: cursor ? () => void more() : undefined, loadingMore,
  }
}
