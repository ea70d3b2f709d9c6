import assert from 'node:assert/strict'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { FileState } from '../../dist/node.js'

async function fresh(t) {
  const directory = await mkdtemp(join(tmpdir(), 'state-'))
  t.after(() => rm(directory, { recursive: true }))
  return join(directory, 'bot.json')
}

test('tokens survive a restart', async (t) => {
  const path = await fresh(t)
  assert.equal(new FileState(path).tokens, undefined)
  const tokens = { accessToken: 'mdu_1', refreshToken: 'mdr_1', expiresAt: '2026-11-26T00:00:00Z', scopes: ['users.read'] }
  const { saveTokens } = new FileState(path)
  await saveTokens(tokens)
  assert.deepEqual(new FileState(path).tokens, tokens)
  assert.equal((await stat(path)).mode & 0o777, 0o600)
})

test('each event is handled once', async (t) => {
  const path = await fresh(t), opened = []
  const handle = async (names, until) => {
    const handled = []
    const listen = async function (resume) {
      opened.push(resume.cursor)
      return (async function* () { for (const name of names) yield { cursor: `after ${name}`, metadata: { messageId: name } } })()
    }
    for await (const event of new FileState(path).events(listen)) {
      if (event.metadata.messageId === until) break // as if the program ended
      handled.push(event.metadata.messageId)
    }
    return handled
  }
  assert.deepEqual(await handle(['a', 'b', 'c'], 'c'), ['a', 'b'])
  assert.deepEqual(await handle(['b', 'c', 'c', 'd']), ['c', 'd'])
  assert.deepEqual(await handle(['d']), [])
  assert.deepEqual(opened, [undefined, 'after b', 'after d'])
})
