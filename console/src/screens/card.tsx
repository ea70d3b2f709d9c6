import type { GetUserResponse, HeldMessage } from '@moderato-live/client'
import { useEffect, useRef } from 'preact/hooks'
import { unban, unmute } from '../actions'
import { useDesk, useReadOnly } from '../desk'
import { formatAgo, formatDay, withoutEmotes } from '../format'
import { statuses } from '../hold'
import { useStored } from '../model/store'
import { hrefOf } from '../route'
import { Avatar, Button, Note, Remaining, Time, nameColor } from '../ui/basics'
import { keyLevels, useKeys } from '../ui/keys'
import { useLoad } from '../ui/load'
import { Marked } from '../ui/marked'
import { Waiting } from '../ui/page'
import { LogLine } from './logline'
import { RoleButtons } from './roles'
import { SanctionForm } from './sanction'

type Form = 'ban' | 'mute' | undefined

/** A user with what `include=card` adds. */
type Card = GetUserResponse & Required<Pick<GetUserResponse, 'account' | 'log' | 'held' | 'elsewhere'>>

/** UserCard tells what a moderator must know about a user, and does what can be done about them. */
export function UserCard({ userId, displayName, form, onForm, onClose }: { userId: string; displayName: string; form: Form; onForm: (form: Form) => void; onClose: () => void }) {
  const { client, channel, store, profile } = useDesk()
  const isSelf = userId === profile.userId
  const readOnly = useReadOnly()
  // What happens to the user while the card is open shows in it.
  const latest = useStored(store, (state) => state.recent.find((event) => concerns(event.payload, userId))?.metadata.messageId)
  const waiting = useStored(store, (state) => state.queue.filter((hold) => hold.user.id === userId).length)
  const user = useLoad((signal) => client.moderation.getUser({ channelId: channel.id, userId, include: 'card' }, { signal }) as Promise<Card>, [userId, channel.id, latest, waiting])
  const drawer = useRef<HTMLElement>(null)
  useEffect(() => {
    if (!form) drawer.current?.focus()
  }, [userId, form])
  useKeys({ ...(!form && !readOnly && !isSelf && { b: () => onForm('ban') }) }, keyLevels.card)
  const shown = user.data
  const name = shown?.user.displayName ?? displayName
  return (
    <aside class="drawer" ref={drawer} tabIndex={-1} aria-label="User card">
      <header>
        {shown && <Avatar size="large" user={shown.user} />}
        <div class="grow">
          <h2 class={`cut ${nameColor(userId)}`}><bdi>{name}</bdi></h2>
          {shown && <p class="muted cut">@{shown.user.slug}{isSelf && ', this is you'}</p>}
        </div>
        <Button kind="plain" icon="close" label="Close the card" onClick={onClose} />
      </header>
      <div class="content">
        {form && name && !readOnly && !isSelf && <SanctionForm key={form} kind={form} role={withArticle[shown?.roles[0] ?? '']} target={{ id: userId, displayName: name }} onClose={() => onForm(undefined)} />}
        {!shown ? <Waiting of={user} /> : <Content user={shown} canAct={!form && !readOnly && !isSelf} onForm={onForm} />}
      </div>
    </aside>
  )
}

function concerns(payload: object, userId: string): boolean {
  const { bannedUserId, unbannedUserId, mutedUserId, unmutedUserId, userId: other } = payload as Record<string, unknown>
  return [bannedUserId, unbannedUserId, mutedUserId, unmutedUserId, other].includes(userId)
}

const roleNames: Record<string, string> = { owner: 'Owner', moderator: 'Moderator', vip: 'VIP', og: 'OG' }
const withArticle: Record<string, string> = { owner: 'the owner', moderator: 'a moderator', vip: 'a VIP', og: 'an OG' }

function Content({ user, canAct, onForm }: { user: Card; canAct: boolean; onForm: (form: Form) => void }) {
  const { client, channel } = useDesk()
  const target = user.user
  const log = user.log.filter(({ type }) => type !== 'channel.chat.hold.update') // stands above
  return (
    <>
      <div class="row wrap">
        {user.roles.map((role) => <span class="chip accent">{roleNames[role] ?? role}</span>)}
        {user.subscription.isSubscriber && <span class="chip good">Subscriber</span>}
        {user.follow && <span class="chip">Follower</span>}
        {!user.follow && !user.subscription.isSubscriber && user.roles.length === 0 && <span class="chip">Viewer</span>}
      </div>
      <Sanctions user={user} />
      {canAct && !user.roles.includes('owner') && (
        <div class="row wrap">
          {user.ban
            ? <Button icon="undo" onClick={() => void unban(client, channel.id, target)}>Unban</Button>
            : <Button kind="danger" icon="ban" keys="B" onClick={() => onForm('ban')}>Ban</Button>}
          {user.mute && !user.ban && <Button icon="undo" onClick={() => void unmute(client, channel.id, target)}>Unmute</Button>}
          {!user.ban && <Button icon="mute" onClick={() => onForm('mute')}>{user.mute ? 'Change mute' : 'Mute'}</Button>}
          {channel.role === 'owner' && <RoleButtons user={target} roles={user.roles} />}
        </div>
      )}
      <Facts user={user} />
      <section class="section">
        <h3>Latest messages</h3>
        {user.messages.length === 0 && <p class="muted">No messages that viewers can see.</p>}
        <ul class="lines">{user.messages.slice(0, 10).map((m) => <li key={m.messageId}><span class="muted small"><Time at={m.createdAt} /></span> <bdi class="user-text">{withoutEmotes(m.message)}</bdi></li>)}</ul>
      </section>
      {user.held.length > 0 && (
        <section class="section">
          <h3>Held messages</h3>
          <ul class="lines">{user.held.map((hold) => <li key={hold.messageId}><HeldLine hold={hold} /></li>)}</ul>
        </section>
      )}
      <section class="section">
        <h3>History in this channel</h3>
        {log.length === 0 && <p class="muted">Nothing was done about this user.</p>}
        <ul class="lines">{log.map((entry) => <li key={entry.id}><LogLine entry={entry} /></li>)}</ul>
      </section>
      {user.elsewhere.length > 0 && (
        <section class="section">
          <h3>Banned in your other channels</h3>
          <ul class="lines">{user.elsewhere.map((ban) => <li><strong class="user-text">{ban.channel.displayName}</strong> <span class="muted small">{formatAgo(ban.bannedAt)}</span>{ban.reason && <p class="user-text">{ban.reason}</p>}</li>)}</ul>
        </section>
      )}
    </>
  )
}

function HeldLine({ hold: { message, spans, heldAt, status, decidedBy, user } }: { hold: HeldMessage }) {
  const { channel } = useDesk()
  return (
    <>
      <p class="row wrap tight">
        {status === 'PENDING' ? <a href={hrefOf({ channel: channel.username, screen: 'queue', query: { user: user.id } })}>Waiting</a> : <strong>{statuses[status]}</strong>}
        {decidedBy && <span>by <bdi>{decidedBy.displayName}</bdi></span>}
        <span class="muted small"><Time at={heldAt} /></span>
      </p>
      <Marked text={message} spans={spans} />
    </>
  )
}

function Sanctions({ user: { ban, mute } }: { user: Card }) {
  return (
    <>
      {ban && (
        <Note kind="danger">
          <strong>{ban.expiresAt ? <>Banned for <Remaining until={ban.expiresAt} /> more</> : 'Banned permanently'}</strong>
          <p class="small">by {ban.moderator?.displayName ?? ban.bannedBy.displayName}, {formatAgo(ban.bannedAt)}{ban.batchId && ', in a batch'}</p>
          {ban.reason && <p class="user-text">{ban.reason}</p>}
        </Note>
      )}
      {mute && (
        <Note kind="warn">
          <strong>Muted for <Remaining until={mute.muteExpiresAt} /> more</strong>
          {mute.moderator && <p class="small">by {mute.moderator.displayName}</p>}
          {mute.reason && <p class="user-text">{mute.reason}</p>}
        </Note>
      )}
    </>
  )
}

function Facts({ user: { account, follow, subscription } }: { user: Card }) {
  return (
    <dl class="facts">
      {account.createdAt && <><dt>Account created</dt><dd>{formatDay(account.createdAt)}</dd></>}
      <dt>First message</dt><dd>{account.firstMessageAt ? `${formatDay(account.firstMessageAt)} (${formatAgo(account.firstMessageAt)})` : 'None stored'}</dd>
      <dt>Follows</dt><dd>{follow ? `since ${formatDay(follow.followedAt)}` : 'No'}</dd>
      <dt>Subscription</dt><dd>{subscription.isSubscriber && subscription.subscribedAt ? `since ${formatDay(subscription.subscribedAt)}` : subscription.hadSubscriptionBefore ? 'Ended' : 'No'}</dd>
    </dl>
  )
}
