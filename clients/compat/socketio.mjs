// Listens with socket.io-client.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { io } from 'socket.io-client'
import { ban, call, given } from './support.mjs'

const [server, otherServer] = given.servers

// connections are the two ways in which clients connect.
const connections = {
  'at its path': (base, options) => io(base, { path: '/ws', ...options }),
  'to its namespace': (base, options) => io(`${base}/ws`, options),
}

// listen connects, and returns the socket with what it receives: next waits for the first
// message of a type that satisfies a condition, and removes it.
function listen(t, base, { connect = connections['at its path'], ...options } = {}) {
  const socket = connect(base, { forceNew: true, reconnectionDelay: 100, reconnectionDelayMax: 500, ...options })
  t.after(() => socket.close())
  const received = []
  const waiting = new Set()
  socket.on('eventsub', (message) => {
    received.push(message)
    for (const look of waiting) look()
  })
  const next = (type, matches = () => true) => new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`no ${type}; received ${JSON.stringify(received)}`)), 10_000)
    const look = () => {
      const at = received.findIndex((m) => m.metadata.messageType === type && matches(m))
      if (at < 0) return
      clearTimeout(late)
      waiting.delete(look)
      resolve(received.splice(at, 1)[0])
    }
    waiting.add(look)
    look()
  })
  return { socket, next }
}

const subscribe = (sessionId, options) =>
  call('POST', '/v1/events/subscriptions', { type: 'channel.ban', version: '1', condition: { channelId: given.channel }, sessionId }, options)

// hearsBan subscribes through a server, and bans the raider.
async function hearsBan(listener, sessionId, options) {
  const subscription = await subscribe(sessionId, options)
  assert.equal(subscription.sessionId, sessionId)
  const notification = await ban(listener.next('notification'), options)
  assert.equal(notification.metadata.subscriptionType, 'channel.ban')
  assert.ok(notification.metadata.cursor)
  assert.equal(notification.payload.bannedUserDisplayName, given.raider)
  return subscription
}

const sessionOf = async (listener) => (await listener.next('session_welcome')).payload.sessionId

for (const transports of [['websocket'], ['polling'], ['polling', 'websocket']]) {
  test(`hears a ban over ${transports.join(', then ')}`, async (t) => {
    const listener = listen(t, server, { transports })
    const sessionId = await sessionOf(listener)
    if (transports.length > 1 && listener.socket.io.engine.transport.name === 'polling') {
      await once(listener.socket.io.engine, 'upgrade')
    }
    assert.equal(listener.socket.io.engine.transport.name, transports.at(-1))
    await hearsBan(listener, sessionId)
  })
}

for (const [name, connect] of Object.entries(connections)) {
  test(`learns its session from each message when it connects ${name}`, async (t) => {
    const listener = listen(t, server, { connect })
    const [{ sessionId }] = await once(listener.socket, 'session_welcome')
    assert.equal(listener.socket.id, sessionId)
    assert.equal(await sessionOf(listener), sessionId)
    await hearsBan(listener, sessionId)
  })

  // Requests at each of several connections show that all of a connection reach one server.
  test(`hears a ban through the proxy of a deployment when it connects ${name}`, async (t) => {
    const options = { base: given.proxy }
    const listeners = Array.from({ length: 4 }, () => listen(t, given.proxy, { connect, transports: ['polling'], reconnection: false }))
    const sessions = await Promise.all(listeners.map(sessionOf))
    for (const session of sessions) await subscribe(session, options)
    await ban(Promise.all(listeners.map((listener) => listener.next('notification'))), options)
  })
}

test('hears what it subscribed to through another server', async (t) => {
  const listener = listen(t, server)
  const subscription = await hearsBan(listener, await sessionOf(listener), { base: otherServer })
  await call('DELETE', '/v1/events/subscriptions', { id: subscription.id }, { base: otherServer })
})

test('is told that a subscription ends with its token', async (t) => {
  const listener = listen(t, server)
  const sessionId = await sessionOf(listener)
  const { id } = await subscribe(sessionId, { token: given.shortToken, client: given.publicClient })
  const revoked = await fetch(`${otherServer}/oauth2/revoke`, {
    method: 'POST', body: new URLSearchParams({ client_id: given.publicClient, token: given.shortToken }),
  })
  assert.equal(revoked.status, 200)
  const { payload } = await listener.next('revocation')
  assert.equal(payload.id, id)
  assert.equal(payload.reason, 'TOKEN_INVALID')
})

for (const transport of ['websocket', 'polling']) {
  test(`connects again after a restart over ${transport}`, async (t) => {
    const listener = listen(t, server, { transports: [transport] })
    const first = await sessionOf(listener)
    await subscribe(first)
    const disconnected = once(listener.socket, 'disconnect')
    const restarted = await fetch(`${given.control}/restart`, { method: 'POST' })
    assert.equal(restarted.status, 200, await restarted.text())
    const [reason] = await disconnected
    assert.notEqual(reason, 'io server disconnect') // after which the client would not connect again
    const second = await sessionOf(listener)
    assert.notEqual(second, first)
    await assert.rejects(subscribe(first), { status: 404, code: 'SESSION_NOT_FOUND' })
    await hearsBan(listener, second)
  })
}
