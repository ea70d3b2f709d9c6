import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from './load.mjs'

const { groupEntries, readAway } = await load('model/away.ts')
const row = (sequence, type, moderator = 'm', batchId = null) => ({ sequence, type, moderator: { id: moderator }, batchId, payload: { cause: batchId ? 'batch' : 'moderator', batchId }, createdAt: new Date(sequence * 1000).toISOString() })

test('the ends of the bans that an undo lifted form a group too', () => {
  const ends = [8, 7, 6].map((sequence) => ({ ...row(sequence, 'channel.unban', 'm', 'b'), batchId: null }))
  assert.equal(groupEntries(ends).length, 1)
  assert.equal(groupEntries([...ends, row(5, 'channel.unban')]).length, 2)
})

test('entries that follow each other and are alike form a group', () => {
  const rows = [row(9, 'channel.mute'), row(8, 'channel.mute'), row(7, 'channel.mute', 'n'), row(6, 'channel.ban'), row(5, 'channel.ban', 'm', 'b'), row(4, 'channel.mute')]
  assert.deepEqual(groupEntries(rows).map((group) => group.length), [2, 1, 1, 1, 1])
  const decided = (sequence, status) => ({ ...row(sequence, 'channel.chat.hold.update'), payload: { status } })
  assert.equal(groupEntries([decided(3, 'DENIED'), decided(2, 'DENIED'), decided(1, 'APPROVED')]).length, 2)
})

/** clientOf serves a log, newest first. */
const clientOf = (rows) => ({
  moderation: {
    listLog: async function* ({ type, cause, since }) {
      yield* rows.filter((one) => type.includes(one.type) && (cause.length === 0 || cause.includes(one.payload.cause)) && one.createdAt >= since)
    },
  },
})

test('a raid does not hide what else was done', async () => {
  const raid = Array.from({ length: 900 }, (_, i) => row(2000 - i, 'channel.ban', 'm', 'b'))
  const client = clientOf([...raid, row(20, 'channel.mute'), row(10, 'channel.chat.clear')])
  const { entries, hasMore } = await readAway(client, 'c', { sequence: 10, at: new Date(0).toISOString() }, 0, 500)
  assert.deepEqual(entries.map(({ sequence }) => sequence), [20])
  assert.equal(hasMore, false)
})

test('more single bans than fit are told', async () => {
  const client = clientOf([...Array.from({ length: 900 }, (_, i) => row(2000 - i, 'channel.ban')), row(20, 'channel.mute')])
  const { entries, hasMore } = await readAway(client, 'c', { sequence: 10, at: new Date(0).toISOString() }, 0, 500)
  assert.deepEqual([entries.length, hasMore, entries.at(-1).sequence], [501, true, 20])
})

test('the first visit shows a day', async () => {
  const { entries, hasMore } = await readAway(clientOf([row(90_000, 'channel.mute'), row(100, 'channel.mute')]), 'c', undefined, 90_001_000, 500)
  assert.deepEqual([entries.length, hasMore], [1, false])
})

test('what was stored after the last visit is shown, though its time is earlier', async () => {
  const { entries } = await readAway(clientOf([row(100, 'channel.mute'), row(90, 'channel.mute')]), 'c', { sequence: 90, at: new Date(110_000).toISOString() }, 200_000, 500)
  assert.deepEqual(entries.map(({ sequence }) => sequence), [100])
})
