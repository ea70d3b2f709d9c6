import type { HeldMessage } from '@moderato-live/client'
import { useEffect, useRef, useState } from 'preact/hooks'
import { now } from '../api/clock'
import { ruleName, useDesk, useReadOnly, type Desk } from '../desk'
import { formatDay, plural } from '../format'
import { decide, firstListed, isFound, maxListed, statuses, withFound } from '../hold'
import { readQueue } from '../model/live'
import { useName } from '../model/names'
import { useStored } from '../model/store'
import type { Route } from '../route'
import { Button, Empty, Note, Problem, Progress, Remaining, Time, nameColor } from '../ui/basics'
import { useKeys } from '../ui/keys'
import { useList, useLoad, type Loaded } from '../ui/load'
import { Marked } from '../ui/marked'
import { Page, Waiting } from '../ui/page'
import { Select } from '../ui/select'
import { Badges } from './message'
import { useFilters } from './userlist'

/** How often a claim, which holds for 30 s, is renewed. */
const renewal = 20_000

/** Queue shows the held messages, one large. What was decided is found by its status. */
export function Queue({ route }: { route: Route }) {
  const { rules, names } = useDesk()
  const filter = useFilters(route)
  const [status, ruleId, userId] = [route.query.get('status') || 'PENDING', route.query.get('rule') ?? '', route.query.get('user') ?? '']
  const name = useName(names, userId, 'one user')
  return (
    <Page title="Queue">
      <div class="filters few" role="search" aria-label="Filters">
        <Select label="Status" values={[['PENDING', 'Waiting'], ...Object.entries(statuses).slice(1)]} value={status} onChange={(next) => filter({ status: next })} />
        <Select label="Held by" values={[['', 'Any rule'], ...(rules.data?.rules.map((rule) => [rule.ruleId, rule.name] as const) ?? [])]} value={ruleId} onChange={(rule) => filter({ rule })} />
        {userId && <span class="chip accent filter-chip"><bdi>{name}</bdi><Button little kind="plain" icon="close" label="Remove this filter" onClick={() => filter({ user: '' })} /></span>}
      </div>
      {status === 'PENDING' ? <Pending ruleId={ruleId} userId={userId} onUser={(user) => filter({ user })} /> : <Decided status={status} ruleId={ruleId} userId={userId} />}
    </Page>
  )
}

interface Filters {
  ruleId: string
  userId: string
}

const readHeld = ({ client, channel }: Desk, status: string, { ruleId, userId }: Filters, signal: AbortSignal, cursor = '') =>
  client.held.listHeldMessages({ channelId: channel.id, status: status as 'DENIED', limit: 100, ...(ruleId && { ruleId }), ...(userId && { userId }), ...(cursor && { cursor }) }, { signal })

/**
 * useFound reads the messages that match filters into the queue, of which the page may have only the first. Its data
 * tells of which filters it is, and whether even more match.
 */
function useFound(filters: Filters, isNeeded: boolean): Loaded<{ of: string; hasMore: boolean }> {
  const desk = useDesk()
  const { store } = desk
  const of = JSON.stringify(filters)
  return useLoad(async (signal) => {
    if (!isNeeded) return { of, hasMore: false }
    const { rows, pagination } = await readHeld(desk, 'PENDING', filters, signal)
    const { queue, queueState } = store.state
    store.dispatch({ type: 'queue', rows: withFound(store.state, rows), hasMore: queueState.hasMore, before: queue })
    return { of, hasMore: pagination.cursor !== '' }
  }, [of, isNeeded, useStored(store, ({ connection, missed }) => `${connection.since} ${missed}`)])
}

function Pending({ ruleId, userId, onUser }: { ruleId: string; userId: string; onUser: (id: string) => void }) {
  const desk = useDesk()
  const { client, store } = desk
  const all = useStored(store, (state) => state.queue)
  const { isRead, hasMore, problem } = useStored(store, (state) => state.queueState)
  const readOnly = useReadOnly()
  const [chosen, choose] = useState<HeldMessage>()
  // After a decision the next message is shown at once. One that takes the place of what somebody else decided is not: no key hits it unread.
  const [shownId, setShownId] = useState<string>()
  const rows = all.filter((hold) => isFound(hold, ruleId, userId))
  const isPartial = hasMore && (ruleId || userId) !== ''
  const found = useFound({ ruleId, userId }, isPartial)
  const known = found.data?.of === JSON.stringify({ ruleId, userId }) ? found.data : undefined
  const more = isPartial && known ? known.hasMore : hasMore
  useEffect(() => {
    if (known?.hasMore && rows.length === 0) found.reload()
  }, [known, rows.length === 0])
  const at = Math.max(0, rows.findIndex(({ messageId }) => messageId === chosen?.messageId))
  const current = rows[at]
  const decision = useStored(store, ({ recent }) => recent.find((event) => event.type === 'channel.chat.hold.update' && event.payload.messageId === chosen?.messageId && event.payload.status !== 'PENDING'))
  const gone = decision?.type === 'channel.chat.hold.update' && decision.payload
  const pick = (hold: HeldMessage | undefined, shown: boolean): void => (setShownId(shown ? hold?.messageId : undefined), choose(hold))
  useEffect(() => {
    if (!chosen && current) choose(current)
  }, [chosen, current])
  const first = useRef(0)
  first.current = firstListed(first.current, at, rows.length)
  const list = useRef<HTMLUListElement>(null)
  useEffect(() => showCurrent(list.current), [current?.messageId])
  const move = (by: number) => (): void => pick(rows[Math.min(rows.length - 1, Math.max(0, at + by))], false)
  useKeys({ j: move(1), k: move(-1), ArrowDown: move(1), ArrowUp: move(-1) })
  if (readOnly) return <Note kind="danger">You no longer moderate this channel, so you cannot see its queue.</Note>
  if (problem) return <Problem error={problem} onRetry={() => void readQueue(client, store)} />
  if (!isRead) return <Progress />
  if (isPartial && (found.error || (!current && more))) return <Waiting of={found} />
  return (
    <>
      {gone && <Note kind="warn">{statuses[gone.status]}{gone.decidedBy && <> by <bdi>{gone.decidedBy.displayName}</bdi></>}: the message by <bdi>{chosen?.user.displayName}</bdi> that was here.</Note>}
      {!current ? <Empty icon="check" title="Nothing waits">{ruleId || userId ? 'No held message matches these filters.' : 'Messages that a rule or the settings hold appear here.'}</Empty> : (
        <div class="queue">
          <HeldCard key={current.messageId} hold={current} isShown={current.messageId === shownId} onUser={onUser} onDecided={() => pick(rows[at + 1] ?? rows[at - 1], true)} />
          <section class="box" aria-label="All that wait">
            <header><h2 class="grow"><span role="status">{more ? `More than ${plural(rows.length, 'message')}` : `${plural(rows.length, 'message')} ${rows.length === 1 ? 'waits' : 'wait'}`}</span></h2></header>
            <ul class="waiting-list" ref={list}>{rows.slice(first.current, first.current + maxListed).map((hold) => (
              <li key={hold.messageId}>
                <button type="button" aria-current={hold === current} onClick={() => pick(hold, false)}>
                  <strong class={`cut ${nameColor(hold.user.id)}`}><bdi>{hold.user.displayName}</bdi></strong>{isTaken(hold, desk.profile.userId) && <span class="chip warn">Taken</span>}
                  <span class="grow" /><span class="small muted unbroken"><Remaining until={hold.expiresAt} /></span>
                </button>
              </li>
            ))}</ul>
            {rows.length > maxListed && <p class="inside small muted">And {plural(rows.length - maxListed, 'other')}.</p>}
          </section>
        </div>
      )}
    </>
  )
}

/** showCurrent scrolls a list to its current row, and nothing else: below the card, the list may be out of sight. */
function showCurrent(list: HTMLElement | null): void {
  const row = list?.querySelector<HTMLElement>('[aria-current=true]')
  if (list && row) list.scrollTop = Math.max(row.offsetTop + row.offsetHeight - list.clientHeight, Math.min(list.scrollTop, row.offsetTop))
}

const isTaken = ({ claimedBy, claimedUntil }: HeldMessage, userId: string): boolean => !!claimedBy && claimedBy.id !== userId && Date.parse(claimedUntil ?? '') > now()

/** useClaim tells the other moderators that this one looks at a message, while the page is visible. */
function useClaim(messageId: string): void {
  const { client, channel, store } = useDesk()
  useEffect(() => {
    const claim = (): void => {
      if (document.hidden) return
      // A claim is advice: if it fails, the decision still tells who was first.
      void client.held.claimHeldMessages({ channelId: channel.id, messageIds: [messageId] }).then(
        ({ results: [found] }) => found?.claimedBy && store.dispatch({ type: 'decided', messageId, hold: { claimedBy: found.claimedBy, claimedUntil: found.claimedUntil } }),
        () => undefined)
    }
    claim()
    const timer = setInterval(claim, renewal)
    return () => clearInterval(timer)
  }, [messageId])
}

/** HeldCard shows a held message. Its text is blurred until the moderator wants to read it, and nothing is decided before. */
function HeldCard({ hold, isShown, onUser, onDecided }: { hold: HeldMessage; isShown: boolean; onUser: (id: string) => void; onDecided: () => void }) {
  const desk = useDesk()
  const { openCard, profile } = desk
  const { user, facts } = hold
  const [opened, open] = useState(false)
  // The event of a decision may come before its answer. Then this card is there before it is known whose decision it follows.
  const shown = opened || isShown
  const [busy, setBusy] = useState('')
  const text = useRef<HTMLDivElement>(null)
  useClaim(hold.messageId)
  useEffect(() => {
    if (shown) text.current?.focus()
  }, [shown])
  const act = (decision: 'approve' | 'deny', muteSeconds?: number) => (): void => {
    if (busy) return
    if (!shown) return open(true)
    setBusy(decision + (muteSeconds ?? ''))
    void decide(desk, hold, decision, muteSeconds).then((counted) => (counted ? onDecided() : setBusy('')))
  }
  useKeys({ a: act('approve'), x: act('deny'), Enter: () => (shown ? openCard(user.id) : open(true)) })
  return (
    <section class="box held-card" aria-label="Held message">
      <header>
        <button type="button" class={`user-link ${nameColor(user.id)}`} onClick={() => openCard(user.id)}><Badges roles={facts.roles} isSubscriber={facts.isSubscriber} isBot={false} /><bdi>{user.displayName}</bdi></button>
        <span class="grow" /><span class="small muted">Held <Time at={hold.heldAt} ago />, <Remaining until={hold.expiresAt} /> left</span>
      </header>
      <div class="inside stack">
        {isTaken(hold, profile.userId) && <Note kind="warn"><bdi>{hold.claimedBy!.displayName}</bdi> is looking at this message. The first decision counts.</Note>}
        {shown ? <div class="held-text" ref={text} tabIndex={-1}><Marked text={hold.message} spans={hold.spans} /></div>
          : <button type="button" class="held-text" onFocus={(event) => event.currentTarget.matches(':focus-visible') && open(true)} onClick={() => open(true)}>
            <span class="blurred" aria-hidden="true">{hold.message}</span><span class="chip">Show the text</span>
          </button>}
        <p class="row wrap tight"><span class="muted">Held by</span><RuleNames ids={hold.rules} /></p>
        <div class="row wrap decisions">
          <Button kind="main" icon="check" keys="A" busy={busy === 'approve'} disabled={!!busy} onClick={act('approve')}>Approve</Button>
          <Button kind="danger" icon="close" keys="X" busy={busy === 'deny'} disabled={!!busy} onClick={act('deny')}>Deny</Button>
          <Button icon="mute" busy={busy === 'deny600'} disabled={!!busy} onClick={act('deny', 600)}>Deny and mute 10 min</Button>
        </div>
        <dl class="facts">
          <dt>Follows</dt><dd>{facts.followedAt ? `since ${formatDay(facts.followedAt)}` : 'No'}</dd>
          <dt>Account created</dt><dd>{facts.accountCreatedAt ? formatDay(facts.accountCreatedAt) : 'Not known'}</dd>
          {facts.strikes > 0 && <><dt>Strikes</dt><dd>{facts.strikes}</dd></>}
        </dl>
        <div><Button little onClick={() => onUser(user.id)}>Only messages of this user</Button></div>
      </div>
    </section>
  )
}

/** RuleNames names the rules that found a message; without rules it was the setting for first messages. */
function RuleNames({ ids }: { ids: string[] }) {
  const { rules } = useDesk()
  return <>{ids.length === 0 ? <span class="chip">First message</span> : ids.map((id) => <span class="chip warn user-text"><bdi>{ruleName(rules, id)}</bdi></span>)}</>
}

function Decided({ status, ...filters }: Filters & { status: string }) {
  const desk = useDesk()
  const list = useList((cursor, signal) => readHeld(desk, status, filters, signal, cursor), [desk.channel.id, status, filters.ruleId, filters.userId])
  return (
    <section class="box" aria-label="Decided messages">
      {list.error ? <div class="inside"><Problem error={list.error} onRetry={list.rows ? list.more : list.reload} /></div> : null}
      {!list.rows && list.slow && <Progress />}
      {list.rows?.length === 0 && <Empty icon="queue" title="Nothing here">No message of the last 90 days has this status.</Empty>}
      <ul class="entries">{list.rows?.map((hold) => (
        <li key={hold.messageId}>
          <Time at={hold.decidedAt ?? hold.heldAt} />
          <div class="grow">
            <p class="row wrap tight">
              <button type="button" class={`user-link ${nameColor(hold.user.id)}`} onClick={() => desk.openCard(hold.user.id)}><bdi>{hold.user.displayName}</bdi></button><span class="chip">{statuses[hold.status]}</span>
              {hold.decidedBy ? <span class="muted">by <bdi>{hold.decidedBy.displayName}</bdi></span> : hold.status !== 'CANCELLED' && <span class="muted">by itself</span>}
              <RuleNames ids={hold.rules} />
            </p>
            <Marked text={hold.message} spans={hold.spans} />
          </div>
        </li>
      ))}</ul>
      {list.more && <div class="inside"><Button busy={list.loadingMore} onClick={list.more}>Earlier messages</Button></div>}
    </section>
  )
}
