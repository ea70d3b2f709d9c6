import type { LogEntry, Moderato } from '@moderato-live/client'
import { store, stored } from '../api/storage'
import { allTypes, batchOf } from './logfilter'

/** How far a user has read the log of a channel. */
export interface Seen {
  sequence: number
  at: string
}

/** The most entries that are read, of bans outside of batches and of all else: a raid must not hide the rest. */
export const maxEntries = 500
const firstVisit = 86_400_000
/** How long before the last visit the time of an entry may be that was stored after it. */
const overlap = 60_000

const keyOf = (channelId: string, userId: string): string => `moderato-console-seen:${channelId}:${userId}`

export function readSeen(channelId: string, userId: string): Seen | undefined {
  try {
    const { sequence, at } = JSON.parse(stored(keyOf(channelId, userId)) ?? '') as Seen
    return typeof sequence === 'number' && !Number.isNaN(Date.parse(at)) ? { sequence, at } : undefined
  } catch {
    return undefined
  }
}

/** writeSeen reports whether the browser allows it. */
export const writeSeen = (channelId: string, userId: string, seen: Seen): boolean => store(keyOf(channelId, userId), JSON.stringify(seen))

export interface AwayLog {
  entries: LogEntry[]
  hasMore: boolean
}

/**
 * readAway reads what was done since then, newest first; without a time that of the last 24
 * hours. It reads until it has `max` of the entries that are wanted, but not without end.
 */
export async function readAway(client: Moderato, channelId: string, seen: Seen | undefined, now: number, max: number, signal?: AbortSignal, isWanted: (entry: LogEntry) => boolean = () => true): Promise<AwayLog> {
  const isOld = (row: LogEntry): boolean => row.sequence <= (seen?.sequence ?? 0)
  const since = new Date(seen ? Date.parse(seen.at) - overlap : now - firstVisit).toISOString()
  const read = async (type: string[], cause: ('moderator' | 'revert')[]): Promise<AwayLog> => {
    const entries: LogEntry[] = []
    let wanted = 0
    for await (const row of client.moderation.listLog({ channelId, type, cause, since, limit: 100 }, { signal })) {
      if (isOld(row)) break
      if (wanted === max || entries.length === 4 * max) return { entries, hasMore: true }
      if (isWanted(row)) wanted++
      entries.push(row)
    }
    return { entries, hasMore: false }
  }
  const parts = await Promise.all([read(['channel.ban', 'channel.unban'], ['moderator', 'revert']), read(allTypes.filter((type) => !type.endsWith('ban')), [])])
  return { entries: parts.flatMap(({ entries }) => entries).sort((a, b) => b.sequence - a.sequence), hasMore: parts.some(({ hasMore }) => hasMore) }
}

/** groupEntries joins entries that follow each other and are of the same kind, moderator, batch and decision. */
export function groupEntries(entries: LogEntry[]): LogEntry[][] {
  const groups: LogEntry[][] = []
  for (const entry of entries) {
    const last = groups.at(-1)
    const isSame = last && last[0]!.type === entry.type && last[0]!.moderator?.id === entry.moderator?.id && last[0]!.payload.status === entry.payload.status && batchOf(last[0]!) === batchOf(entry)
    if (isSame) last.push(entry)
    else groups.push([entry])
  }
  return groups
}
