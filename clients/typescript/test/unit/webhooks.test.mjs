import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { verifyWebhook, WebhookVerificationError } from '../../dist/index.js'

const secret = `whsec_${Buffer.from('a key of thirty-two random bytes').toString('base64')}`
const body = JSON.stringify({ metadata: { subscriptionType: 'channel.ban', messageId: 'an id' }, payload: { bannedUserDisplayName: 'Zoë' } })
const now = () => Math.floor(Date.now() / 1000)

function sign(key, { id = 'an id', at = now(), text = body } = {}) {
  const bytes = Buffer.from(key.slice('whsec_'.length), 'base64')
  return `v1,${createHmac('sha256', bytes).update(`${id}.${at}.${text}`).digest('base64')}`
}

const delivery = (signature, at = now()) =>
  ({ 'webhook-id': 'an id', 'webhook-timestamp': String(at), 'webhook-signature': signature, 'moderato-cursor': 'a cursor' })

test('a delivery is verified', async () => {
  for (const given of [body, Buffer.from(body)]) {
    const event = await verifyWebhook(given, delivery(sign(secret)), secret)
    assert.equal(event.type, 'channel.ban')
    assert.equal(event.payload.bannedUserDisplayName, 'Zoë')
    assert.equal(event.cursor, 'a cursor')
  }
  assert.equal((await verifyWebhook(body, new Headers(delivery(sign(secret))), secret)).type, 'channel.ban')
})

test('one of several signatures and secrets is enough', async () => {
  const other = `whsec_${Buffer.from('another key').toString('base64')}`
  await verifyWebhook(body, delivery(`v1,bm9uZQ== ${sign(secret)}`), secret)
  await verifyWebhook(body, delivery(sign(secret)), [other, secret])
})

const old = now() - 301
for (const [name, headers, text, options] of [
  ['another key', delivery(sign(`whsec_${Buffer.from('another key').toString('base64')}`))],
  ['another body', delivery(sign(secret)), body.replace('Zoë', 'Zoe')],
  ['another id', delivery(sign(secret, { id: 'another id' }))],
  ['a signature of another version', delivery(sign(secret).replace('v1,', 'v1a,'))],
  ['no base64', delivery('v1,%%%')],
  ['an old delivery', delivery(sign(secret, { at: old }), old)],
  ['a delivery of the future', delivery(sign(secret, { at: now() + 400 }), now() + 400)],
  ['another tolerance', delivery(sign(secret, { at: now() - 20 }), now() - 20), body, { tolerance: 10 }],
  ['no time', delivery(sign(secret, { at: '' }), '')],
  ['a missing header', { ...delivery(sign(secret)), 'webhook-signature': undefined }],
]) {
  test(`${name} is refused`, async () => {
    await assert.rejects(verifyWebhook(text ?? body, headers, secret, options), WebhookVerificationError)
  })
}
