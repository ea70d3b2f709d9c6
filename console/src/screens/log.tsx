import { useRef, useState } from 'preact/hooks'
import { now } from '../api/clock'
import { useDesk, useReadOnly } from '../desk'
import { plural } from '../format'
import { groupEntries } from '../model/away'
import { batchOf, filtersOf, logQueryOf, newEntries, undoable, type Filters } from '../model/logfilter'
import { useStored } from '../model/store'
import { go, type Route } from '../route'
import { Button, Empty, Note, Problem, Progress } from '../ui/basics'
import { Icon } from '../ui/icon'
import { useList } from '../ui/load'
import { Page } from '../ui/page'
import { BatchHead } from './batches'
import { LogFilters } from './logfilters'
import { LogGroup } from './logrow'
import { RevertDialog } from './revert'

const pageSize = 100

/** Log lists what was done in the channel, newest first. Its filters stand in the address. */
export function Log({ route }: { route: Route }) {
  const { client, channel, store } = useDesk()
  const recent = useStored(store, (state) => state.recent)
  const readOnly = useReadOnly()
  const filters = filtersOf(route.query)
  const [reverting, setReverting] = useState(false)
  const readAt = useRef(now())
  const list = useList((cursor, signal) => {
    // All pages are of the time at which the first was read.
    if (!cursor) readAt.current = now()
    const query = { ...logQueryOf(filters, channel.id, readAt.current), limit: pageSize, ...(cursor && { cursor }) }
    return client.moderation.listLog(query, { signal })
  }, [channel.id, JSON.stringify(filters)])
  const { rows } = list
  const fresh = rows ? newEntries(filters, recent, rows, readAt.current) : 0
  const canUndo = undoable(rows ?? [], now())
  // A batch is one line, unless the log shows nothing else.
  const groups = groupEntries(rows ?? []).flatMap((group) => (batchOf(group[0]!) && !filters.batchId ? [group] : group.map((entry) => [entry])))
  const set = (change: Partial<Filters>): void => go({ channel: channel.username, screen: 'log', query: { ...filters, ...change } }, true)
  return (
    <Page title="Log" beside={channel.role === 'owner' && !readOnly && <Button icon="undo" onClick={() => setReverting(true)}>Revert a moderator</Button>}>
      {readOnly && <Note kind="danger">You no longer moderate this channel, so its log is not up to date.</Note>}
      <LogFilters filters={filters} onChange={set} />
      {filters.batchId && <BatchHead key={filters.batchId} batchId={filters.batchId} onChanged={list.reload} />}
      <section class="box" aria-label="Entries">
        <div role="status">
          {fresh > 0 &&
            <button type="button" class="fresh" onClick={() => (list.reload(), document.querySelector('.page')!.scrollTo(0, 0))}>
              <Icon name="refresh" />{fresh >= 100 ? '100 or more new entries' : plural(fresh, 'new entry', 'new entries')}
            </button>}
        </div>
        {list.error ? <div class="inside"><Problem error={list.error} onRetry={list.reload} /></div> : null}
        {!rows && list.slow && <Progress />}
        {rows?.length === 0 && list.more && <p class="inside muted">Nothing found so far.</p>}
        {rows?.length === 0 && !list.more && <Empty icon="log" title="No entries">
          {Object.values(filters).some(Boolean) ? filters.query ? 'Nothing matches. A search finds names that begin with the text.' : 'Nothing matches these filters.' : 'What moderators do appears here.'}
        </Empty>}
        {rows && rows.length > 0 && <ul class="entries">{groups.map((group) => <LogGroup key={group[0]!.id} group={group} canUndo={readOnly ? new Set() : canUndo} onFilter={set} />)}</ul>}
        {list.more && <div class="inside"><Button busy={list.loadingMore} onClick={list.more}>{rows?.length === 0 ? 'Search on' : 'Earlier entries'}</Button></div>}
      </section>
      {reverting && <RevertDialog moderatorId={filters.by} onClose={() => setReverting(false)} />}
    </Page>
  )
}
