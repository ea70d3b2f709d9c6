import type { BannedUser, Event, Moderato } from '@moderato-live/client'
import { useState } from 'preact/hooks'
import { useDesk, useReadOnly } from '../desk'
import { formatAgo } from '../format'
import { hrefOf, type Route } from '../route'
import { Button, Check, Empty, Field, Remaining, SearchField, Time } from '../ui/basics'
import { Icon } from '../ui/icon'
import { Select } from '../ui/select'
import { Bulk } from './bulk'
import type { Change } from './changes'
import { Export } from './export'
import { Import } from './import'
import { Moderators } from './logfilters'
import { UserList, useFilters, useUserList, type Column, type ListedUser } from './userlist'

/** A ban or mute in force. */
interface Row extends ListedUser {
  at: string
  by: BannedUser['bannedBy']
  reason: string | null
  expiresAt: string | null
  batchId: string | null
}

export type Filters = Partial<Record<'query' | 'bannedBy' | 'batchId', string>>

type Query = Parameters<Moderato['moderation']['listBans']>[0]

/** What differs between the lists of bans and of mutes. */
const kinds = {
  ban: {
    done: 'Banned', verbs: ['Unban', 'Unbanning', 'unbanned'], nobody: 'Nobody is banned',
    read: async (client: Moderato, query: Query, signal: AbortSignal) => {
      const { rows, pagination } = await client.moderation.listBans(query, { signal })
      return { pagination, rows: rows.map((row): Row => ({ ...row, key: row.id, at: row.bannedAt, by: row.bannedBy })) }
    },
    changeOf: (event: Event): Change | undefined =>
      event.type === 'channel.ban' ? { key: event.payload.bannedUserId, ends: false } : event.type === 'channel.unban' ? { key: event.payload.unbannedUserId, ends: true } : undefined,
    lift: (client: Moderato, channelId: string, userId: string, how: object, options: object) => client.moderation.removeBan({ channelId, banUserId: userId, ...how }, options),
  },
  mute: {
    done: 'Muted', verbs: ['Unmute', 'Unmuting', 'unmuted'], nobody: 'Nobody is muted',
    read: async (client: Moderato, query: Query, signal: AbortSignal) => {
      const { rows, pagination } = await client.moderation.listMutes(query, { signal })
      return { pagination, rows: rows.map((row): Row => ({ ...row, key: row.id, at: row.mutedAt, by: row.mutedBy, batchId: null })) }
    },
    changeOf: (event: Event): Change | undefined =>
      event.type === 'channel.mute' || event.type === 'channel.mute.expire' ? { key: event.payload.mutedUserId, ends: event.type !== 'channel.mute' } : event.type === 'channel.unmute' ? { key: event.payload.unmutedUserId, ends: true } : undefined,
    lift: (client: Moderato, channelId: string, userId: string, how: object, options: object) => client.moderation.removeMute({ channelId, mutedUserId: userId, ...how }, options),
  },
} as const

/** Sanctions lists who is banned or muted, and lifts bans or mutes, also many at once. */
export function Sanctions({ kind, route }: { kind: 'ban' | 'mute'; route: Route }) {
  const { client, channel } = useDesk()
  const filter = useFilters(route)
  const [open, setOpen] = useState<'import' | 'export' | Row[] | undefined>()
  const readOnly = useReadOnly()
  const filters: Filters = Object.fromEntries([...route.query].filter(([name, value]) => value && (name === 'query' || (kind === 'ban' && /^(bannedBy|batchId)$/.test(name)))))
  const isFiltered = Object.keys(filters).length > 0
  const { read, changeOf, done, verbs, nobody } = kinds[kind]
  const users = useUserList<Row>(
    (cursor, signal) => read(client, { channelId: channel.id, limit: 100, cursor, ...filters }, signal), Object.entries(filters).flat(), changeOf)
  const batch = (batchId: string): string => hrefOf({ channel: channel.username, screen: 'people', part: 'bans', query: { batchId } })
  return (
    <>
      <div class="filters">
        <SearchField label={`Search ${done.toLowerCase()} users`} value={filters.query ?? ''} onSearch={(query) => filter({ query })} />
        {kind === 'ban' && <>
          <Select label="Banned by" value={filters.bannedBy ?? ''} onChange={(bannedBy) => filter({ bannedBy })}><option value="">Anybody</option><Moderators chosen={filters.bannedBy ?? ''} /></Select>
          <Button icon="download" onClick={() => setOpen('export')}>Export</Button>
          {!readOnly && <Button icon="upload" onClick={() => setOpen('import')}>Import a list</Button>}
        </>}
      </div>
      {filters.batchId && <p class="row"><Button little icon="close" onClick={() => filter({ batchId: '' })}>Only one batch: {filters.batchId.slice(0, 8)}<span class="hidden-text">. Show all bans</span></Button></p>}
      <UserList users={users} noun={kind} endedWord={verbs[0] + (kind === 'ban' ? 'ned' : 'd')} selectable={!readOnly} columns={columns(done, batch)}
        summary={(row) => <>{row.reason && <><bdi class="user-text">{row.reason}</bdi> · </>}<Left row={row} /> · by <bdi>{row.by.displayName}</bdi>, {formatAgo(row.at)}</>}
        empty={<Empty icon={kind} title={isFiltered ? `No ${kind} matches` : nobody}>{isFiltered ? 'A search finds names that begin with the text.' : `Whom you ${kind} appears here.`}</Empty>}>
        <Button kind="main" icon="undo" onClick={() => setOpen(users.selected)}>{verbs[0]}</Button>
      </UserList>
      {Array.isArray(open) && <Lift kind={kind} users={open} onDone={users.changes.end} onClose={() => setOpen(undefined)} />}
      {open === 'export' && <Export filters={filters} isFiltered={isFiltered} onClose={() => setOpen(undefined)} />}
      {open === 'import' && <Import onClose={(banned) => (setOpen(undefined), banned && users.list.reload())} />}
    </>
  )
}

const Left = ({ row: { expiresAt } }: { row: Row }) => (expiresAt ? <Remaining until={expiresAt} /> : <>Permanent</>)

const columns = (done: string, batch: (id: string) => string): Column<Row>[] => [
  { name: 'Reason', cell: (row) => <>{row.reason ? <bdi class="user-text">{row.reason}</bdi> : <span class="muted">None</span>}{row.batchId && <> <a class="chip batch" href={batch(row.batchId)}><Icon name="people" />Batch</a></>}</> },
  { name: 'Time left', cell: (row) => <Left row={row} /> },
  { name: `${done} by`, cell: (row) => <bdi>{row.by.displayName}</bdi> },
  { name: done, cell: (row) => <Time at={row.at} /> },
]

function Lift({ kind, users, onDone, onClose }: { kind: 'ban' | 'mute'; users: Row[]; onDone: (keys: string[]) => void; onClose: () => void }) {
  const { client, channel } = useDesk()
  const [restoreMessages, setRestoreMessages] = useState(true)
  const [reason, setReason] = useState('')
  const { verbs, lift } = kinds[kind]
  return (
    <Bulk verbs={verbs} users={users} onDone={onDone} onClose={onClose}
      change={(user, options) => lift(client, channel.id, user.id, { restoreMessages, reason: reason.trim() || null }, options)}>
      <Check label={`Show their messages again that the ${kind}s hid in the last 24 hours`} checked={restoreMessages} onChange={setRestoreMessages} />
      <Field label="Reason (optional)">{(attributes) => <input class="input" {...attributes} value={reason} maxLength={500} autocomplete="off" onInput={(event) => setReason(event.currentTarget.value)} />}</Field>
    </Bulk>
  )
}
