import type { BanBatch, Event } from '@moderato-live/client'
import { useEffect, useState } from 'preact/hooks'
import { actions } from '../actions'
import { now } from '../api/clock'
import { useDesk, useReadOnly } from '../desk'
import { formatNumber, plural } from '../format'
import { useStored } from '../model/store'
import { hrefOf } from '../route'
import { Button, Check, Empty, Problem, Progress, Remaining, Time } from '../ui/basics'
import { Confirm } from '../ui/dialog'
import { Icon } from '../ui/icon'
import { type Listed, useList, useLoad } from '../ui/load'
import { useIsOver } from './raidpreview'

/** For how long the messages of a batch can be restored. */
const restorable = 86_400_000
const refreshInterval = 5000
const pageSize = 20

/** useBatches reads the batches of the channel. The first page is read again and again: a sweep goes on, and others undo. */
export function useBatches(changed: unknown, onRead: (rows: readonly BanBatch[]) => void): Listed<BanBatch> {
  const { client, channel } = useDesk()
  const read = async (cursor?: string, signal?: AbortSignal) => {
    const page = await client.moderation.listBanBatches({ channelId: channel.id, limit: pageSize, ...(cursor && { cursor }) }, { signal })
    onRead(page.rows)
    return page
  }
  const list = useList(read, [channel.id, changed])
  const isOnePage = (list.rows?.length ?? 0) <= pageSize
  useEffect(() => {
    const refresh = (): void => (isOnePage ? list.reload() : void read().catch(() => undefined)) // the pages that the user asked for stay
    const timer = setInterval(() => !document.hidden && refresh(), refreshInterval)
    return () => clearInterval(timer)
  }, [isOnePage, list.reload])
  return list
}

/** Batches lists who banned many users at once. */
export function Batches({ list, rows, onUndone }: { list: Listed<BanBatch>; rows: readonly BanBatch[] | undefined; onUndone: (batchId: string) => void }) {
  const { reload } = list
  return (
    <section class="box" aria-label="Batches">
      <header><h2 class="grow">Batches of bans</h2><Button little kind="plain" icon="refresh" onClick={reload}>Refresh</Button></header>
      {list.error ? <div class="inside"><Problem error={list.error} onRetry={reload} /></div> : null}
      {!list.rows && list.slow && <Progress />}
      {list.rows?.length === 0 && <Empty icon="raid" title="No batches yet">Sweeps and lists of bans appear here, and can be undone here.</Empty>}
      {rows && rows.length > 0 && <BatchRows rows={rows} onUndone={onUndone} />}
      {list.more && <div class="inside"><Button busy={list.loadingMore} onClick={list.more}>More</Button></div>}
    </section>
  )
}

export function BatchRows({ rows, onUndone }: { rows: readonly BanBatch[]; onUndone: (batchId: string) => void }) {
  return <ul class="entries">{rows.map((batch) => <BatchRow key={batch.batchId} batch={batch} onUndone={() => onUndone(batch.batchId)} />)}</ul>
}

function BatchRow({ batch, onUndone }: { batch: BanBatch; onUndone: () => void }) {
  const { channel } = useDesk()
  const readOnly = useReadOnly()
  const [asked, setAsked] = useState(false)
  const query = { batchId: batch.batchId }
  return (
    <li class="batch">
      <Time at={batch.createdAt} />
      <div class="grow user-text">
        <p><strong>{plural(batch.bannedCount, 'user')} banned</strong> by <bdi>{batch.bannedBy.displayName}</bdi>
          {batch.stillBannedCount < batch.bannedCount && <>, {batch.stillBannedCount ? formatNumber(batch.stillBannedCount) : 'none'} still banned</>}
        </p>
        <p class="muted small">{batch.reason ? <bdi>“{batch.reason}”</bdi> : 'No reason given'}{batch.stillBannedCount > 0 && <> · {batch.expiresAt ? <>ends in <Remaining until={batch.expiresAt} /></> : 'permanent'}</>}</p>
      </div>
      <div class="row wrap">
        {batch.afterglowEndsAt && <Afterglow until={batch.afterglowEndsAt} />}
        {batch.stillBannedCount > 0 && <a class="button little plain" href={hrefOf({ channel: channel.username, screen: 'people', part: 'bans', query })}>Users</a>}
        <a class="button little plain" href={hrefOf({ channel: channel.username, screen: 'log', query })}>Log</a>
        {!readOnly && (batch.stillBannedCount > 0 || batch.afterglowEndsAt) && <Button little icon="undo" onClick={() => setAsked(true)}>Undo</Button>}
      </div>
      {asked && <UndoBatch batch={batch} onClose={() => setAsked(false)} onUndone={onUndone} />}
    </li>
  )
}

export function Afterglow({ until }: { until: string }) {
  const isOver = useIsOver(until)
  return isOver ? <span class="chip">Afterglow over</span> : <span class="chip warn">Afterglow: <Remaining until={until} /></span>
}

/** How long the page waits for further events of a batch before it reads the batches. */
const settling = 1000

/**
 * AfterglowChips tell who still bans users by an afterglow, which no event tells. The batches are
 * read when bans of a batch were made or lifted, and from time to time while an afterglow runs.
 */
export function AfterglowChips() {
  const { client, channel, store } = useDesk()
  const latest = useStored(store, ({ recent, connection }) => `${recent.find(isOfBatch)?.metadata.messageId} ${connection.state === 'live'}`)
  const { data, reload } = useLoad((signal) => Promise.resolve(client.moderation.listBanBatches({ channelId: channel.id, limit: pageSize }, { signal })), [channel.id, useSettled(latest, settling)])
  const running = data?.rows.filter(({ afterglowEndsAt }) => afterglowEndsAt && Date.parse(afterglowEndsAt) > now()) ?? []
  const isRunning = running.length > 0
  useEffect(() => {
    if (!isRunning) return
    const timer = setInterval(() => !document.hidden && reload(), refreshInterval)
    return () => clearInterval(timer)
  }, [isRunning])
  return <>{running.map(({ batchId, bannedBy, afterglowEndsAt }) =>
    <li key={batchId}><a class="chip danger link-chip" href={hrefOf({ channel: channel.username, screen: 'raid' })}>
      <Icon name="raid" /><span>Afterglow of <bdi>{bannedBy.displayName}</bdi>: <Remaining until={afterglowEndsAt!} /></span></a></li>)}</>
}

const isOfBatch = ({ type, payload }: Event): boolean => (type === 'channel.ban' || type === 'channel.unban') && !!payload.batchId

/** useSettled returns a value once it has not changed for a time. */
function useSettled<Value>(value: Value, milliseconds: number): Value {
  const [settled, set] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => set(value), milliseconds)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}

/** UndoBatch asks before it lifts the bans of a batch, or ends an afterglow that has banned nobody yet. */
export function UndoBatch({ batch, onClose, onUndone }: { batch: BanBatch; onClose: () => void; onUndone: () => void }) {
  const { client, channel } = useDesk()
  const isRestorable = now() - Date.parse(batch.createdAt) < restorable
  const [restore, setRestore] = useState(isRestorable)
  const [busy, setBusy] = useState(false)
  const users = plural(batch.stillBannedCount, 'user')
  const what = batch.stillBannedCount > 0 ? `Unban ${users}` : 'End the afterglow'
  const undo = async (): Promise<void> => {
    setBusy(true)
    const result = await actions.run(`Undoing the batch of ${users}`, `Undid the batch of ${users}`, (options) => client.moderation.undoBanBatch({ channelId: channel.id, batchId: batch.batchId, restoreMessages: restore }, options))
    onClose()
    if (!result) return
    actions.wasUndone(batch.batchId)
    onUndone()
  }
  return (
    <Confirm title={`${what}?`} action={what} busy={busy} onConfirm={() => void undo()} onClose={onClose}>
      <p>{batch.stillBannedCount > 0 && <>{users} of this batch can chat again. </>}A sweep that is in progress ends, and its afterglow too. Users whom somebody banned anew stay banned.</p>
      {isRestorable ? <Check label="Show their messages again" checked={restore} onChange={setRestore} /> : <p class="muted">Their messages stay hidden, because more than 24 hours have passed.</p>}
    </Confirm>
  )
}

/** How many batches are searched for one. */
const maxSearched = 300

/** BatchHead shows a batch above its entries in the log. */
export function BatchHead({ batchId, onChanged }: { batchId: string; onChanged: () => void }) {
  const { client, channel } = useDesk()
  const { data, reload } = useLoad(async (signal) => {
    let searched = 0
    for await (const row of client.moderation.listBanBatches({ channelId: channel.id }, { signal })) {
      if (row.batchId === batchId) return row
      if (++searched === maxSearched) break
    }
    return undefined
  }, [channel.id, batchId])
  return data ? <ul class="box entries"><BatchRow batch={data} onUndone={() => (reload(), onChanged())} /></ul> : null
}
