import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { load } from './load.mjs'

const { actions, ban, mute } = await load('actions.ts')
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

const failures = () => actions.notices.filter(({ state }) => state === 'failed').map(({ doing }) => doing)
const refused = async () => { throw new Error('no right') }

test('what failed stays until it is repeated or dismissed, or its screen is left', async () => {
  for (const name of ['Ada', 'Eve', 'Kim']) await actions.run(`Banning ${name}`, `Banned ${name}`, refused)
  for (const name of ['Lou', 'Max', 'Ned']) await actions.run(`Banning ${name}`, `Banned ${name}`, ok)
  mock.timers.tick(60_000)
  assert.deepEqual(failures().slice(-3), ['Banning Ada', 'Banning Eve', 'Banning Kim'])
  actions.dismiss(actions.notices.find(({ doing }) => doing === 'Banning Kim'))
  await actions.run('Banning Ada', 'Banned Ada', ok)
  assert.deepEqual(failures().slice(-1), ['Banning Eve'])
  for (let i = 0; i < 30; i++) await actions.run(`Banning ${i}`, '', refused)
  assert.equal(failures().length, 20)
  await actions.run('Banning Eve', 'Banned Eve', ok, () => refused)
  actions.undoLatest()
  await settled()
  actions.leave()
  assert.deepEqual(failures(), ['Undoing “Banned Eve”'])
  actions.dismiss(latest())
  actions.report('nothing to undo')
  mock.timers.tick(30_000)
  assert.deepEqual(failures(), [])
})

/** serverOf has one user, who is banned or muted as `user` says. */
const serverOf = (user) => ({
  moderation: {
    getUser: async () => ({ ban: null, mute: null, ...user }),
    async banUser({ durationSeconds, replace }) {
      const changed = !user.ban || replace || (durationSeconds === null && user.ban.expiresAt !== null)
      if (changed) user.ban = { bannedAt: `now${durationSeconds}`, expiresAt: durationSeconds && '2026-11-28T00:00:00.000Z' }
      return { ...user.ban, changed }
    },
    async removeBan() { user.ban = null },
    async muteUser({ replace }) {
      if (user.mute && !replace) throw Object.assign(new Error(), { code: 'MUTE_ACTIVE', muteExpiresAt: new Date(user.mute.muteExpiresAt) })
      return user.mute = { muteExpiresAt: '2026-11-27T00:00:00.000Z' }
    },
    async removeMute() { user.mute = null },
  },
})
const ada = { id: 'ada', displayName: 'Ada' }

test('a ban weakens no other ban, unless the user says so', async () => {
  const user = { ban: { bannedAt: 'before', expiresAt: null } }
  await ban(serverOf(user), 'c', ada, '', 600)
  assert.deepEqual([latest().error, latest().again, user.ban.bannedAt], ['Ada is already banned permanently.', 'Replace it', 'before'])
  latest().retry()
  await settled()
  assert.deepEqual([latest().state, latest().undo, user.ban.bannedAt], ['done', undefined, 'now600'])
  await ban(serverOf(user), 'c', ada)
  assert.deepEqual([latest().undo, user.ban.bannedAt], [undefined, 'nownull'], 'a longer ban replaces another, and frees nobody')
})

test('the undo of a ban lifts this ban alone', async () => {
  const user = {}
  await ban(serverOf(user), 'c', ada, '', 600)
  const mine = user.ban
  user.ban = { bannedAt: 'later', expiresAt: null }
  actions.undoLatest()
  await settled()
  assert.deepEqual([latest().error, user.ban.bannedAt], ['That ban is no longer in force: somebody changed or removed it.', 'later'])
  user.ban = mine
  latest().retry()
  await settled()
  assert.equal(user.ban, null)
})

test('a mute replaces no other mute, and its undo lifts no other', async () => {
  const user = { mute: { muteExpiresAt: '2026-11-29T00:00:00.000Z' } }
  await mute(serverOf(user), 'c', ada, 60)
  assert.match(latest().error, /^Ada is already muted until .*29/)
  latest().retry()
  await settled()
  assert.deepEqual([latest().state, latest().undo], ['done', undefined])
  user.mute = null
  await mute(serverOf(user), 'c', ada, 60)
  user.mute = { muteExpiresAt: 'other' }
  actions.undoLatest()
  await settled()
  assert.deepEqual([latest().state, user.mute.muteExpiresAt], ['failed', 'other'])
})
