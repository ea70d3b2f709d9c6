import type { MetricsBucket } from '@moderato-live/client'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { now } from '../api/clock'
import { useDesk } from '../desk'
import { formatClock, formatFull, formatNumber, formatWhen } from '../format'
import { fill, type Measure, measures, type Range, ranges, scaleOf, spanOf, summarize, ticksOf, totalOf } from '../model/metrics'
import { go, hrefOf, type Route } from '../route'
import { Choices, Problem, Progress } from '../ui/basics'
import { useLoad } from '../ui/load'
import { Page } from '../ui/page'

/** Plots shows how busy the channel was, one plot for each measure. */
export function Plots({ route }: { route: Route }) {
  const { channel } = useDesk()
  const range = ranges.find(({ seconds }) => String(seconds) === route.query.get('range')) ?? ranges[0]
  const { buckets, error, slow, reload } = useMetrics(range)
  const [at, setAt] = useState<number | undefined>()
  const shown = buckets && measures.filter(({ key }) => key !== 'held' || buckets.some((bucket) => bucket.held > 0))
  const logOf = ({ startedAt }: MetricsBucket, group = '') => ({ channel: channel.username, screen: 'log' as const, query: { group, since: startedAt, until: new Date(Date.parse(startedAt) + range.step * 1000).toISOString() } })
  return (
    <Page title="Plots" beside={
      <Choices<number> label="Range" values={ranges.map(({ seconds, name }) => [seconds, name] as const)} value={range.seconds} onChange={(seconds) => go({ channel: channel.username, screen: 'plots', query: { range: String(seconds) } }, true)} />}>
      {error ? <Problem error={error} onRetry={reload} /> : null}
      {!buckets && !error && slow && <Progress />}
      {buckets && (
        <>
          <p class="muted small">{range.refresh < 60 ? 'Live. ' : ''}Choose a bar, or a time in the table, to see the log of that time.</p>
          <div class="plots">
            {shown!.map(({ key, name, group }) => (
              <section class="box plot" aria-label={name}>
                <div class="row"><h2 class="grow">{name}</h2><span class="number muted small">{totalOf(buckets, key)}</span></div>
                <Plot measure={key} name={name} range={range} buckets={buckets} at={at} onPoint={setAt} onPick={(bucket) => go(logOf(bucket, group))} />
              </section>
            ))}
          </div>
          <Numbers buckets={buckets} shown={shown!} hrefFor={(bucket) => hrefOf(logOf(bucket))} />
        </>
      )}
    </Page>
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

const height = 108
const shortDay = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })

interface Props {
  measure: Measure
  name: string
  range: Range
  buckets: MetricsBucket[]
  /** The bar at which the user points in any plot. */
  at: number | undefined
  onPoint: (at: number | undefined) => void
  onPick: (bucket: MetricsBucket) => void
}

/** Plot draws a measure over time. The arrow keys point at a bar too, and Enter chooses it. */
function Plot({ measure, name, range, buckets, at, onPoint, onPick }: Props) {
  const { shape, lines } = useMemo(() => drawingOf(buckets, measure), [buckets, measure])
  const top = lines[0]!
  const count = buckets.length
  const bucket = at === undefined ? undefined : buckets[at]
  const readout = bucket && bucket[measure] !== null ? `${formatNumber(bucket[measure])} at ${formatWhen(bucket.startedAt)}` : ''
  const atPointer = ({ clientX, currentTarget }: { clientX: number; currentTarget: Element }): number => {
    const { left, width } = currentTarget.getBoundingClientRect()
    return Math.min(count - 1, Math.max(0, Math.floor((clientX - left) / width * count)))
  }
  const press = (event: KeyboardEvent): void => {
    const next = { ArrowLeft: (at ?? count) - 1, ArrowRight: (at ?? -1) + 1, Home: 0, End: count - 1 }[event.key]
    if (event.key === 'Enter' && bucket) onPick(bucket)
    if (next === undefined) return
    event.preventDefault()
    onPoint(Math.min(count - 1, Math.max(0, next)))
  }
  return (
    <>
      <p class="row small number muted"><span class="grow">{summarize(buckets, measure, range)}</span><span class="readout" aria-hidden="true">{readout}</span></p>
      <div class={`canvas of-${measure}`}>
        <svg class="scale" aria-hidden="true">{lines.map((line, i) => <text x="100%" dx={-6} y={12 + i / (lines.length - 1) * height}>{formatNumber(line)}</text>)}</svg>
        <svg class="grow" tabIndex={0} role="slider" aria-label={`${name}. ${summarize(buckets, measure, range)}`} aria-valuemin={0} aria-valuemax={count - 1} aria-valuenow={at ?? 0} aria-valuetext={readout || 'No bar chosen'}
          onPointerMove={(event) => onPoint(atPointer(event))} onPointerLeave={() => onPoint(undefined)} onBlur={() => onPoint(undefined)} onKeyDown={press} onClick={(event) => onPick(buckets[atPointer(event)]!)}>
          <svg width="100%" height={height} y={8} viewBox={`0 0 ${count} ${top}`} preserveAspectRatio="none">
            {lines.map((line) => <path class="grid" d={`M0 ${top - line}H${count}`} />)}
            {at !== undefined && <rect class="pointed" x={at} width={1} height={top} />}
            <path class={measure === 'viewers' ? 'line' : 'bars'} d={shape} />
          </svg>
          {ticksOf(buckets, range).map((i) => <text class="tick-text" x={`${(i + .5) / count * 100}%`} y={height + 22}>{range.seconds > 86_400 ? shortDay.format(Date.parse(buckets[i]!.startedAt)) : formatClock(buckets[i]!.startedAt)}</text>)}
        </svg>
      </div>
    </>
  )
}

/** drawingOf returns the path of the bars, or of the line of viewers, and the lines of the scale, highest first. */
function drawingOf(buckets: MetricsBucket[], measure: Measure): { shape: string; lines: number[] } {
  const lines = scaleOf(Math.max(...buckets.map((bucket) => bucket[measure] ?? 0)))
  const known = buckets.flatMap((bucket, i) => (bucket[measure] === null ? [] : [[i, lines[0]! - bucket[measure]] as const]))
  const shape = measure === 'viewers' ? `M${known.map(([i, y]) => `${i + .5} ${y}`).join('L')}` : known.map(([i, y]) => `M${i + .15} ${lines[0]}V${y}h.7V${lines[0]}`).join('')
  return { shape: known.length ? shape : '', lines }
}
