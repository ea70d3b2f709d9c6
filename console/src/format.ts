import { now } from './api/clock'

// The page is in English, and its columns are made for 24 hours.
const clockTime = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const dayTime = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' })
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' })
const full = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'long' })
const number = new Intl.NumberFormat('en')

export const formatNumber = (value: number): string => number.format(value)
export const formatClock = (at: string): string => clockTime.format(Date.parse(at))
export const formatDay = (at: string): string => day.format(Date.parse(at))
export const formatFull = (at: string): string => full.format(Date.parse(at))

/** formatWhen returns the time of day for today, and the day too for earlier times. */
export function formatWhen(at: string): string {
  const milliseconds = Date.parse(at)
  const isToday = new Date(milliseconds).toDateString() === new Date(now()).toDateString()
  return isToday ? clockTime.format(milliseconds) : dayTime.format(milliseconds)
}

const units: [number, string][] = [[86_400, 'day'], [3_600, 'h'], [60, 'min'], [1, 's']]

/** formatDuration returns a duration in its two largest units, such as "1 h 5 min". */
export function formatDuration(seconds: number): string {
  let rest = Math.max(0, Math.round(seconds))
  const parts: string[] = []
  for (const [size, name] of units) {
    const count = Math.floor(rest / size)
    if (count > 0) parts.push(`${count} ${name}${name === 'day' && count > 1 ? 's' : ''}`)
    else if (parts.length > 0) break
    rest -= count * size
    if (parts.length === 2) break
  }
  return parts.join(' ') || '0 s'
}

/** formatRemaining returns how long it is until a time. */
export const formatRemaining = (at: string): string => formatDuration((Date.parse(at) - now()) / 1000)

/** formatAgo returns how long ago a time was, in one unit. */
export function formatAgo(at: string): string {
  const seconds = Math.max(0, (now() - Date.parse(at)) / 1000)
  if (seconds < 60) return 'just now'
  return `${formatDuration(seconds).split(' ').slice(0, 2).join(' ')} ago`
}

/** plural returns a count with its noun. */
export const plural = (count: number, noun: string, many = `${noun}s`): string => `${formatNumber(count)} ${count === 1 ? noun : many}`

/** withoutEmotes shortens the emotes of a text of which the page does not know the pictures. */
export const withoutEmotes = (text: string): string => text.replace(/\[emote:[0-9a-f-]{36}\]/g, '[emote]')
