// Watches a busy chat for minutes: nothing is lost without being counted, and the page stays fast.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { browser, signIn } from './console-support.mjs'
import { call, given } from './support.mjs'

const minutes = Number(process.env.SOAK_MINUTES ?? 10)
const perMinute = 10_000
const senders = 50

/** load posts messages at a steady rate, and returns how many were posted. */
async function load(viewers, seconds) {
  const started = performance.now()
  const open = new Set()
  let posted = 0
  for (let sent = 0; performance.now() - started < seconds * 1000; ) {
    const due = ((performance.now() - started) / 60_000) * perMinute
    while (sent < due && open.size < 200) {
      const body = { channelId: given.channel, senderId: viewers[sent++ % viewers.length], message: `message ${sent} of a busy chat, with a few more words in it` }
      const post = call('POST', '/v1/chats/messages', body, { token: given.service, client: given.serviceClient }).then(() => posted++).finally(() => open.delete(post))
      open.add(post)
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await Promise.all(open)
  return posted
}

/** keysToPaint presses keys for a time, and returns in order how long each takes until it is painted. Escape lets the list go on. */
const keysToPaint = (page, seconds) => page.evaluate(async (milliseconds) => {
  const found = []
  for (const end = performance.now() + milliseconds; performance.now() < end; ) {
    for (const key of [...'kkkkkkkkj', 'Escape']) {
      const pressed = performance.now()
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
      found.push(performance.now() - pressed)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  return found.sort((a, b) => a - b)
}, seconds * 1000)

test(`10,000 messages a minute for ${minutes} minutes`, async (t) => {
  const page = await signIn(t)
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('Performance.enable', { timeDomain: 'threadTicks' }) // what the thread works, not what it waits for a core
  await cdp.send('HeapProfiler.enable')
  const measure = async () => {
    await cdp.send('HeapProfiler.collectGarbage')
    return Object.fromEntries((await cdp.send('Performance.getMetrics')).metrics.map(({ name, value }) => [name, value]))
  }
  const { rows } = await call('GET', `/v1/channels/followers?limit=${senders}`, undefined, { token: given.owner })
  const viewers = rows.map(({ id }) => id)
  let posted = await load(viewers, 20) // warm
  const first = await measure()
  const started = performance.now()
  posted += await load(viewers, minutes * 60)
  const last = await measure()
  const share = (last.TaskDuration - first.TaskDuration) / ((performance.now() - started) / 1000)
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: 4 })
  const [more, delays] = await Promise.all([load(viewers, 30), keysToPaint(page, 28)])
  posted += more
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: 1 })
  const keyToPaint = delays[Math.floor(delays.length * 0.95)]
  await page.waitForTimeout(2000)
  const count = async (locator) => ((await locator.count()) ? Number((await locator.first().innerText()).replace(/\D/g, '')) : 0)
  const received = await count(page.locator('.chat-head .number'))
  const missed = await count(page.getByText(/messages? missed/))
  const rowsShown = await page.locator('li.message').count()
  t.diagnostic(JSON.stringify({ posted, received, missed, mainThread: share.toFixed(3), heapMB: [first, last].map((m) => (m.JSHeapUsedSize / 1e6).toFixed(1)), rowsShown, keys: delays.length, keyToPaint: keyToPaint.toFixed(1) }))
  assert.equal(received + missed, posted)
  assert.ok(rowsShown <= 500)
  assert.ok(last.JSHeapUsedSize < first.JSHeapUsedSize * 1.5 + 5e6, 'the memory is flat')
  assert.ok(share <= 0.25, `the main thread works ${share} of the time`)
  assert.ok(keyToPaint <= 100, `a key is painted after ${keyToPaint} ms`)
})

test.after(() => browser.close())
