import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from './load.mjs'

const { groupEntries, readAway } = await load('model/away.ts')
const row = (sequence, type, moderator = 'm', batchId = null) => ({ sequence, type, moderator: { id: moderator }, batchId, createdAt: new Date(sequence * 1000).toISOString() })

test('entries that follow each other and are alike form a group', () => {
  const rows = [row(9, 'channel.mute'), row(8, 'channel.mute'), row(7, 'channel.mute', 'n'), row(6, 'channel.ban'), row(5, 'channel.ban', 'm', 'b'), row(4, 'channel.mute')]
  assert.deepEqual(groupEntries(rows).map((group) => group.length), [2, 1, 1, 1, 1])
})

/** clientOf serves a log, newest first. */
const clientOf = (rows) => ({ moderation: { listLog: async function* ({ type }) { yield* rows.filter((one) => type.includes(one.type)) } } })

test('a raid does not hide what else was done', async () => {
  const raid = Array.from({ length: 900 }, (_, i) => row(2000 - i, 'channel.ban', 'm', 'b'))
  const client = clientOf([...raid, row(20, 'channel.mute'), row(10, 'channel.chat.clear')])
  const { entries, hasMore } = await readAway(client, 'c', { sequence: 10, at: new Date(0).toISOString() }, 0, 500)
  assert.equal(entries.length, 501)
  assert.equal(hasMore, true)
  assert.equal(entries.at(-1).sequence, 20)
})

test('the first visit shows a day', async () => {
  const { entries, hasMore } = await readAway(clientOf([row(90_000, 'channel.mute'), row(100, 'channel.mute')]), 'c', undefined, 90_001_000, 500)
  assert.deepEqual([entries.length, hasMore], [1, false])
})
