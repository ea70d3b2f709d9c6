import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { load } from './load.mjs'

const { actions } = await load('actions.ts')
mock.timers.enable({ apis: ['setTimeout'] })
const ok = async () => ({ batchId: 'b' })
const latest = () => actions.notices.at(-1)
const settled = () => new Promise((resolve) => setImmediate(resolve))

test('Z undoes the latest change, and nothing else in its place', async () => {
  const undone = []
  await actions.run('Banning Ada', 'Banned Ada', ok, () => async () => undone.push('Ada'))
  await actions.run('Deleting a message', 'Deleted a message', ok)
  actions.undoLatest()
  assert.deepEqual([undone, latest().error], [[], '“Deleted a message” cannot be undone.'])
  await actions.run('Banning Eve', 'Banned Eve', ok, () => async () => undone.push('Eve'))
  actions.undoLatest()
  await settled()
  assert.deepEqual([undone, latest().state], [['Eve'], 'undone'])
})

test('Z asks before it lifts the bans of a batch', async () => {
  let lifted = 0
  await actions.run('Banning 9 users', 'Banned 9 users', ok, () => async () => lifted++, ({ batchId }) => batchId)
  actions.undoLatest()
  assert.deepEqual([lifted, latest().state], [0, 'asking'])
  actions.undoLatest()
  await settled()
  assert.deepEqual([lifted, latest().state], [1, 'undone'])
})

test('a batch that was undone elsewhere is not undone again', async () => {
  await actions.run('Banning Ada', 'Banned Ada', ok, () => ok)
  await actions.run('Banning 9 users', 'Banned 9 users', ok, () => () => assert.fail(), ({ batchId }) => batchId)
  actions.wasUndone('b')
  actions.undoLatest()
  await settled()
  assert.deepEqual([latest().done, latest().state], ['Banned Ada', 'undone'])
})

test('an undo that failed says what failed', async () => {
  await actions.run('Banning Ada', 'Banned Ada', ok, () => async () => { throw new Error('no right') })
  actions.undoLatest()
  await settled()
  assert.deepEqual([latest().doing, latest().error], ['Undoing “Banned Ada”', 'no right'])
})

test('what failed leaves after a time, with the next try, or with its screen', async () => {
  const refused = async () => { throw new Error('no right') }
  const failures = () => actions.notices.filter(({ state }) => state === 'failed').map(({ doing }) => doing)
  mock.timers.tick(60_000)
  await actions.run('Banning Ada', 'Banned Ada', refused)
  mock.timers.tick(29_000)
  assert.deepEqual(failures(), ['Banning Ada'])
  await actions.run('Banning Ada', 'Banned Ada', refused)
  mock.timers.tick(29_000)
  assert.deepEqual(failures(), ['Banning Ada'])
  mock.timers.tick(2_000)
  assert.deepEqual(failures(), [])
  await actions.run('Banning Ada', 'Banned Ada', refused)
  await actions.run('Banning Eve', 'Banned Eve', ok, () => refused)
  actions.undoLatest()
  await settled()
  actions.leave()
  assert.deepEqual(failures(), ['Undoing “Banned Eve”'])
  latest().retry()
  await settled()
  mock.timers.tick(29_000)
  assert.deepEqual(failures(), ['Undoing “Banned Eve”'])
})
