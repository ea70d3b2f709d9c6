import type { Event } from '@moderato-live/client'
import { useState } from 'preact/hooks'
import { listBans, type ListedBan } from '../api/pending'
import { useDesk } from '../desk'
import { formatAgo } from '../format'
import { useStored } from '../model/store'
import { hrefOf, type Route } from '../route'
import { Button, Check, Empty, Field, Remaining, SearchField, Time } from '../ui/basics'
import { Icon } from '../ui/icon'
import { useLoad } from '../ui/load'
import { Bulk } from './bulk'
import type { Change } from './changes'
import { Export } from './export'
import { Import } from './import'
import { UserList, useFilters, useUserList, type Column, type ListedUser } from './userlist'

type Row = ListedBan & ListedUser

/** Bans lists who is banned, and lifts bans, also many at once. */
export function Bans({ route }: { route: Route }) {
  const { client, channel, store } = useDesk()
  const filter = useFilters(route)
  const [open, setOpen] = useState<'import' | 'export' | Row[] | undefined>()
  const readOnly = useStored(store, (state) => state.connection.rightLost)
  const filters = filtersOf(route)
  const { list, changes, selection, selected } = useUserList<Row>(async (cursor, signal) => {
    const page = await listBans(client, { channelId: channel.id, limit: 100, cursor, ...filters }, signal)
    return { ...page, rows: page.rows.map((row) => ({ ...row, key: row.id })) }
  }, Object.values(filters).map(String), changeOf)
  const isFiltered = Object.values(filters).some(Boolean)
  return (
    <>
      <div class="filters">
        <SearchField label="Search banned users" value={filters.query ?? ''} onSearch={(query) => filter({ query })} />
        <BannedBy value={filters.bannedBy ?? ''} onChange={(bannedBy) => filter({ bannedBy })} />
        <Button icon="download" onClick={() => setOpen('export')}>Export</Button>
        {!readOnly && <Button icon="upload" onClick={() => setOpen('import')}>Import a list</Button>}
      </div>
      {filters.batchId && <p class="row"><Button little icon="close" onClick={() => filter({ batchId: '' })}>Only one batch: {filters.batchId.slice(0, 8)}<span class="hidden-text">. Show all bans</span></Button></p>}
      <UserList list={list} noun="ban" changes={changes} endedWord="Unbanned" selection={readOnly ? undefined : selection}
        columns={columns(hrefOfBatch(channel.username))} summary={(row) => <>{row.reason && <><bdi class="user-text">{row.reason}</bdi> · </>}{ends(row)} · by <bdi>{row.bannedBy.displayName}</bdi>, {formatAgo(row.bannedAt)}</>}
        empty={<Empty icon="ban" title={isFiltered ? 'No ban matches' : 'Nobody is banned'}>{isFiltered ? 'A search finds names that begin with the text.' : 'Whom you ban appears here.'}</Empty>}>
        <Button kind="main" icon="undo" onClick={() => setOpen(selected)}>Unban</Button>
      </UserList>
      {Array.isArray(open) && <Unban users={open} onDone={changes.end} onClose={() => setOpen(undefined)} />}
      {open === 'export' && <Export filters={filters} isFiltered={isFiltered} onClose={() => setOpen(undefined)} />}
      {open === 'import' && <Import onClose={(banned) => (setOpen(undefined), banned && list.reload())} />}
    </>
  )
}

const hrefOfBatch = (channel: string) => (batchId: string): string => hrefOf({ channel, screen: 'people', part: 'bans', query: { batchId } })

export type BanFilters = { query: string | undefined; bannedBy: string | undefined; batchId: string | undefined }

const filtersOf = ({ query }: Route): BanFilters => ({
  query: query.get('query') || undefined, bannedBy: query.get('bannedBy') || undefined, batchId: query.get('batchId') || undefined,
})

function changeOf(event: Event): Change | undefined {
  if (event.type === 'channel.ban') return { key: event.payload.bannedUserId, ends: false }
  return event.type === 'channel.unban' ? { key: event.payload.unbannedUserId, ends: true } : undefined
}

const ends = (row: Row) => (row.expiresAt ? <Remaining until={row.expiresAt} /> : 'permanent')

const columns = (batch: (id: string) => string): Column<Row>[] => [
  { name: 'Reason', cell: (row) => <>{row.reason ? <bdi class="user-text">{row.reason}</bdi> : <span class="muted">None</span>}{row.batchId && <> <a class="chip batch" href={batch(row.batchId)}><Icon name="people" />Batch</a></>}</> },
  { name: 'Time left', cell: (row) => (row.expiresAt ? ends(row) : 'Permanent') },
  { name: 'Banned by', cell: (row) => <bdi>{row.bannedBy.displayName}</bdi> },
  { name: 'Banned', cell: (row) => <Time at={row.bannedAt} /> },
]

function BannedBy({ value, onChange }: { value: string; onChange: (userId: string) => void }) {
  const { client, channel } = useDesk()
  const team = useLoad((signal) => client.moderation.listModerators({ channelId: channel.id }, { signal }).then((rows) => rows), [channel.id])
  const people = [{ id: channel.id, displayName: channel.displayName }, ...(team.data ?? [])]
  return (
    <Field label="Banned by">{(attributes) => (
      <select class="input" {...attributes} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">Anyone</option>
        {people.map(({ id, displayName }) => <option value={id} selected={id === value}>{displayName}</option>)}
        {value && !people.some(({ id }) => id === value) && <option value={value} selected>Somebody else</option>}
      </select>
    )}</Field>
  )
}

function Unban({ users, onDone, onClose }: { users: Row[]; onDone: (keys: string[]) => void; onClose: () => void }) {
  const { client, channel } = useDesk()
  const [restoreMessages, setRestoreMessages] = useState(true)
  const [reason, setReason] = useState('')
  return (
    <Bulk verbs={['Unban', 'Unbanned', 'unbanned']} users={users} onDone={onDone} onClose={onClose}
      change={(user, options) => client.moderation.removeBan({ channelId: channel.id, banUserId: user.id, restoreMessages, reason: reason.trim() || null }, { ...options, retries: 3 })}>
      <Check label="Show their messages again that the bans hid in the last 24 hours" checked={restoreMessages} onChange={setRestoreMessages} />
      <Field label="Reason (optional)">{(attributes) => <input class="input" {...attributes} value={reason} maxLength={500} autocomplete="off" onInput={(event) => setReason(event.currentTarget.value)} />}</Field>
    </Bulk>
  )
}
