import { useEffect, useState } from 'preact/hooks'
import type { MetricsBucket } from '@moderato-live/client'
import { now } from '../api/clock'
import { useDesk } from '../desk'
import { formatFull, formatNumber, formatWhen } from '../format'
import { fill, measures, ranges, spanOf, totalOf, type Range } from '../model/metrics'
import { go, hrefOf, type Route } from '../route'
import { Choices, Problem, Progress } from '../ui/basics'
import { useLoad } from '../ui/load'
import { Plot } from './plot'

/** Plots shows how busy the channel was, one plot for each measure. */
export function Plots({ route }: { route: Route }) {
  const { channel } = useDesk()
  const range = ranges.find(({ seconds }) => String(seconds) === route.query.get('range')) ?? ranges[0]
  const { buckets, error, slow, reload } = useMetrics(range)
  const shown = buckets && measures.filter(({ key }) => key !== 'held' || buckets.some((bucket) => bucket.held > 0))
  const logOf = ({ startedAt }: MetricsBucket, group = '') => ({ channel: channel.username, screen: 'log' as const, query: { group, since: startedAt, until: new Date(Date.parse(startedAt) + range.step * 1000).toISOString() } })
  return (
    <div class="page">
      <div class="page-inside">
        <div class="page-head">
          <h1>Plots</h1>
          <Choices<number> label="Range" values={ranges.map(({ seconds, name }) => [seconds, name] as const)} value={range.seconds} onChange={(seconds) => go({ channel: channel.username, screen: 'plots', query: { range: String(seconds) } }, true)} />
        </div>
        {error ? <Problem error={error} onRetry={reload} /> : null}
        {!buckets && !error && slow && <Progress />}
        {buckets && (
          <>
            <p class="muted small">{range.refresh < 60 ? 'Live. ' : ''}Choose a bar, or a time in the table, to see the log of that time.</p>
            <div class="plots">
              {shown!.map(({ key, name, group }) => (
                <section class="box plot" aria-label={name}>
                  <div class="row"><h2 class="grow">{name}</h2><span class="number muted small">{totalOf(buckets, key)}</span></div>
                  <Plot key={range.seconds} measure={key} name={name} range={range} buckets={buckets} onPick={(bucket) => go(logOf(bucket, group))} />
                </section>
              ))}
            </div>
            <Numbers buckets={buckets} shown={shown!} hrefFor={(bucket) => hrefOf(logOf(bucket))} />
          </>
        )}
      </div>
    </div>
  )
}

function Numbers({ buckets, shown, hrefFor }: { buckets: MetricsBucket[]; shown: typeof measures; hrefFor: (bucket: MetricsBucket) => string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details class="box numbers" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>The same numbers as a table</summary>
      {isOpen && (
        <div class="scroll-x" tabIndex={0} role="group" aria-label="Table">
          <table class="table">
            <thead><tr><th scope="col">From</th>{shown.map(({ name }) => <th scope="col" class="right">{name}</th>)}</tr></thead>
            <tbody>
              {[...buckets].reverse().map((bucket) => (
                <tr key={bucket.startedAt}>
                  <th scope="row"><a href={hrefFor(bucket)} title={formatFull(bucket.startedAt)}>{formatWhen(bucket.startedAt)}</a></th>
                  {shown.map(({ key }) => <td class="right number">{bucket[key] === null ? '–' : formatNumber(bucket[key])}</td>)}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  )
}

/** useMetrics reads the buckets of a range again and again, but not while the page is hidden. */
function useMetrics(range: Range) {
  const { client, channel } = useDesk()
  const [round, setRound] = useState(0)
  useEffect(() => {
    const next = (): void => void (!document.hidden && setRound((n) => n + 1))
    const timer = setInterval(next, range.refresh * 1000)
    document.addEventListener('visibilitychange', next)
    return () => (clearInterval(timer), document.removeEventListener('visibilitychange', next))
  }, [range])
  const { data, ...loaded } = useLoad(async (signal) => {
    const query = { channelId: channel.id, since: new Date(spanOf(range, now())[0]).toISOString(), stepSeconds: range.step }
    const { rows } = await client.moderation.getMetrics(query, { signal })
    return { range, buckets: fill(rows, range, now()) }
  }, [channel.id, range, round])
  return { ...loaded, buckets: data?.range === range ? data.buckets : undefined }
}
