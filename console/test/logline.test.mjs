import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from './load.mjs'

Object.assign(globalThis, { document: { querySelector: () => null }, location: { origin: '' } }) // the page that it is a part of
const { actorOf, verbOf } = await load('screens/logline.tsx')
const decided = (status) => ({ type: 'channel.chat.hold.update', moderator: { displayName: 'Ada' }, payload: { status } })

test('an entry says how a held message ended, and by whom only if somebody decided', () => {
  assert.deepEqual(['APPROVED', 'DENIED', 'EXPIRED', 'CANCELLED'].map((status) => [verbOf(decided(status)), actorOf(decided(status))?.displayName]), [
    ['Held message approved', 'Ada'], ['Held message denied', 'Ada'], ['Held message expired', undefined], ['Held message cancelled', undefined],
  ])
})
