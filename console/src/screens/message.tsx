import { Component } from 'preact'
import { picture } from '../api/settings'
import { formatClock, formatFull, withoutEmotes } from '../format'
import type { Names } from '../model/names'
import { useName } from '../model/names'
import { statuses } from '../hold'
import type { Deletion, Flag, Message } from '../model/state'
import { Button, nameColor } from '../ui/basics'
import { Icon, type IconName } from '../ui/icon'
import { Marked } from '../ui/marked'

interface Props {
  message: Message
  /** The message to which it replies, if the page has it. */
  replied: Message | undefined
  names: Names
  /** What rules found in it, and their names; empty if it was the setting for first messages. */
  flag: Flag | undefined
  ruleNames: string
  selected: boolean
  marked: boolean
  readOnly: boolean
  onSelect: (shift: boolean) => void
  onCard: (form?: 'ban' | 'mute') => void
  onDelete: () => void
  onMute: () => void
  onDecide: (decision: 'approve' | 'deny') => void
}

/** MessageRow shows a message. It is drawn again only when the message or its selection changes. */
export class MessageRow extends Component<Props, { hasTools: boolean }> {
  override state = { hasTools: false }

  override shouldComponentUpdate(next: Props, { hasTools }: { hasTools: boolean }): boolean {
    const { message, selected, marked, readOnly, flag, ruleNames } = this.props
    return flag !== next.flag || ruleNames !== next.ruleNames || hasTools !== this.state.hasTools || message !== next.message || selected !== next.selected || marked !== next.marked || readOnly !== next.readOnly
  }

  // Only the row under the pointer or with the focus has its buttons: a page of them would be slow.
  readonly #show = (): void => this.setState({ hasTools: true })
  readonly #hide = (event: PointerEvent): void => {
    if (!(event.currentTarget as Element).contains(document.activeElement)) this.setState({ hasTools: false })
  }

  // The handlers are looked up when they run, because a row is not drawn again for new ones.
  override render() {
    const { message, replied, names, selected, marked, readOnly, flag, ruleNames } = this.props
    const { sender, deletion, hold } = message
    const spans = hold?.spans ?? flag?.spans
    const classes = ['message', deletion && 'deleted', hold && 'held', hold && hold.status !== 'PENDING' && 'over', flag && 'flagged', marked && 'marked'].filter(Boolean).join(' ')
    return (
      <li class={classes} aria-current={selected} onPointerEnter={this.#show} onPointerLeave={this.#hide} onFocusIn={this.#show} onClick={(event) => this.props.onSelect(event.shiftKey)}>
        <time dateTime={message.at} title={formatFull(message.at)}>{formatClock(message.at)}</time>
        <div class="body">
          {message.replyTo && <span class="reply cut">In reply to {replied ? <bdi>{replied.sender.displayName}: {replied.deletion ? 'a deleted message' : withoutEmotes(replied.text)}</bdi> : 'an earlier message'}</span>}
          <Badges roles={sender.isOwner ? ['owner', ...sender.roles] : sender.roles} isSubscriber={sender.isSubscriber} isBot={sender.isBot} />
          <button type="button" class={`name ${nameColor(sender.id)}`} onClick={(event) => (event.stopPropagation(), this.props.onCard())}><bdi>{sender.displayName}</bdi></button>
          {': '}
          <bdi class="text">{spans && message.emotes.length === 0 ? <Marked text={message.text} spans={spans} /> : <Text message={message} />}</bdi>
          {flag && !hold && <span class="chip warn"><Icon name="flag" />Flagged{ruleNames && <>: <bdi>{ruleNames}</bdi></>}</span>}
          {hold && <HoldMark hold={hold} ruleNames={ruleNames} {...(!readOnly && { onDecide: this.props.onDecide })} />}
          {deletion && hold && <span class="why">·</span>}
          {deletion && <Why deletion={deletion} names={names} />}
        </div>
        {this.state.hasTools && !readOnly && !deletion && !hold && (
          <div class="tools" onClick={(event) => event.stopPropagation()}>
            <Button little icon="trash" label="Delete" onClick={() => this.props.onDelete()} />
            <Button little icon="mute" label={`Mute ${sender.displayName} for 10 minutes`} onClick={() => this.props.onMute()} />
            <Button little icon="ban" label={`Ban ${sender.displayName}`} onClick={() => this.props.onCard('ban')} />
          </div>
        )}
      </li>
    )
  }
}

/** HoldMark says that viewers do not see the message, and who decided. */
function HoldMark({ hold, ruleNames, onDecide }: { hold: NonNullable<Message['hold']>; ruleNames: string; onDecide?: (decision: 'approve' | 'deny') => void }) {
  if (hold.status !== 'PENDING') return <span class="why">{statuses[hold.status]}{hold.decidedBy && <> by <bdi>{hold.decidedBy.displayName}</bdi></>}</span>
  return (
    <span class="hold-mark">
      <span class="chip warn"><Icon name="queue" />Held: <bdi>{ruleNames || 'first message'}</bdi></span>
      {onDecide && (['approve', 'deny'] as const).map((decision) => <button type="button" class={`link-chip chip ${decision === 'approve' ? 'accent' : 'danger'}`} onClick={(event) => (event.stopPropagation(), onDecide(decision))}>{decision === 'approve' ? 'Approve' : 'Deny'}</button>)}
    </span>
  )
}

const emotePattern = /(\[emote:[0-9a-f-]{36}\])/

/** Text shows the emotes of a message as pictures. Everything else stays text. */
function Text({ message: { text, emotes } }: { message: Message }) {
  if (emotes.length === 0) return <>{text}</>
  return <>{text.split(emotePattern).map((part, i) => (i % 2 === 1 ? <Emote emote={emotes.find(({ id }) => part.includes(id))} text={part} /> : part))}</>
}

function Emote({ emote, text }: { emote: Message['emotes'][number] | undefined; text: string }) {
  if (!emote) return <>{text}</>
  const url = picture(emote.imageUrl)
  return url ? <img class="emote" src={url} alt={emote.name} title={emote.name} loading="lazy" /> : <span class="emote">{emote.name}</span>
}

const deletions: Record<Deletion['cause'], string> = { message: 'Deleted', ban: 'Banned', mute: 'Muted', clear: 'Chat cleared', user: 'Deleted' }

function Why({ deletion, names }: { deletion: Deletion; names: Names }) {
  const name = useName(names, deletion.by)
  return <span class="why">{deletions[deletion.cause]} by <bdi>{name}</bdi>{deletion.reason && <>: <bdi>{deletion.reason}</bdi></>}</span>
}

const badges: Record<string, [IconName, string]> = {
  owner: ['owner', 'Owner'], moderator: ['moderator', 'Moderator'], vip: ['vip', 'VIP'], og: ['og', 'OG'], subscriber: ['subscriber', 'Subscriber'],
}

export function Badges({ roles, isSubscriber, isBot }: { roles: readonly string[]; isSubscriber: boolean; isBot: boolean }) {
  const shown = isSubscriber && !roles.includes('subscriber') ? [...roles, 'subscriber'] : roles
  return (
    <>
      {shown.map((role) => badges[role] && <span class={`badge ${role}`}><Icon name={badges[role][0]} title={badges[role][1]} /></span>)}
      {isBot && <span class="chip">Bot</span>}
    </>
  )
}
