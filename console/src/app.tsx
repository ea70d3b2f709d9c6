import { useEffect, useMemo, useState } from 'preact/hooks'
import type { GetProfileResponse } from '@moderato-live/client'
import { actions } from './actions'
import { session } from './api/session'
import { DeskContext, type Desk, type OwnChannel } from './desk'
import { listen, readHistory, readQueue } from './model/live'
import { Names } from './model/names'
import { Store, useStored } from './model/store'
import { go, useRoute, type Route } from './route'
import { Away } from './screens/away'
import { UserCard } from './screens/card'
import { Channels } from './screens/channels'
import { Chat } from './screens/chat'
import { Log } from './screens/log'
import { People } from './screens/people'
import { useLatest } from './screens/modes'
import { Plots } from './screens/plots'
import { Queue } from './screens/queue'
import { Raid } from './screens/raid'
import { Rules } from './screens/rules'
import { Settings } from './screens/settings'
import { Bar, Rail } from './screens/shell'
import { ShortcutsDialog } from './screens/shortcuts'
import { Problem, Progress } from './ui/basics'
import { keyLevels, useKeys } from './ui/keys'
import { useKept, useLoad } from './ui/load'
import { Toasts } from './ui/toasts'

const { client } = session
/** How many channels one call looks up. */
const slugsAtOnce = 100

/** Whether the user has seen a screen. Who moderates one channel begins there, but can go back to the list. */
let wasShown = false

/** App is the console of a user who is signed in. */
export function App() {
  const route = useRoute()
  const user = useKept(useLoad(readUser, []))
  useEffect(() => {
    if (!route.channel && wasShown) user.reload()
  }, [route.channel])
  useEffect(() => actions.leave(), [route.channel, route.screen, route.part, route.query.get('rule')])
  if (!user.data && user.error) return <main class="welcome"><div class="panel"><Problem error={user.error} onRetry={user.reload} /></div></main>
  if (!user.data) return <main class="welcome">{user.slow && <Progress />}</main>
  const { profile, channels } = user.data
  if (!route.channel && channels.length === 1 && !wasShown) go({ channel: channels[0]!.username }, true)
  wasShown = true
  const channel = channels.find((one) => one.username.toLowerCase() === route.channel.toLowerCase())
  return (
    <>
      {channel
        ? <ChannelDesk key={channel.id} profile={profile} channels={channels} channel={channel} route={route} reloadChannels={user.reload} />
        : <Channels profile={profile} channels={channels} unknown={route.channel} />}
      <Toasts />
    </>
  )
}

/** readUser reads who the user is and which channels they may moderate, live ones first. */
async function readUser(signal: AbortSignal): Promise<{ profile: GetProfileResponse; channels: OwnChannel[] }> {
  const profile = await client.users.getProfile({}, { signal })
  const roles = new Map<string, OwnChannel['role']>()
  if (profile.channelId) roles.set(profile.username.toLowerCase(), 'owner')
  for await (const row of client.moderation.listModeratedChannels({ userId: profile.userId }, { signal })) roles.set(row.username.toLowerCase(), 'moderator')
  const channels: OwnChannel[] = []
  const slugs = [...roles.keys()]
  for (let i = 0; i < slugs.length; i += slugsAtOnce) {
    for await (const { id, slug, displayName, avatarUrl, isLive, title, category } of client.channels.listChannels({ slug: slugs.slice(i, i + slugsAtOnce), type: 'all' }, { signal })) {
      channels.push({ id, username: slug, displayName, avatarUrl, role: roles.get(slug.toLowerCase()) ?? 'moderator', stream: { isLive, title, category: category.name } })
    }
  }
  channels.sort((a, b) => Number(b.stream.isLive) - Number(a.stream.isLive))
  return { profile, channels }
}

function ChannelDesk({ profile, channels, channel, route, reloadChannels }: { route: Route } & Pick<Desk, 'profile' | 'channels' | 'channel' | 'reloadChannels'>) {
  const store = useMemo(() => new Store(channel.id, channel.stream), [channel.id])
  const names = useMemo(() => new Names(client), [channel.id])
  const [card, setCard] = useState<{ userId: string; form: 'ban' | 'mute' | undefined; displayName: string } | undefined>()
  const [help, setHelp] = useState(false)
  useLive(store)
  const rules = useKept(useLoad((signal) => client.rules.getChatRules({ channelId: channel.id }, { signal }), [channel.id, useLatest(store, 'channel.chat.rules')]))
  const desk: Desk = {
    client, profile, channels, channel, reloadChannels, store, names, rules, userId: card?.userId,
    openCard: (userId, form, displayName = '') => setCard(userId === undefined ? undefined : { userId, form, displayName }),
  }
  const to = (screen: Route['screen'], part = '') => () => go({ channel: channel.username, screen, part })
  useKeys({
    'g c': to('chat'), 'g q': to('queue'), 'g r': to('raid'), 'g t': to('rules'), 'g l': to('log'), 'g u': to('people', 'bans'), 'g p': to('plots'),
    z: () => void actions.undoLatest(),
    '?': () => setHelp(true),
    '/': () => document.querySelector<HTMLElement>('[data-search]')?.focus(),
    Escape: () => setCard(undefined),
  }, keyLevels.everywhere)
  useEffect(() => {
    document.title = `${channel.displayName} – Moderato console`
  }, [channel])
  return (
    <DeskContext.Provider value={desk}>
      <div class="shell">
        <Bar />
        <Rail route={route} onHelp={() => setHelp(true)} />
        <main class="main">
          <CurrentScreen route={route} />
          {card && <UserCard key={card.userId} {...card} onForm={(form) => setCard({ ...card, form })} onClose={() => setCard(undefined)} />}
        </main>
      </div>
      {help && <ShortcutsDialog onClose={() => setHelp(false)} />}
    </DeskContext.Provider>
  )
}

function CurrentScreen({ route }: { route: Route }) {
  switch (route.screen) {
    case 'queue': return <Queue route={route} />
    case 'rules': return <Rules route={route} />
    case 'raid': return <Raid route={route} />
    case 'log': return <Log route={route} />
    case 'people': return <People route={route} />
    case 'plots': return <Plots route={route} />
    case 'away': return <Away />
    case 'settings': return <Settings route={route} />
    default: return <Chat />
  }
}

/** useLive keeps the store of a channel up to date while the channel is open. */
function useLive(store: Store): void {
  useEffect(() => {
    const abort = new AbortController()
    const { channelId } = store.state
    void listen(client, store, abort.signal)
    void client.chat.getPinnedMessage({ channelId }).then(({ message }) => store.dispatch({ type: 'pinned', message }), () => undefined)
    return () => abort.abort()
  }, [store])
  // The page keeps the messages that wait the longest, and reads more when these are decided.
  const isLow = useStored(store, ({ queue, queueState }) => queueState.hasMore && queue.length < 20)
  useEffect(() => {
    if (isLow) void readQueue(client, store)
  }, [isLow])
  const restored = useStored(store, (state) => state.restored)
  useEffect(() => {
    // The undo of a raid brings messages back for seconds. They are read once it has calmed down.
    const timer = restored > 0 ? setTimeout(() => void readHistory(client, store).catch(() => undefined), restored === 1 ? 0 : 500) : undefined
    return () => clearTimeout(timer)
  }, [restored])
}
