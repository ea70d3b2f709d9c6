import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from './load.mjs'

const { firstListed, isFound, withFound } = await load('hold.ts')

test('the list of the queue moves only as far as the current message needs', () => {
  assert.equal(firstListed(0, 49, 70), 0)
  assert.equal(firstListed(0, 50, 70), 1)
  assert.equal(firstListed(20, 69, 70), 20)
  assert.equal(firstListed(20, 30, 70), 20, 'a click moves nothing')
  assert.equal(firstListed(20, 5, 70), 5)
  assert.equal(firstListed(20, 10, 30), 0, 'messages were decided')
})

test('a filter finds what the server finds: by the rule that held a message, not by others that matched', () => {
  const hold = { rules: ['a', 'b'], user: { id: 'ada' } }
  assert.deepEqual([['', ''], ['a', ''], ['a', 'ada'], ['b', ''], ['a', 'eve']].map(([rule, user]) => isFound(hold, rule, user)), [true, true, true, false, false])
})

test('what a filter found joins the queue by its time, unless somebody decided it meanwhile', () => {
  const hold = (messageId, second) => ({ messageId, heldAt: `2026-11-01T10:00:0${second}Z` })
  const update = (messageId, status) => ({ type: 'channel.chat.hold.update', payload: { messageId, status } })
  const state = { queue: [hold('a', 1), hold('d', 4)], recent: [update('c', 'DENIED'), update('b', 'PENDING')] }
  assert.deepEqual(withFound(state, [hold('a', 1), hold('b', 2), hold('c', 3)]).map(({ messageId }) => messageId), ['a', 'b', 'd'])
})
