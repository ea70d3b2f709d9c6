// Works with the shield, held messages, rules and settings in Chromium, as a moderator does.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { browser, eventually, post, row, signIn, toast } from './console-support.mjs'
import { call, given } from './support.mjs'

const channelId = given.channel
const change = (path, body, token = given.moderator) => call('POST', path, { channelId, ...body }, { token })
const press = async (page, ...keys) => {
  for (const key of keys) await page.keyboard.press(key)
}

/** rule makes a rule that holds a term, for the time of a test. */
async function rule(t, term) {
  const { rules } = await change('/v1/chats/rules', { put: [{ name: `No ${term}`, kind: 'terms', action: 'hold', terms: [term] }] })
  t.after(() => change('/v1/chats/rules', { delete: rules.filter(({ terms }) => terms.includes(term)).map(({ ruleId }) => ruleId) }))
}

/** quiet turns the demo's rules off, which hold what its spammers write at any time. */
async function quiet(t) {
  const { rules } = await call('GET', `/v1/chats/rules?channelId=${channelId}`)
  const put = (enabled) => change('/v1/chats/rules', { put: rules.map((one) => ({ ...one, enabled: enabled && one.enabled })) })
  await put(false)
  t.after(() => put(true))
}

test('the shield is raised once it is confirmed, tells its end, and is lowered', async (t) => {
  await change('/v1/moderation/shield/preset', { settings: { slowSeconds: 30 }, rules: [] }, given.owner)
  const page = await signIn(t)
  t.after(() => change('/v1/moderation/shield', { active: false }))
  const shield = page.getByRole('switch', { name: 'Shield' })
  const strip = page.getByRole('group', { name: 'Modes of the chat' })
  await shield.click()
  const ask = page.getByRole('dialog', { name: 'Raise the shield?' })
  await ask.getByText('Slow mode: 30 s').waitFor()
  assert.equal(await shield.getAttribute('aria-checked'), 'false', 'it is not up before the moderator confirmed it')
  await ask.getByRole('button', { name: '5 min', exact: true }).click()
  await ask.getByLabel('Reason').fill('bots')
  await ask.getByRole('button', { name: 'Raise the shield' }).click()
  await page.getByRole('switch', { name: /Shield 4 min \d+ s/, checked: true }).waitFor()
  await strip.getByText('Slow mode: 30 s').waitFor()
  await shield.click()
  const up = page.getByRole('dialog', { name: 'The shield is up' })
  await up.getByText(/Raised by Tomasz Wrona: “bots”. It ends in 4 min/).waitFor()
  assert.ok(await up.getByRole('button', { name: 'Change the end' }).isDisabled(), 'nothing shortens it by chance')
  await up.getByRole('button', { name: 'Lower the shield' }).click()
  await page.getByRole('switch', { name: 'Shield', exact: true, checked: false }).waitFor()
  await toast(page, 'Lowered the shield').getByRole('button', { name: 'Undo' }).click()
  await shield.and(page.locator('[aria-checked=true]')).click()
  await up.getByText(/Raised by Tomasz Wrona: “bots”. It ends in 4 min/).waitFor()
  await up.getByRole('button', { name: 'Lower the shield' }).click()
  await strip.getByText('Everybody may write').waitFor()
})

test('the undo of a removed rule of the shield puts it back', async (t) => {
  const rules = async () => (await call('GET', `/v1/moderation/shield?channelId=${channelId}`)).preset.rules.map(({ name }) => name)
  await change('/v1/moderation/shield/preset', { settings: {}, rules: [{ name: 'No lotto', kind: 'terms', action: 'block', terms: ['lotto'] }] }, given.owner)
  t.after(() => change('/v1/moderation/shield/preset', { settings: {}, rules: [] }, given.owner))
  const page = await signIn(t, { name: /Ines Carvalho/, screen: 'rules/shield' })
  await page.getByRole('button', { name: 'Remove No lotto' }).click()
  await page.getByRole('button', { name: 'Save' }).click()
  const done = toast(page, 'Saved what the shield does')
  await done.waitFor()
  assert.deepEqual(await rules(), [])
  await done.getByRole('button', { name: 'Undo' }).click()
  await toast(page, /^Undone/).waitFor()
  assert.deepEqual(await rules(), ['No lotto'])
})

test('a filter of the queue finds messages that the page has not read', async (t) => {
  await quiet(t)
  await rule(t, 'bingo')
  const sent = await post(undefined, 'bingo tonight')
  const page = await signIn(t)
  await page.route(/held\?(?!.*userId)/, async (route) => {
    const response = await route.fetch()
    const json = await response.json()
    await route.fulfill({ response, json: { ...json, data: { rows: [], pagination: { cursor: 'more' } } } })
  })
  await page.reload()
  await page.getByText('Up to date').waitFor()
  await page.evaluate((hash) => { location.hash = hash }, `#/inescarvalho/queue?user=${sent.senderId}`)
  await page.getByRole('region', { name: 'Held message' }).getByText(sent.message).waitFor()
  await page.getByText('1 message waits').waitFor()
})

test('held messages are in the chat and the queue, claimed, approved with A, denied with X', async (t) => {
  await quiet(t)
  await rule(t, 'casino')
  const { rows } = await call('GET', `/v1/chats/held?channelId=${channelId}`, undefined, { token: given.moderator })
  if (rows.length) await change('/v1/chats/held/decisions', { decisions: rows.map(({ messageId }) => ({ messageId, decision: 'deny' })) }) // those of the demo
  const page = await signIn(t)
  const [film, spam] = [await post(page, 'casino royale is a film'), await post(page, 'my casino is free')]
  assert.ok(film.isHeld && spam.isHeld, `${film.displayName} and ${spam.displayName} are not exempt`)
  await row(page, film.message).getByText('Held: No casino').waitFor()
  assert.equal(await row(page, film.message).locator('mark').innerText(), 'casino')
  await press(page, 'g', 'q')
  const card = page.getByRole('region', { name: 'Held message' })
  await card.getByText('Show the text').waitFor()
  await press(page, 'a') // only shows the text: nobody decides what they have not read
  await card.locator('div.held-text', { hasText: film.message }).waitFor()
  const other = await signIn(t, { name: /Ines Carvalho/, screen: 'queue' })
  await other.getByText('Tomasz Wrona is looking at this message.').waitFor()
  await page.route('**/v1/chats/held/decisions', async (route) => {
    if (!route.request().postData().includes('approve')) return route.continue()
    const response = await route.fetch()
    await card.getByText('Show the text').waitFor() // the event is there before the answer
    await route.fulfill({ response })
  })
  await press(page, 'a')
  await toast(page, `Approved a message by ${film.displayName}`).waitFor()
  await other.getByText(`Approved by Tomasz Wrona: the message by ${film.displayName} that was here.`).waitFor()
  await card.locator('div.held-text', { hasText: spam.message }).waitFor() // the next one is shown at once, for this page decided itself
  await press(page, 'x')
  await toast(page, `Denied a message by ${spam.displayName}`).waitFor()
  await page.getByText('Nothing waits').waitFor()
  await press(page, 'g', 'c')
  await row(page, spam.message).and(page.locator('.held')).getByText('Denied by Tomasz Wrona').waitFor()
  await row(page, film.message).and(page.locator(':not(.held)')).waitFor()
  await row(page, spam.message).getByRole('button', { name: spam.displayName, exact: true }).click()
  const drawer = page.getByRole('complementary', { name: 'User card' })
  await drawer.getByRole('listitem').filter({ hasText: spam.message }).getByText('by Tomasz Wrona').waitFor()
  assert.equal(await drawer.getByText('Held message denied').count(), 0, 'the history does not repeat it')
  const { messages } = await call('GET', `/v1/chats/messages?channelId=${channelId}&limit=10`)
  assert.deepEqual([film, spam].map(({ message }) => messages.some((one) => one.message === message)), [true, false], 'viewers read what was approved')
})

test('the owner has a badge, and a rule that the page does not know is no first message', async (t) => {
  await rule(t, 'poker')
  await rule(t, 'roulette')
  const page = await signIn(t)
  const own = await post(page, 'poker tonight', { id: channelId, displayName: 'Ines Carvalho' })
  assert.ok(!own.isHeld)
  await row(page, own.message).getByRole('img', { name: 'Owner' }).waitFor()
  await page.route('**/v1/chats/rules?**', (route) => route.fulfill({ json: { success: true, message: 'success', data: { version: 1, rules: [] } } }))
  await page.reload()
  await page.getByText('Up to date').waitFor()
  const held = await post(page, 'poker or roulette')
  await row(page, held.message).getByText('Held: a former rule, a former rule').waitFor()
})

test('a rule that is written stays while the rules cannot be read again', async (t) => {
  const page = await signIn(t, { screen: 'rules/rules' })
  await page.getByRole('button', { name: 'New rule' }).click()
  await page.getByRole('button', { name: 'Terms Words and phrases' }).click()
  await page.getByLabel('Name').fill('half written')
  await page.route('**/v1/chats/rules?**', (route) => route.abort(), { times: 1 })
  const failed = page.waitForEvent('requestfailed', (request) => request.url().includes('/v1/chats/rules?'))
  await rule(t, 'another')
  await failed
  await page.waitForResponse((response) => response.url().includes('/v1/chats/rules?')) // it is read again by itself
  assert.equal(await page.getByLabel('Name').inputValue(), 'half written')
})

test('a rule is tried while it is written, saved, switched off, and its version restored', async (t) => {
  await rule(t, 'spam') // finds stored messages
  const page = await signIn(t, { screen: 'rules/rules' })
  const name = `No gems ${randomUUID().slice(0, 8)}`
  await page.getByRole('button', { name: 'New rule' }).click()
  await page.getByRole('button', { name: 'Terms Words and phrases' }).click()
  await page.getByLabel('Name').fill(name)
  await page.getByLabel('Terms, one a line').fill('free gems')
  await page.getByRole('button', { name: 'Hold', exact: true }).click()
  await page.getByLabel('Try it on texts').fill('get FREE gems, cafe\u0301\nhello')
  const tried = page.getByRole('list', { name: 'Results' }).getByRole('listitem')
  await tried.getByText(`Hold: ${name}`).waitFor()
  assert.equal(await tried.first().locator('mark').innerText(), 'FREE gems')
  await tried.nth(1).getByText('Posted').waitFor()
  await page.getByRole('button', { name: 'Dry run' }).click()
  await page.getByText(/^0 of [\d,]+ messages/).waitFor() // those of the other rule do not count
  await page.context().setOffline(true)
  await page.getByRole('button', { name: 'Save' }).click()
  const again = toast(page, 'Saving').getByRole('button', { name: 'Try again' })
  await again.waitFor()
  await page.context().setOffline(false)
  await again.click()
  const saved = page.getByRole('row', { name }) // the editor is closed
  await saved.getByRole('button', { name: `Turn off ${name}` }).click()
  await saved.getByRole('button', { name: `Turn on ${name}` }).waitFor()
  await page.getByRole('link', { name: 'Versions' }).click()
  await page.getByRole('listitem').filter({ hasText: 'In force' }).waitFor()
  await page.getByRole('button', { name: 'Restore' }).first().click()
  const ask = page.getByRole('dialog', { name: /Restore version/ })
  await ask.getByRole('definition').filter({ hasText: 'OffOn' }).waitFor()
  await ask.getByRole('button', { name: 'Restore' }).click()
  await toast(page, /^Restored version/).waitFor()
  await page.getByRole('link', { name: 'Rules', exact: true }).click()
  await saved.getByRole('button', { name: `Turn off ${name}` }).waitFor()
  await saved.getByRole('button', { name: `Delete ${name}` }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await saved.waitFor({ state: 'detached' })
})

test('a setting holds for a time, and one that somebody else changed meanwhile is not overwritten', async (t) => {
  t.after(() => change('/v1/chats/settings', { slowSeconds: 0, emoteOnly: false }))
  const page = await signIn(t, { screen: 'rules/modes' })
  const save = page.getByRole('button', { name: 'Save' })
  await page.getByLabel('Slow mode').selectOption('30 s')
  await page.getByRole('button', { name: '10 min', exact: true }).click()
  await save.click()
  await page.getByText(/The former value returns in 9 min/).waitFor()
  await press(page, 'g', 'c')
  await page.getByRole('group', { name: 'Modes of the chat' }).getByText(/Slow mode: 30 s, 9 min \d+ s/).waitFor()
  await page.getByRole('link', { name: 'Change' }).click()
  await page.getByLabel('Slow mode').selectOption('5 s')
  await page.route('**/v1/chats/settings', async (route) => {
    await change('/v1/chats/settings', { emoteOnly: true }, given.owner) // just before the page saves
    await route.continue()
  }, { times: 1 })
  await save.click()
  await toast(page, 'Changed by somebody else meanwhile').waitFor()
  await page.getByLabel('Emotes only').and(page.locator(':has(:checked:text("On"))')).waitFor()
  assert.equal((await call('GET', `/v1/chats/settings?channelId=${channelId}`)).slowSeconds, 30)
  await save.click() // what was chosen is still there
  await eventually(async () => (await call('GET', `/v1/chats/settings?channelId=${channelId}`)).slowSeconds === 5, 'saved')
})

test('while the shield is up, the form has the channel\'s own settings, and says what holds instead', async (t) => {
  await change('/v1/moderation/shield/preset', { settings: { slowSeconds: 30, emoteOnly: true }, rules: [] }, given.owner)
  await change('/v1/chats/settings', { slowSeconds: 5 })
  await change('/v1/moderation/shield', { active: true, durationSeconds: 3600 })
  t.after(async () => {
    await change('/v1/moderation/shield', { active: false })
    await change('/v1/chats/settings', { slowSeconds: 0, uniqueSeconds: 0 })
  })
  const page = await signIn(t, { screen: 'rules/modes' })
  const strip = page.getByRole('group', { name: 'Modes of the chat' })
  const setting = (label) => page.locator('.setting', { has: page.getByLabel(label) })
  await setting('Slow mode').getByText('Now, by the shield: 30 s', { exact: true }).waitFor()
  await setting('Emotes only').getByText('Now, by the shield: On', { exact: true }).waitFor()
  assert.equal(await page.getByText(/^Now, by the shield:/).count(), 2)
  assert.equal(await page.getByLabel('Slow mode').locator(':checked').innerText(), '5 s')
  assert.equal(await page.getByLabel('Emotes only').locator(':checked').innerText(), 'Off')
  await page.getByLabel('Slow mode').selectOption('1 min')
  await page.getByLabel('No repeats').selectOption('30 s')
  await page.getByLabel('Slow mode').selectOption('3 s')
  const sent = page.waitForRequest((request) => request.method() === 'POST' && request.url().endsWith('/v1/chats/settings'))
  await page.getByRole('button', { name: 'Save' }).click()
  const { slowSeconds, uniqueSeconds, emoteOnly } = (await sent).postDataJSON()
  assert.deepEqual([slowSeconds, uniqueSeconds, emoteOnly], [3, 30, undefined], 'only what changed is sent')
  await toast(page, 'Changed the settings of the chat').waitFor()
  await page.getByLabel('Slow mode').and(page.locator(':has(:checked:text("3 s"))')).waitFor()
  await press(page, 'g', 'c')
  await strip.getByText('Slow mode: 30 s, shield').waitFor()
  await page.setViewportSize({ width: 360, height: 740 })
  await strip.and(page.locator('[tabindex="0"]')).waitFor() // the keyboard scrolls it
  const { height } = await strip.boundingBox()
  assert.ok(height < 45, `the modes are ${height} pixels high on a narrow screen`)
  await change('/v1/moderation/shield', { active: false })
  await strip.getByText('Slow mode: 3 s', { exact: true }).waitFor() // what was changed meanwhile stays
})

test('a moderator who changed only rules is reverted', async (t) => {
  const name = `No ${randomUUID().slice(0, 8)}`
  await change('/v1/chats/rules', { put: [{ name, kind: 'terms', action: 'block', terms: [name] }] })
  const page = await signIn(t, { name: /Ines Carvalho/, screen: 'log' })
  await page.getByRole('button', { name: 'Revert a moderator' }).click()
  const ask = page.getByRole('dialog', { name: 'Revert a moderator' })
  await ask.getByLabel('Moderator').selectOption('Tomasz Wrona')
  await ask.getByRole('button', { name: 'Look what would change' }).click()
  await ask.getByRole('button', { name: 'Revert their rules' }).click()
  await ask.getByText('Their changes of rules are reverted.').waitFor()
  const { rules } = await call('GET', `/v1/chats/rules?channelId=${channelId}`)
  assert.ok(!rules.some((one) => one.name === name))
})

test.after(() => browser.close())
