import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Moderato } from '../../dist/index.js'

const ban = (id, sequence) =>
  `id: ${id}\ndata: ${JSON.stringify({ metadata: { subscriptionType: 'channel.ban', sequence }, payload: {} })}\n\n`
const end = (code) => `event: end\ndata: ${JSON.stringify({ message: code, data: { code } })}\n\n`
const heartbeat = (id) => `id: ${id}\n: nothing new\n\n`

/** client returns a client whose server opens the streams that are given, one after the other. */
function client(...streams) {
  const requests = []
  const fetch = async (url, { headers, signal, body }) => {
    if (String(url).endsWith('/oauth2/token')) {
      assert.equal(body.get('refresh_token'), 'mdr_1')
      return Response.json({ access_token: 'mdu_2', refresh_token: 'mdr_2', expires_in: 60 })
    }
    requests.push({ cursor: new URL(url).searchParams.get('cursor'), token: headers.authorization })
    const stream = streams.shift()
    if (typeof stream === 'number') return Response.json({ message: '', data: { code: stream === 401 ? 'TOKEN_EXPIRED' : 'CURSOR_INVALID' } }, { status: stream })
    const { text, isSilent, later } = typeof stream === 'string' ? { text: stream } : stream
    return new Response(new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(text))
        if (!isSilent) return controller.close()
        const timer = setTimeout(() => later && controller.enqueue(new TextEncoder().encode(later)), 5)
        signal.addEventListener('abort', () => {
          clearTimeout(timer)
          controller.error(signal.reason)
        })
      },
    }))
  }
  const moderato = new Moderato({ baseUrl: 'http://server', clientId: 'bot', tokens: { accessToken: 'mdu_1', refreshToken: 'mdr_1' }, fetch })
  return { moderato, requests }
}

/** next returns the sequences of the next events. */
async function next(stream, count) {
  const all = []
  while (all.length < count) all.push((await stream.next()).value?.metadata.sequence)
  return all
}

test('a stream resumes after a break, silence, and the end of the server', async () => {
  const { moderato, requests } = client(
    heartbeat('0') + ban('a', 1), { text: heartbeat('a') + ban('b', 2), isSilent: true }, heartbeat('c') + end('UNAVAILABLE'), heartbeat('c') + ban('d', 3))
  const codes = []
  const stream = await moderato.events.listen({ idleTimeout: 20, onDisconnect: ({ code }) => codes.push(code) })
  assert.equal(stream.cursor, '0')
  assert.deepEqual(await next(stream, 3), [1, 2, 3])
  assert.deepEqual(requests.map(({ cursor }) => cursor), [null, 'a', 'b', 'c'])
  assert.deepEqual(codes, ['CONNECTION_FAILED', 'TIMEOUT', 'UNAVAILABLE'])
  stream.close()
  assert.equal((await stream.next()).done, true)
})

test('silence while an event is handled is no break', async () => {
  const { moderato, requests } = client({ text: heartbeat('0') + ban('a', 1), isSilent: true, later: ban('b', 2) })
  const stream = await moderato.events.listen({ idleTimeout: 200 })
  await next(stream, 1)
  await new Promise((resolve) => setTimeout(resolve, 400))
  assert.deepEqual(await next(stream, 1), [2])
  assert.equal(requests.length, 1)
  stream.close()
})

test('a token that ends is renewed', async () => {
  const { moderato, requests } = client(heartbeat('0') + ban('a', 1) + end('TOKEN_EXPIRED'), 401, heartbeat('a') + ban('b', 2))
  const stream = await moderato.events.listen()
  assert.deepEqual(await next(stream, 2), [1, 2])
  assert.deepEqual(requests.map(({ token }) => token), ['Bearer mdu_1', 'Bearer mdu_1', 'Bearer mdu_2'])
  stream.close()
})

test('an error that another try does not help is thrown', async () => {
  const lost = await client(heartbeat('0') + end('NOT_CHANNEL_MODERATOR')).moderato.events.listen()
  await assert.rejects(lost.next(), { code: 'NOT_CHANNEL_MODERATOR' })
  await assert.rejects(client(400).moderato.events.listen({ cursor: 'old' }), { code: 'CURSOR_INVALID' })
})

test('lost chat is reported, and chat keeps the cursor', async () => {
  const chat = `data: ${JSON.stringify({ metadata: { subscriptionType: 'channel.chat.message' }, payload: { message: 'hi' } })}\n\n`
  let missed
  const { moderato } = client(heartbeat('0') + 'id: \nevent: missed\ndata: {"missedMessages":3}\n\n' + chat)
  const stream = await moderato.events.listen({ onMissed: (count) => (missed = count) })
  const { value } = await stream.next()
  assert.equal(missed, 3)
  assert.equal(value.payload.message, 'hi')
  assert.equal(value.cursor, '0')
  stream.close()
})
