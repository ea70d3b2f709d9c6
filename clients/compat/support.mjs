// What the tests of this directory have in common.
import assert from 'node:assert/strict'

// given is what the Go test passes on: the servers, and the tokens of the demo.
export const given = JSON.parse(process.env.GIVEN)

// call calls an operation of the API, and returns its data.
export async function call(method, path, body, { token = given.moderator, client = given.client, base = given.servers[0] } = {}) {
  const response = await fetch(base + path, {
    method,
    headers: { 'client-id': client, authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
  })
  const answer = await response.json()
  if (!response.ok) {
    throw Object.assign(new Error(`${method} ${path}: ${response.status} ${answer.message}`), { status: response.status, code: answer.data?.code })
  }
  return answer.data
}

// ban bans the raider, and lets them in again when what should be seen was seen.
export async function ban(seen, options) {
  const target = { channelId: given.channel, banUsername: given.raider }
  await call('POST', '/v1/moderation/ban', target, options)
  try {
    return await seen
  } finally {
    await call('DELETE', '/v1/moderation/ban', target, options)
  }
}

// approve decides on the demo's sign-in page, as a person without a browser, and returns
// where the person goes next; null for a device.
export async function approve(url, scopes, user = 'Tomasz') {
  const cookies = new Map()
  const visit = async (to, init = {}) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(to, { ...init, redirect: 'manual', headers: { cookie } })
    for (const set of response.headers.getSetCookie()) {
      const [name, value] = set.split(';')[0].split('=')
      cookies.set(name, value)
    }
    return { location: response.headers.get('location'), text: await response.text(), status: response.status }
  }
  const send = async (to, page, fields) => {
    const form = new URLSearchParams(fields)
    for (const [, name, value] of page.text.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)) form.set(name, value)
    return visit(to, { method: 'POST', body: form })
  }
  const first = await visit(url)
  const page = first.location ?? url
  const signIn = await visit(page)
  const [, id] = signIn.text.match(new RegExp(`value="([^"]+)"><span>${user}`)) ?? assert.fail(signIn.text)
  const next = await send(page, signIn, { action: 'sign-in', user: id })
  const consent = await visit(new URL(next.location, page))
  const decided = await send(page, consent, [['action', 'approve'], ...scopes.map((scope) => ['scope', scope])])
  assert.ok(decided.status === 303 || decided.status === 200, decided.text)
  return decided.location && new URL(decided.location)
}
