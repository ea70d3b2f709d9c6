import { useDesk } from '../desk'
import { hrefOf, type Route } from '../route'
import { Page } from '../ui/page'
import { RoleList } from './rolelist'
import { Sanctions } from './sanctions'

export interface Part {
  part: string
  name: string
}

const parts: Part[] = [{ part: 'bans', name: 'Bans' }, { part: 'mutes', name: 'Mutes' }, { part: 'roles', name: 'Roles' }]

/** People lists whom the channel banned and muted, and who has a role in it. */
export function People({ route }: { route: Route }) {
  const shown = { ...route, part: route.part || 'bans' }
  return (
    <Page title="People" beside={<Parts route={route} parts={parts} label="Lists of people" />}>
      {shown.part === 'roles' ? <RoleList route={shown} /> : <Sanctions kind={shown.part === 'mutes' ? 'mute' : 'ban'} key={shown.part} route={shown} />}
    </Page>
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
