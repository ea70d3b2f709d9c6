import type { Event } from '@moderato-live/client'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useDesk } from '../desk'

/** What an event does to a list: it ends a row, or makes the list out of date. */
export interface Change {
  key: string
  ends: boolean
}

export interface Changes {
  /** The rows that are no longer true. They stay where they are, so that nobody hits another row. */
  ended: ReadonlySet<string>
  /** What else changed since the list was read. */
  others: ReadonlySet<string>
  end: (keys: string[]) => void
}

/** useChanges follows what happens to the rows of a list since it was read. */
export function useChanges(changeOf: (event: Event) => Change | undefined, read: unknown): Changes {
  const { store } = useDesk()
  const [state, setState] = useState<Omit<Changes, 'end'>>({ ended: new Set(), others: new Set() })
  const seen = useRef(store.state.recent[0]?.metadata.messageId)
  useEffect(() => setState({ ended: new Set(), others: new Set() }), [read])
  useEffect(() => store.subscribe(() => {
    const { recent } = store.state
    const known = recent.findIndex((event) => event.metadata.messageId === seen.current)
    if (known === 0 || recent.length === 0) return
    const news = (known < 0 ? recent : recent.slice(0, known)).map(changeOf).reverse()
    // Of more events than the page keeps, nobody knows what they changed.
    if (known < 0 && seen.current !== undefined) news.push({ key: '', ends: false })
    seen.current = recent[0]!.metadata.messageId
    if (news.some(Boolean)) setState((before) => news.reduce(apply, before))
  }), [store])
  return { ...state, end: (keys) => setState((before) => keys.reduce((all, key) => apply(all, { key, ends: true }), before)) }
}

function apply({ ended, others }: Omit<Changes, 'end'>, change: Change | undefined): Omit<Changes, 'end'> {
  if (!change) return { ended, others }
  const [to, from] = change.ends ? [ended, others] : [others, ended]
  const [more, less] = [new Set(to).add(change.key), new Set(from)]
  less.delete(change.key)
  return change.ends ? { ended: more, others: less } : { ended: less, others: more }
}
