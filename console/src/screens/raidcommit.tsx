import { useEffect, useState } from 'preact/hooks'
import { now } from '../api/clock'
import { useDesk } from '../desk'
import { formatDuration, formatNumber, plural } from '../format'
import { useStored } from '../model/store'
import { afterglowEnd, batchIdOf, type Commit, type Sweep } from '../sweep'
import { Button, Note, Problem } from '../ui/basics'
import { useLoad } from '../ui/load'
import { Afterglow, UndoBatch } from './batches'

/** CommitPanel shows how far a sweep has come, and what can be done about it. */
export function CommitPanel({ sweep, commit, readOnly }: { sweep: Sweep; commit: Commit; readOnly: boolean }) {
  const [asked, setAsked] = useState(false)
  const { state, matched, terms, undone } = commit
  const batchId = batchIdOf(commit)
  const count = Math.max(commit.batch?.bannedCount ?? 0, commit.result?.counts.banned ?? 0)
  return (
    <section class="box" aria-label="Sweep">
      <header>
        <h2 class="grow"><span role="status">{titleOf(commit, count)}</span></h2>
        {terms.afterglowSeconds > 0 && !undone && state !== 'failed' && <Afterglow until={new Date(afterglowEnd(commit)).toISOString()} />}
      </header>
      <div class="inside stack">
        {state === 'busy' && <progress class="bar-progress" max={matched} value={Math.min(count, matched)} aria-label="Users banned" />}
        {state === 'busy' && <p class="muted">The server goes on even if you leave this screen or close the page.</p>}
        {state === 'failed' && <Problem error={commit.error} onRetry={readOnly ? undefined : commit.retry} />}
        {undone && <Note kind="good">Nobody is banned by this sweep any more.</Note>}
        {state === 'done' && !undone && <Outcome commit={commit} count={count} />}
        {state === 'done' && !undone && batchId && <Propagation batchId={batchId} />}
        <div class="row wrap">
          {state !== 'failed' && !undone && !readOnly && <Button icon="undo" disabled={!commit.batch} onClick={() => setAsked(true)}>{state === 'busy' ? 'Stop and undo' : 'Undo'}</Button>}
          {state === 'done' && !undone && !readOnly && <Button icon="refresh" onClick={() => sweep.again()}>Preview again</Button>}
          {state !== 'busy' && <Button kind="main" icon="plus" onClick={() => sweep.close()}>New sweep</Button>}
        </div>
      </div>
      {asked && !undone && <UndoBatch batch={commit.batch!} onClose={() => setAsked(false)} onUndone={() => sweep.wasUndone(batchId!)} />}
    </section>
  )
}

function titleOf({ state, matched, undone, batch, result }: Commit, count: number): string {
  if (undone) return batch?.expiresAt && Date.parse(batch.expiresAt) <= now() ? 'The bans have ended' : 'Sweep undone'
  if (state === 'failed') return 'The server did not confirm the sweep'
  if (state === 'busy') return `Banning: ${formatNumber(count)} of ${plural(matched, 'user')}`
  const still = batch && batch.stillBannedCount < batch.bannedCount ? `, ${batch.stillBannedCount || 'none'} still` : ''
  return (result?.status === 'ENDED' ? `Sweep ended after ${plural(count, 'user')}` : `${plural(count, 'user')} banned`) + still
}

function Outcome({ commit, count }: { commit: Commit; count: number }) {
  const { result } = commit
  if (!result) return null
  const { counts: { banned, extended, alreadyBanned, userNotFound }, status } = result
  const joined = count - banned - extended
  const parts = [
    extended > 0 && `${plural(extended, 'ban')} made longer`, alreadyBanned > 0 && `${formatNumber(alreadyBanned)} were banned already`,
    userNotFound > 0 && `${plural(userNotFound, 'account')} deleted meanwhile`, joined > 0 && `${formatNumber(joined)} joined in the afterglow`,
  ].filter(Boolean)
  return (
    <>
      {status === 'ENDED' && <Note kind="warn">The sweep ended before all users were banned: it was undone, or its author lost the right to ban.</Note>}
      {parts.length > 0 && <p>{parts.join(', ')}.</p>}
      <p class="muted">{commit.terms.afterglowSeconds > 0 ? 'Who wrote between the preview and the bans is not among them.' : 'Who came after the preview is not among them.'} Preview again to see who that is.</p>
    </>
  )
}

const pollInterval = 1000

/** Propagation shows how many chat servers have applied the bans. */
function Propagation({ batchId }: { batchId: string }) {
  const { client, channel, store } = useDesk()
  const [round, setRound] = useState(0)
  // The latest event of the batch. Without one the report is about the latest change of the channel.
  const cursor = useStored(store, (state) => state.recent.find(({ type, payload }) => type === 'channel.ban' && payload.batchId === batchId)?.cursor)
  const { data, error, reload } = useLoad((signal) => client.moderation.getPropagation({ channelId: channel.id, ...(cursor && { cursor }) }, { signal }), [channel.id, cursor, round])
  const isComplete = data && data.appliedCount >= data.subscriberCount
  useEffect(() => {
    if (!data || isComplete) return
    const timer = setTimeout(() => setRound(round + 1), pollInterval)
    return () => clearTimeout(timer)
  }, [data, isComplete, round])
  if (error) return <Problem error={error} onRetry={reload} />
  if (!data) return null
  if (data.subscriberCount === 0) return <p class="muted">The bans hold already: every message is checked by this server.</p>
  return (
    <div class="field">
      <span class="label">How far it has come</span>
      <progress class="bar-progress" max={data.subscriberCount} value={data.appliedCount} aria-label="Chat servers that have applied the bans" />
      <span class="small">{data.appliedCount} of {plural(data.subscriberCount, 'chat server')} {data.appliedCount === 1 ? 'applies' : 'apply'} the bans
        {data.slowestMilliseconds !== null && isComplete && `; the slowest took ${data.slowestMilliseconds < 1000 ? `${data.slowestMilliseconds} ms` : formatDuration(data.slowestMilliseconds / 1000)}`}.
      </span>
    </div>
  )
}
