import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from './load.mjs'

const { listen, readHistory } = await load('model/live.ts')
const { initialState, reduce } = await load('model/state.ts')
globalThis.addEventListener ??= () => {}
const at = (n) => new Date(n * 1000).toISOString()

/** storeOf holds the times of struck messages, and keeps what it is told. */
const storeOf = (...struck) => {
  const told = []
  return { told, state: { channelId: 'c', deletions: 0, messages: struck.map((n) => ({ at: at(n), deletion: {} })) }, dispatch: (action) => told.push(action) }
}

/** Messages of the seconds 999 to 0, in pages of 100. */
const client = {
  chat: {
    async listMessages({ cursor = '1000' }) {
      const first = Number(cursor)
      return { messages: Array.from({ length: 100 }, (_, i) => ({ createdAt: at(first - 1 - i) })), pagination: { cursor: String(first - 100) } }
    },
  },
}

test('the history is one page, unless struck messages are older', async () => {
  const fresh = storeOf()
  await readHistory(client, fresh)
  assert.equal(fresh.told.length, 1)
  const struck = storeOf(720, 990)
  await readHistory(client, struck)
  assert.equal(struck.told.length, 3)
  const old = storeOf(5)
  await readHistory(client, old)
  assert.equal(old.told.length, 5)
})

/** listening runs a stream that connects, and is told what the store is told; connect connects it again. */
function listening(more) {
  const abort = new AbortController()
  const store = { told: [], state: initialState('c', { isLive: true }), dispatch: (action) => (store.told.push(action.type), store.state = reduce(store.state, action)) }
  let options
  const fake = {
    ...client, ...more,
    held: { listHeldMessages: async () => ({ rows: [], pagination: { cursor: '' } }) },
    moderation: { listLog: async () => ({ rows: [] }) },
    events: {
      async listen(given) {
        options = given
        options.onConnect()
        return { cursor: '', async *[Symbol.asyncIterator]() { await new Promise((resolve, reject) => (fake.fail = reject, given.signal.addEventListener('abort', resolve))) } }
      },
    },
  }
  const over = listen(fake, store, abort.signal)
  return { store, fake, over, reconnect: () => (options.onDisconnect(), options.onConnect()), stop: () => abort.abort() }
}
const settled = () => new Promise((resolve) => setTimeout(resolve, 20))
const messagesOf = (first, count) => Array.from({ length: count }, (_, i) => ({ id: `m${first - i}`, message: '', createdAt: at(first - i), replyToMessageId: null, sender: { id: 'ada' }, emotes: [] }))
/** chatOf reads messages up to the second `last`, in pages of 100. */
const chatOf = (chat) => ({ listMessages: async ({ cursor }) => ({ messages: messagesOf(Number(cursor ?? chat.last), 100), pagination: { cursor: String(Number(cursor ?? chat.last) - 100) } }) })

test('after a break the page reads what it missed, or says that it misses messages', async () => {
  const chat = { last: 1000 }
  const { store, reconnect, stop } = listening({ chat: chatOf(chat) })
  await settled()
  assert.equal(store.state.connection.state, 'live')
  chat.last = 1350
  reconnect()
  await settled()
  assert.deepEqual([store.state.messages.length, store.state.messages[0].id, store.state.hasGap], [450, 'm901', false])
  chat.last = 9000
  reconnect()
  await settled()
  assert.deepEqual([store.state.messages.length, store.state.hasGap, store.state.connection.state], [500, true, 'live'])
  stop()
})

test('the page is not up to date until the history was read', async () => {
  const chat = { last: 1000 }
  const { store, fake, reconnect, stop } = listening({ chat: chatOf(chat) })
  await settled()
  const { listMessages } = fake.chat
  fake.chat.listMessages = async () => { throw new Error('unreachable') }
  reconnect()
  await settled()
  assert.equal(store.state.connection.state, 'reconnecting')
  fake.chat.listMessages = listMessages
  chat.last = 1200
  await new Promise((resolve) => setTimeout(resolve, 2100))
  assert.deepEqual([store.state.connection.state, store.state.messages.length], ['live', 300])
  stop()
})

test('an error that nobody expects ends the connection visibly', async () => {
  const { store, fake, over } = listening()
  await settled()
  fake.fail(new TypeError('a defect'))
  await over
  assert.deepEqual([store.state.connection.state, store.state.connection.reason], ['ended', 'a defect'])
})
