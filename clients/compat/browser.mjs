// Signs in with Chromium, and listens from a page.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { chromium } from 'playwright-core'
import { ban, call, given } from './support.mjs'

const server = given.servers[0]
const signInURL = given.tour.match(/^http:\S+\/oauth2\/authorize\S+$/m)[0]
// exchangeBody is the body of the request that the demo prints, without the code.
const exchangeBody = JSON.parse(given.tour.match(/^printf .* -d '(\{.*),"code"/m)[1] + '}')

const context = await chromium.launchPersistentContext(`${given.directory}/profile`, {
  executablePath: given.chromium,
  headless: true,
  chromiumSandbox: false,
  args: ['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
})
let shots = 0
// shoot saves a screenshot if SCREENSHOTS names a directory.
async function shoot(page, name) {
  if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/${++shots}-${name}.png`, fullPage: true })
}

// visit begins a sign-in in a page of a browser that nobody has signed in with yet. It
// fails the test if the browser blocks something of the page.
async function visit(t, url, size = { width: 1024, height: 700 }) {
  await context.clearCookies()
  const page = await context.newPage()
  t.after(() => page.close())
  page.setDefaultTimeout(10_000)
  const complaints = []
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))
  await page.setViewportSize(size)
  await page.goto(url)
  return { page, complaints }
}

const heading = async (page, text) => {
  await page.getByRole('heading', { level: 1, name: text }).waitFor()
  assert.equal(await page.title(), text)
}

// exchange exchanges the code that the page shows, as the printed command does.
async function exchange(page) {
  await heading(page, 'Signed in')
  const code = await page.locator('code').innerText()
  const response = await fetch(`${server}/bapi/oauth2/token`, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ ...exchangeBody, code }),
  })
  const tokens = await response.json()
  assert.equal(response.status, 200, JSON.stringify(tokens))
  return tokens
}

const nameOf = async (tokens) => (await call('GET', '/v1/users/profile', undefined, { token: tokens.accessToken })).displayName

// signIn chooses a user with the mouse.
async function signIn(page, name) {
  await heading(page, 'Choose an account')
  await page.getByRole('button', { name }).click()
  await page.getByRole('button', { name: 'Authorize' }).waitFor()
}

test('signs in with the mouse', async (t) => {
  const { page, complaints } = await visit(t, signInURL)
  await shoot(page, 'sign-in')
  await signIn(page, /Tomasz Wrona/)
  await heading(page, 'Authorize Demo dashboard')
  await shoot(page, 'consent')
  await page.getByRole('button', { name: 'Authorize' }).click()
  const tokens = await exchange(page)
  await shoot(page, 'signed-in')
  assert.equal(await nameOf(tokens), 'Tomasz Wrona')
  assert.ok(tokens.refreshToken)
  assert.deepEqual(complaints, [])
})

test('signs in with the keyboard alone', async (t) => {
  const { page, complaints } = await visit(t, signInURL)
  // focus checks which element has the focus, and that a person sees it.
  const focus = async (selector) => {
    const focused = page.locator(':focus')
    assert.ok(await focused.evaluate((e, s) => e.matches(s), selector), `${selector} is not focused, but ${await focused.evaluate((e) => e.outerHTML)}`)
    const [style, color, behind] = await focused.evaluate((e) => [getComputedStyle(e).outlineStyle, getComputedStyle(e).outlineColor, getComputedStyle(document.querySelector('main')).backgroundColor])
    assert.equal(style, 'solid')
    assert.notEqual(color, behind)
  }
  const press = async (key, selector) => {
    await page.keyboard.press(key)
    await focus(selector)
  }
  await heading(page, 'Choose an account')
  for (let i = 0; i < 3; i++) await press('Tab', '[name=user]')
  await shoot(page, 'keyboard')
  await page.keyboard.press('Enter')
  await heading(page, 'Authorize Demo dashboard')
  await press('Tab', '[value="channel.moderate"]')
  await press('Space', '[value="channel.moderate"]:not(:checked)')
  await press('Tab', '[value="offline.access"]')
  await press('Tab', '[value="users.read"]')
  await press('Tab', '[value=approve]')
  await page.keyboard.press('Enter')
  const tokens = await exchange(page)
  assert.deepEqual(tokens.scopes.sort(), ['offline.access', 'users.read'])
  assert.equal(await nameOf(tokens), 'Amara Okafor')
  assert.deepEqual(complaints, [])
})

for (const scheme of ['light', 'dark']) {
  test(`signs in on a phone in ${scheme} colours, with a double tap`, async (t) => {
    const { page, complaints } = await visit(t, 'about:blank', { width: 360, height: 740 })
    await page.emulateMedia({ colorScheme: scheme })
    const fits = async (name) => {
      await shoot(page, `${scheme}-${name}`)
      const [wide, seen] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth])
      assert.ok(wide <= seen, `${name} is ${wide} pixels wide, and the screen ${seen}`)
      for (const target of await page.locator('button, label:has(input), input[type=text]').all()) {
        assert.ok((await target.boundingBox()).height >= 24, `a target of ${name} is too low`)
      }
    }
    await page.goto(signInURL)
    await fits('sign-in')
    await signIn(page, /Ines Carvalho/)
    await fits('consent')
    await page.getByRole('button', { name: 'Authorize' }).dblclick()
    assert.equal(await nameOf(await exchange(page)), 'Ines Carvalho')
    await fits('signed-in')
    assert.deepEqual(complaints, [])
    await page.goto(`${server}/demo/sign-in`)
    await fits('code')
    await page.goto(`${server}/demo/sign-in?request=unknown`)
    await heading(page, 'Sign-in failed')
    await fits('error')
  })
}

test('denies', async (t) => {
  const { page, complaints } = await visit(t, signInURL)
  await signIn(page, /Tomasz Wrona/)
  await page.getByRole('button', { name: 'Cancel' }).click()
  await heading(page, 'Not signed in')
  await shoot(page, 'denied')
  assert.match(await page.getByRole('alert').innerText(), /no access/)
  assert.ok(new URL(page.url()).searchParams.get('error') === 'access_denied')
  assert.deepEqual(complaints, [])
})

test('connects a device', async (t) => {
  const start = await fetch(`${server}/oauth2/device_authorization`, {
    method: 'POST', body: new URLSearchParams({ client_id: given.publicClient, scope: 'users.read' }),
  })
  const device = await start.json()
  const { page, complaints } = await visit(t, device.verification_uri)
  await page.getByLabel('Code').fill(device.user_code.toLowerCase())
  await page.keyboard.press('Enter')
  await signIn(page, /Amara Okafor/)
  await shoot(page, 'device')
  assert.match(await page.locator('main').innerText(), new RegExp(device.user_code))
  await page.getByRole('button', { name: 'Authorize' }).click()
  await heading(page, 'Device connected')
  await shoot(page, 'done')
  assert.deepEqual(complaints, [])
})

// A dashboard that is a page of its own: it signs its users in, and calls and listens from
// another origin than the API's.
test('a dashboard of another origin signs in and hears a ban', async (t) => {
  const dashboard = createServer((request, response) => {
    if (request.url.startsWith('/callback')) { // as many do: it stores the code, and goes on
      response.writeHead(302, { location: `${origin}/home${new URL(request.url, origin).search}` })
      return response.end()
    }
    response.writeHead(200, { 'content-type': 'text/html' })
    response.end('<!DOCTYPE html><title>Dashboard</title>')
  })
  await new Promise((resolve) => dashboard.listen(0, resolve))
  t.after(() => { dashboard.closeAllConnections(); dashboard.close() })
  const origin = `http://localhost:${dashboard.address().port}`
  const callback = `http://127.0.0.1:${dashboard.address().port}/callback`
  const { page, complaints } = await visit(t, origin)

  const started = await page.evaluate(async ({ server, client, callback }) => {
    const metadata = await (await fetch(`${server}/.well-known/oauth-authorization-server`)).json()
    const verifier = 'v'.repeat(64)
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier)))
    const challenge = btoa(String.fromCharCode(...digest)).replaceAll('+', '-').replaceAll('/', '_').replace('=', '')
    const url = new URL(metadata.authorization_endpoint)
    url.search = new URLSearchParams({
      response_type: 'code', client_id: client, redirect_uri: callback, scope: 'users.read channel.moderate', state: 's',
      code_challenge: challenge, code_challenge_method: 'S256',
    })
    setTimeout(() => { location.href = url })
    return { verifier, token: metadata.token_endpoint }
  }, { server, client: given.publicClient, callback })
  await signIn(page, /Tomasz Wrona/)
  await page.getByRole('button', { name: 'Authorize' }).click()
  await page.waitForURL('**/home?**')
  assert.deepEqual(complaints, [])

  await page.addScriptTag({ path: 'node_modules/socket.io-client/dist/socket.io.min.js' })
  for (const transports of [['polling'], ['websocket']]) {
    const welcome = await page.evaluate(({ server, transports }) => new Promise((resolve, reject) => {
      const socket = io(server, { path: '/ws', transports, reconnection: false, forceNew: true })
      socket.on('eventsub', (message) => { socket.close(); resolve(message) })
      socket.on('connect_error', reject)
    }), { server, transports })
    assert.equal(welcome.metadata.messageType, 'session_welcome', transports)
  }

  const heard = page.evaluate(async ({ server, started, client, callback, channel }) => {
    const query = new URLSearchParams(location.search)
    const exchange = (code) => fetch(started.token, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'authorization_code', client_id: client, redirect_uri: callback, code, code_verifier: started.verifier }),
    })
    const refused = await (await exchange('wrong')).json()
    const tokens = await (await exchange(query.get('code'))).json()
    const headers = { authorization: `Bearer ${tokens.access_token}`, 'client-id': client, 'content-type': 'application/json' }
    const { data } = await (await fetch(`${server}/v1/events/tickets`, { method: 'POST', headers, body: '{}' })).json()
    const events = new EventSource(`${server}/v1/events?ticket=${data.ticket}&type[]=channel.ban&channelId=${channel}`)
    const event = await new Promise((resolve, reject) => {
      events.onopen = () => { document.title = 'listening' }
      events.onmessage = resolve
      events.onerror = () => reject(new Error('the stream broke'))
    })
    events.close()
    return { refused: refused.error, data: JSON.parse(event.data), id: event.lastEventId }
  }, { server, started, client: given.publicClient, callback, channel: given.channel })
  await Promise.race([heard, page.waitForFunction(() => document.title === 'listening')])
  const event = await ban(heard)
  assert.equal(event.refused, 'invalid_grant')
  assert.equal(event.data.payload.bannedUserDisplayName, given.raider)
  assert.ok(event.id)
})
test('closes', () => context.close())
