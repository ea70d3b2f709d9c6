import { useEffect, useState } from 'preact/hooks'
import { session } from '../api/session'
import { useDesk } from '../desk'
import { formatDuration, plural } from '../format'
import type { Connection } from '../model/state'
import { useStored } from '../model/store'
import { go, hrefOf, type Route, type Screen } from '../route'
import { Avatar, Button } from '../ui/basics'
import { Dialog } from '../ui/dialog'
import { Icon, type IconName } from '../ui/icon'
import { useAwayCount } from './away'

/** Bar shows the channel and how the page stands with the server. */
export function Bar() {
  const { channel, store, profile } = useDesk()
  const stream = useStored(store, (state) => state.stream)
  const [switching, setSwitching] = useState(false)
  return (
    <header class="bar">
      <a class="brand" href="#/"><img src="icon.svg" alt="" width="24" height="24" /><span class="name">Moderato</span><span class="hidden-text">All channels</span></a>
      <button type="button" class="channel-switch" aria-haspopup="dialog" onClick={() => setSwitching(true)}>
        <Avatar user={channel} />
        <span class="cut">{channel.displayName}</span>
        <Icon name="down" />
      </button>
      <span class={`live-mark ${stream.isLive ? 'on' : ''}`}>{stream.isLive ? 'Live' : 'Offline'}</span>
      <span class="grow" />
      <ConnectionMark />
      <span class="muted small cut me">{profile.displayName}</span>
      <Button kind="plain" icon="exit" label={`Sign out ${profile.displayName}`} onClick={() => void session.signOut()} />
      {switching && <ChannelSwitch onClose={() => setSwitching(false)} />}
    </header>
  )
}

/** ConnectionMark says whether what the page shows is current. */
function ConnectionMark() {
  const { store } = useDesk()
  const connection = useStored(store, (state) => state.connection)
  const missed = useStored(store, (state) => state.missed)
  const hasGap = useStored(store, (state) => state.hasGap)
  const isBroken = connection.state === 'reconnecting'
  const seconds = useSecondsSince(isBroken ? connection.since : undefined)
  return (
    <>
      {(hasGap || missed > 0) && <span class="chip warn" title="More messages came than this page could receive or read again. Banned users and deleted messages are not affected.">{missed === 0 ? 'Messages missed' : `${hasGap ? 'More than ' : ''}${plural(missed, 'message')} missed`}</span>}
      <span class={`connection ${connection.rightLost ? 'lost' : connection.state}`} title={connection.reason}><span role="status">{connectionText(connection)}</span>{isBroken && ` for ${formatDuration(seconds)}`}</span>
      {connection.state === 'ended' && <Button little onClick={() => location.reload()}>Try again</Button>}
    </>
  )
}

function connectionText({ state, rightLost }: Connection): string {
  if (state === 'connecting') return 'Connecting'
  if (state === 'reconnecting') return 'Reconnecting'
  if (state === 'ended') return 'Not connected'
  return rightLost ? 'Read only' : 'Up to date'
}

function useSecondsSince(since: number | undefined): number {
  const [, tick] = useState(0)
  useEffect(() => {
    if (since === undefined) return
    const timer = setInterval(() => tick((n) => n + 1), 1000)
    return () => clearInterval(timer)
  }, [since])
  return since === undefined ? 0 : (performance.now() - since) / 1000
}

function ChannelSwitch({ onClose }: { onClose: () => void }) {
  const { channels, channel, reloadChannels } = useDesk()
  useEffect(reloadChannels, [])
  return (
    <Dialog title="Switch channel" onClose={onClose}>
      <ul class="lines">
        {channels.map((one) => (
          <li>
            <a class="row channel-link" href={hrefOf({ channel: one.username })} aria-current={one.id === channel.id ? 'true' : undefined} onClick={onClose}>
              <Avatar user={one} />
              <span class="grow cut"><strong>{one.displayName}</strong> <span class="muted small">{one.stream.title}</span></span>
              <span class={`live-mark ${one.stream.isLive ? 'on' : ''}`}>{one.stream.isLive ? 'Live' : 'Offline'}</span>
            </a>
          </li>
        ))}
      </ul>
    </Dialog>
  )
}

interface Item {
  screen: Screen
  part?: string
  name: string
  icon: IconName
  keys?: string
  ownerOnly?: boolean
  /** Whether a phone shows it behind "More". */
  further?: boolean
}

const items: Item[] = [
  { screen: 'chat', name: 'Chat', icon: 'chat', keys: 'G C' },
  { screen: 'queue', name: 'Queue', icon: 'queue', keys: 'G Q' },
  { screen: 'raid', name: 'Raid', icon: 'raid', keys: 'G R' },
  { screen: 'people', part: 'bans', name: 'People', icon: 'people', keys: 'G U' },
  { screen: 'log', name: 'Log', icon: 'log', keys: 'G L' },
  { screen: 'rules', part: 'rules', name: 'Chat rules', icon: 'rules', keys: 'G T', further: true },
  { screen: 'plots', name: 'Plots', icon: 'plots', keys: 'G P', further: true },
  { screen: 'away', name: 'While away', icon: 'away', further: true },
  { screen: 'settings', part: 'roles', name: 'Settings', icon: 'settings', ownerOnly: true, further: true },
]

const Count = ({ count, label }: { count: number; label: string }) => (count > 0 ? <span class="chip accent count"><span class="hidden-text">{label}: </span>{count > 99 ? '99+' : count}</span> : null)

/** Rail leads to the screens: at the side, or at the bottom of a phone. */
export function Rail({ route, onHelp }: { route: Route; onHelp: () => void }) {
  const { channel, store } = useDesk()
  const held = useStored(store, ({ queue, queueState }) => (queueState.hasMore ? 100 : queue.length))
  const [more, setMore] = useState(false)
  const away = useAwayCount(route.screen)
  const shown = items.filter((item) => !item.ownerOnly || channel.role === 'owner')
  const link = (item: Item) => (
    <a class={item.further ? 'wide-only' : ''} title={item.name} href={hrefOf({ channel: channel.username, screen: item.screen, part: item.part ?? '' })} aria-current={route.screen === item.screen ? 'page' : undefined}>
      <Icon name={item.icon} /><span class="name">{item.name}</span>{item.screen === 'away' && route.screen !== 'away' && <Count count={away} label="New" />}{item.screen === 'queue' && <Count count={held} label="Waiting" />}{item.keys && <span class="keys" aria-hidden="true">{item.keys}</span>}
    </a>
  )
  return (
    <>
      <nav class="rail" aria-label="Screens">
        {shown.map(link)}
        <button type="button" class="end wide-only" title="Keys" onClick={onHelp}><Icon name="keyboard" /><span class="name">Keys</span><span class="keys" aria-hidden="true">?</span></button>
        <button type="button" class="narrow-only" aria-haspopup="dialog" onClick={() => setMore(true)}><Icon name="more" /><span class="name">More</span></button>
      </nav>
      {more && (
        <Dialog title="More" onClose={() => setMore(false)}>
          <ul class="lines">
            {shown.filter((item) => item.further).map((item) => (
              <li><button type="button" class="row channel-link" onClick={() => (setMore(false), go({ channel: channel.username, screen: item.screen, part: item.part ?? '' }))}><Icon name={item.icon} />{item.name}</button></li>
            ))}
          </ul>
        </Dialog>
      )}
    </>
  )
}
