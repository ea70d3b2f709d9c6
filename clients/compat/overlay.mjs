// Opens the overlay in Chromium, as a file and from the server.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { chromium } from 'playwright-core'
import { approve, call, given } from './support.mjs'

const server = given.servers[0]
const file = pathToFileURL('../../docs/overlay/overlay.html').href
const settings = `client=${given.client}&channel=${given.channel}`
const service = { token: given.service, client: given.serviceClient, base: given.servers[1] }
const [raider] = await call('GET', `/v1/users?username[]=${given.raider}`)

const browser = await chromium.launch({ executablePath: given.chromium, chromiumSandbox: false, args: ['--disable-gpu', '--no-first-run'] })
test.after(() => browser.close())

// open returns a page with the overlay, which collects the alerts that it shows. The test fails
// if the page has an error, or does something that its Content-Security-Policy forbids.
async function open(t, address) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 } })
  context.setDefaultTimeout(20_000)
  const complaints = []
  context.on('weberror', (error) => complaints.push(error.error().stack))
  context.on('console', (message) => /Content.Security|Refused to/i.test(message.text()) && complaints.push(message.text()))
  t.after(async () => {
    await context.close()
    assert.deepEqual(complaints, [])
  })
  await context.addInitScript(() => addEventListener('DOMContentLoaded', () => {
    window.alerts = []
    const alert = document.getElementById('alert')
    new MutationObserver(() => alert.textContent && alerts.push(alert.textContent)).observe(alert, { childList: true })
  }))
  const page = await context.newPage()
  await page.goto(address)
  return page
}

// approveCode approves the code that the page shows.
async function approveCode(page, user) {
  const status = page.getByRole('status')
  await status.filter({ hasText: ' and enter ' }).waitFor()
  const [, address, code] = (await status.innerText()).match(/^Open (\S+) and enter (\S+)$/)
  await shoot(page, 'sign-in')
  await approve(`${address}?user_code=${code}`, ['users.read', 'offline.access'], user)
}

async function signIn(page) {
  await approveCode(page)
  await page.locator('.message').first().waitFor()
  assert.equal(await page.getByRole('status').isVisible(), false)
}

let shots = 0
// shoot saves screenshots over a dark and a light picture if SCREENSHOTS names a directory.
async function shoot(page, name) {
  if (!process.env.SCREENSHOTS) return
  for (const back of ['linear-gradient(160deg, #101820, #40306a)', 'linear-gradient(160deg, #fff, #bde0fe)', 'transparent']) {
    await page.evaluate((back) => { document.documentElement.style.background = back }, back)
    if (back !== 'transparent') await page.screenshot({ path: `${process.env.SCREENSHOTS}/overlay-${++shots}-${name}.png` })
  }
}

const row = (page, text) => page.locator('.message', { hasText: text })
const alert = (page, text) => page.waitForFunction((text) => alerts.some((alert) => alert.includes(text)), text)
const gone = (locator) => locator.waitFor({ state: 'detached' })
const post = (senderId, message) => call('POST', '/v1/chats/messages', { channelId: given.channel, senderId, message }, service)

async function control(path) {
  const response = await fetch(given.control + path, { method: 'POST' })
  assert.equal(response.status, 200, await response.text())
}

// banned bans a user while something is checked.
async function banned(user, check) {
  const target = { channelId: given.channel, banUserId: user }
  await call('POST', '/v1/moderation/ban', target)
  try {
    await check()
  } finally {
    await call('DELETE', '/v1/moderation/ban', target)
  }
}

test('the server has the overlay, whose messages fade', async (t) => {
  await post(given.viewer, 'fades in two seconds')
  const page = await open(t, `${server}/downloads/overlay.html#${settings}&fade=2`)
  await signIn(page)
  await page.waitForFunction(() => [...document.querySelectorAll('.message')].every((row) => getComputedStyle(row).opacity === '0'))
})

test('without a channel, the overlay says which one is the user\'s', async (t) => {
  const page = await open(t, `${server}/downloads/overlay.html#client=${given.client}`)
  await approveCode(page, 'Ines')
  await page.getByRole('status').filter({ hasText: `For the channel of Ines Carvalho, add &channel=${given.channel} to the address` }).waitFor()
})

// The restarted server has no page to sign in.
test('the file shows chat and alerts, and goes on after the server restarts', async (t) => {
  const page = await open(t, `${file}#server=${server}&${settings}`)
  await signIn(page)
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), 'rgba(0, 0, 0, 0)')

  const hostile = '<img src=x onerror="window.hacked=1"><b>bold</b> \u202e ' + 'W'.repeat(300)
  await post(raider.id, hostile)
  await post(given.viewer, 'a friendly message')
  await row(page, 'a friendly message').waitFor()
  const written = row(page, 'onerror')
  assert.equal(await written.innerText(), `${raider.displayName}: ${hostile}`)
  assert.equal(await written.locator('img').count(), 0)
  assert.equal(await page.evaluate(() => window.hacked), undefined)
  const [box, column] = [await written.boundingBox(), await page.locator('#chat').boundingBox()]
  assert.ok(box.x + box.width <= column.x + column.width + 1, `a long word is ${box.width} pixels wide`)

  await control('/trigger?type=channel.follow')
  await control('/trigger?type=channel.raid')
  await alert(page, ' follows')
  await shoot(page, 'follow')
  await alert(page, ' raids with ')
  await shoot(page, 'raid')

  await banned(raider.id, () => gone(written))
  await row(page, 'a friendly message').waitFor()

  const deleted = await post(given.viewer, 'deleted while the overlay is away')
  await row(page, 'deleted while').waitFor()
  const before = await page.evaluate(() => alerts.length)
  const tickets = `${server}/v1/events/tickets`
  await page.route(tickets, (route) => route.abort())
  await control('/restart')
  await call('DELETE', '/v1/chats/messages', { channelId: given.channel, messageId: deleted.messageId })
  await control('/trigger?type=channel.subscription.gift')
  await post(given.viewer, 'posted while the overlay is away')
  const status = page.getByRole('status')
  assert.equal(await status.isVisible(), false, 'viewers see a short interruption')
  await status.filter({ hasText: 'Connecting to' }).waitFor()
  await page.unroute(tickets)
  await row(page, 'posted while').waitFor({ timeout: 40_000 })
  await gone(row(page, 'deleted while'))
  await alert(page, ' gives ')
  assert.equal(await status.isVisible(), false)
  await post(given.viewer, 'posted after the restart')
  await row(page, 'posted after').waitFor()
  for (const text of ['a friendly message', 'posted while', 'posted after']) assert.equal(await row(page, text).count(), 1, text)
  assert.equal(await page.evaluate(() => alerts.length), before + 1, 'an alert is repeated')

  for (let i = 0; i < 15; i++) await post(given.viewer, `one of many: ${i}`)
  await row(page, 'one of many: 14').waitFor()
  assert.equal(await page.locator('.message').count(), 12)
  await shoot(page, 'chat')

  await page.reload() // it has stored its refresh token
  await row(page, 'one of many: 14').waitFor()
  await call('DELETE', '/v1/chats', { channelId: given.channel })
  await gone(page.locator('.message').first())
  assert.equal(await page.locator('.message').count(), 0)
})
