import { useEffect, useRef, useState } from 'preact/hooks'
import UPlot from 'uplot'
import type { MetricsBucket } from '@moderato-live/client'
import { formatClock, formatNumber, formatWhen } from '../format'
import { summarize, type Measure, type Range } from '../model/metrics'

const height = 132
const shortDay = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })
const dark = matchMedia('(prefers-color-scheme: dark)')
const wholeSteps = [1, 2, 5].flatMap((n) => [0, 1, 2, 3, 4, 5, 6, 7].map((power) => n * 10 ** power)).sort((a, b) => a - b)

interface Props {
  measure: Measure
  name: string
  range: Range
  buckets: MetricsBucket[]
  onPick: (bucket: MetricsBucket) => void
}

/** Plot draws a measure over time. All plots share the cursor. */
export function Plot(props: Props) {
  const { measure, name, range, buckets } = props
  const host = useRef<HTMLDivElement>(null)
  const readout = useRef<HTMLSpanElement>(null)
  const plot = useRef<UPlot>(undefined)
  const isDark = useDark()
  // The plot lives longer than a drawing of this component, so its handlers look here.
  const latest = useRef(props)
  latest.current = props
  useEffect(() => {
    const element = host.current!
    // The bar under the pointer, not the one that starts nearest.
    const bucketAt = ({ cursor: { left = -1 }, data: [times], posToVal }: UPlot): MetricsBucket | undefined =>
      left < 0 ? undefined : latest.current.buckets[Math.floor((posToVal(left, 'x') - times[0]!) / range.step)]
    const pointed = (u: UPlot): void => {
      const bucket = bucketAt(u)
      const value = bucket?.[measure]
      readout.current!.textContent = bucket && value !== null && value !== undefined ? `${formatNumber(value)} at ${formatWhen(bucket.startedAt)}` : ''
    }
    const u = new UPlot(optionsOf(measure, range, element, pointed), dataOf(latest.current.buckets, measure), element)
    u.over.addEventListener('click', () => {
      const bucket = bucketAt(u)
      if (bucket) latest.current.onPick(bucket)
    })
    const observer = new ResizeObserver(() => u.setSize({ width: element.clientWidth, height }))
    observer.observe(element)
    plot.current = u
    return () => (observer.disconnect(), u.destroy())
  }, [measure, range, isDark])
  useEffect(() => plot.current?.setData(dataOf(buckets, measure)), [buckets])
  return (
    <>
      <p class="row small number muted"><span class="grow">{summarize(buckets, measure, range)}</span><span class="readout" ref={readout} aria-hidden="true" /></p>
      <div class={`canvas ${measure}`} ref={host} role="img" aria-label={`${name}. ${summarize(buckets, measure, range)}.`} />
    </>
  )
}

function useDark(): boolean {
  const [isDark, set] = useState(dark.matches)
  useEffect(() => {
    const change = (): void => set(dark.matches)
    dark.addEventListener('change', change)
    return () => dark.removeEventListener('change', change)
  }, [])
  return isDark
}

const dataOf = (buckets: MetricsBucket[], measure: Measure): UPlot.AlignedData => [buckets.map(({ startedAt }) => Date.parse(startedAt) / 1000), buckets.map((bucket) => bucket[measure])]

function optionsOf(measure: Measure, range: Range, element: HTMLElement, pointed: (u: UPlot) => void): UPlot.Options {
  const style = getComputedStyle(element)
  const color = (name: string): string => style.getPropertyValue(name).trim()
  const axis = { stroke: color('--muted'), font: `11px ${style.fontFamily}`, ticks: { show: false } }
  const timeText = (seconds: number): string => (range.seconds > 86_400 ? shortDay.format(seconds * 1000) : formatClock(new Date(seconds * 1000).toISOString()))
  const isLine = measure === 'viewers'
  return {
    width: element.clientWidth || 300, height, padding: [8, 8, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, sync: { key: 'plots' }, points: { show: isLine } },
    scales: { x: { range: (_, min, max) => [min, max + range.step] }, y: { range: (_u, _min, max) => [0, Math.max(4, max * 1.1)] } },
    axes: [
      { ...axis, grid: { show: false }, size: 24, gap: 4, space: 56, values: (_, splits) => splits.map(timeText) },
      { ...axis, grid: { stroke: color('--line'), width: 1 }, size: 48, gap: 4, space: 24, incrs: wholeSteps, values: (_, splits) => splits.map((value) => formatNumber(value)) },
    ],
    series: [{}, isLine
      ? { stroke: color('--plot'), width: 2, spanGaps: true, points: { show: false } }
      : { fill: color('--plot'), paths: UPlot.paths.bars!({ size: [.7, 24], align: 1, radius: .15 }), points: { show: false } }],
    hooks: { setCursor: [pointed] },
  }
}
