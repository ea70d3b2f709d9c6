import type { LogEntry } from '@moderato-live/client'
import { useState } from 'preact/hooks'
import { formatNumber } from '../format'
import type { Filters } from '../model/logfilter'
import { Time } from '../ui/basics'
import { causeOf, verbOf } from './logline'
import { LogRow } from './logrow'

/** LogGroup shows entries of the same kind as one, which opens. */
export function LogGroup({ group, canUndo, onFilter }: { group: LogEntry[]; canUndo?: ReadonlySet<string>; onFilter?: (change: Partial<Filters>) => void }) {
  const [isOpen, setOpen] = useState(false)
  const first = group[0]!
  const row = (entry: LogEntry) => <LogRow key={entry.id} entry={entry} canUndo={canUndo?.has(entry.id) ?? false} {...(onFilter && { onFilter })} />
  if (group.length === 1) return row(first)
  const { moderator, batchId } = first
  return (
    <li>
      <Time at={first.createdAt} />
      <details class="grow" onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <strong>{verbOf(first.type)}</strong>: {formatNumber(group.length)} {batchId ? 'users' : 'times'}{moderator && <>, by <bdi>{moderator.displayName}</bdi></>}
          {batchId && onFilter && <> <button type="button" class="chip accent link-chip" title="Show the batch" onClick={() => onFilter({ batchId })}>{causeOf(first)}</button></>}
        </summary>
        {isOpen && <ul class="entries">{group.map(row)}</ul>}
      </details>
    </li>
  )
}
