import { useDesk } from '../desk'
import { hrefOf, type Route } from '../route'
import { Bans } from './bans'
import { Mutes } from './mutes'
import { RoleList } from './rolelist'

export interface Part {
  part: string
  name: string
}

const parts: Part[] = [{ part: 'bans', name: 'Bans' }, { part: 'mutes', name: 'Mutes' }, { part: 'roles', name: 'Roles' }]

/** People lists whom the channel banned and muted, and who has a role in it. */
export function People({ route }: { route: Route }) {
  const Shown = { mutes: Mutes, roles: RoleList }[route.part] ?? Bans
  return (
    <div class="page">
      <div class="page-inside">
        <div class="page-head"><h1>People</h1><Parts route={route} parts={parts} label="Lists of people" /></div>
        <Shown route={{ ...route, part: route.part || 'bans' }} key={route.part} />
      </div>
    </div>
  )
}

/** Parts leads to the parts of a screen. */
export function Parts({ route, parts, label }: { route: Route; parts: Part[]; label: string }) {
  const { channel } = useDesk()
  const current = parts.find(({ part }) => part === route.part) ?? parts[0]
  return (
    <nav class="segments" aria-label={label}>
      {parts.map((one) => <a href={hrefOf({ channel: channel.username, screen: route.screen, part: one.part })} aria-current={one === current ? 'page' : undefined}>{one.name}</a>)}
    </nav>
  )
}
