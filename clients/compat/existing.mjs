// Does what clients that were written for the original interface do: a polling dashboard, a chat
// bot, an overlay, a bot that renews its tokens, and a desktop tool.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { io } from 'socket.io-client'
import { approve, call, given } from './support.mjs'

const base = given.servers[0]
const callback = 'http://127.0.0.1:7777/callback'
const credentials = { clientId: given.confidentialClient, clientSecret: given.secret }

// post sends JSON to the endpoints for signing in, and returns the status with the answer.
async function post(path, body) {
  const response = await fetch(`${base}/bapi/oauth2/${path}`, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ ...credentials, ...body }),
  })
  return { status: response.status, ...await response.json() }
}

// signIn signs a person of the demo in, and returns the tokens, and how to call the API with them.
async function signIn(user, scopes) {
  const { url, state, codeVerifier } = await post('generate-auth-url', { redirectUri: callback, scopes })
  const granted = new URL(url).searchParams.get('scope').split(' ')
  const back = await approve(url, granted, user)
  assert.equal(back.searchParams.get('state'), state)
  const tokens = await post('token', { code: back.searchParams.get('code'), codeVerifier, redirectUri: callback })
  assert.equal(tokens.status, 200, tokens.message)
  return { tokens, api: (method, path, body) => call(method, path, body, { token: tokens.accessToken, client: given.confidentialClient }) }
}

// listen connects, subscribes to types of a channel, and returns the session with what it receives.
async function listen(t, api, channelId, types, connect = () => io(base, { path: '/ws', forceNew: true })) {
  const socket = connect()
  t.after(() => socket.close())
  const [{ sessionId }] = await once(socket, 'session_welcome')
  for (const type of types) await api('POST', '/v1/events/subscriptions', { type, sessionId, condition: { channelId } })
  const received = []
  socket.on('eventsub', ({ metadata, payload }) => metadata.messageType === 'notification' && received.push({ type: metadata.subscriptionType, payload }))
  return { sessionId, received }
}

// until waits for something that is true.
async function until(what, check) {
  for (let i = 0; i < 200; i++, await sleep(50)) {
    const found = await check()
    if (found) return found
  }
  assert.fail(`waited in vain for ${what}`)
}

const pictures = (value, found = []) => {
  for (const [name, field] of Object.entries(value ?? {})) {
    if (/^(avatarUrl|imageUrl)$/.test(name)) found.push(field)
    else if (typeof field === 'object') pictures(field, found)
  }
  return found
}

test('a dashboard polls', async () => {
  const { api } = await signIn('Ines', ['users.read', 'channel.moderate', 'offline.access'])
  const { userId: channelId } = await api('GET', '/v1/users/profile')
  const shown = new Set()
  const poll = async () => {
    const page = await api('GET', `/v1/chats/messages?channelId=${channelId}&limit=50&_=${Date.now()}`)
    assert.equal(page.channelId, channelId)
    return page.messages.filter(({ id }) => !shown.has(id) && shown.add(id))
  }
  const earlier = await poll()
  for (const { sender, message, createdAt } of earlier) {
    assert.ok(sender.displayName && sender.avatarUrl && Array.isArray(sender.roles) && message)
    assert.match(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  }
  await api('POST', '/v1/chats/messages', { channelId, message: 'Is the dashboard awake?' })
  const [news, ...others] = await poll()
  assert.deepEqual(others, [])
  assert.equal(news.message, 'Is the dashboard awake?')
  assert.ok(news.sender.isOwner)

  const stream = await api('GET', '/v1/channels/stream-info')
  assert.ok(!stream.isLive || stream.previewImgUrl)
  const stats = await api('GET', '/v1/channels/stats')
  const achieved = await api('GET', '/v1/users/achievement-stats')
  assert.deepEqual([achieved.followerCount, achieved.subscriberCount], [stats.followerCount, stats.subscriberCount])
  assert.ok(Number.isInteger(achieved.tier) && achieved.streamHours >= 0 && achieved.uniqueChatters > 0)
  for (const list of ['followers', 'subscribers', 'activities']) assert.ok((await api('GET', `/v1/channels/${list}`)).rows.length > 0, list)
  const [category] = (await api('GET', `/v1/categories?term=${stream.category.title.slice(0, 4)}`)).rows
  assert.equal(category.name, category.title)
  assert.ok(category.imageUrl)
})

const connections = {
  'io(base, { path: "/ws" })': () => io(base, { path: '/ws', forceNew: true }),
  'io(base + "/ws")': () => io(`${base}/ws`, { transports: ['websocket'], forceNew: true }),
}

for (const [name, connect] of Object.entries(connections)) {
  test(`a chat bot answers over ${name}`, async (t) => {
    const { tokens, api } = await signIn('Tomasz', ['users.read', 'users.bot', 'channel.moderate', 'offline.access'])
    const { sessionId, received } = await listen(t, api, given.channel, ['channel.chat.message'], connect)
    assert.deepEqual(await api('GET', `/v1/events/${sessionId}/subscriptions`),
      [{ type: 'channel.chat.message', version: '1', condition: { channelId: given.channel } }])

    const question = `!hello ${randomBytes(4).toString('hex')}`
    await call('POST', '/v1/chats/messages', { channelId: given.channel, message: question, senderId: given.viewer }, { token: given.service, client: given.serviceClient })
    const heard = await until('the question', () => received.find(({ payload }) => payload.message === question))
    const { sender, messageId } = heard.payload
    assert.notEqual(sender.id, tokens.userId) // or the bot would answer itself
    await api('POST', '/v1/chats/messages', { channelId: given.channel, message: `Hello, ${sender.displayName}!`, replyToMessageId: messageId })
    const answer = await until('the answer', () => received.find(({ payload }) => payload.sender.id === tokens.userId))
    assert.equal(answer.payload.replyToMessageId, messageId)
    assert.deepEqual(answer.payload.sender.roles, ['moderator'])
  })
}

test('an overlay drops events without pictures, and drops none', async (t) => {
  const { api } = await signIn('Ines', ['users.read', 'channel.moderate'])
  const types = ['channel.follow', 'channel.subscribe', 'channel.subscription.gift', 'channel.thanks', 'channel.vote', 'channel.raid',
    'channel.chat.message', 'channel.vip.add', 'channel.og.add', 'channel.moderator.add', 'channel.ban', 'channel.unban', 'channel.mute']
  const { received } = await listen(t, api, given.channel, types)
  for (const type of types) {
    const triggered = await fetch(`${given.control}/trigger?type=${type}`, { method: 'POST' })
    assert.equal(triggered.status, 200, await triggered.text())
    const { payload } = await until(type, () => received.find((event) => event.type === type))
    const found = pictures(payload)
    assert.ok(found.length > 0 && found.every(Boolean), `${type}: ${JSON.stringify(payload)}`)
    for (const picture of new Set(found)) {
      const response = await fetch(picture)
      assert.ok(response.ok && response.headers.get('content-type').startsWith('image/'), picture)
    }
  }
})

test('an overlay shows emotes', async (t) => {
  const { api } = await signIn('Ines', ['users.read', 'channel.moderate'])
  const emotes = [...await api('GET', '/v1/emotes/blaze'), ...await api('GET', `/v1/emotes/channels/${given.channel}`)]
  assert.ok(emotes.every(({ id, name, imageUrl, isPublic }) => id && name && imageUrl && typeof isPublic === 'boolean'))
  const { received } = await listen(t, api, given.channel, ['channel.chat.message'])
  const message = `[emote:${emotes[0].id}] and [emote:unknown] ${emotes.at(-1).id}`
  await api('POST', '/v1/chats/messages', { channelId: given.channel, message })
  const { payload } = await until('the message', () => received.find((event) => event.payload.message === message))
  assert.deepEqual(payload.emotes.map(({ id }) => id), [emotes[0].id])
})

test('a bot recognises a dead refresh token by the message', async () => {
  const { tokens } = await signIn('Tomasz', ['users.read', 'offline.access'])
  const dead = /invalid refresh token|unauthorized|expired/i
  const renew = async (refreshToken) => {
    const answer = await post('refresh', { refreshToken })
    if (answer.status === 200) return answer
    if (dead.test(answer.message)) return null // the bot asks its user to sign in again
    throw new Error(answer.message)
  }
  const renewed = await renew(tokens.refreshToken)
  assert.equal(renewed.userId, tokens.userId)
  const { userId } = await call('GET', '/v1/users/profile', undefined, { token: renewed.accessToken, client: given.confidentialClient })
  assert.equal(userId, tokens.userId)
  await call('DELETE', '/v1/users/grants', { clientId: given.confidentialClient }, { token: renewed.accessToken, client: given.confidentialClient })
  assert.equal(await renew(renewed.refreshToken), null)
  assert.equal(await renew('mdr_unknown'), null)
})

test('a desktop tool takes its user id from the tokens', async (t) => {
  const { tokens, api } = await signIn('Ines') // without scopes: all that the client may have
  assert.equal(tokens.type, 'user')
  const { received } = await listen(t, api, tokens.userId, ['channel.follow', 'stream.online'])
  for (const type of ['channel.follow', 'stream.online']) {
    assert.equal((await fetch(`${given.control}/trigger?type=${type}`, { method: 'POST' })).status, 200)
    const { payload } = await until(type, () => received.find((event) => event.type === type))
    assert.equal(payload.channelId, tokens.userId)
    if (type === 'channel.follow') assert.ok(payload.follower.followedAt)
    else assert.equal(payload.category.name, payload.category.title)
  }
})
