// Signs in with openid-client.
import assert from 'node:assert/strict'
import { webcrypto } from 'node:crypto'
import { test } from 'node:test'

globalThis.crypto ??= webcrypto // Node.js 18 has it there only on request
const oauth = await import('openid-client')
const { approve, call, given } = await import('./support.mjs')

const scopes = ['users.read', 'channel.moderate', 'offline.access']
const callback = 'http://127.0.0.1:7777/callback' // a loopback address, with another port than the registered one

const discover = (client, authentication) =>
  oauth.discovery(new URL(given.servers[0]), client, {}, authentication, { algorithm: 'oauth2', execute: [oauth.allowInsecureRequests] })
const clients = {
  'a public client': () => discover(given.publicClient, oauth.None()),
  'client_secret_basic': () => discover(given.confidentialClient, oauth.ClientSecretBasic(given.secret)),
  'client_secret_post': () => discover(given.confidentialClient, oauth.ClientSecretPost(given.secret)),
}
const profile = async (tokens, client) => call('GET', '/v1/users/profile', undefined, { token: tokens.access_token, client })
const refusal = (status, error) => ({ name: 'ResponseBodyError', status, error })

async function signIn(config) {
  const verifier = oauth.randomPKCECodeVerifier()
  const state = oauth.randomState()
  const url = oauth.buildAuthorizationUrl(config, {
    redirect_uri: callback, scope: scopes.join(' '), state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256',
  })
  const back = await approve(url, scopes)
  return oauth.authorizationCodeGrant(config, back, { pkceCodeVerifier: verifier, expectedState: state })
}

test('openid-client', { concurrency: true }, async (t) => {
  const all = Object.entries(clients).map(([name, configure]) =>
    t.test(`signs in, refreshes and revokes as ${name}`, async () => {
      const config = await configure()
      const client = config.clientMetadata().client_id
      const tokens = await signIn(config)
      assert.equal(tokens.token_type, 'bearer')
      assert.deepEqual(tokens.scope.split(' ').sort(), [...scopes].sort())
      assert.ok(tokens.expiresIn() > 3600)
      assert.equal((await profile(tokens, client)).displayName, 'Tomasz Wrona')

      const renewed = await oauth.refreshTokenGrant(config, tokens.refresh_token)
      assert.notEqual(renewed.access_token, tokens.access_token)
      assert.notEqual(renewed.refresh_token, tokens.refresh_token)
      assert.equal((await profile(renewed, client)).displayName, 'Tomasz Wrona')

      await oauth.tokenRevocation(config, renewed.refresh_token)
      await assert.rejects(oauth.refreshTokenGrant(config, renewed.refresh_token), refusal(400, 'invalid_grant'))
      await oauth.tokenRevocation(config, 'unknown') // is no error
    }))

  all.push(t.test('introspects', async () => {
    const config = await clients.client_secret_basic()
    const tokens = await signIn(config)
    const active = await oauth.tokenIntrospection(config, tokens.access_token)
    assert.equal(active.active, true)
    assert.equal(active.client_id, given.confidentialClient)
    assert.ok(active.sub && active.exp > Date.now() / 1000)
    await oauth.tokenRevocation(config, tokens.access_token)
    assert.deepEqual(await oauth.tokenIntrospection(config, tokens.access_token), { active: false })
  }))

  all.push(t.test('signs in a device', async () => {
    const config = await clients['a public client']()
    const device = await oauth.initiateDeviceAuthorization(config, { scope: scopes.join(' ') })
    assert.ok(device.verification_uri_complete.includes(device.user_code))
    const polled = oauth.pollDeviceAuthorizationGrant(config, device)
    // The first poll finds that nobody has decided yet.
    await new Promise((resolve) => setTimeout(resolve, device.interval * 1000 + 500))
    assert.equal(await approve(device.verification_uri_complete, ['users.read']), null)
    const tokens = await polled
    assert.equal(tokens.scope, 'users.read')
    assert.equal((await profile(tokens, given.publicClient)).displayName, 'Tomasz Wrona')
  }))

  all.push(t.test('gets an app token', async () => {
    const config = await clients.client_secret_basic()
    const tokens = await oauth.clientCredentialsGrant(config, { scope: 'users.read' })
    assert.equal(tokens.scope, 'users.read')
    const users = await call('GET', `/v1/users?username[]=${given.raider}`, undefined, { token: tokens.access_token, client: given.confidentialClient })
    assert.equal(users[0].displayName, given.raider)
  }))

  all.push(t.test('reads why it is refused', async () => {
    const wrong = await discover(given.confidentialClient, oauth.ClientSecretBasic('wrong'))
    await assert.rejects(oauth.clientCredentialsGrant(wrong), { name: 'WWWAuthenticateChallengeError', status: 401 })
    const posted = await discover(given.confidentialClient, oauth.ClientSecretPost('wrong'))
    await assert.rejects(oauth.clientCredentialsGrant(posted), refusal(401, 'invalid_client'))
    const open = await clients['a public client']()
    await assert.rejects(oauth.clientCredentialsGrant(open), refusal(401, 'invalid_client'))
    const config = await clients.client_secret_basic()
    await assert.rejects(oauth.clientCredentialsGrant(config, { scope: 'everything' }), refusal(400, 'invalid_scope'))
  }))
  await Promise.all(all)
})
