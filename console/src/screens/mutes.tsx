import type { Event } from '@moderato-live/client'
import { useState } from 'preact/hooks'
import { listMutes, type ListedMute } from '../api/pending'
import { useDesk } from '../desk'
import { formatAgo } from '../format'
import { useStored } from '../model/store'
import type { Route } from '../route'
import { Button, Check, Empty, Remaining, SearchField, Time } from '../ui/basics'
import { Bulk } from './bulk'
import type { Change } from './changes'
import { UserList, useFilters, useUserList, type Column, type ListedUser } from './userlist'

type Row = ListedMute & ListedUser

/** Mutes lists who is muted, and ends mutes, also many at once. */
export function Mutes({ route }: { route: Route }) {
  const { client, channel, store } = useDesk()
  const filter = useFilters(route)
  const [unmuting, setUnmuting] = useState<Row[] | undefined>()
  const [restoreMessages, setRestoreMessages] = useState(true)
  const readOnly = useStored(store, (state) => state.connection.rightLost)
  const query = route.query.get('query') ?? ''
  const { list, changes, selection, selected } = useUserList<Row>(async (cursor, signal) => {
    const page = await listMutes(client, { channelId: channel.id, limit: 100, cursor, query: query || undefined }, signal)
    return { ...page, rows: page.rows.map((row) => ({ ...row, key: row.id })) }
  }, [query], changeOf)
  return (
    <>
      <div class="filters"><SearchField label="Search muted users" value={query} onSearch={(text) => filter({ query: text })} /></div>
      <UserList list={list} noun="mute" changes={changes} endedWord="Unmuted" selection={readOnly ? undefined : selection} columns={columns}
        summary={(row) => <>{row.reason && <><bdi class="user-text">{row.reason}</bdi> · </>}<Remaining until={row.expiresAt} /> · by <bdi>{row.mutedBy.displayName}</bdi>, {formatAgo(row.mutedAt)}</>}
        empty={<Empty icon="mute" title={query ? 'No mute matches' : 'Nobody is muted'}>{query ? 'A search finds names that begin with the text.' : 'Whom you mute appears here until the mute ends.'}</Empty>}>
        <Button kind="main" icon="undo" onClick={() => setUnmuting(selected)}>Unmute</Button>
      </UserList>
      {unmuting && (
        <Bulk verbs={['Unmute', 'Unmuted', 'unmuted']} users={unmuting} onDone={changes.end} onClose={() => setUnmuting(undefined)}
          change={(user, options) => client.moderation.removeMute({ channelId: channel.id, mutedUserId: user.id, restoreMessages }, { ...options, retries: 3 })}>
          <Check label="Show their messages again that the mutes hid in the last 24 hours" checked={restoreMessages} onChange={setRestoreMessages} />
        </Bulk>
      )}
    </>
  )
}

function changeOf(event: Event): Change | undefined {
  switch (event.type) {
    case 'channel.mute': return { key: event.payload.mutedUserId, ends: false }
    case 'channel.mute.expire': return { key: event.payload.mutedUserId, ends: true }
    case 'channel.unmute': return { key: event.payload.unmutedUserId, ends: true }
    default: return undefined
  }
}

const columns: Column<Row>[] = [
  { name: 'Reason', cell: (row) => (row.reason ? <bdi class="user-text">{row.reason}</bdi> : <span class="muted">None</span>) },
  { name: 'Time left', cell: (row) => <Remaining until={row.expiresAt} /> },
  { name: 'Muted by', cell: (row) => <bdi>{row.mutedBy.displayName}</bdi> },
  { name: 'Muted', cell: (row) => <Time at={row.mutedAt} /> },
]
