// Moderates with the console in Chromium, as a person does.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openConsole, signIn, browser, row, toast, post, eventually } from './console-support.mjs'
import { call, given } from './support.mjs'

const channelId = given.channel
const demo = (method, path, body, who = 'moderator') => call(method, path, body, { token: given[who] })

/** isBanned asks the API, not the page. */
async function isBanned(userId) {
  return (await demo('GET', `/v1/moderation/users?channelId=${channelId}&userId=${userId}`)).ban !== null
}

test('one click signs in, and the channels of the user are there', async (t) => {
  const page = await openConsole(t)
  await page.getByRole('button', { name: /Tomasz Wrona/ }).click()
  await page.getByText('Up to date').waitFor()
  await page.getByRole('link', { name: /All channels/ }).click()
  await page.getByRole('link', { name: /Ines Carvalho/ }).click()
  await page.getByText('Up to date').waitFor()
  assert.equal(new URL(page.url()).search, '', 'the code of the sign-in is gone from the address')
  await page.reload()
  await page.getByText('Up to date').waitFor()
  await page.getByRole('button', { name: /Sign out/ }).click()
  await page.getByRole('button', { name: /Tomasz Wrona/ }).waitFor()
  await page.reload()
  await page.getByRole('button', { name: /Tomasz Wrona/ }).waitFor()
})

test('the keyboard bans, and undoes it with the messages', async (t) => {
  const page = await signIn(t)
  const sent = await post(page, 'buy followers at cheap.example')
  await page.keyboard.press('k')
  await page.locator('[aria-current=true]', { hasText: sent.message }).waitFor()
  for (let i = 0; i < 3; i++) await page.keyboard.down('b') // held, it only opens the form
  await page.keyboard.up('b')
  await page.getByRole('heading', { name: `Ban ${sent.displayName}` }).waitFor()
  assert.equal(await page.locator('.toast').count(), 0)
  assert.ok(!(await isBanned(sent.senderId)))
  await page.keyboard.press('b')
  await toast(page, /^Banned /).waitFor()
  assert.ok(await isBanned(sent.senderId))
  await row(page, sent.message).and(page.locator('.deleted')).getByText('Banned by Tomasz Wrona').waitFor()
  await page.keyboard.press('z')
  await toast(page, /^Undone: /).waitFor()
  assert.ok(!(await isBanned(sent.senderId)))
  await eventually(async () => (await row(page, sent.message).and(page.locator('.deleted')).count()) === 0, 'the message is back')
})

test('a ban has a reason and a duration, which the card shows', async (t) => {
  const page = await signIn(t)
  const sent = await post(page, 'something rude')
  await row(page, sent.message).getByRole('button', { name: sent.displayName, exact: true }).click()
  const card = page.getByRole('complementary', { name: 'User card' })
  await card.getByRole('button', { name: 'Ban' }).click()
  await page.keyboard.type('By b and m rude to others') // what a mouse opened takes letters for the reason, not for keys
  await card.getByRole('button', { name: '1 day' }).click()
  await page.route('**/v1/moderation/ban', (route) => route.fulfill({ status: 403, json: { success: false, message: 'You may not do this.', data: { code: 'MISSING_SCOPE', requestId: 'r' } } }), { times: 1 })
  await card.getByRole('button', { name: 'Ban', exact: false }).first().click()
  await card.getByRole('alert').getByText('You may not do this.').waitFor() // and what was entered is still there
  assert.equal(await page.locator('.toast').count(), 0)
  await card.getByRole('button', { name: 'Ban', exact: false }).first().click()
  await card.getByText(/Banned for (23 h|1 day)/).waitFor()
  await card.getByText('By b and m rude to others').first().waitFor()
  await card.getByText('something rude').first().waitFor() // the evidence
  await page.reload()
  const hidden = row(page, sent.message).and(page.locator('.deleted'))
  await hidden.getByText('Banned by Tomasz Wrona: By b and m rude to others').waitFor()
  await hidden.getByRole('button', { name: sent.displayName, exact: true }).click()
  await card.getByRole('button', { name: 'Unban' }).click()
  await eventually(async () => !(await isBanned(sent.senderId)), 'unbanned')
})

test('a sweep bans whom the preview shows, a moderator sees how long its afterglow lasts, and it is undone', async (t) => {
  const page = await signIn(t)
  const sent = await post(page, 'glow')
  const phrase = sent.message.slice(-8)
  const raid = await signIn(t, { name: /Ines Carvalho/, screen: 'raid' })
  await raid.getByLabel('Their message contains').fill(phrase)
  await raid.getByLabel('Never ban', { exact: true }).selectOption('Followers are not exempt')
  await raid.getByLabel('Never ban subscribers').uncheck()
  await raid.getByRole('button', { name: 'Preview' }).click()
  await raid.getByRole('list', { name: 'Users who would be banned' }).getByText(sent.message).waitFor()
  await raid.getByRole('group', { name: 'Afterglow' }).getByRole('button', { name: '5 min' }).click()
  await raid.getByRole('button', { name: 'Ban 1 user…' }).click()
  assert.ok(!(await isBanned(sent.senderId)), 'it asks first')
  await raid.getByRole('dialog').getByRole('button', { name: 'Ban 1 user' }).click()
  const sweep = raid.getByRole('region', { name: 'Sweep' })
  await sweep.getByText('1 user banned').waitFor()
  assert.ok(await isBanned(sent.senderId))
  await page.getByRole('link', { name: /^Afterglow of Ines Carvalho: 4 min \d+ s$/ }).click()
  const batch = page.getByRole('region', { name: 'Running' }).getByRole('listitem').filter({ hasText: phrase })
  await batch.getByText(/^Afterglow: 4 min \d+ s$/).waitFor()
  await sweep.getByRole('button', { name: 'Undo' }).click()
  await raid.getByRole('dialog').getByRole('button', { name: 'Unban 1 user' }).click()
  await sweep.getByText('Sweep undone').waitFor()
  assert.ok(!(await isBanned(sent.senderId)))
  await page.getByRole('button', { name: 'Refresh' }).click()
  await batch.waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'Chat', exact: true }).click()
  await page.getByText('Everybody may write').waitFor()
  assert.equal(await page.getByRole('link', { name: /^Afterglow/ }).count(), 0)
})

test('Z gives back the roles that were removed together', async (t) => {
  const vips = [await post(undefined, 'one'), await post(undefined, 'two')].map(({ senderId }) => senderId)
  for (const userId of vips) {
    await demo('POST', '/v1/channels/vips', { channelId, userId }, 'owner').catch(() => undefined) // the same viewer may have written both
    t.after(() => demo('DELETE', '/v1/channels/vips', { channelId, userId }, 'owner').catch(() => undefined))
  }
  const held = async () => (await demo('GET', `/v1/moderation/roles?channelId=${channelId}&role=vip`)).rows.map(({ id }) => id)
  const before = await held()
  const page = await signIn(t, { name: /Ines Carvalho/, screen: 'people/roles?role=vip' })
  await page.getByLabel('Select all shown').check()
  await page.getByRole('button', { name: 'Remove roles' }).click()
  const bulk = page.getByRole('dialog')
  await bulk.getByRole('button', { name: /^Remove the roles of/ }).click()
  await bulk.getByText(/without the role/).waitFor()
  assert.deepEqual(await held(), [])
  await bulk.getByRole('button', { name: 'Close' }).last().click()
  await page.keyboard.press('z')
  await toast(page, /^Undone: /).waitFor()
  assert.deepEqual((await held()).sort(), before.sort())
})

test('a list that is held does not move, and the wrong row is not hit', async (t) => {
  const page = await signIn(t)
  const sent = await post(page, 'the one to delete')
  await page.keyboard.press('k')
  let last
  for (let i = 0; i < 5; i++) last = await post(undefined, `another ${i}`)
  await page.getByRole('button', { name: '5 new messages' }).waitFor()
  await page.locator('[aria-current=true]', { hasText: sent.message }).waitFor()
  await page.keyboard.press('d')
  await row(page, sent.message).getByText('Deleted by Tomasz Wrona').waitFor()
  await page.getByRole('button', { name: '5 new messages' }).click()
  await row(page, last.message).waitFor()
})

test('keys do nothing while somebody types', async (t) => {
  const page = await signIn(t)
  await post(page, 'stay')
  await page.keyboard.press('k')
  await page.getByRole('textbox', { name: 'Message' }).fill('')
  await page.keyboard.type('bd bb mad')
  assert.equal(await page.locator('.toast').count(), 0)
  await page.keyboard.press('Enter')
  await row(page, 'bd bb mad').waitFor()
})

test('a write without a connection fails visibly, and happens once when it is repeated', async (t) => {
  const page = await signIn(t)
  const sent = await post(page, 'delete me offline')
  await page.keyboard.press('k')
  await page.context().setOffline(true)
  await page.getByText(/Reconnecting for/).waitFor()
  await page.keyboard.press('d')
  await toast(page, /Deleting a message .* failed/).waitFor()
  assert.equal(await row(page, sent.message).and(page.locator('.deleted')).count(), 0, 'nothing is shown as done')
  await page.context().setOffline(false)
  await toast(page, /failed/).getByRole('button', { name: 'Try again' }).click()
  await row(page, sent.message).getByText('Deleted by').waitFor()
  await page.getByText('Up to date').waitFor()
})

test('who loses the role sees so, and cannot act', async (t) => {
  const page = await signIn(t)
  const role = { channelId, userId: (await demo('GET', '/v1/users/profile')).userId }
  await demo('DELETE', '/v1/moderation/moderators', role, 'owner')
  t.after(() => demo('POST', '/v1/moderation/moderators', role, 'owner'))
  await page.getByText('Read only').waitFor()
  await page.getByText('You no longer moderate this channel.').waitFor()
  assert.equal(await page.getByRole('textbox', { name: 'Message' }).count(), 0)
})

test('a refused action shows what the server says', async (t) => {
  const page = await signIn(t)
  await page.route('**/v1/moderation/mute', (route) => route.fulfill({ status: 403, json: { success: false, message: 'You may not do this.', data: { code: 'NOT_CHANNEL_MODERATOR', requestId: 'r' } } }))
  await post(page, 'mute me')
  await page.keyboard.press('k')
  await page.keyboard.press('m')
  await page.keyboard.press('2')
  const told = toast(page, 'You may not do this.')
  await told.waitFor()
  const [bar, { y }] = await Promise.all([page.getByRole('banner').boundingBox(), told.boundingBox()])
  assert.ok(y > bar.y + bar.height, 'how the page stands with the server is always visible')
})

test('a sign-in that was revoked ends, and says so', async (t) => {
  const page = await signIn(t)
  await demo('DELETE', '/v1/users/grants', { clientId: 'moderato-console' })
  await page.getByText('Your sign-in has ended. Sign in again.').waitFor()
})

test('two tabs share a sign-in that is renewed', async (t) => {
  const first = await signIn(t)
  const second = await first.context().newPage()
  await second.goto(first.url())
  await second.getByText('Up to date').waitFor()
  const answers = []
  for (const page of [first, second]) {
    page.on('response', (response) => response.url().endsWith('/oauth2/token') && answers.push(response.status()))
    let isFirst = true
    await page.route('**/v1/users/profile', (route) => {
      if (!isFirst) return route.continue()
      isFirst = false
      return route.fulfill({ status: 401, json: { success: false, message: 'expired', data: { code: 'TOKEN_EXPIRED', requestId: 'r' } } })
    })
  }
  await Promise.all([first.reload(), second.reload()])
  for (const page of [first, second]) await page.getByText('Up to date').waitFor()
  assert.deepEqual(answers, [200, 200, 200, 200], 'each renewal succeeds: when the tabs start, and when a token ends before its time')
})

test('a server that is slow shows progress after 300 ms', async (t) => {
  const page = await signIn(t)
  const sent = await post(page, 'slow card')
  await page.route('**/v1/moderation/users?**', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 1000))
    await route.continue()
  })
  await row(page, sent.message).getByRole('button', { name: sent.displayName, exact: true }).click()
  await page.getByText('Loading…').waitFor()
  await page.getByText('Latest messages').waitFor()
  await page.route('**/v1/users?**', (route) => setTimeout(() => void route.continue(), 1000))
  await page.getByRole('searchbox', { name: /^Username of anybody/ }).fill(given.raider)
  await page.keyboard.press('Enter')
  await page.getByRole('status', { name: 'Looking for the user' }).waitFor()
})

test('a browser whose clock is wrong shows the times of the server', async (t) => {
  const page = await signIn(t, { init: () => (Date.now = ((real) => () => real() + 5 * 3_600_000)(Date.now)) })
  const sent = await post(page, 'mute with a wrong clock')
  await page.keyboard.press('k')
  await page.keyboard.press('m')
  await page.keyboard.press('2')
  await toast(page, /^Muted /).waitFor()
  await page.keyboard.press('Enter')
  await page.getByText(/Muted for (9 min|10 min)/).waitFor()
  await page.keyboard.press('z')
  await toast(page, /^Undone: /).waitFor()
  assert.ok(sent)
})

test('without storage the page says what is missing', async (t) => {
  const page = await openConsole(t, { init: () => Object.defineProperty(window, 'localStorage', { get: () => { throw new DOMException('blocked', 'SecurityError') } }) })
  await page.getByRole('button', { name: /Tomasz Wrona/ }).click()
  await page.getByText('This browser blocks storage for this page.').waitFor()
})

test('without JavaScript the page is a sentence', async (t) => {
  const page = await openConsole(t, { context: { javaScriptEnabled: false } })
  assert.match(await page.locator('body').innerText(), /^The console needs JavaScript/)
})

// Last, because the server that starts again is no demo, and has no sign-in.
test('a server that stops: the page says so, and misses and repeats nothing', async (t) => {
  const page = await signIn(t)
  const before = await post(page, 'before the restart')
  const said = page.getByText(/Reconnecting for/).waitFor()
  await page.route('**/v1/events?**', (route) => said.then(() => route.continue())) // not before it is seen
  await fetch(`${given.control}/restart`, { method: 'POST' })
  await said
  await page.getByText('Up to date').waitFor({ timeout: 20_000 })
  const after = await post(page, 'after the restart')
  for (const { message } of [before, after]) assert.equal(await row(page, message).count(), 1)
})

test.after(() => browser.close())
