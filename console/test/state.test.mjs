import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from './load.mjs'

const { initialState, reduce, maxMessages } = await load('model/state.ts')

let sequence = 0
const eventOf = (type, payload) => ({
  type, payload, cursor: '', metadata: { messageId: `event-${++sequence}`, subscriptionType: type, messageTimestamp: '2026-11-20T12:00:00.000Z', ...(!['channel.chat.message', 'channel.chat.hold', 'channel.chat.flag'].includes(type) && { sequence }) },
})
const second = (n) => new Date(Date.UTC(2026, 10, 20, 12, 0, n)).toISOString()
const sender = (id) => ({ id, displayName: id, roles: [] })
const message = (n, by = 'ada') => eventOf('channel.chat.message', { messageId: `m${n}`, message: `text ${n}`, createdAt: second(n), replyToMessageId: null, sender: sender(by), emotes: [] })
const history = (...numbers) => numbers.map((n) => ({ id: `m${n}`, message: `text ${n}`, createdAt: second(n), replyToMessageId: null, sender: sender('ada'), emotes: [] }))
const ban = (id, reason = null) => eventOf('channel.ban', { bannedUserId: id, moderatorId: 'mod', reason, expiresAt: null, batchId: null })
const unban = (id) => eventOf('channel.unban', { unbannedUserId: id, moderatorId: 'mod' })
const cleared = (id) => eventOf('channel.chat.clear_user_messages', { targetUserId: id, moderatorId: 'mod' })
const start = () => initialState('channel', { isLive: true, title: '', category: '' })
const after = (state, ...actions) => actions.reduce((s, action) => reduce(s, Array.isArray(action) ? { type: 'events', events: action } : action), state)
const ids = (messages) => messages.map(({ id }) => id).join(' ')

test('messages are shown once and in order, however they arrive', () => {
  const twice = message(2)
  const state = after(start(), [message(1), twice, twice], { type: 'history', messages: history(1, 2), deletions: 0 }, [message(3)])
  assert.equal(ids(state.messages), 'm1 m2 m3')
  assert.equal(state.received, 3)
})

test('a held list does not move, and counts what waits', () => {
  const held = after(start(), [message(1)], { type: 'hold', held: true }, [message(2), message(3)])
  assert.equal(ids(held.messages), 'm1')
  assert.equal(held.waitingCount, 2)
  const read = after(held, { type: 'history', messages: history(0, 1, 2, 3, 4), deletions: 0 }, [message(4)])
  assert.equal(ids(read.messages), 'm1')
  assert.equal(read.waitingCount, 3)
  const released = after(read, { type: 'hold', held: false })
  assert.equal(ids(released.messages), 'm1 m2 m3 m4')
  assert.equal(released.waitingCount, 0)
})

test('the page keeps a bounded number of messages, also while they wait', () => {
  const many = Array.from({ length: maxMessages + 50 }, (_, i) => message(i))
  assert.equal(after(start(), many).messages.length, maxMessages)
  const held = after(start(), { type: 'hold', held: true }, many)
  assert.equal(held.waiting.length, maxMessages)
  assert.equal(held.waitingCount, maxMessages + 50)
})

test('a ban strikes the messages of its user alone, with who and why', () => {
  const state = after(start(), [message(1, 'eve'), message(2, 'ada')], { type: 'hold', held: true }, [message(3, 'eve')], [ban('eve', 'spam'), cleared('eve')])
  const struck = { by: 'mod', cause: 'ban', reason: 'spam' }
  assert.deepEqual(state.messages.map((m) => m.deletion), [struck, undefined])
  assert.deepEqual(state.waiting[0].deletion, struck)
})

test('what a ban hid before the page was there is shown struck, where it stood', () => {
  const entry = { type: 'channel.ban', user: { id: 'eve', displayName: 'Eve' }, moderator: { id: 'mod' }, reason: 'spam', evidence: [0, 2, 3].map((n) => ({ messageId: `m${n}`, text: `text ${n}`, sentAt: second(n) })) }
  const read = after(start(), [message(1), message(3), message(4)], { type: 'evidence', entries: [entry] })
  assert.equal(ids(read.messages), 'm1 m2 m3 m4', 'nothing before the first message')
  assert.deepEqual(read.messages.map((m) => m.deletion?.reason), [undefined, 'spam', undefined, undefined], 'what is visible again is not struck')
  const held = after(start(), [message(1), message(3)], { type: 'hold', held: true }, { type: 'evidence', entries: [entry] })
  assert.equal(ids(held.messages), 'm1 m3', 'a held list does not move')
})

test('an unban lets the page read the history, which brings messages back', () => {
  const banned = after(start(), [message(1, 'ada')], [ban('ada'), cleared('ada')])
  const lifted = after(banned, [unban('ada')])
  assert.equal(lifted.restored, 1)
  const restored = after(lifted, { type: 'history', messages: history(1), deletions: lifted.deletions })
  assert.equal(restored.messages[0].deletion, undefined)
})

test('a history that was read before a deletion does not undo it', () => {
  const before = after(start(), [message(1, 'ada')])
  const struck = after(before, [eventOf('channel.chat.message_delete', { messageId: 'm1', moderatorId: 'mod', targetUserId: 'ada' })])
  const state = after(struck, { type: 'history', messages: history(0, 1), deletions: before.deletions })
  assert.equal(ids(state.messages), 'm1')
  assert.equal(state.messages[0].deletion.cause, 'message')
})

test('an event that comes twice is handled once', () => {
  const event = ban('eve')
  assert.equal(after(start(), [event], [event]).recent.length, 1)
})

test('older messages make room for themselves, and the newest come back when the list goes on', () => {
  const many = Array.from({ length: maxMessages }, (_, i) => message(i + 100))
  const held = after(start(), many, { type: 'hold', held: true }, { type: 'earlier', messages: history(1, 2) })
  assert.equal(held.messages.length, maxMessages)
  assert.equal(held.messages[0].id, 'm1')
  const released = after(held, [message(700)], { type: 'hold', held: false })
  assert.equal(ids(released.messages), 'm700')
  assert.equal(released.restored, 1, 'the history is read')
})

test('a change leaves the former state as it was', () => {
  const state = after(start(), [message(1)])
  const copy = structuredClone(state)
  after(state, [ban('ada'), cleared('ada')], { type: 'hold', held: true }, [message(2)])
  assert.deepEqual(state, copy)
})

const heldRow = (n, change) => ({ messageId: `m${n}`, user: { id: 'ada', username: 'ada', displayName: 'Ada', avatarUrl: '' }, facts: { roles: [], isSubscriber: false }, message: `text ${n}`, spans: [], rules: ['r'], heldAt: second(n), status: 'PENDING', claimedBy: null, claimedUntil: null, decidedBy: null, decidedAt: null, replyToMessageId: null, ...change })
const hold = (n) => eventOf('channel.chat.hold', heldRow(n))
const holdUpdate = (n, change) => eventOf('channel.chat.hold.update', { messageId: `m${n}`, status: 'PENDING', decidedBy: null, decidedAt: null, claimedBy: null, claimedUntil: null, ...change })

test('a held message waits in the queue and stands in the chat, until it is decided', () => {
  const waiting = after(start(), [message(1), hold(2), hold(2), message(3)])
  assert.equal(waiting.queue.length, 1)
  assert.equal(ids(waiting.messages), 'm1 m2 m3')
  const claimed = after(waiting, [holdUpdate(2, { claimedBy: { id: 'mod' } })])
  assert.deepEqual([claimed.queue[0].claimedBy.id, claimed.queue[0].status], ['mod', 'PENDING'])
  const denied = after(claimed, [holdUpdate(2, { status: 'DENIED', decidedBy: { id: 'mod' } })])
  assert.equal(denied.queue.length, 0)
  assert.equal(denied.messages[1].hold.status, 'DENIED')
  const read = after(denied, { type: 'queue', rows: [heldRow(2), heldRow(4)], hasMore: false, before: [] })
  assert.deepEqual(read.queue.map(({ messageId }) => messageId), ['m4'], 'a list that was read before the decision')
  const later = after(read, [hold(5)], { type: 'queue', rows: [heldRow(6)], hasMore: false, before: read.queue })
  assert.deepEqual(later.queue.map(({ messageId }) => messageId), ['m6', 'm5'], 'm4 is gone, and m5 came while the queue was read')
})

test('an approved message takes its place in the chat, live or from the history', () => {
  const waiting = after(start(), [message(1), hold(2), message(3)])
  const live = after(waiting, [holdUpdate(2, { status: 'APPROVED' }), message(2)])
  assert.equal(ids(live.messages), 'm1 m2 m3')
  assert.equal(live.messages[1].hold, undefined)
  assert.equal(after(waiting, { type: 'history', messages: history(2), deletions: 0 }).messages[1].hold, undefined)
})

test('a flag may come before its message', () => {
  const flag = eventOf('channel.chat.flag', { messageId: 'm1', rules: ['r'], spans: [] })
  assert.deepEqual(after(start(), [flag, message(1)]).flags.m1, { rules: ['r'], spans: [] })
})

test('a queue that is read does not move a held list, and stands in it when it goes on', () => {
  const held = after(start(), [message(1), message(4)], { type: 'hold', held: true }, { type: 'queue', rows: [heldRow(2)], hasMore: false, before: [] })
  assert.deepEqual([ids(held.messages), held.queue.length, held.waitingCount], ['m1 m4', 1, 1])
  assert.equal(ids(after(held, { type: 'hold', held: false }).messages), 'm1 m2 m4')
})
