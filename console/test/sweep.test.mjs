import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from './load.mjs'

const { Sweep, problemOf, requestOf, splitAround } = await load('sweep.ts')

test('a phrase is marked where it literally stands', () => {
  assert.deepEqual(splitAround('Get FREE gems, free gems', 'free gems'), ['Get ', 'FREE gems', ', ', 'free gems', ''])
  assert.deepEqual(splitAround('fréé ğémš', 'free gems'), ['fréé ğémš'])
  assert.deepEqual(splitAround('a.b-(c) axb', 'a.b-(c)'), ['', 'a.b-(c)', ' axb'])
  assert.deepEqual(splitAround('anything', ''), ['anything'])
})

const asked = { kind: 'phrase', text: 'gems', within: 600, followedWithin: 0, firstMessageWithin: 0, exemptFollowersOlderThan: 0, exemptSubscribers: false }

test('conditions are sent as they are shown', () => {
  assert.deepEqual(requestOf(asked), {
    phrase: 'gems', withinSeconds: 600, followedWithinSeconds: null, firstMessageWithinSeconds: null, exemptFollowersOlderThanSeconds: 0, exemptSubscribers: false,
  })
  assert.equal(problemOf(asked), '')
  assert.notEqual(problemOf({ ...asked, text: '' }), '')
  assert.equal(problemOf({ ...asked, text: '', followedWithin: 600 }), '')
})

test('a commit that is in progress is asked again with the same key', async () => {
  const keys = []
  const answers = ['IN_PROGRESS', 'COMPLETE']
  const moderation = {
    previewSweep: async () => ({ sweepToken: 't', matched: 3 }),
    commitSweep: async (_, { idempotencyKey }) => (keys.push(idempotencyKey), { batchId: 'b', status: answers[keys.length - 1], counts: { banned: keys.length } }),
    undoBanBatch: async () => ({ counts: {} }),
    listBanBatches: async () => ({ rows: [{ batchId: 'b', createdAt: new Date().toISOString(), bannedBy: { id: 'me' }, bannedCount: 3 }] }),
  }
  const sweep = new Sweep({ moderation }, 'c', 'me')
  await sweep.find()
  sweep.ban({ reason: '', durationSeconds: 0, afterglowSeconds: 0 })
  assert.equal(sweep.commit.state, 'busy')
  await new Promise((resolve) => setTimeout(resolve, 50))
  assert.equal(sweep.commit.state, 'done')
  assert.equal(keys.length, 2)
  assert.equal(keys[0], keys[1])
  const batch = { batchId: 'b', bannedCount: 3, stillBannedCount: 1, afterglowEndsAt: null }
  sweep.see([batch])
  assert.equal(sweep.commit.batch.stillBannedCount, 1)
  sweep.see([{ ...batch, stillBannedCount: 0, afterglowEndsAt: new Date().toISOString() }])
  assert.ok(!sweep.commit.undone, 'its afterglow can ban again')
  sweep.see([{ ...batch, stillBannedCount: 0 }])
  assert.equal(sweep.commit.undone, true, 'somebody else undid it')
})
