import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useDesk } from '../desk'
import { formatNumber, plural } from '../format'
import { go, parseRoute, type Route } from '../route'
import { Button, Problem, Progress, nameColor } from '../ui/basics'
import { useKeys } from '../ui/keys'
import { useList, type Listed } from '../ui/load'
import { useChanges, type Changes } from './changes'

/** ListedUser is a row of a list of users. */
export interface ListedUser {
  key: string
  id: string
  displayName: string
  slug: string
}

export interface Column<Row> {
  name: string
  cell: (row: Row) => ComponentChildren
}

/** useSelection selects among the rows that are shown; rows that went are not selected. */
function useSelection(shown: string[]) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const anchor = useRef('')
  const toggle = (key: string, withRange: boolean): void => {
    const next = new Set(chosen)
    const [from, to] = [shown.indexOf(anchor.current), shown.indexOf(key)].sort((a, b) => a - b) as [number, number]
    const isOn = !chosen.has(key)
    for (const one of withRange && from >= 0 ? shown.slice(from, to + 1) : [key]) next[isOn ? 'add' : 'delete'](one)
    anchor.current = key
    setChosen(next)
  }
  return { keys: new Set(shown.filter((key) => chosen.has(key))), toggle, all: (on: boolean) => setChosen(new Set(on ? shown : [])) }
}

/** useFilters changes filters, which stand in the address. A search that ends after the user left changes nothing. */
export function useFilters({ screen, part }: Route): (change: Record<string, string>) => void {
  const { channel } = useDesk()
  return (change) => {
    const now = parseRoute(location.hash)
    if (now.screen !== screen || (now.part || part) !== part || now.channel.toLowerCase() !== channel.username.toLowerCase()) return
    go({ channel: channel.username, screen, part, query: { ...Object.fromEntries(now.query), ...change } }, true)
  }
}

interface Props<Row> {
  users: Users<Row>
  /** What a row is: "ban". */
  noun: string
  columns: Column<Row>[]
  /** What a phone shows of a row beside the name. */
  summary: (row: Row) => ComponentChildren
  /** What became of an ended row: "Unbanned". */
  endedWord: string
  /** Whether something can be done with many rows. */
  selectable: boolean
  empty: ComponentChildren
  children?: ComponentChildren
}

/** UserList is a list of users, page by page, in which many can be selected. The children are what to do with them. */
export function UserList<Row extends ListedUser>({ users: { list, changes, selection }, noun, columns, summary, endedWord, selectable, empty, children }: Props<Row>) {
  const { openCard } = useDesk()
  const table = useRef<HTMLTableElement>(null)
  useListKeys(table, openCard)
  const { rows } = list
  const waiting = list.slow && <Progress />
  if (list.error && !rows) return <Problem error={list.error} onRetry={list.reload} />
  if (!rows) return <>{waiting}</>
  const inForce = rows.filter((row) => !changes.ended.has(row.key)).length
  const count = selection.keys.size
  return (
    <>
      <div class="row wrap list-head">
        <p class="muted" role="status">{plural(inForce, noun)}{list.more && ' shown, and there are more'}</p>
        {changes.others.size > 0 && <Button little icon="refresh" onClick={list.reload}>{changes.others.has('') ? 'The list changed. Read it again' : `${plural(changes.others.size, 'change')} since. Read it again`}</Button>}
      </div>
      {waiting}
      {list.error && <Problem error={list.error} onRetry={list.more ?? list.reload} />}
      {rows.length === 0 ? (list.more ? <p class="muted">Nobody found so far.</p> : empty) : (
        <div class={`box ${list.slow ? 'waiting' : ''}`}>
          <table class="table user-table" ref={table}>
            <thead>
              <tr>
                {selectable && <td class="tick"><Tick label="Select all shown" checked={count > 0 && count === inForce} some={count > 0} onToggle={() => selection.all(count < inForce)} /></td>}
                <th scope="col">User</th>
                {columns.map(({ name }) => <th scope="col" class="wide">{name}</th>)}
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => {
                const ended = changes.ended.has(row.key)
                return (
                  <tr key={row.key} class={ended ? 'ended' : ''} aria-selected={selection.keys.has(row.key)}>
                    {selectable && <td class="tick"><Tick label={`Select ${row.displayName}`} id={row.id} disabled={ended} checked={selection.keys.has(row.key)} onToggle={(shift) => selection.toggle(row.key, shift)} /></td>}
                    <th scope="row">
                      <button type="button" class={`user-link ${nameColor(row.id)}`} data-user={row.id} onClick={() => openCard(row.id)}><bdi>{row.displayName}</bdi></button>
                      {ended && <span class="chip">{endedWord}</span>}
                      <span class="muted small slug">@{row.slug}</span>
                      <span class="small narrow-only">{summary(row)}</span>
                    </th>
                    {columns.map(({ cell }) => <td class="wide">{cell(row)}</td>)}
                  </tr>
                )
              })}
            </tbody>
          </table>
        </div>
      )}
      {list.more && <Button class="more-button" busy={list.loadingMore} onClick={list.more}>{rows.length === 0 ? 'Search on' : 'More'}</Button>}
      {selectable && count > 0 && (
        <div class="bulk-bar" role="group" aria-label="What to do with the selected">
          <strong>{formatNumber(count)} selected</strong>
          {children}
          <Button kind="plain" onClick={() => selection.all(false)}>Clear</Button>
        </div>
      )}
    </>
  )
}

function Tick({ label, id, checked, some = false, disabled = false, onToggle }: { label: string; id?: string; checked: boolean; some?: boolean; disabled?: boolean; onToggle: (shift: boolean) => void }) {
  return (
    <label class="tick-box">
      <input type="checkbox" aria-label={label} data-user={id} checked={checked} disabled={disabled} ref={(input) => void (input && (input.indeterminate = some && !checked))} onClick={(event) => onToggle(event.shiftKey)} />
    </label>
  )
}

/** useListKeys lets J and K walk through the rows, where Space selects and Enter opens the card. */
function useListKeys(table: { current: HTMLTableElement | null }, openCard: (userId: string) => void): void {
  const walk = (by: number): void => {
    const rows = [...(table.current?.tBodies[0]?.rows ?? [])]
    const at = rows.findIndex((row) => row.contains(document.activeElement))
    const next = rows[at < 0 ? 0 : at + by]?.querySelector<HTMLElement>('[data-user]:not(:disabled)')
    next?.focus()
    next?.scrollIntoView({ block: 'nearest' })
  }
  useKeys({
    j: () => walk(1), k: () => walk(-1),
    Enter: () => {
      const { activeElement } = document
      if (table.current?.contains(activeElement) && activeElement instanceof HTMLElement && activeElement.dataset.user) openCard(activeElement.dataset.user)
    },
  })
}

export interface Users<Row> {
  list: Listed<Row>
  changes: Changes
  selection: ReturnType<typeof useSelection>
  selected: Row[]
}

/** useUserList reads a list of users, follows its changes, and keeps which of them are selected. */
export function useUserList<Row extends ListedUser>(read: Parameters<typeof useList<Row>>[0], inputs: readonly string[], changeOf: Parameters<typeof useChanges>[0]): Users<Row> {
  const [reads, setReads] = useState(0)
  const filters = inputs.join('\n')
  const list = useList(read, [filters, reads])
  const changes = useChanges(changeOf, `${reads}\n${filters}`)
  const rows = list.rows ?? []
  const selection = useSelection(rows.filter((row) => !changes.ended.has(row.key)).map((row) => row.key))
  useEffect(() => selection.all(false), [filters])
  return { list: { ...list, reload: () => setReads((n) => n + 1) }, changes, selection, selected: rows.filter((row) => selection.keys.has(row.key)) }
}
