import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from './load.mjs'

const { firstListed } = await load('hold.ts')

test('the list of the queue moves only as far as the current message needs', () => {
  assert.equal(firstListed(0, 49, 70), 0)
  assert.equal(firstListed(0, 50, 70), 1)
  assert.equal(firstListed(20, 69, 70), 20)
  assert.equal(firstListed(20, 30, 70), 20, 'a click moves nothing')
  assert.equal(firstListed(20, 5, 70), 5)
  assert.equal(firstListed(20, 10, 30), 0, 'messages were decided')
})
