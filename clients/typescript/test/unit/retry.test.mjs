import assert from 'node:assert/strict'
import { test } from 'node:test'
import { APIConnectionError, Moderato, ModeratoError } from '../../dist/index.js'
import { backoff, retryDelay } from '../../dist/retry.js'

const error = (code, status, retryAfter) => new ModeratoError('', { code, status, retryAfter })

test('what may be repeated', () => {
  for (const [name, failure, whenIdempotent, otherwise] of [
    ['a refusal for the rate', error('RATE_LIMITED', 429, 1), true, true],
    ['overload', error('OVERLOADED', 503, 1), true, true],
    ['a long pause', error('RATE_LIMITED', 429, 3600), false, false],
    ['too many streams', error('STREAM_LIMIT_REACHED', 429), false, false],
    ['an unavailable server', error('UNAVAILABLE', 503, 1), true, false],
    ['an unknown outcome', error('DEADLINE_EXCEEDED', 504), true, false],
    ['a broken connection', new APIConnectionError('', { code: 'CONNECTION_FAILED' }), true, false],
    ['an active mute, in spite of Retry-After', error('MUTE_ACTIVE', 409, 1), false, false],
    ['a mistake', error('INVALID_ARGUMENT', 400), false, false],
  ]) {
    assert.equal(retryDelay(failure, 0, true) !== undefined, whenIdempotent, name)
    assert.equal(retryDelay(failure, 0, false) !== undefined, otherwise, name)
  }
})

test('Retry-After is waited for', () => {
  assert.ok(retryDelay(error('RATE_LIMITED', 429, 7), 0, false) >= 7000)
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
    requests.push({ url, body: init.body && JSON.parse(init.body) })
    const [status, data, headers] = responses.shift()
    return Response.json({ success: status < 300, message: 'text', data }, { status, headers })
  }
  return { requests, moderato: new Moderato({ baseUrl: 'http://server', clientId: 'bot', tokens: { accessToken: 'mdu_' }, fetch, ...options }) }
}

test('a post is repeated with the same messageId', async () => {
  const { requests, moderato } = client([[500, { code: 'INTERNAL' }, { 'retry-after': '0' }], [200, {}]])
  await moderato.chat.postMessage({ channelId: 'c', message: 'm' })
  assert.equal(requests.length, 2)
  assert.match(requests[0].body.messageId, /^[0-9a-f-]{36}$/)
  assert.deepEqual(requests[0].body, requests[1].body)
})

test('a change that is not idempotent is not repeated', async () => {
  const { requests, moderato } = client([[500, { code: 'INTERNAL', requestId: 'r' }, { 'x-request-id': 'r' }]])
  await assert.rejects(moderato.moderation.muteUser({ channelId: 'c', mutedUserId: 'u' }), { code: 'INTERNAL', status: 500, requestId: 'r' })
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
  await assert.rejects(moderato.users.getProfile({ signal: controller.signal, timeout: 60_000 }), reason)
})

test('a loop reads both kinds of lists to their end', async () => {
  const rows = (names, cursor) => [200, { count: 3, rows: names, pagination: { cursor } }]
  const pages = client([rows(['a', 'b'], 'next'), rows(['c'], '')])
  assert.deepEqual(await collect(pages.moderato.channels.listFollowers({ userId: 'u' })), ['a', 'b', 'c'])
  assert.deepEqual(pages.requests.map(({ url }) => url.split('?')[1]), ['limit=100&userId=u', 'limit=100&cursor=next&userId=u'])
  const link = { link: '</v1/channels/votes?cursor=n%2Fext&limit=2>; rel="next"' }
  const complete = client([[200, ['a', 'b'], link], [200, ['c']]])
  assert.deepEqual(await collect(complete.moderato.channels.listVotes({ channelId: 'c', epoch: 'all', limit: 2 })), ['a', 'b', 'c'])
  assert.match(complete.requests[1].url, /limit=2&cursor=n%2Fext/)
})

async function collect(list) {
  const all = []
  for await (const row of list) all.push(row)
  return all
}
