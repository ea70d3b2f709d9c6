// Looks at every screen of the console: accessibility, layout, hostile text, speed.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { browser, eventually, openConsole, post, row, screens, signIn } from './console-support.mjs'
import { given } from './support.mjs'

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const widths = { 360: 740, 768: 1000, 1366: 768, 1920: 1080 }

// shoot saves a screenshot if SCREENSHOTS names a directory.
async function shoot(page, name) {
  if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/console-${name}.png` })
}

async function violations(page) {
  await page.evaluate(axe)
  const { violations: found } = await page.evaluate(() => window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }))
  return found.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 160)).join(' | ')}`)
}

async function goTo(page, screen) {
  await page.evaluate((hash) => { location.hash = hash }, `#/inescarvalho/${screen}`)
  await page.locator('main h1').first().waitFor()
  await page.waitForFunction(() => !document.querySelector('.spinner'))
}

for (const colorScheme of ['light', 'dark']) {
  test(`every screen is accessible and fits its width, ${colorScheme}`, async (t) => {
    const page = await signIn(t, { name: /Ines Carvalho/, context: { colorScheme, reducedMotion: 'reduce' } })
    for (const screen of [...screens, 'settings/roles', 'settings/stream', 'settings/apps', 'settings/webhooks']) {
      await goTo(page, screen)
      for (const [width, height] of Object.entries(widths)) {
        await page.setViewportSize({ width: Number(width), height })
        const [wide, seen] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth])
        assert.ok(wide <= seen, `${screen} is ${wide} pixels wide on a screen of ${seen}`)
        await shoot(page, `${screen.replace('/', '-')}-${width}-${colorScheme}`)
        if (width === '360' || width === '1366') assert.deepEqual(await violations(page), [], `${screen} at ${width}`)
      }
    }
  })

  test(`the card, its forms, the keys and the sign-in are accessible, ${colorScheme}`, async (t) => {
    const page = await openConsole(t, { path: '#/inescarvalho/chat', context: { colorScheme } })
    await page.getByRole('button', { name: /Tomasz Wrona/ }).waitFor()
    assert.deepEqual(await violations(page), [], 'sign-in')
    await page.getByRole('button', { name: /Tomasz Wrona/ }).click()
    await page.getByText('Up to date').waitFor()
    await post(page, 'somebody to look at')
    await page.keyboard.press('k')
    await page.keyboard.press('b')
    await page.getByText('History in this channel').waitFor()
    assert.deepEqual(await violations(page), [], 'card')
    await shoot(page, `card-${colorScheme}`)
    await page.keyboard.press('Escape')
    await page.keyboard.press('?')
    await page.getByRole('dialog').waitFor()
    assert.deepEqual(await violations(page), [], 'keys')
  })
}

test('the channels and the dialogs are accessible', async (t) => {
  const page = await signIn(t, { name: /Ines Carvalho/ })
  await page.getByRole('link', { name: /All channels/ }).click()
  await page.getByRole('heading', { name: 'Channels' }).waitFor()
  assert.deepEqual(await violations(page), [], 'channels')
  const dialogs = {
    'people/bans': ['Export', 'Import a list'], 'people/roles': ['Remove roles'], log: ['Revert a moderator'], 'settings/webhooks': ['New webhook'],
    'rules/rules': ['Import', 'New rule'], chat: ['Ines Carvalho', 'More'],
  }
  for (const [screen, names] of Object.entries(dialogs)) {
    await goTo(page, screen)
    for (const name of names) {
      if (name === 'Remove roles') await page.getByLabel('Select all shown').check()
      await page.setViewportSize({ width: name === 'More' ? 360 : 1366, height: 768 })
      await page.getByRole('button', { name, exact: true }).first().click()
      await page.getByRole('dialog').waitFor()
      assert.deepEqual(await violations(page), [], `the dialog ${name}`)
      await page.getByRole('dialog').getByRole('button', { name: 'Close' }).first().click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
  }
})

test('hostile text stays text, and inside its row', async (t) => {
  const page = await signIn(t)
  const texts = [
    '<img src=x onerror="document.title=1"><script>document.title=2</script>&lt;b&gt;',
    '\u202Etxet desrever \u2066isolated\u2069 \u202Dforced\u202C end',
    `a${'\u0301'.repeat(460)}`, // more, and the server's normal form is too long
    'W'.repeat(480),
    'javascript:alert(1) https://example.com/phish [link](https://example.com)',
  ]
  const title = await page.title()
  for (const text of texts) {
    const { message } = await post(page, text)
    const shown = await row(page, message).locator('.text').evaluate((e) => e.textContent)
    if (!text.includes('\u0301')) assert.equal(shown, message)
    await row(page, message).scrollIntoViewIfNeeded()
    const isInside = await row(page, message).evaluate((element) => {
      const list = element.closest('.messages').getBoundingClientRect()
      const box = element.getBoundingClientRect()
      return box.left >= list.left && box.right <= list.right && element.scrollWidth <= element.clientWidth + 1 && getComputedStyle(element).overflowY === 'clip'
    })
    assert.ok(isInside, `${message.slice(0, 30)} leaves its row`)
    assert.equal(await row(page, message).locator('a, img:not(.emote), script').count(), 0)
  }
  assert.equal(await page.title(), title)
})

test('everything has a focus that one can see, by keyboard alone', async (t) => {
  const page = await signIn(t)
  const seen = new Set()
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press('Tab')
    const focus = await page.evaluate(() => {
      const e = document.activeElement
      const { outlineStyle, outlineWidth } = getComputedStyle(e)
      return { what: e.outerHTML.slice(0, 120), isBody: e === document.body, visible: outlineStyle === 'solid' && parseFloat(outlineWidth) >= 2, height: e.getBoundingClientRect().height }
    })
    if (focus.isBody) break
    assert.ok(focus.visible, `no visible focus: ${focus.what}`)
    seen.add(focus.what)
  }
  assert.ok(seen.size > 10, `only ${seen.size} elements have the focus`)
})

test('the page is small, and the first screen is there soon, also on a slow machine', async (t) => {
  const context = await browser.newContext()
  t.after(() => context.close())
  const page = await context.newPage()
  let bytes = 0
  page.on('requestfinished', async (request) => {
    if (/\.(js|css)\?/.test(request.url())) bytes += (await request.sizes()).responseBodySize
  })
  await page.goto(`${given.servers[0]}/console/`)
  await page.getByRole('button', { name: /Tomasz Wrona/ }).click()
  await page.getByText('Up to date').waitFor()
  const size = bytes
  assert.ok(size > 10_000 && size <= 90 * 1024, `${size} bytes of scripts and styles`)
  const cdp = await context.newCDPSession(page)
  await cdp.send('Network.enable')
  await cdp.send('Network.setCacheDisabled', { cacheDisabled: true })
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: 4 })
  const took = []
  for (let i = 0; i < 5 && !(took.at(-1) < 3000); i++) { // once, unless the machine is busy: 0.7 s on an idle one
    const started = Date.now()
    await page.reload()
    await page.getByText('Up to date').waitFor({ timeout: 30_000 })
    took.push(Date.now() - started)
  }
  t.diagnostic(`first screen after ${took} ms, ${size} bytes`)
  assert.ok(took.at(-1) < 3000, `with a quarter of the processor, the first screen is there after ${took} ms`)
})

test('pictures of users come from this server and named origins alone', async (t) => {
  const page = await signIn(t)
  const requests = []
  page.on('request', (request) => requests.push(new URL(request.url()).origin))
  await page.reload()
  await page.getByText('Up to date').waitFor()
  await eventually(() => requests.length > 3, 'requests were seen')
  assert.deepEqual([...new Set(requests)], [given.servers[0]])
})

test.after(() => browser.close())
