import type { BanBatch, LogEntry } from '@moderato-live/client'
import { useState } from 'preact/hooks'
import { now } from '../api/clock'
import { useDesk } from '../desk'
import { formatAgo, formatNumber, plural } from '../format'
import { groupEntries, maxEntries, readAway, readSeen, writeSeen } from '../model/away'
import { hrefOf } from '../route'
import { Button, Empty, Note } from '../ui/basics'
import { useLoad } from '../ui/load'
import { Page, Waiting } from '../ui/page'
import { BatchRows } from './batches'
import { causeOf } from './logline'
import { LogGroup } from './logrow'

/** isByOthers leaves out what ended by itself, which nobody did. */
const isByOthers = (userId: string) => (entry: LogEntry): boolean =>
  entry.moderator?.id !== userId && causeOf(entry) !== 'it ended by itself'

/** useAwayCount counts what others did, if the user has not looked for an hour. */
export function useAwayCount(screen: string): number {
  const { client, channel, profile } = useDesk()
  const { data } = useLoad(async (signal) => {
    const seen = readSeen(channel.id, profile.userId)
    if (!seen || now() - Date.parse(seen.at) < 3_600_000) return 0
    return (await readAway(client, channel.id, seen, now(), 100, signal, isByOthers(profile.userId))).entries.filter(isByOthers(profile.userId)).length
  }, [channel.id, screen === 'away'])
  return data ?? 0
}

/**
 * Away shows what others did since the user last pressed "Mark as seen". A glance at the screen
 * marks nothing, so nothing is lost if the user has no time to read it.
 */
export function Away() {
  const { client, channel, profile } = useDesk()
  const [seen, setSeen] = useState(() => readSeen(channel.id, profile.userId))
  const [isBlocked, setBlocked] = useState(false)
  const loaded = useLoad(async (signal) => {
    const at = now()
    const since = seen ? Date.parse(seen.at) : at - 86_400_000
    const [log, batches] = await Promise.all([readAway(client, channel.id, seen, at, maxEntries, signal, isByOthers(profile.userId)), client.moderation.listBanBatches({ channelId: channel.id, limit: 100 }, { signal })])
    return { ...log, at, batches: batches.rows.filter((row) => Date.parse(row.createdAt) >= since) }
  }, [channel.id, seen])
  const { data, reload } = loaded
  const others = data?.entries.filter(isByOthers(profile.userId)) ?? []
  const batches = data?.batches.filter((batch) => batch.bannedBy.id !== profile.userId) ?? []
  const own = data?.entries.filter(({ moderator }) => moderator?.id === profile.userId).length ?? 0
  const mark = (): void => {
    const next = { sequence: Math.max(seen?.sequence ?? 0, ...data!.entries.map(({ sequence }) => sequence)), at: new Date(data!.at).toISOString() }
    setBlocked(!writeSeen(channel.id, profile.userId, next))
    setSeen(next)
  }
  return (
    <Page title="While you were away" beside={<><Button icon="refresh" onClick={reload}>Refresh</Button>{data && <Button kind="main" icon="check" onClick={mark}>Mark as seen</Button>}</>}>
      <p class="muted">{seen ? <>Since you marked all as seen, {formatAgo(seen.at)}.</> : 'The last 24 hours.'} {own > 0 && <>{plural(own, 'entry', 'entries')} of your own {own === 1 ? 'is' : 'are'} left out.</>}</p>
      {isBlocked && <Note kind="warn">This browser blocks storage for this page. Next time it shows the last 24 hours again.</Note>}
      {!data && <Waiting of={loaded} />}
      {data && (
        <>
          <Cards entries={others} batches={batches} hasMore={data.hasMore} />
          {data.hasMore && <Note kind="warn">More happened than this page shows. <a href={hrefOf({ channel: channel.username, screen: 'log' })}>The log</a> has everything.</Note>}
          {batches.length > 0 && <section class="box" aria-label="Batches"><header><h2>Raids and other batches of bans</h2></header><BatchRows rows={batches} onUndone={reload} /></section>}
          <section class="box" aria-label="What was done">
            {others.length === 0 ? <Empty icon="check" title={batches.length > 0 ? 'Nothing else happened' : 'Nothing happened'}>No other moderator did anything in this time.</Empty>
              : <ul class="entries">{groupEntries(others).map((group) => <LogGroup key={group[0]!.id} group={group} />)}</ul>}
          </section>
        </>
      )}
    </Page>
  )
}

function Cards({ entries, batches, hasMore }: { entries: LogEntry[]; batches: BanBatch[]; hasMore: boolean }) {
  const count = (...types: string[]): number => entries.filter(({ type }) => types.includes(type)).length
  const [bans, mutes, removed] = [count('channel.ban'), count('channel.mute'), count('channel.moderator.remove')]
  const cards = [[batches.length, 'batches of bans'], [bans, 'single bans'], [mutes, 'mutes'], [removed, 'moderators removed'], [entries.length - bans - mutes - removed, 'other changes']] as const
  return <dl class="counts">{cards.map(([value, name]) => <div class="box" key={name}><dt class="muted">{name}</dt><dd class="number">{formatNumber(value)}{hasMore && ' or more'}</dd></div>)}</dl>
}
