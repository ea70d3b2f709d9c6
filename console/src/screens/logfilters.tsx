import type { ComponentChildren } from 'preact'
import { useDesk } from '../desk'
import { localTime, timeOf, type Filters } from '../model/logfilter'
import { useName } from '../model/names'
import { Button, Field, SearchField } from '../ui/basics'
import { useLoad } from '../ui/load'

const groupNames = { '': 'Everything', bans: 'Bans', mutes: 'Mutes', messages: 'Messages', roles: 'Roles', stream: 'Stream' }
const causeNames = { '': 'Any cause', moderator: 'By hand', batch: 'In a batch', revert: 'In a revert', expired: 'Ended by itself' }
const times = { '': 'Any time', 3600: 'Last hour', 86400: 'Last day', 604800: 'Last 7 days', chosen: 'From … to …' }

interface Props {
  filters: Filters
  onChange: (change: Partial<Filters>) => void
}

export function LogFilters({ filters, onChange }: Props) {
  const isChosen = filters.last === 'chosen' || (filters.last === '' && (filters.since !== '' || filters.until !== ''))
  return (
    <div class="filters" role="search" aria-label="Filters">
      <SearchField label="Name of a user" value={filters.query} onSearch={(query) => onChange({ query })} />
      <Select label="What" names={groupNames} value={filters.group} onChange={(group) => onChange({ group })} />
      <Field label="By whom">{(attributes) => <select class="input" {...attributes} value={filters.by} onChange={(event) => onChange({ by: event.currentTarget.value })}><option value="">Anybody</option><Moderators chosen={filters.by} /></select>}</Field>
      <Select label="Cause" names={causeNames} value={filters.cause} onChange={(cause) => onChange({ cause })} />
      <Select label="When" names={times} value={isChosen ? 'chosen' : filters.last} onChange={(last) => onChange({ last, ...(last !== 'chosen' && { since: '', until: '' }) })} />
      {isChosen && <TimeField label="From" value={filters.since} onChange={(since) => onChange({ since })} />}
      {isChosen && <TimeField label="To" value={filters.until} onChange={(until) => onChange({ until })} />}
      {filters.batchId && <Chip onRemove={() => onChange({ batchId: '' })}>One batch</Chip>}
      {filters.ruleId && <Chip onRemove={() => onChange({ ruleId: '' })}>One rule</Chip>}
      {Object.values(filters).some(Boolean) && <Button kind="plain" icon="close" onClick={() => onChange(Object.fromEntries(Object.keys(filters).map((name) => [name, ''])))}>Clear</Button>}
    </div>
  )
}

function Select({ label, names, value, onChange }: { label: string; names: Record<string, string>; value: string; onChange: (value: string) => void }) {
  return (
    <Field label={label}>
      {(attributes) => <select class="input" {...attributes} value={value} onChange={(event) => onChange(event.currentTarget.value)}>{Object.entries(names).map(([one, name]) => <option value={one}>{name}</option>).sort((a, b) => Number(b.props.value === '') - Number(a.props.value === ''))}</select>}
    </Field>
  )
}

export function TimeField({ label, value, onChange }: { label: string; value: string; onChange: (value: string) => void }) {
  return <Field label={label}>{(attributes) => <input class="input" type="datetime-local" {...attributes} value={localTime(value)} onChange={(event) => onChange(timeOf(event.currentTarget.value))} />}</Field>
}

const Chip = ({ children, onRemove }: { children: ComponentChildren; onRemove: () => void }) => <span class="chip accent filter-chip">{children}<Button little kind="plain" icon="close" label="Remove this filter" onClick={onRemove} /></span>

/** useModerators returns the owner and the moderators of the channel. */
export function useModerators(): { id: string; displayName: string }[] {
  const { client, channel } = useDesk()
  const { data } = useLoad((signal) => Promise.resolve(client.moderation.listModerators({ channelId: channel.id }, { signal })), [channel.id])
  return [{ id: channel.id, displayName: channel.displayName }, ...(data ?? [])]
}

/** Moderators are the options of a choice. It offers the chosen one even if they moderate no more. */
export function Moderators({ chosen, withoutOwner }: { chosen: string; withoutOwner?: boolean }) {
  const { names } = useDesk()
  const moderators = useModerators().slice(withoutOwner ? 1 : 0)
  const name = useName(names, chosen, 'Somebody else')
  return (
    <>
      {moderators.map((one) => <option value={one.id} selected={one.id === chosen}>{one.displayName}</option>)}
      {chosen && !moderators.some((one) => one.id === chosen) && <option value={chosen} selected>{name}</option>}
    </>
  )
}
