import type { Event } from '@moderato-live/client'
import { useRef, useState } from 'preact/hooks'
import { messageOf } from '../actions'
import type { RoleHolder } from '@moderato-live/client'
import { useDesk, useReadOnly } from '../desk'
import { formatDay } from '../format'
import type { Route } from '../route'
import { Button, Choices, Empty, Field, SearchField } from '../ui/basics'
import { Icon } from '../ui/icon'
import { Bulk } from './bulk'
import type { Change } from './changes'
import { roleNames, useRoles, type Role } from './roles'
import { UserList, useFilters, useUserList, type Column, type ListedUser } from './userlist'

type Row = Omit<RoleHolder, 'role'> & ListedUser & { role: Role }

/** RoleList lists who has a role. The owner gives roles and takes them. */
export function RoleList({ route }: { route: Route }) {
  const { client, channel } = useDesk()
  const filter = useFilters(route)
  const roles = useRoles()
  const [taking, setTaking] = useState<Row[] | undefined>()
  const isOwner = !useReadOnly() && channel.role === 'owner'
  const query = route.query.get('query') ?? ''
  const role = route.query.get('role') ?? ''
  const shown = useRef<ReadonlySet<string>>(new Set())
  const users = useUserList<Row>(async (cursor, signal) => {
    const page = await client.moderation.listRoles({ channelId: channel.id, limit: 100, cursor, query: query || undefined, role: (role || undefined) as Role | undefined }, { signal })
    return { ...page, rows: page.rows.map((row) => ({ ...row, role: row.role as Role, key: `${row.role} ${row.id}` })) }
  }, [query, role], (event) => changeOf(event, shown.current))
  const { list, changes } = users
  shown.current = new Set(list.rows?.map(({ id }) => id))
  // A role that was given is no news once its row is here.
  const others = new Set([...changes.others].filter((key) => !list.rows?.some((row) => row.key === key)))
  const roleOf = (key: string): Role => key.split(' ')[0] as Role
  const remove = (row: Row) => isOwner && !changes.ended.has(row.key)
    && <Button little onClick={() => void roles.remove(row, row.role)}>Remove<span class="hidden-text"> {row.displayName} as {roleNames[row.role]}</span></Button>
  return (
    <>
      {isOwner && <AddRole onAdded={list.reload} />}
      <div class="filters">
        <SearchField label="Search people with a role" value={query} onSearch={(text) => filter({ query: text })} />
        <Choices label="Role" values={[['', 'All'], ['moderator', 'Moderators'], ['vip', 'VIPs'], ['og', 'OGs']] as const} value={role} onChange={(value) => filter({ role: value })} />
      </div>
      <UserList users={{ ...users, changes: { ...changes, others } }} noun="role" endedWord="Removed" selectable={isOwner}
        columns={isOwner ? [...columns, { name: 'Action', cell: remove }] : columns}
        summary={(row) => <span class="row wrap tight"><RoleChip row={row} />{remove(row)}</span>}
        empty={<Empty icon="moderator" title={query || role ? 'No role matches' : 'Nobody has a role'}>{query ? 'A search finds names that begin with the text.' : 'Moderators, VIPs and OGs of the channel appear here.'}</Empty>}>
        <Button kind="danger" onClick={() => setTaking(users.selected)}>Remove roles</Button>
      </UserList>
      {taking && (
        <Bulk verbs={['Remove the roles of', 'Removing', 'without the role']} users={taking} onDone={changes.end} onClose={() => setTaking(undefined)}
          change={(user, options) => roles.take(user, roleOf(user.key))(options)} back={(user) => roles.give(user, roleOf(user.key))}>
          <p class="muted">Moderators lose their rights at once. You can give the roles again.</p>
        </Bulk>
      )}
    </>
  )
}

/** changeOf reads changes of roles, and bans of the users shown, which suspend their roles. */
function changeOf(event: Event, shown: ReadonlySet<string>): Change | undefined {
  const [, role, verb] = /^channel\.(moderator|vip|og)\.(add|remove)$/.exec(event.type) ?? []
  if (role) return { key: `${role} ${(event.payload as { userId: string }).userId}`, ends: verb === 'remove' }
  const userId = event.type === 'channel.ban' ? event.payload.bannedUserId : event.type === 'channel.unban' ? event.payload.unbannedUserId : ''
  return shown.has(userId) ? { key: `ban ${userId}`, ends: false } : undefined
}

function RoleChip({ row }: { row: Row }) {
  return <><span class="chip accent"><Icon name={row.role} />{roleNames[row.role] === 'moderator' ? 'Moderator' : roleNames[row.role]}</span>{row.isBanned && <span class="chip danger"><Icon name="ban" />Suspended: banned</span>}</>
}

const columns: Column<Row>[] = [
  { name: 'Role', cell: (row) => <span class="row wrap tight"><RoleChip row={row} /></span> },
  { name: 'Since', cell: (row) => <span class="cut">{formatDay(row.createdAt)}</span> },
]

/** AddRole gives a role to a user by username. */
function AddRole({ onAdded }: { onAdded: () => void }) {
  const { client } = useDesk()
  const roles = useRoles()
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('moderator')
  const [problem, setProblem] = useState<string>()
  const [busy, setBusy] = useState(false)
  const add = async (): Promise<void> => {
    const username = name.trim().replace(/^@/, '')
    if (!username) return setProblem('Enter a username.')
    setBusy(true)
    setProblem(undefined)
    try {
      const [user] = await client.users.listUsers({ username: [username] })
      if (!user) return setProblem(`No user has the username “${username}”.`)
      await roles.add(user, role)
      setName('')
      onAdded()
    } catch (error) {
      setProblem(messageOf(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <form class="add-role box" onSubmit={(event) => (event.preventDefault(), void add())}>
      <Field label="Username" problem={problem}>
        {(attributes) => <input class="input" {...attributes} value={name} maxLength={41} autocomplete="off" autocapitalize="none" spellcheck={false} onInput={(event) => (setName(event.currentTarget.value), setProblem(undefined))} />}
      </Field>
      <Field label="Role">{(attributes) => (
        <select class="input" {...attributes} value={role} onChange={(event) => setRole(event.currentTarget.value as Role)}>
          {(Object.keys(roleNames) as Role[]).map((one) => <option value={one}>{one === 'moderator' ? 'Moderator' : roleNames[one]}</option>)}
        </select>
      )}</Field>
      <Button type="submit" kind="main" icon="plus" busy={busy}>Add</Button>
    </form>
  )
}
