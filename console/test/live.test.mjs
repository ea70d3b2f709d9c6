import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from './load.mjs'

const { readHistory } = await load('model/live.ts')
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
