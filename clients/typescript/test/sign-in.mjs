// Signs in a user in a browser. The test approves, and writes where the browser returned.
import assert from 'node:assert/strict'
import { createInterface } from 'node:readline/promises'
import { Moderato, SignInError } from '@moderato-live/client'

const stored = []
const options = { baseUrl: 'http://127.0.0.1:8080', clientId: 'demo-dashboard', onTokens: (tokens) => void stored.push(tokens) }
const { auth, users } = new Moderato(options)
const pending = await auth.startSignIn({ redirectUri: process.argv[2], scopes: ['users.read', 'offline.access'] })
console.log('To sign in, open', pending.url)
const input = createInterface({ input: process.stdin })
const returnedTo = await input.question('')
input.close()

await assert.rejects(auth.finishSignIn(returnedTo, { ...pending, state: 'another' }), SignInError)
const tokens = await auth.finishSignIn(returnedTo, pending)
console.log('Signed in as', (await users.getProfile()).displayName)

const refused = { ...tokens, accessToken: `mdu_${'x'.repeat(36)}` }
const again = new Moderato({ ...options, tokens: refused })
const profiles = await Promise.all(Array.from({ length: 5 }, () => again.users.getProfile()))
assert.equal(profiles.length, 5)
assert.equal(stored.length, 2)
assert.notEqual(stored[1].refreshToken, tokens.refreshToken)
console.log('Refreshed once')

await again.auth.signOut()
await assert.rejects(new Moderato({ ...options, tokens: stored[1] }).auth.refresh(), { name: 'SignInError', code: 'invalid_grant' })
console.log('Signed out')
