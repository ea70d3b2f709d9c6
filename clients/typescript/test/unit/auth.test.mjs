import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Moderato } from '../../dist/index.js'

const device = {
  device_code: 'code', user_code: 'BCDF-GHJK', verification_uri: 'http://server/device',
  verification_uri_complete: 'http://server/device?user_code=BCDF-GHJK', interval: 0.005, expires_in: 60,
}
const token = { access_token: 'mdu_2', refresh_token: 'mdr_2', expires_in: 60, scope: 'users.read' }

/** client returns a client whose server responds with each response in turn; a function is called for it. */
function client(responses, options = {}) {
  const fetch = async () => {
    const next = responses.shift()
    const [status, body, headers] = typeof next === 'function' ? await next() : next
    return new Response(JSON.stringify(body), { status, headers })
  }
  return new Moderato({ baseUrl: 'http://server', clientId: 'bot', tokens: { accessToken: 'mdu_1', refreshToken: 'mdr_1' }, fetch, ...options })
}

const signIn = (moderato) => moderato.auth.signInWithDevice({ scopes: ['users.read'], onPrompt: () => {} })
const broken = () => Promise.reject(new TypeError('connection refused'))

test('a device asks again until the user has approved', async () => {
  const { accessToken } = await signIn(client([[200, device], [400, { error: 'authorization_pending' }], broken, [200, token]]))
  assert.equal(accessToken, 'mdu_2')
})

test('a device gives up when its code expires', async () => {
  await assert.rejects(signIn(client([[200, { ...device, expires_in: 0.03 }], ...Array(50).fill(broken)])), { code: 'expired_token' })
})

test('a device gives up at a server that is not Moderato', async () => {
  await assert.rejects(signIn(client([[200, device], [404, {}]])), { status: 404 })
})

test('tokens that arrive after a sign-out are dropped', async () => {
  const stored = []
  let respond
  const moderato = client([() => new Promise((resolve) => (respond = resolve)), [200, null]], { onTokens: (tokens) => stored.push(tokens) })
  const refreshed = moderato.auth.refresh()
  await moderato.auth.signOut()
  respond([200, token])
  await assert.rejects(refreshed, { code: 'signed_out' })
  assert.equal(moderato.auth.tokens, undefined)
  assert.deepEqual(stored, [])
})

test('a redirect is an error', async () => {
  const redirected = [302, {}, { location: 'http://elsewhere/v1/users/profile' }]
  await assert.rejects(client([redirected]).users.getProfile(), { code: 'REDIRECTED', message: /elsewhere/ })
  await assert.rejects(client([redirected]).auth.refresh(), { code: 'REDIRECTED' })
})
