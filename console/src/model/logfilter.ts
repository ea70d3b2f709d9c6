import type { Event, LogEntry, Moderato } from '@moderato-live/client'

/** Types of entries that a moderator looks for together. */
export const groups = {
  bans: ['channel.ban', 'channel.unban'],
  mutes: ['channel.mute', 'channel.unmute', 'channel.mute.expire'],
  messages: ['channel.chat.message_delete', 'channel.chat.clear', 'channel.chat.pin'],
  roles: ['channel.moderator.add', 'channel.moderator.remove', 'channel.vip.add', 'channel.vip.remove', 'channel.og.add', 'channel.og.remove'],
  rules: ['channel.chat.settings', 'channel.chat.rules', 'channel.chat.hold.update', 'channel.shield.preset', 'channel.shield.begin', 'channel.shield.end'],
  stream: ['channel.update', 'stream.online', 'stream.offline', 'channel.raid'],
} as const
export type Group = keyof typeof groups

/** The entries that the log shows. The messages that a ban hides are told by the ban. */
export const allTypes: string[] = Object.values(groups).flat()

const names = ['group', 'by', 'query', 'last', 'since', 'until', 'cause', 'batchId'] as const

/** Filters stand in the address: each is empty if it is not used. `last` counts seconds. */
export type Filters = Record<(typeof names)[number], string>

export const filtersOf = (query: URLSearchParams): Filters => Object.fromEntries(names.map((name) => [name, query.get(name) ?? ''])) as Filters

export const typesOf = ({ group }: Filters): string[] => (group in groups ? [...groups[group as Group]] : allTypes)

/** The query of the log. */
type LogQuery = Parameters<Moderato['moderation']['listLog']>[0]

/** logQueryOf returns what the server is asked, at a time of its clock. */
export function logQueryOf(filters: Filters, channelId: string, now: number): LogQuery {
  const { by, query, last, since, until, cause, batchId } = filters
  const from = Number(last) > 0 ? new Date(now - Number(last) * 1000).toISOString() : since
  return {
    channelId, type: typesOf(filters),
    ...(by && { moderatorId: by }), ...(query && { query }), ...(from && { since: from }), ...(until && { until }),
    ...(cause && { cause: [cause] as LogQuery['cause'] }), ...(batchId && { batchId }),
  }
}

/** isFor reports whether an event belongs into the log under the filters, as far as the page can tell. */
export function isFor(filters: Filters, { type, payload, metadata }: Event): boolean {
  const { moderatorId, batchId, cause } = payload as { moderatorId?: string; batchId?: string | null; cause?: string }
  return typesOf(filters).includes(type)
    && (!filters.by || moderatorId === filters.by) && (!filters.batchId || batchId === filters.batchId) && (!filters.cause || cause === filters.cause)
    && (!filters.until || metadata.messageTimestamp < filters.until)
    && JSON.stringify(payload).toLowerCase().includes(filters.query.toLowerCase())
}

/** newEntries counts the events that came after a log was read. */
export function newEntries(filters: Filters, events: Event[], rows: LogEntry[], readAt: number): number {
  const known = new Set(rows.map((row) => row.id))
  const newest = rows[0] ? Date.parse(rows[0].createdAt) : readAt
  return events.filter((event) => isFor(filters, event) && Date.parse(event.metadata.messageTimestamp) >= newest && !known.has(event.metadata.messageId)).length
}

/** batchOf returns the batch that an entry is of: also the end of a ban that the undo of a batch lifted. */
export const batchOf = ({ batchId, payload }: LogEntry): string | null => batchId ?? (payload as { batchId?: string | null }).batchId ?? null

/** For how long a ban or mute can be undone with the messages, in milliseconds. */
const undoTime = 86_400_000

/** kindOf returns whether an entry is about a ban or a mute. */
export const kindOf = ({ type }: { type: string }): 'ban' | 'mute' | undefined =>
  (groups.bans as readonly string[]).includes(type) ? 'ban' : (groups.mutes as readonly string[]).includes(type) ? 'mute' : undefined

/** undoable returns the ids of the bans and mutes that may still be in force: the latest of each user. */
export function undoable(rows: LogEntry[], now: number): Set<string> {
  const seen = new Set<string>()
  const ids = new Set<string>()
  for (const row of rows) {
    const kind = kindOf(row)
    if (!kind || !row.user || seen.has(kind + row.user.id)) continue
    seen.add(kind + row.user.id)
    const isInForce = row.type === `channel.${kind}` && (!row.expiresAt || Date.parse(row.expiresAt) > now)
    if (isInForce && Date.parse(row.createdAt) > now - undoTime) ids.add(row.id)
  }
  return ids
}

/** localTime returns a time for a field of type datetime-local, and timeOf reads one. */
export function localTime(at: string): string {
  const time = new Date(at)
  return Number.isNaN(time.getTime()) ? '' : new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

export function timeOf(local: string): string {
  const time = new Date(local)
  return Number.isNaN(time.getTime()) ? '' : time.toISOString()
}
