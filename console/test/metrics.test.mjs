import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from './load.mjs'

const { busiest, fill, ranges, scaleOf, spanOf, summarize, ticksOf, totalOf } = await load('model/metrics.ts')
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

test('the scale of a plot ends at a round number, above everything', () => {
  assert.deepEqual(scaleOf(0), [4, 3, 2, 1, 0])
  assert.deepEqual(scaleOf(5), [6, 4, 2, 0])
  assert.deepEqual(scaleOf(1214), [1500, 1000, 500, 0])
  for (let most = 1; most < 1e8; most = Math.ceil(most * 1.3)) {
    const lines = scaleOf(most)
    assert.ok(lines[0] >= most && lines.length <= 5 && Number.isInteger(lines.at(-2)), `${most}: ${lines}`)
    assert.ok(most < 4 || lines[1] < most, `${lines[0]} is too high for ${most}`)
  }
})

test('the labels of a plot are whole times, and have room', () => {
  for (const range of ranges) {
    const ticks = ticksOf(fill([], range, now), range)
    assert.ok(ticks.length >= 3 && ticks.length <= 6, `${range.name}: ${ticks.length}`)
  }
  assert.deepEqual(ticksOf(fill([], hour, now), hour).map((i) => fill([], hour, now)[i].startedAt.slice(14, 16)), ['45', '00', '15'])
})
