import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from './load.mjs'

const { busiest, fill, ranges, spanOf, summarize, totalOf } = await load('model/metrics.ts')
const hour = ranges[0]
const now = Date.UTC(2026, 10, 26, 12, 30, 40)
const bucket = (minute, values) => ({ startedAt: new Date(Date.UTC(2026, 10, 26, 12, minute)).toISOString(), messages: 0, firstMessages: 0, follows: 0, bans: 0, mutes: 0, held: 0, viewers: null, ...values })
const known = [bucket(5, { messages: 3, viewers: 40 }), bucket(29, { messages: 1214, viewers: 35 })]

test('a range has all its buckets, the last of which goes on', () => {
  const buckets = fill(known, hour, now)
  assert.equal(buckets.length, 60)
  assert.equal(buckets.at(-1).startedAt, new Date(Date.UTC(2026, 10, 26, 12, 30)).toISOString())
  assert.equal(Date.parse(buckets[0].startedAt), spanOf(hour, now)[0])
  for (const range of ranges) assert.ok(fill([], range, now).length <= 500)
})

test('the busiest minute is named', () => {
  const buckets = fill(known, hour, now)
  assert.equal(busiest(buckets, 'messages').messages, 1214)
  assert.match(summarize(buckets, 'messages', hour), /^Busiest: 1,214 a minute at /)
  assert.match(summarize(buckets, 'viewers', hour), /^Most: 40 at /)
  assert.equal(summarize(buckets, 'bans', hour), 'None')
  assert.equal(totalOf(buckets, 'messages'), '1,217 in all')
  assert.equal(totalOf(buckets, 'viewers'), '35 at the end')
})
