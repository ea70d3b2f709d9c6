// Reads the documentation in Chromium.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { chromium } from 'playwright-core'
import { given } from './support.mjs'

const server = given.servers[0]
const axe = await readFile('node_modules/axe-core/axe.min.js', 'utf8')
const browser = await chromium.launch({ executablePath: given.chromium, chromiumSandbox: false, args: ['--disable-gpu', '--no-first-run'] })
test.after(() => browser.close())

const list = await (await fetch(`${server}/llms.txt`)).text()
const paths = [...list.matchAll(/\]\((\/docs\/[^)]*)\.md\)/g)].map(([, path]) => path.replace(/index$/, ''))
assert.ok(paths.length > 15, list)

let shots = 0
// open returns a page and what the browser complains about: errors, what the
// Content-Security-Policy blocks, and requests to other origins, which fail.
async function open(t, { path = '/docs/', ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  t.after(() => context.close())
  const complaints = []
  await context.route((url) => url.origin !== server, (route) => {
    complaints.push(`a request to ${route.request().url()}`)
    return route.abort()
  })
  const page = await context.newPage()
  page.setDefaultTimeout(10_000)
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('requestfailed', (request) => {
    const { errorText } = request.failure()
    if (errorText !== 'net::ERR_ABORTED') complaints.push(`${request.url()}: ${errorText}`) // aborted by the next visit
  })
  await page.goto(server + path)
  return { page, complaints }
}

// shoot saves a screenshot if SCREENSHOTS names a directory.
async function shoot(page, name) {
  if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/docs-${++shots}-${name}.png` })
}

// audit returns what axe finds on the page as it is.
async function audit(page, options) {
  await page.evaluate(axe)
  const { violations } = await page.evaluate((given) => axe.run(document, { resultTypes: ['violations'], ...given }), options)
  return violations.map(({ id, impact, nodes }) => `${impact}: ${id}: ${nodes.slice(0, 3).map((n) => n.html).join(' ')}`)
}

// wideTables returns the tables of the page that are wider than their column.
const wideTables = (page) => page.evaluate(() => [...document.querySelectorAll('article .scroll')]
  .filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.querySelector('tr').innerText))

test('every page is accessible in light and dark colours, and fits on a phone', async (t) => {
  const { page, complaints } = await open(t)
  const wider = []
  for (const path of paths) {
    const name = path.split('/').at(-1) || 'home'
    await page.setViewportSize({ width: 1366, height: 768 })
    await page.emulateMedia({ colorScheme: 'light' })
    const response = await page.goto(server + path)
    assert.equal(response.status(), 200, path)
    await shoot(page, `light-${name}`)
    // The operations of the reference have the same elements, so some of them are enough.
    await page.evaluate(() => [...document.querySelectorAll('details')].slice(0, 20).forEach((d) => { d.open = true }))
    assert.deepEqual(await audit(page), [], path)
    for (const head of await wideTables(page)) wider.push(`${path}: ${head}`)
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.waitForFunction(() => document.documentElement.dataset.theme === 'dark')
    await shoot(page, `dark-${name}`)
    assert.deepEqual(await audit(page, { runOnly: ['color-contrast'] }), [], `${path} in dark colours`)
    await page.setViewportSize({ width: 360, height: 740 })
    await shoot(page, `phone-${name}`)
    const [wide, seen] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth])
    assert.ok(wide <= seen, `${path} is ${wide} pixels wide, and the screen ${seen}`)
    assert.deepEqual(await wideTables(page), [], `${path} has tables that are wider than the screen`)
    const cut = await page.evaluate(() => [...document.querySelectorAll('article pre:has(> .language-json)')]
      .filter((box) => box.scrollWidth > box.clientWidth).length)
    assert.equal(cut, 0, `${path} has JSON that is wider than the screen`)
    const covered = await page.evaluate(() => [...document.querySelectorAll('article .code')].filter((box) => {
      const text = document.createRange()
      text.selectNodeContents(box.querySelector('pre'))
      return box.querySelector('.copy').getBoundingClientRect().bottom > text.getBoundingClientRect().top
    }).length)
    assert.equal(covered, 0, `${path} has buttons that cover code`)
    assert.deepEqual(await audit(page, { runOnly: ['cat.tables', 'cat.aria'] }), [], `${path} on a phone`)
  }
  assert.deepEqual(wider, [], 'tables are wider than their column')
  assert.deepEqual(complaints, [])
})

test('has a menu on a phone', async (t) => {
  const { page, complaints } = await open(t, { viewport: { width: 360, height: 740 } })
  const menu = page.getByRole('button', { name: 'Menu' }), pages = page.getByRole('navigation', { name: 'Pages' })
  assert.equal(await pages.isVisible(), false)
  await menu.click()
  assert.equal(await menu.getAttribute('aria-expanded'), 'true')
  await shoot(page, 'phone-menu')
  assert.deepEqual(await audit(page), [])
  await pages.getByRole('link', { name: 'Webhooks', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor()
  assert.deepEqual(complaints, [])
})

test('finds a page with the keyboard alone', async (t) => {
  const { page, complaints } = await open(t)
  await page.keyboard.press('/')
  await page.keyboard.type('already muted')
  const results = page.getByRole('option')
  await results.first().waitFor()
  await page.keyboard.press('Control+a')
  await page.keyboard.type('mute_active')
  await page.locator('[role=option][aria-selected=true]', { hasText: 'MUTE_ACTIVE' }).waitFor()
  await shoot(page, 'search')
  assert.deepEqual(await audit(page), [])
  const search = page.getByRole('combobox')
  const chosen = await search.getAttribute('aria-activedescendant')
  await page.keyboard.press('ArrowDown')
  assert.notEqual(await search.getAttribute('aria-activedescendant'), chosen)
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/docs/errors#MUTE_ACTIVE')
  const heading = page.getByRole('heading', { name: 'MUTE_ACTIVE' })
  await heading.waitFor()
  assert.ok((await heading.boundingBox()).y < 800)
  assert.deepEqual(complaints, [])
})

test('finds titles before words in the text', async (t) => {
  const { page, complaints } = await open(t)
  for (const [query, first] of [['event types', 'Event types'], ['rate limit', 'Limits › Rate limit'], ['webhook', 'Webhooks'],
    ['raid', 'Moderation › The raid drill'], ['unban', 'API reference › Remove ban'], ['ban', 'API reference › Ban user'],
    ['webhook signature', 'Webhooks › Webhook signatures'], ['refresh token', 'Signing in › Refresh tokens'], ['timed ban', 'Moderation › Timed bans and mutes'],
    ['gdpr', 'Operations › Delete a user or a channel'], ['permision', 'Signing in › Scopes'], ['delete user', 'Operations › Delete a user or a channel'], ['personal data', "Operations › Export a user's data"],
    ['how do I get a client id', 'Start with an address › Get a client id'], ['how can i unban someone', 'API reference › Remove ban'], ['webhoks', 'Webhooks'],
    ['rate limts', 'Limits › Rate limit'], ['install sdk', 'Start with an address › Downloads']]) {
    await page.getByRole('combobox').fill(query)
    await page.waitForFunction(([query, first]) => document.querySelector('.search input').value === query &&
      document.querySelector('[role=option] strong')?.textContent === first, [query, first])
  }
  assert.deepEqual(complaints, [])
})

test('skips to the content', async (t) => {
  const { page } = await open(t)
  await page.keyboard.press('Tab')
  assert.equal(await page.locator(':focus').innerText(), 'Skip to the content')
  await page.keyboard.press('Enter')
  assert.equal(await page.locator(':focus').evaluate((e) => e.tagName), 'MAIN')
})

test('keeps the chosen colours', async (t) => {
  const { page, complaints } = await open(t, { colorScheme: 'light' })
  const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
  assert.equal(await back(), 'rgb(255, 255, 255)')
  await page.getByRole('button', { name: 'Dark colours' }).click()
  const dark = await back()
  assert.notEqual(dark, 'rgb(255, 255, 255)')
  await page.goto(`${server}/docs/events`)
  assert.equal(await back(), dark)
  assert.equal(await page.getByRole('button', { name: 'Dark colours' }).getAttribute('aria-pressed'), 'true')
  assert.deepEqual(complaints, [])
})

test('copies a program', async (t) => {
  const { page, complaints } = await open(t, { path: '/docs/getting-started', permissions: ['clipboard-read', 'clipboard-write'] })
  const program = page.locator('.code', { hasText: "from 'socket.io-client'" })
  await program.getByRole('button', { name: 'Copy' }).click()
  await program.getByRole('button', { name: 'Copied' }).waitFor()
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), await program.locator('pre').innerText())
  assert.deepEqual(complaints, [])
})

test('sends and copies an idempotency key from the reference', async (t) => {
  const { page, complaints } = await open(t, { path: '/docs/reference/moderation', permissions: ['clipboard-read', 'clipboard-write'] })
  await page.getByText('Requests are sent as Ines Carvalho').waitFor()
  const operation = page.locator('section.operation', { has: page.getByRole('heading', { name: 'Ban users', exact: true }) })
  await operation.getByText('Try it').click()
  const form = operation.locator('form'), key = `it's ${Date.now()}`.replace(' ', '-')
  await form.getByLabel('Body').fill(JSON.stringify({ channelId: given.channel, users: [{ username: 'nobody-has-this-name' }] }))
  await form.getByLabel('Idempotency-Key').fill(key)
  const replays = []
  for (let i = 0; i < 2; i++) {
    const answered = page.waitForResponse((response) => response.url().includes('/v1/moderation/bans'))
    await form.getByRole('button', { name: /^Send / }).click()
    replays.push((await (await answered).allHeaders())['idempotent-replayed'])
  }
  assert.deepEqual(replays, [undefined, 'true'])
  await form.getByRole('button', { name: 'Copy as curl' }).click()
  await form.getByRole('button', { name: 'Copied' }).waitFor()
  const command = await page.evaluate(() => navigator.clipboard.readText())
  const { stdout } = await promisify(execFile)('bash', ['-c', `${command} -D -`])
  assert.match(stdout, /idempotent-replayed: true/i)
  assert.equal(JSON.parse(stdout.split('\r\n\r\n').at(-1)).data.results.length, 1)
  const list = page.locator('section.operation', { has: page.getByRole('heading', { name: 'List moderators', exact: true }) })
  assert.equal(await list.getByLabel('Idempotency-Key').count(), 0)
  assert.deepEqual(complaints, [])
})

test('bans from the reference with a token of the demo', async (t) => {
  const { page, complaints } = await open(t, { path: '/docs/reference/moderation' })
  await page.getByText('Requests are sent as Ines Carvalho').waitFor()
  assert.equal(await page.getByLabel('Client id').inputValue(), given.client)
  await page.getByLabel('Client id').fill(given.client)
  await page.getByLabel('Access token').fill(given.moderator)
  await page.keyboard.press('Tab')
  await page.getByText('Requests are sent as Tomasz Wrona').waitFor()
  // send sends the form of an operation, and returns the status and the body of the response.
  const send = async (name) => {
    const operation = page.locator('section.operation', { has: page.getByRole('heading', { name, exact: true }) })
    const form = operation.locator('form')
    if (!await form.isVisible()) await operation.getByText('Try it').click()
    const body = JSON.parse(await form.getByLabel('Body').inputValue())
    assert.equal(body.channelId, given.channel)
    await form.getByLabel('Body').fill(JSON.stringify({ channelId: given.channel, banUsername: given.raider }))
    const answered = page.waitForResponse((response) => response.url().includes('/v1/moderation/ban'))
    await form.getByRole('button', { name: /^Send / }).click()
    await (await answered).finished()
    await form.getByRole('status').filter({ hasText: /^\d/ }).waitFor()
    return { form, status: await form.getByRole('status').innerText(), data: JSON.parse(await form.locator('.answer pre').innerText()) }
  }
  const banned = await send('Ban user')
  assert.match(banned.status, /^200/)
  assert.equal(banned.data.data.bannedUserDisplayName, given.raider)
  await shoot(page, 'try')
  assert.match((await send('Remove ban')).status, /^200/)
  assert.deepEqual(complaints, [])
  const { form } = await send('Remove ban')
  await form.getByRole('link', { name: 'what to do next' }).click()
  await page.waitForURL('**/docs/errors#NOT_BANNED')
})
