import { useDesk } from '../desk'
import { localTime, timeOf, type Filters } from '../model/logfilter'
import { useName } from '../model/names'
import { Button, Field, SearchField } from '../ui/basics'
import { useLoad } from '../ui/load'
import { Select } from '../ui/select'

const groupNames = [['', 'Everything'], ['bans', 'Bans'], ['mutes', 'Mutes'], ['messages', 'Messages'], ['roles', 'Roles'], ['rules', 'Chat rules'], ['stream', 'Stream']] as const
const causes = [['', 'Any cause'], ['moderator', 'By hand'], ['batch', 'In a batch'], ['revert', 'In a revert'], ['expired', 'Ended by itself']] as const
const times = [['', 'Any time'], [3600, 'Last hour'], [86_400, 'Last day'], [604_800, 'Last 7 days'], ['chosen', 'From … to …']] as const

interface Props {
  filters: Filters
  onChange: (change: Partial<Filters>) => void
}

export function LogFilters({ filters, onChange }: Props) {
  const isChosen = filters.last === 'chosen' || (filters.last === '' && (filters.since !== '' || filters.until !== ''))
  return (
    <div class="filters" role="search" aria-label="Filters">
      <SearchField label="Name of a user" value={filters.query} onSearch={(query) => onChange({ query })} />
      <Select label="What" values={groupNames} value={filters.group} onChange={(group) => onChange({ group })} />
      <Select label="By whom" value={filters.by} onChange={(by) => onChange({ by })}><option value="">Anybody</option><Moderators chosen={filters.by} /></Select>
      <Select label="Cause" values={causes} value={filters.cause} onChange={(cause) => onChange({ cause })} />
      <Select label="When" values={times} value={isChosen ? 'chosen' : filters.last} onChange={(last) => onChange({ last, ...(last !== 'chosen' && { since: '', until: '' }) })} />
      {isChosen && <TimeField label="From" value={filters.since} onChange={(since) => onChange({ since })} />}
      {isChosen && <TimeField label="To" value={filters.until} onChange={(until) => onChange({ until })} />}
      {filters.batchId && <span class="chip accent filter-chip">One batch<Button little kind="plain" icon="close" label="Remove this filter" onClick={() => onChange({ batchId: '' })} /></span>}
      {Object.values(filters).some(Boolean) && <Button kind="plain" icon="close" onClick={() => onChange(Object.fromEntries(Object.keys(filters).map((name) => [name, ''])))}>Clear</Button>}
    </div>
  )
}

export function TimeField({ label, value, problem, onChange }: { label: string; value: string; problem?: readonly string[] | undefined; onChange: (value: string) => void }) {
  return <Field label={label} problem={problem}>{(attributes) => <input class="input" type="datetime-local" {...attributes} value={localTime(value)} onChange={(event) => onChange(timeOf(event.currentTarget.value))} />}</Field>
}

/** useModerators returns the owner and the moderators of the channel. */
export function useModerators(): { id: string; displayName: string }[] {
  const { client, channel } = useDesk()
  const { data } = useLoad((signal) => Promise.resolve(client.moderation.listModerators({ channelId: channel.id }, { signal })), [channel.id])
  return [{ id: channel.id, displayName: channel.displayName }, ...(data ?? [])]
}

/** useFormer returns who lost the role of a moderator last. */
function useFormer(): { id: string; displayName: string }[] {
  const { client, channel } = useDesk()
  const { data } = useLoad((signal) => client.moderation.listLog({ channelId: channel.id, type: ['channel.moderator.remove'], limit: 20 }, { signal }).then(({ rows }) => rows), [channel.id])
  return data?.flatMap(({ user }) => user ?? []) ?? []
}

/** Moderators are the options of a choice. It offers former moderators too, and the chosen one always. */
export function Moderators({ chosen, withoutOwner }: { chosen: string; withoutOwner?: boolean }) {
  const { names } = useDesk()
  const moderators = useModerators().slice(withoutOwner ? 1 : 0)
  const known = new Set(moderators.map(({ id }) => id))
  const former = useFormer().filter(({ id }) => !known.has(id) && known.add(id))
  const name = useName(names, chosen, 'Somebody else')
  const options = (users: typeof former) => users.map((one) => <option value={one.id} selected={one.id === chosen}>{one.displayName}</option>)
  return (
    <>
      {options(moderators)}
      {former.length > 0 && <optgroup label="Former moderators">{options(former)}</optgroup>}
      {chosen && !known.has(chosen) && <option value={chosen} selected>{name}</option>}
    </>
  )
}
