import assert from 'node:assert/strict'
import { test } from 'node:test'
import { APIConnectionError, Moderato, ModeratoError } from '../../dist/index.js'
import { backoff, retryDelay } from '../../dist/retry.js'

const error = (code, status, retryAfter) => new ModeratoError('', { code, status, retryAfter })

test('what is repeated', () => {
  for (const [name, failure, isRepeated] of [
    ['a refusal for the rate', error('RATE_LIMITED', 429, 1), true],
    ['overload', error('OVERLOADED', 503, 1), true],
    ['a long pause', error('RATE_LIMITED', 429, 3600), false],
    ['too many streams', error('STREAM_LIMIT_REACHED', 429), false],
    ['an unavailable server', error('UNAVAILABLE', 503, 1), true],
    ['an unknown outcome', error('DEADLINE_EXCEEDED', 504), true],
    ['a broken connection', new APIConnectionError('', { code: 'CONNECTION_FAILED' }), true],
    ['a key in use', error('IDEMPOTENCY_KEY_IN_USE', 409, 1), true],
    ['a key that was used', error('IDEMPOTENCY_KEY_REUSED', 422), false],
    ['an active mute, in spite of Retry-After', error('MUTE_ACTIVE', 409, 1), false],
    ['a mistake', error('INVALID_ARGUMENT', 400), false],
  ]) {
    assert.equal(retryDelay(failure, 0) !== undefined, isRepeated, name)
  }
})

test('Retry-After is waited for', () => {
  assert.ok(retryDelay(error('RATE_LIMITED', 429, 7), 0) >= 7000)
})

test('the pause grows up to 30 s', () => {
  for (const [attempt, most] of [[0, 500], [1, 1000], [5, 16_000], [50, 30_000]]) {
    const pause = backoff(attempt)
    assert.ok(pause >= most / 2 && pause <= most, `${pause} ms after attempt ${attempt}`)
  }
})

/** client returns a client whose server responds with what is given, one after the other. */
function client(responses, options) {
  const requests = []
  const fetch = async (url, init) => {
    const isSignIn = new URL(url).pathname.startsWith('/oauth2/')
    if (!isSignIn) requests.push({ url, body: init.body && JSON.parse(init.body), key: init.headers['idempotency-key'] })
    const response = responses.shift()
    if (response === 'broken') throw new TypeError('fetch failed')
    const [status, data, headers] = response
    return Response.json(isSignIn ? data : { success: status < 300, message: 'text', data }, { status, headers })
  }
  return { requests, moderato: new Moderato({ baseUrl: 'http://server', clientId: 'bot', tokens: { accessToken: 'mdu_' }, fetch, ...options }) }
}

const isUUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

test('all attempts of a change have the same key', async () => {
  const { requests, moderato } = client([
    'broken', [409, { code: 'IDEMPOTENCY_KEY_IN_USE' }, { 'retry-after': '0' }], [401, { code: 'TOKEN_EXPIRED' }],
    [200, { access_token: 'mdu_2', expires_in: 60 }], [200, {}], [200, {}], [200, {}],
  ], { tokens: { accessToken: 'mdu_', refreshToken: 'mdr_' } })
  const mute = { channelId: 'c', mutedUserId: 'u' }
  await moderato.moderation.muteUser(mute)
  await moderato.moderation.muteUser(mute)
  await moderato.request({ method: 'DELETE', path: '/v1/new', body: {} })
  const keys = requests.map(({ key }) => key)
  assert.equal(keys.length, 6)
  for (const key of keys) assert.match(key, isUUID)
  assert.equal(new Set(keys.slice(0, 4)).size, 1, 'the attempts of a call share a key')
  assert.equal(new Set(keys).size, 3, 'each call has a key of its own')
})

test('a caller can choose the key', async () => {
  const { requests, moderato } = client(['broken', [200, {}]])
  await moderato.chat.postMessage({ channelId: 'c', message: 'm' }, { idempotencyKey: 'mine' })
  assert.deepEqual(requests.map(({ key }) => key), ['mine', 'mine'])
  assert.deepEqual(requests[0].body, { channelId: 'c', message: 'm' })
})

test('a read has no key', async () => {
  const { requests, moderato } = client([[200, {}]])
  await moderato.users.getProfile()
  assert.equal(requests[0].key, undefined)
})

test('a key that was used for another call is an error of its own', async () => {
  const { requests, moderato } = client([[422, { code: 'IDEMPOTENCY_KEY_REUSED' }, { 'x-request-id': 'r' }]])
  const call = moderato.moderation.muteUser({ channelId: 'c', mutedUserId: 'u' }, { idempotencyKey: 'mine' })
  await assert.rejects(call, { name: 'IdempotencyKeyReusedError', code: 'IDEMPOTENCY_KEY_REUSED', status: 422, requestId: 'r' })
  await assert.rejects(call, ModeratoError)
  assert.equal(requests.length, 1)
})

test('an error has its details', async () => {
  const violations = [{ field: 'limit', description: 'must be between 1 and 100' }]
  const { moderato } = client([[400, { code: 'INVALID_ARGUMENT', violations }], [403, { code: 'SCOPE_MISSING', requiredScope: 'users.read' }]])
  await assert.rejects(async () => moderato.channels.listFollowers({ limit: 0 }), { code: 'INVALID_ARGUMENT', fields: violations })
  await assert.rejects(async () => moderato.channels.listFollowers(), { code: 'SCOPE_MISSING', requiredScope: 'users.read' })
})

test('a silent server is a timeout, and a call can be cancelled', async () => {
  const silent = (_, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  const { moderato } = client([], { fetch: silent, timeout: 10, retries: 0 })
  await assert.rejects(moderato.users.getProfile(), { name: 'APIConnectionError', code: 'TIMEOUT' })
  const reason = new Error('cancelled')
  const controller = new AbortController()
  setTimeout(() => controller.abort(reason), 5)
  await assert.rejects(moderato.users.getProfile({}, { signal: controller.signal, timeout: 60_000 }), reason)
})

test('a loop reads every kind of list to its end', async () => {
  const rows = (names, cursor) => [200, { count: 3, rows: names, pagination: { cursor } }]
  const pages = client([rows(['a', 'b'], 'next'), rows(['c'], '')])
  assert.deepEqual(await collect(pages.moderato.channels.listFollowers({ userId: 'u' })), ['a', 'b', 'c'])
  assert.deepEqual(pages.requests.map(({ url }) => url.split('?')[1]), ['limit=100&userId=u', 'limit=100&cursor=next&userId=u'])
  const link = { link: '</v1/channels/votes?cursor=n%2Fext&limit=2>; rel="next"' }
  const complete = client([[200, ['a', 'b'], link], [200, ['c']]])
  assert.deepEqual(await collect(complete.moderato.channels.listVotes({ channelId: 'c', epoch: 'all', limit: 2 })), ['a', 'b', 'c'])
  assert.match(complete.requests[1].url, /limit=2&cursor=n%2Fext/)
  const chat = client([[200, { channelId: 'c', messages: ['a'], pagination: { cursor: '' } }]])
  assert.deepEqual(await collect(chat.moderato.chat.listMessages({ channelId: 'c' })), ['a'])
})

async function collect(list) {
  const all = []
  for await (const row of list) all.push(row)
  return all
}
