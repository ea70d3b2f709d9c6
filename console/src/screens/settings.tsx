import { useDesk } from '../desk'
import type { Route } from '../route'
import { Empty } from '../ui/basics'
import { Page } from '../ui/page'
import { Apps } from './apps'
import { Parts, type Part } from './people'
import { RoleList } from './rolelist'
import { StreamInfo } from './streaminfo'
import { Webhooks } from './webhooks'

const parts: Part[] = [{ part: 'roles', name: 'Roles' }, { part: 'stream', name: 'Stream' }, { part: 'apps', name: 'Apps' }, { part: 'webhooks', name: 'Webhooks' }]

/** Settings is what only the owner of a channel changes. */
export function Settings({ route }: { route: Route }) {
  const { channel } = useDesk()
  const Shown = { stream: StreamInfo, apps: Apps, webhooks: Webhooks }[route.part] ?? RoleList
  return (
    <Page title="Settings" beside={channel.role === 'owner' && <Parts route={route} parts={parts} label="Settings" />}>
      {channel.role === 'owner' ? <Shown route={{ ...route, part: route.part || 'roles' }} key={route.part} />
        : <Empty icon="settings" title={`Only ${channel.displayName} can change the settings`}>You moderate this channel. Its roles are under People.</Empty>}
    </Page>
  )
}
