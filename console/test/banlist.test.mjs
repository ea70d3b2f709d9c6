import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from './load.mjs'

const { dryRun, Commit } = await load('model/banlist.ts')
const names = (count) => Array.from({ length: count }, (_, i) => ({ username: `user${i}` }))
const step = (mayGoOn = () => true) => ({ goesOn: mayGoOn, advance() {} })

/** server answers like the server, and loses the response of one call. */
function server({ loseCall = 0, roles = [], statusOf = () => 'BANNED' } = {}) {
  const calls = []
  const banned = new Map()
  return {
    calls, banned,
    moderation: {
      listRoles: async () => ({ rows: roles, pagination: { cursor: '' } }),
      async banUsers({ users, dryRun }, { idempotencyKey }) {
        calls.push({ count: users.length, dryRun, idempotencyKey })
        const results = users.map(({ userId, username }) => ({ userId: userId ?? `id of ${username}`, username, status: statusOf(username ?? userId) }))
        if (!dryRun) for (const { userId } of users) banned.set(userId, idempotencyKey)
        if (!dryRun && calls.length === loseCall) throw new Error('No response.')
        return { batchId: dryRun ? null : `batch ${idempotencyKey}`, results }
      },
      async undoBanBatch({ batchId }) {
        calls.push({ undo: batchId })
      },
    },
  }
}

test('a dry run goes through the list, a thousand at a time', async () => {
  const client = server({ statusOf: (name) => (name === 'user7' ? 'USER_NOT_FOUND' : name === 'user8' ? 'ALREADY_BANNED' : 'BANNED') })
  const checked = await dryRun(client, 'c', names(2500), {}, step())
  assert.deepEqual(client.calls.map(({ count, dryRun }) => [count, dryRun]), [[1000, true], [1000, true], [500, true]])
  assert.equal(checked.users.length, 2498)
  assert.deepEqual(checked.unknown, ['user7'])
  assert.equal(checked.counts.ALREADY_BANNED, 1)
})

test('a user who is listed by name and by id is banned once, and one with a role is left out', async () => {
  const client = server({ roles: [{ id: 'id of user1', role: 'moderator' }, { id: 'id of user1', role: 'vip' }] })
  const checked = await dryRun(client, 'c', [...names(1000), { userId: 'id of user0' }], {}, step())
  assert.equal(checked.users.length, 999)
  assert.equal(checked.counts.DUPLICATE, 1)
  assert.deepEqual(checked.withRole, [{ id: 'id of user1', name: 'user1', role: 'moderator' }])
})

test('a commit that failed goes on with the same key, and is undone from the end', async () => {
  const client = server({ loseCall: 2 })
  const commit = new Commit(client, 'c', names(2500).map(({ username }) => username), {})
  await assert.rejects(commit.run(step()))
  assert.equal(commit.done, 1000)
  await commit.run(step())
  assert.equal(commit.banned, 2500)
  assert.equal(client.banned.size, 2500)
  const [first, lost, again, last] = client.calls.map(({ idempotencyKey }) => idempotencyKey)
  assert.equal(lost, again)
  assert.equal(new Set([first, lost, last]).size, 3)
  await commit.undo()
  assert.deepEqual(client.calls.slice(4).map(({ undo }) => undo), [`batch ${last}`, `batch ${lost}`, `batch ${first}`])
})

test('a commit stops between two calls', async () => {
  const client = server()
  const commit = new Commit(client, 'c', names(2500).map(({ username }) => username), {})
  let calls = 0
  await commit.run(step(() => calls++ < 1))
  assert.equal(commit.done, 1000)
})
