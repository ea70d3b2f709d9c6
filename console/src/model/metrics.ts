import type { MetricsBucket } from '@moderato-live/client'
import { formatNumber, formatWhen } from '../format'
import type { Group } from './logfilter'

export type Measure = Exclude<keyof MetricsBucket, 'startedAt'>

/** What is plotted, with the entries of the log that it counts. Held messages exist only where something holds them. */
export const measures: { key: Measure; name: string; group?: Group }[] = [
  { key: 'messages', name: 'Messages' }, { key: 'firstMessages', name: 'First messages' }, { key: 'follows', name: 'Follows' },
  { key: 'bans', name: 'Bans', group: 'bans' }, { key: 'mutes', name: 'Mutes', group: 'mutes' }, { key: 'held', name: 'Held messages' }, { key: 'viewers', name: 'Viewers' },
]

/** How far back the plots go, in seconds, with the step, its name, how often they are read, and the time between labels. */
export const ranges = [
  { seconds: 3600, name: 'Last hour', step: 60, each: 'a minute', refresh: 5, tick: 900 },
  { seconds: 21_600, name: '6 hours', step: 300, each: 'in 5 min', refresh: 60, tick: 3600 },
  { seconds: 86_400, name: '24 hours', step: 900, each: 'in 15 min', refresh: 60, tick: 14_400 },
  { seconds: 691_200, name: '8 days', step: 3600, each: 'an hour', refresh: 60, tick: 172_800 },
] as const
export type Range = (typeof ranges)[number]

/** spanOf returns the start of the first and of the last bucket of a range, in milliseconds. */
export function spanOf({ seconds, step }: Range, now: number): [number, number] {
  const last = Math.floor(now / 1000 / step) * step * 1000
  return [last - (seconds - step) * 1000, last]
}

/** fill returns all buckets of a range. Where the server counted nothing, they are empty. */
export function fill(rows: MetricsBucket[], range: Range, now: number): MetricsBucket[] {
  const known = new Map(rows.map((row) => [Date.parse(row.startedAt), row]))
  const [from, to] = spanOf(range, now)
  const buckets: MetricsBucket[] = []
  for (let at = from; at <= to; at += range.step * 1000) {
    buckets.push(known.get(at) ?? { startedAt: new Date(at).toISOString(), messages: 0, firstMessages: 0, follows: 0, bans: 0, mutes: 0, held: 0, viewers: null })
  }
  return buckets
}

/** busiest returns the bucket with the most of a measure; undefined if there was none. */
export function busiest(buckets: MetricsBucket[], key: Measure): MetricsBucket | undefined {
  let best: MetricsBucket | undefined
  for (const bucket of buckets) if ((bucket[key] ?? 0) > (best?.[key] ?? 0)) best = bucket
  return best
}

/** summarize says in a sentence what a plot shows. */
export function summarize(buckets: MetricsBucket[], key: Measure, { each }: Range): string {
  const best = busiest(buckets, key)
  if (!best) return 'None'
  const at = `at ${formatWhen(best.startedAt)}`
  return key === 'viewers' ? `Most: ${formatNumber(best[key]!)} ${at}` : `Busiest: ${formatNumber(best[key])} ${each} ${at}`
}

export function totalOf(buckets: MetricsBucket[], key: Measure): string {
  if (key !== 'viewers') return `${formatNumber(buckets.reduce((sum, bucket) => sum + bucket[key], 0))} in all`
  const latest = buckets.findLast((bucket) => bucket.viewers !== null)?.viewers ?? null
  return latest === null ? '' : `${formatNumber(latest)} at the end`
}

/** scaleOf returns the lines of a scale that reaches a value, highest first: two to five of them, at 1, 2 or 5 times a power of ten. */
export function scaleOf(most: number): number[] {
  let step = 1
  for (let i = 0; step * 4 < most; i++) step *= [2, 2.5, 2][i % 3]!
  const count = step === 1 ? 4 : Math.ceil(most / step)
  return Array.from({ length: count + 1 }, (_, i) => (count - i) * step)
}

/** ticksOf returns which buckets have a label: those that start at a whole tick of the local time, but not at the edges. */
export function ticksOf(buckets: MetricsBucket[], { tick }: Range): number[] {
  const isWhole = (at: Date): boolean => (at.getTime() / 1000 - at.getTimezoneOffset() * 60) % tick === 0
  const edge = buckets.length / 20
  return [...buckets.keys()].filter((i) => i >= edge && i < buckets.length - edge && isWhole(new Date(buckets[i]!.startedAt)))
}
