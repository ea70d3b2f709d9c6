import type { ChatMessage, Event, HeldMessage, LogEntry, Span } from '@moderato-live/client'
import { withoutEmotes } from '../format'

/** The most messages that the page keeps. */
export const maxMessages = 500
/** The most moderation events that the page keeps beside the chat. */
const maxRecent = 100

/** Why a message is no longer shown to viewers. */
export interface Deletion {
  /** The moderator's id; empty if nobody did it. */
  by: string
  cause: 'message' | 'ban' | 'mute' | 'clear' | 'user'
  reason: string | null
}

export interface Message {
  id: string
  text: string
  at: string
  replyTo: string | null
  sender: ChatMessage['sender']
  emotes: ChatMessage['emotes']
  deletion?: Deletion
  /** It is held, or was: then viewers do not see it. */
  hold?: HeldMessage
}

/** What rules found in a message that they let pass. */
export interface Flag {
  rules: string[]
  spans: Span[]
}

/** How the page stands with the event stream. */
export interface Connection {
  state: 'connecting' | 'live' | 'reconnecting' | 'ended'
  /** Since when, by performance.now(). */
  since: number
  /** Why the stream ended, in the server's words. */
  reason: string
  /** Whether the user lost the right to moderate the channel. */
  rightLost: boolean
}

/** The stream of the channel. */
export interface Stream {
  isLive: boolean
  title: string
  category: string
}

export interface ChannelState {
  channelId: string
  /** Oldest first. */
  messages: Message[]
  /** Messages that arrived while the list was held, oldest first. */
  waiting: Message[]
  /** How many arrived while the list was held. */
  waitingCount: number
  held: boolean
  /** Whether the newest messages made room for older ones that the user asked for. */
  detached: boolean
  received: number
  missed: number
  /** Whether messages came during a break that were too many to read. */
  hasGap: boolean
  /** The number of the latest stored event. */
  sequence: number
  /** Moderation events, newest first. */
  recent: Event[]
  pinned: ChatMessage | null
  /** The held messages that wait for a decision, oldest first: the page keeps the first of them. */
  queue: HeldMessage[]
  /** Whether the queue was read, whether more wait than the page has read, and why it could not be read. */
  queueState: { isRead: boolean; hasMore: boolean; problem: string }
  /** What rules found in messages that were posted, by the id of the message. */
  flags: Record<string, Flag>
  stream: Stream
  connection: Connection
  /** How many events deleted messages. What was read before the latest of them is out of date. */
  deletions: number
  /** Grows when messages are visible again or are missing, so that the page reads the history. */
  restored: number
}

export function initialState(channelId: string, stream: Stream): ChannelState {
  return {
    channelId, messages: [], waiting: [], waitingCount: 0, held: false, detached: false, received: 0, missed: 0, hasGap: false, sequence: 0, recent: [],
    pinned: null, queue: [], queueState: { isRead: false, hasMore: false, problem: '' }, flags: {}, stream, restored: 0, deletions: 0,
    connection: { state: 'connecting', since: 0, reason: '', rightLost: false },
  }
}

export type Action =
  | { type: 'events'; events: Event[] }
  | { type: 'history'; messages: ChatMessage[]; deletions: number }
  | { type: 'evidence'; entries: LogEntry[] }
  | { type: 'earlier'; messages: ChatMessage[] }
  | { type: 'hold'; held: boolean }
  | { type: 'missed'; count: number }
  | { type: 'gap' }
  | { type: 'connection'; connection: Connection }
  | { type: 'queue'; rows: HeldMessage[]; hasMore: boolean; before: HeldMessage[] }
  | { type: 'queue-failed'; problem: string }
  | { type: 'decided'; messageId: string; hold: Partial<HeldMessage> }
  | { type: 'pinned'; message: ChatMessage | null }

/** reduce returns the state after an action. It changes nothing that it was given. */
export function reduce(state: ChannelState, action: Action): ChannelState {
  switch (action.type) {
    case 'events':
      return action.events.reduce(reduceEvent, state)
    case 'history':
      return addHistory(state, action.messages, action.deletions)
    case 'evidence':
      return addEvidence(state, action.entries)
    case 'earlier':
      return addEarlier(state, action.messages)
    case 'hold':
      return action.held ? { ...state, held: true } : release(state)
    case 'missed':
      return { ...state, missed: state.missed + action.count }
    case 'gap':
      return { ...state, hasGap: true }
    case 'connection':
      return { ...state, connection: action.connection }
    case 'queue':
      return addQueue(state, action.rows, action.hasMore, action.before)
    case 'queue-failed':
      return { ...state, queueState: { ...state.queueState, problem: action.problem } }
    case 'decided':
      return updateHold(state, action.messageId, action.hold)
    case 'pinned':
      return { ...state, pinned: action.message }
  }
}

function release(state: ChannelState): ChannelState {
  const messages = state.detached ? state.waiting : merged(state.messages, state.waiting)
  return { ...state, held: false, detached: false, messages, waiting: [], waitingCount: 0, restored: state.detached ? state.restored + 1 : state.restored }
}

/** reduceEvent ignores a stored event that comes again, which its number in the channel shows. */
function reduceEvent(state: ChannelState, event: Event): ChannelState {
  const { sequence } = event.metadata
  if (sequence !== undefined && sequence <= state.sequence) return state
  const next = reducePayload(state, event)
  if (sequence === undefined) return next
  return { ...next, sequence, recent: isLogged(event) ? [event, ...next.recent].slice(0, maxRecent) : next.recent }
}

/** isLogged reports whether an event belongs into the list beside the chat. */
function isLogged({ type }: Event): boolean {
  return type !== 'channel.chat.clear_user_messages' && type !== 'channel.unfollow' && type !== 'channel.vote'
}

function reducePayload(state: ChannelState, event: Event): ChannelState {
  switch (event.type) {
    case 'channel.chat.message': {
      const { messageId, message, createdAt, replyToMessageId, sender, emotes } = event.payload
      return addMessage(state, { id: messageId, text: message, at: createdAt, replyTo: replyToMessageId, sender, emotes })
    }
    case 'channel.chat.hold':
      return addHeld(state, event.payload)
    case 'channel.chat.hold.update': {
      const { messageId, status, decidedBy, decidedAt, claimedBy, claimedUntil } = event.payload
      return updateHold(state, messageId, status === 'PENDING' ? { claimedBy, claimedUntil } : { status, decidedBy, decidedAt })
    }
    case 'channel.chat.flag': {
      const { messageId, rules, spans } = event.payload
      return { ...state, flags: Object.fromEntries([...Object.entries(state.flags), [messageId, { rules, spans }]].slice(-maxMessages)) }
    }
    case 'channel.unban':
      return lift(state, event.payload.unbannedUserId)
    case 'channel.unmute':
      return lift(state, event.payload.unmutedUserId)
    case 'channel.mute.expire':
      return lift(state, event.payload.mutedUserId)
    case 'channel.chat.message_delete': {
      const { messageId, moderatorId } = event.payload
      return strike(state, (m) => m.id === messageId, { by: moderatorId, cause: 'message', reason: null })
    }
    case 'channel.chat.clear_user_messages': {
      const { targetUserId, moderatorId } = event.payload
      return strike(state, (m) => m.sender.id === targetUserId, { by: moderatorId, ...causeOf(state.recent[0], targetUserId) })
    }
    case 'channel.chat.clear':
      return strike(state, () => true, { by: event.payload.moderatorId, cause: 'clear', reason: null })
    case 'channel.chat.pin':
      return { ...state, pinned: event.payload.message }
    case 'stream.online':
    case 'stream.offline':
      return { ...state, stream: { isLive: event.type === 'stream.online', title: event.payload.title, category: event.payload.categoryTitle } }
    case 'channel.update':
      return { ...state, stream: { ...state.stream, title: event.payload.title, category: event.payload.categoryTitle } }
    default:
      return state
  }
}

function addMessage(state: ChannelState, message: Message): ChannelState {
  if (has(state.messages, message.id) || has(state.waiting, message.id)) return message.hold ? state : approve(state, message)
  const received = state.received + 1
  if (!state.held) return { ...state, received, messages: [...state.messages, message].slice(-maxMessages) }
  return { ...state, received, waiting: [...state.waiting, message].slice(-maxMessages), waitingCount: state.waitingCount + 1 }
}

/** approve puts a message that was held where it was held: it is posted with the same id. */
function approve(state: ChannelState, message: Message): ChannelState {
  const replace = (messages: Message[]): Message[] => messages.map((m) => (m.id === message.id && m.hold ? { ...message, at: m.at } : m))
  return { ...state, messages: replace(state.messages), waiting: replace(state.waiting) }
}

/** has looks from the end, where a message that comes twice is. */
function has(messages: Message[], id: string): boolean {
  for (let i = messages.length - 1; i >= 0; i--) if (messages[i]!.id === id) return true
  return false
}

/** causeOf returns why all messages of a user are deleted: a ban or mute comes immediately before that. */
function causeOf(before: Event | undefined, userId: string): Pick<Deletion, 'cause' | 'reason'> {
  if (before?.type === 'channel.ban' && before.payload.bannedUserId === userId) return { cause: 'ban', reason: before.payload.reason }
  if (before?.type === 'channel.mute' && before.payload.mutedUserId === userId) return { cause: 'mute', reason: before.payload.reason }
  return { cause: 'user', reason: null }
}

/** lift ends a ban or mute. Its messages may be back, which the history tells. */
function lift(state: ChannelState, userId: string): ChannelState {
  return state.messages.some((m) => m.sender.id === userId && m.deletion) ? { ...state, restored: state.restored + 1 } : state
}

function strike(state: ChannelState, isMeant: (message: Message) => boolean, deletion: Deletion): ChannelState {
  const struck = (messages: Message[]): Message[] =>
    messages.some((m) => !m.deletion && isMeant(m)) ? messages.map((m) => (!m.deletion && isMeant(m) ? { ...m, deletion } : m)) : messages
  return { ...state, messages: struck(state.messages), waiting: struck(state.waiting), deletions: state.deletions + 1 }
}

function messageOf({ id, message, createdAt, replyToMessageId, sender, emotes }: ChatMessage): Message {
  return { id, text: message, at: createdAt, replyTo: replyToMessageId, sender, emotes }
}

/**
 * addHistory merges messages that were read. All of them are visible, so those that are struck
 * here were restored. It ignores what was read before the latest deletion. While the list is held,
 * new messages wait, as those of the stream do.
 */
function addHistory(state: ChannelState, history: ChatMessage[], deletions: number): ChannelState {
  if (deletions !== state.deletions) return state
  const waiting = new Map(state.waiting.map((m) => [m.id, m]))
  const known = new Map(state.messages.map((m) => [m.id, m]))
  const latest = state.messages.at(-1)?.at ?? ''
  for (const m of history) {
    const before = known.get(m.id)
    if (waiting.has(m.id) || (before && !before.deletion && !before.hold)) continue
    if (before || !state.held) known.set(m.id, messageOf(m))
    else if (m.createdAt > latest) waiting.set(m.id, messageOf(m))
  }
  const waitingCount = state.waitingCount + waiting.size - state.waiting.length
  return { ...state, messages: sorted(known).slice(-maxMessages), waiting: sorted(waiting).slice(-maxMessages), waitingCount }
}

/** addEvidence adds what bans and mutes hid before the page was there, struck through. What it has stays as it is. */
function addEvidence(state: ChannelState, entries: LogEntry[]): ChannelState {
  if (state.held) return state // nothing moves under the pointer
  const known = new Set([...state.waiting, ...state.messages].map(({ id }) => id))
  const oldest = state.messages[0]?.at ?? ''
  const struck = entries.flatMap(({ type, user, moderator, reason = null, evidence = [] }) => evidence.flatMap(({ messageId, text, sentAt }): Message[] => {
    if (!user || known.has(messageId) || sentAt < oldest) return []
    const cause = type === 'channel.ban' ? 'ban' : 'mute'
    return [{ id: messageId, text: withoutEmotes(text), at: sentAt, replyTo: null, sender: senderOf(user), emotes: [], deletion: { by: moderator?.id ?? '', cause, reason } }]
  }))
  return struck.length ? { ...state, messages: merged(struck, state.messages) } : state
}

/** addEarlier adds older messages. The newest make room, and are read again when the list goes on. */
function addEarlier(state: ChannelState, earlier: ChatMessage[]): ChannelState {
  const all = sorted(new Map([...earlier.map(messageOf), ...state.messages].map((m) => [m.id, m])))
  return { ...state, messages: all.slice(0, maxMessages), detached: state.detached || all.length > maxMessages }
}

/** merged keeps the latest of the messages of two lists. */
const merged = (messages: Message[], more: Message[]): Message[] => sorted(new Map([...messages, ...more].map((m) => [m.id, m]))).slice(-maxMessages)

const sorted = (messages: Map<string, Message>): Message[] => [...messages.values()].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))

/** addHeld adds a message that waits for a decision: to the queue, and to the chat where it would stand. */
function addHeld(state: ChannelState, hold: HeldMessage): ChannelState {
  const next = addMessage(state, heldMessage(hold))
  if (next.queue.some(({ messageId }) => messageId === hold.messageId)) return next
  return next.queue.length < maxMessages ? { ...next, queue: [...next.queue, hold] } : { ...next, queueState: { ...next.queueState, hasMore: true } }
}

/** senderOf is a sender of whom not everything is known. */
const senderOf = (user: Partial<Message['sender']>): Message['sender'] => ({ roles: [], isOwner: false, isSubscriber: false, isBot: false, ...user }) as Message['sender']

function heldMessage(hold: HeldMessage): Message {
  const { messageId, message, heldAt, replyToMessageId, user: { id, username, displayName, avatarUrl }, facts } = hold
  const sender = senderOf({ id, username, displayName, avatarUrl, roles: facts.roles, isSubscriber: facts.isSubscriber })
  return { id: messageId, text: message, at: heldAt, replyTo: replyToMessageId, sender, emotes: [], hold }
}

/** updateHold takes over a claim or a decision. What is decided leaves the queue, but not its place in the chat. */
function updateHold(state: ChannelState, messageId: string, change: Partial<HeldMessage>): ChannelState {
  const isPending = (change.status ?? 'PENDING') === 'PENDING'
  const update = (messages: Message[]): Message[] => messages.map((m) => (m.id === messageId && m.hold ? { ...m, hold: { ...m.hold, ...change } } : m))
  const queue = isPending ? state.queue.map((one) => (one.messageId === messageId ? { ...one, ...change } : one)) : state.queue.filter((one) => one.messageId !== messageId)
  return { ...state, queue, messages: update(state.messages), waiting: update(state.waiting) }
}

/**
 * addQueue takes over the held messages that were read. Those that this page knows to be decided
 * wait no more, and those that came since the queue was as before the reading wait too.
 */
function addQueue(state: ChannelState, rows: HeldMessage[], hasMore: boolean, before: HeldMessage[]): ChannelState {
  const decided = new Set([...state.messages, ...state.waiting].filter(({ hold }) => hold && hold.status !== 'PENDING').map(({ id }) => id))
  const listed = new Set([...before, ...rows].map(({ messageId }) => messageId))
  const queue = [...rows.filter(({ messageId }) => !decided.has(messageId)), ...state.queue.filter(({ messageId }) => !listed.has(messageId))]
  const known = new Set([...state.messages, ...state.waiting].map(({ id }) => id))
  const oldest = state.messages[0]?.at ?? ''
  const missing = queue.filter(({ messageId, heldAt }) => !known.has(messageId) && heldAt >= oldest).map(heldMessage)
  const next = { ...state, queue, queueState: { isRead: true, hasMore, problem: '' } }
  if (missing.length === 0) return next
  if (state.held) return { ...next, waiting: merged(state.waiting, missing), waitingCount: state.waitingCount + missing.length }
  return { ...next, messages: merged(state.messages, missing) }
}
