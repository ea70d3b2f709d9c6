import { useEffect, useRef, useState } from 'preact/hooks'
import { deleteMessage, mute } from '../actions'
import { ruleName, useDesk } from '../desk'
import { formatNumber, plural } from '../format'
import { decide } from '../hold'
import type { Message } from '../model/state'
import { useStored } from '../model/store'
import { go } from '../route'
import { Button, Empty, Note } from '../ui/basics'
import { Icon } from '../ui/icon'
import { useKeys } from '../ui/keys'
import { Activity } from './activity'
import { Composer } from './composer'
import { EarlierMessages } from './earlier'
import { FindUser } from './finduser'
import { MessageRow } from './message'
import { ModeStrip } from './modes'
import { suggestPhrase } from './phrase'
import { muteTimes } from './sanction'
import { ShieldSwitch } from './shield'

/** How many messages are drawn until the user asks for earlier ones. */
const drawn = 150

/** Chat shows the messages of the channel as they arrive. */
export function Chat() {
  const desk = useDesk()
  const { client, channel, store, names, profile, openCard, rules } = desk
  const all = useStored(store, (state) => state.messages)
  const [showsAll, setShowsAll] = useState(false)
  const messages = showsAll ? all : all.slice(-drawn)
  const held = useStored(store, (state) => state.held)
  const flags = useStored(store, (state) => state.flags)
  const waiting = useStored(store, (state) => state.waitingCount)
  const connection = useStored(store, (state) => state.connection)
  const [selectedId, select] = useState<string | undefined>()
  const [marked, mark] = useState<ReadonlySet<string>>(new Set())
  const list = useRef<HTMLDivElement>(null)
  const hold = useHold(list, selectedId !== undefined)
  const selected = messages.find((m) => m.id === selectedId)
  const readOnly = connection.rightLost

  useEffect(() => {
    if (selectedId) list.current?.querySelector('[aria-current=true]')?.scrollIntoView({ block: 'nearest' })
  }, [selectedId])

  const leave = (): void => {
    select(undefined)
    mark(new Set())
    setShowsAll(false)
    hold.release()
  }
  const move = (by: number) => (event: KeyboardEvent): void => {
    const at = messages.findIndex((m) => m.id === selectedId)
    const next = messages[at < 0 ? messages.length - 1 : Math.min(messages.length - 1, Math.max(0, at + by))]
    if (!next) return
    select(next.id)
    mark(event.shiftKey ? new Set([...marked, ...(selectedId ? [selectedId] : []), next.id]) : new Set())
  }
  const muteSender = ({ sender }: Message, seconds: number): void => {
    if (sender.id === profile.userId) return openCard(sender.id)
    void mute(client, channel.id, sender, seconds)
  }
  const remove = (message: Message): void => void deleteMessage(client, channel.id, message.id, message.sender)
  const pending = selected?.hold?.status === 'PENDING' ? selected.hold : undefined
  useKeys({
    j: move(1), k: move(-1), ArrowDown: move(1), ArrowUp: move(-1),
    ...(selected && { Enter: () => openCard(selected.sender.id) }),
    ...(selected && !readOnly && {
      ...(!selected.hold && { d: () => remove(selected) }),
      ...(pending && { a: () => void decide(desk, pending, 'approve'), x: () => void decide(desk, pending, 'deny') }),
      b: () => openCard(selected.sender.id, 'ban', selected.sender.displayName),
      ...Object.fromEntries(muteTimes.map(([seconds], i) => [`m ${i + 1}`, () => muteSender(selected, seconds)])),
    }),
    Escape: () => (openCard(undefined), leave()),
  })
  const chosen = messages.filter((m) => marked.has(m.id) || m.id === selectedId)
  return (
    <>
      <section class="chat" aria-label="Chat">
        <StreamHead />
        <ModeStrip><ShieldSwitch /></ModeStrip>
        <Pinned />
        {readOnly && <div class="inside-note"><Note kind="danger">You no longer moderate this channel. You see the public chat, and actions are off.</Note></div>}
        {connection.state === 'ended' && <div class="inside-note"><Note kind="danger">{connection.reason}</Note></div>}
        <div class="messages-frame">
        <div class="messages" ref={list} tabIndex={0} role="group" aria-label="Messages" onPointerMove={hold.pointerMoved} onPointerLeave={hold.pointerLeft} onScroll={hold.scrolled}>
        <ul role="list">
          {messages.length > 0 && <EarlierMessages hidden={all.length - messages.length} onShow={() => setShowsAll(true)} />}
          {messages.length === 0 && connection.state !== 'connecting' && <li><Empty icon="chat" title="No messages yet">Messages appear here as viewers write them.</Empty></li>}
          {messages.map((message) => (
            <MessageRow key={message.id} message={message}
              replied={message.replyTo ? all.find((m) => m.id === message.replyTo) : undefined} names={names} flag={flags[message.id]}
              ruleNames={(message.hold?.rules ?? flags[message.id]?.rules ?? []).map((id) => ruleName(rules, id)).join(', ')}
              selected={message.id === selectedId} marked={marked.has(message.id)} readOnly={readOnly}
              onSelect={(shift) => (select(message.id), mark(shift ? new Set([...marked, ...(selectedId ? [selectedId] : []), message.id]) : new Set()))}
              onCard={(form) => openCard(message.sender.id, form, message.sender.displayName)} onDelete={() => remove(message)} onDecide={(decision) => void decide(desk, message.hold!, decision)}
              onMute={() => muteSender(message, 600)} />
          ))}
        </ul>
        </div>
        {held && waiting > 0 && <Button kind="main" class="new-messages" icon="down" onClick={leave}>{plural(waiting, 'new message')}</Button>}
        </div>
        {selected && (
          <div class="selection-bar">
            <strong class="cut">{chosen.length > 1 ? plural(chosen.length, 'message') : selected.sender.displayName}</strong>
            <span class="grow" />
            <Button little icon="info" keys="↵" onClick={() => openCard(selected.sender.id)}>Card</Button>
            {!readOnly && <>
              {pending && <><Button little icon="check" keys="A" onClick={() => void decide(desk, pending, 'approve')}>Approve</Button><Button little icon="close" keys="X" onClick={() => void decide(desk, pending, 'deny')}>Deny</Button></>}
              <Button little icon="trash" keys="D" disabled={!!selected.deletion || !!selected.hold} onClick={() => remove(selected)}>Delete</Button>
              <Button little icon="mute" keys="M" onClick={() => openCard(selected.sender.id, 'mute', selected.sender.displayName)}>Mute</Button>
              <Button little icon="ban" keys="B" onClick={() => openCard(selected.sender.id, 'ban', selected.sender.displayName)}>Ban</Button>
              <Button little icon="raid" onClick={() => go({ channel: channel.username, screen: 'raid', query: { phrase: suggestPhrase(chosen.map((m) => m.text)) } })}>Raid</Button>
            </>}
            <Button little kind="plain" icon="close" label="Clear the selection" onClick={leave} />
          </div>
        )}
        <Summary />
        {!readOnly && <Composer onSent={leave} />}
      </section>
      <Activity />
    </>
  )
}

/** useHold stops the list under the pointer and while a message is selected. */
function useHold(list: { current: HTMLElement | null }, isSelected: boolean) {
  const { store } = useDesk()
  const under = useRef(false)
  const set = (held: boolean): void => {
    if (store.state.held !== held) store.dispatch({ type: 'hold', held })
  }
  // The list is a reversed column, so its end is at 0, where the browser keeps it.
  const isAtEnd = (): boolean => list.current!.scrollTop > -60
  const update = (): void => set(isSelected || under.current || !isAtEnd())
  useEffect(update, [isSelected])
  useEffect(() => () => set(false), [])
  return {
    pointerMoved: (event: PointerEvent) => {
      if (event.pointerType !== 'mouse' || under.current) return
      under.current = true
      update()
    },
    pointerLeft: () => {
      under.current = false
      update()
    },
    scrolled: () => {
      if (!isAtEnd() || store.state.held) update()
    },
    release: () => {
      under.current = false
      list.current!.scrollTop = 0
      set(false)
    },
  }
}

function StreamHead() {
  const { store } = useDesk()
  const stream = useStored(store, (state) => state.stream)
  const received = useStored(store, (state) => state.received)
  return (
    <div class="chat-head">
      <h1 class="cut">{stream.title || 'Chat'}</h1>
      {stream.category && <span class="chip cut">{stream.category}</span>}
      <span class="grow" />
      <FindUser />
      <span class="muted small number wide unbroken">{formatNumber(received)} received</span>
    </div>
  )
}

function Pinned() {
  const { store } = useDesk()
  const pinned = useStored(store, (state) => state.pinned)
  if (!pinned) return null
  return (
    <div class="pinned">
      <Icon name="pin" title="Pinned" />
      <p class="user-text"><strong><bdi>{pinned.sender.displayName}</bdi></strong> <bdi>{pinned.message}</bdi></p>
    </div>
  )
}

/** How often a screen reader hears how the chat went on. */
const summaryInterval = 30_000

/** Summary tells screen readers how many messages came. The messages themselves would be too many. */
function Summary() {
  const { store } = useDesk()
  const [text, setText] = useState('')
  useEffect(() => {
    let last = store.state.received
    const timer = setInterval(() => {
      const { received } = store.state
      if (received > last) setText(`${plural(received - last, 'new message')} in the last 30 seconds`)
      last = received
    }, summaryInterval)
    return () => clearInterval(timer)
  }, [store])
  return <p class="hidden-text" role="status">{text}</p>
}
