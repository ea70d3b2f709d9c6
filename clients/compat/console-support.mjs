// What the tests of the console have in common.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { chromium } from 'playwright-core'
import { call, given } from './support.mjs'

export const browser = await chromium.launch({ executablePath: given.chromium, headless: true, chromiumSandbox: false, args: ['--disable-gpu', '--no-first-run', '--disable-background-networking'] })

/** The screens of a channel, by the rest of their address. */
export const screens = ['chat', 'queue', 'raid', 'rules/rules', 'rules/modes', 'rules/shield', 'rules/versions', 'log', 'people/bans', 'people/mutes', 'people/roles', 'plots', 'away']

/**
 * openConsole opens the console in a browser of its own. The test fails if the page has an error,
 * or does something that its Content-Security-Policy forbids.
 */
export async function openConsole(t, { path = '', context: options = {}, init } = {}) {
  const context = await browser.newContext({ viewport: { width: 1366, height: 768 }, ...options })
  context.setDefaultTimeout(10_000)
  const complaints = []
  context.on('weberror', (error) => complaints.push(error.error().stack))
  context.on('console', (message) => /Content.Security|TrustedHTML|Refused to/i.test(message.text()) && complaints.push(message.text()))
  if (init) await context.addInitScript(init)
  t.after(async () => {
    if (!t.passed) for (const page of context.pages()) t.diagnostic(await page.locator('body').innerText())
    await context.close()
    assert.deepEqual(complaints, [])
  })
  const page = await context.newPage()
  await page.goto(`${given.servers[0]}/console/${path}`)
  return page
}

/** signIn opens a screen of the demo's channel as its moderator, or as its owner. */
export async function signIn(t, { screen = 'chat', name = /Tomasz Wrona/, ...options } = {}) {
  const page = await openConsole(t, { path: `#/inescarvalho/${screen}`, ...options })
  await page.getByRole('button', { name }).click()
  await page.getByText('Up to date').waitFor()
  return page
}

/** row finds the messages that end with what a text ends with: post makes each end unique. */
export const row = (page, text) => page.locator('li.message', { hasText: text.slice(-8) })

/** toast finds what became of an action. */
export const toast = (page, text) => page.locator('.toast', { hasText: text })

let senders
/**
 * post posts a message, which a rule may hold, and waits until a page shows it. The sender is any
 * viewer, unless a test needs another.
 */
export async function post(page, text, sender) {
  senders ??= await viewers()
  sender ??= senders[Math.floor(Math.random() * senders.length)]
  const message = `${text} ${randomUUID().slice(0, 8)}`
  const service = { token: given.service, client: given.serviceClient }
  const code = await call('POST', '/v1/chats/messages', { channelId: given.channel, senderId: sender.id, message }, service).then(() => undefined, (error) => error.code ?? error)
  assert.ok(code === undefined || code === 'MESSAGE_HELD', code)
  if (page) await row(page, message).waitFor()
  return { message, senderId: sender.id, displayName: sender.displayName, isHeld: code !== undefined }
}

/** viewers returns who wrote lately, is not banned, and meets every rule: neither the owner, whom no role names, nor somebody with a role. */
async function viewers() {
  const { messages } = await call('GET', `/v1/chats/messages?channelId=${given.channel}&limit=100`)
  const found = new Map(messages.map(({ sender }) => [sender.id, sender]).filter(([, sender]) => !sender.isOwner && sender.roles.length === 0))
  assert.ok(found.size > 3, 'the demo has viewers without a role')
  return [...found.values()]
}

/** eventually waits until a condition holds. */
export async function eventually(condition, what, milliseconds = 10_000) {
  for (const end = Date.now() + milliseconds; Date.now() < end; ) {
    if (await condition()) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  assert.fail(`it is not so after ${milliseconds} ms: ${what}`)
}
