// Operations that the client does not have yet, with the rows that they answer. When it has
// them, their generated types replace this file.
import type { BannedUser, Moderato, Pagination, UserSummary } from '@moderato-live/client'

export interface ListedBan extends BannedUser {
  batchId: string | null
  cause: string
}

export interface ListedMute extends Omit<BannedUser, 'bannedAt' | 'bannedBy' | 'expiresAt'> {
  mutedAt: string
  mutedBy: BannedUser['bannedBy']
  expiresAt: string
}

export interface ListedRole extends UserSummary {
  role: 'moderator' | 'vip' | 'og'
  createdAt: string
  isBanned: boolean
}

interface Page<Row> {
  rows: Row[]
  pagination: Pagination
}

const get = <Row>(client: Moderato, name: string, query: object, signal: AbortSignal): Promise<Page<Row>> =>
  client.request({ method: 'GET', path: `/v1/moderation/${name}`, query, signal })

export const listBans = (client: Moderato, query: object, signal: AbortSignal): Promise<Page<ListedBan>> => get(client, 'banned-users', query, signal)
export const listMutes = (client: Moderato, query: object, signal: AbortSignal): Promise<Page<ListedMute>> => get(client, 'muted-users', query, signal)
export const listRoles = (client: Moderato, query: object, signal: AbortSignal): Promise<Page<ListedRole>> => get(client, 'roles', query, signal)
// What the server gets at this time. The types go when the client has them.

/** The query of the log, with its new fields. */
export interface LogQuery {
  channelId: string
  type?: string[]
  moderatorId?: string
  since?: string
  until?: string
  query?: string
  batchId?: string
  cause?: string[]
  cursor?: string
  limit?: number
}
