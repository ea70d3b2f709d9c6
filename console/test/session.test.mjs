import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { load } from './load.mjs'

const values = new Map()
let listeners, reloads, answer
Object.assign(globalThis, {
  localStorage: { getItem: (key) => values.get(key) ?? null, setItem: (key, value) => values.set(key, value), removeItem: (key) => values.delete(key) },
  history: { replaceState: (_, __, path) => (location.href = location.origin + path) },
  navigator: {},
  addEventListener: (_, listener) => listeners.push(listener),
  fetch: async (url, { body }) => (String(url).includes('/oauth2/') ? answer(String(url), body) : Response.json({})),
})
const key = 'moderato-console-refresh'
const renewed = () => Response.json({ access_token: 'a', refresh_token: 'r2', expires_in: 0 })
const refused = (error) => Response.json({ error }, { status: 400 })

/** open opens the page in a tab of its own. */
async function open(query = '') {
  globalThis.location = { origin: 'https://example.org', pathname: '/console/', hash: '#/ines', href: `https://example.org/console/${query}#/ines`, reload: () => reloads++ }
  const { session } = await load('api/session.ts', Math.random())
  await session.start()
  return session
}

beforeEach(() => {
  values.clear()
  listeners = []
  reloads = 0
  answer = renewed
})

test('a state that the page did not choose ends no sign-in', async () => {
  values.set(key, 'r1 id')
  values.set('moderato-console-sign-in', '{"state":"of another tab"}')
  const session = await open('?state=x&code=y')
  assert.deepEqual([session.state, values.get(key)], ['signed-in', 'r2 id'])
  assert.deepEqual([location.href, values.has('moderato-console-sign-in')], ['https://example.org/console/#/ines', true])
  values.delete(key)
  assert.equal((await open('?state=x')).reason, 'The sign-in failed. Sign in again.')
})

test('only a token that the server refuses ends the sign-in', async () => {
  values.set(key, 'r1 id')
  answer = () => new Response('', { status: 403 })
  assert.deepEqual([(await open()).state, values.get(key)], ['unreachable', 'r1 id'])
  answer = () => refused('invalid_grant')
  assert.deepEqual([(await open()).state, values.get(key)], ['signed-out', undefined])
})

test('a tab never goes on as another user, who signed in in another tab', async () => {
  values.set(key, 'r1 ada')
  const session = await open()
  values.set(key, 'r9 eve')
  await assert.rejects(session.client.users.getProfile({}))
  assert.deepEqual([reloads, values.get(key), session.state], [1, 'r9 eve', 'signed-in'])
  listeners[0]({ key, newValue: 'r9 eve' })
  assert.equal(reloads, 2)
  listeners[0]({ key, newValue: 'r3 ada' })
  assert.equal(reloads, 2, 'a renewal in another tab changes nothing')
})

test('a sign-out during a renewal lasts', async () => {
  values.set(key, 'r1 id')
  const session = await open()
  const asked = []
  answer = async (url) => {
    asked.push(new URL(url).pathname)
    if (asked.length === 1) void session.signOut()
    return renewed()
  }
  await assert.rejects(session.client.users.getProfile({}))
  assert.deepEqual([session.state, session.reason, values.has(key)], ['signed-out', '', false])
  assert.deepEqual(asked, ['/oauth2/token', '/oauth2/revoke', '/oauth2/revoke'], 'the new token is revoked as well')
})
