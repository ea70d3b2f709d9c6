'use strict'
// The page works without this script. It adds the choice of colours, the menu of narrow
// screens, the search, the copy buttons and, on the reference, the form to try a call.

const root = document.documentElement
root.classList.add('js')

// The colours. The script runs before the page is drawn, so that it does not flash.
const prefersDark = matchMedia('(prefers-color-scheme: dark)')
function stored(area, key) { try { return area.getItem(key) } catch { return null } }
function store(area, key, value) { try { area.setItem(key, value) } catch { /* the choice lasts as long as the page */ } }
let theme = stored(localStorage, 'theme')
function paint() {
  root.dataset.theme = theme ?? (prefersDark.matches ? 'dark' : 'light')
  document.querySelector('.theme')?.setAttribute('aria-pressed', root.dataset.theme === 'dark')
}
paint()
prefersDark.addEventListener('change', paint)

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties)
  made.append(...children)
  return made
}

document.addEventListener('DOMContentLoaded', () => {
  paint()
  document.querySelector('.theme').addEventListener('click', () => {
    theme = root.dataset.theme === 'dark' ? 'light' : 'dark'
    store(localStorage, 'theme', theme)
    paint()
  })
  startMenu()
  startSearch(document.querySelector('.search'))
  addCopyButtons()
  addAnchors()
  focusScrollers()
  addEventListener('resize', focusScrollers)
  followContents()
  document.querySelectorAll('form.call').forEach(startCall)
  startCredentials(document.querySelector('form.credentials'))
})

function startMenu() {
  const button = document.querySelector('.menu'), pages = document.querySelector('.pages')
  const show = (isOpen) => {
    pages.classList.toggle('open', isOpen)
    button.setAttribute('aria-expanded', isOpen)
  }
  button.addEventListener('click', () => show(!pages.classList.contains('open')))
  addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !pages.classList.contains('open')) return
    show(false)
    button.focus()
  })
}

// startCopy lets a button copy a text, and say so for a while.
function startCopy(button, text) {
  const label = button.textContent
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(text())
    button.textContent = 'Copied'
    setTimeout(() => { button.textContent = label }, 1500)
  })
}

function addCopyButtons() {
  for (const pre of document.querySelectorAll('article pre')) {
    const button = element('button', { type: 'button', className: 'copy', textContent: 'Copy' })
    startCopy(button, () => pre.innerText)
    const box = element('div', { className: 'code' })
    pre.replaceWith(box)
    box.append(pre, button)
  }
}

function addAnchors() {
  for (const heading of document.querySelectorAll('article :is(h2, h3)[id]')) {
    const anchor = element('a', { href: `#${heading.id}`, className: 'anchor', textContent: '#', tabIndex: -1 })
    anchor.setAttribute('aria-hidden', true) // the contents have the same links for everyone
    heading.append(anchor)
  }
}

// focusScrollers lets the keyboard scroll what is wider than the screen.
function focusScrollers() {
  for (const box of document.querySelectorAll('article :is(pre, .scroll)')) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0
    else box.removeAttribute('tabindex')
  }
}

// followContents marks the heading that is being read.
function followContents() {
  const links = new Map([...document.querySelectorAll('.contents a')].map((a) => [decodeURIComponent(a.hash.slice(1)), a]))
  const headings = [...links.keys()].map((id) => document.getElementById(id)).filter(Boolean)
  if (headings.length === 0) return
  let marked
  const mark = () => {
    const passed = headings.filter((heading) => heading.getBoundingClientRect().top < 120)
    const next = links.get((passed.at(-1) ?? headings[0]).id)
    if (next === marked) return
    marked?.classList.remove('here')
    marked = next
    marked.classList.add('here')
    const box = marked.closest('.contents'), at = marked.offsetTop
    if (at < box.scrollTop || at > box.scrollTop + box.clientHeight - 60) box.scrollTop = at - box.clientHeight / 2
  }
  let isQueued = false
  addEventListener('scroll', () => {
    if (isQueued) return
    isQueued = true
    requestAnimationFrame(() => { isQueued = false; mark() })
  }, { passive: true })
  mark()
}

// The console of the reference. The credentials stay in the tab.
let credentials = {}
function startCredentials(form) {
  if (!form) return
  form.addEventListener('submit', (event) => event.preventDefault())
  const check = () => readCredentials(form).catch((error) => { form.querySelector('.identity').textContent = error.message })
  for (const input of form.querySelectorAll('input')) {
    input.value = stored(sessionStorage, input.name) ?? input.defaultValue
    input.addEventListener('change', () => {
      store(sessionStorage, input.name, input.value.trim())
      check()
    })
  }
  check()
}

// headersOf returns the headers of a request.
const headersOf = (body, key) => ({
  ...credentials.token && { authorization: `Bearer ${credentials.token}` }, ...credentials.client && { 'client-id': credentials.client },
  ...body !== undefined && { 'content-type': 'application/json' }, ...key && { 'idempotency-key': key },
})

const send = (method, path, body, key) => fetch(path, { method, body, headers: headersOf(body, key) })

// curl returns a request as a command.
function curl(method, path, body, key) {
  const quote = (text) => `'${text.replaceAll("'", "'\\''")}'`
  const headers = Object.entries(headersOf(body, key)).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`)
  return ['curl -sS', method === 'GET' ? '' : `-X ${method}`, quote(location.origin + path), ...headers, body === undefined ? '' : `-d ${quote(body)}`]
    .filter(Boolean).join(' ')
}

// requestOf returns what a form sends: the method, the path, the body and the idempotency key.
function requestOf(form) {
  const query = new URLSearchParams()
  let { path } = form.dataset
  for (const input of form.querySelectorAll('.query input')) {
    const inPath = path.replace(`{${input.name}}`, encodeURIComponent(input.value.trim()))
    if (inPath !== path) {
      path = inPath
      continue
    }
    const values = input.name.endsWith('[]') ? input.value.split(',') : [input.value]
    for (const value of values.map((v) => v.trim()).filter(Boolean)) query.append(input.name, value)
  }
  return [form.dataset.method, path + (query.size ? `?${query}` : ''), form.elements.body?.value, form.elements['idempotency-key']?.value.trim()]
}

// readCredentials shows whose the token is. The user and the channel of the user, or one that
// the user moderates, then replace those of the examples.
async function readCredentials(form) {
  const identity = form.querySelector('.identity')
  credentials = { client: form.elements.client.value.trim(), token: form.elements.token.value.trim() }
  identity.textContent = ''
  if (!credentials.client || !credentials.token) return
  const profile = await (await send('GET', '/v1/users/profile')).json()
  if (!profile.success && profile.data.code !== 'TOKEN_KIND_NOT_ACCEPTED') {
    identity.textContent = profile.message
    return
  }
  if (!profile.success) {
    identity.textContent = 'Requests are sent with an app or service token.'
    return
  }
  const moderated = await (await send('GET', `/v1/moderation/channels?userId=${profile.data.userId}`)).json()
  useCaller(profile.data.userId, profile.data.channelId || moderated.data?.[0]?.uuid)
  identity.textContent = `Requests are sent as ${profile.data.displayName}.`
}

// useCaller replaces the channel of the examples, and the user whom a query must name: a user
// may ask for nobody else. It keeps what was entered.
function useCaller(user, channel) {
  for (const form of document.querySelectorAll('form.call')) {
    for (const [name, value] of [['userId', user], ['channelId', channel]]) {
      const input = form.elements[name]
      if (!value || !input || !(input.defaultValue || name === 'channelId')) continue
      if (input.value === input.defaultValue || input.value === input.dataset.caller) input.value = value
      input.dataset.caller = value
    }
    const body = form.elements.body
    if (body && channel) body.value = body.value.replace(/("channelId": ")[^"]*"/, `$1${channel}"`)
  }
}

function startCall(form) {
  const answer = form.querySelector('.answer'), status = answer.querySelector('p'), text = answer.querySelector('code')
  startCopy(form.querySelector('.curl'), () => curl(...requestOf(form)))
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    answer.hidden = false
    status.textContent = 'Sending…'
    text.textContent = ''
    try {
      const response = await send(...requestOf(form))
      const received = await response.text()
      status.textContent = `${response.status} ${response.statusText}`
      status.className = response.ok ? 'ok' : 'failed'
      text.textContent = pretty(received)
      const help = response.headers.get('link')?.match(/<([^>]*)>; rel="help"/)
      if (help) status.append(' – ', element('a', { href: help[1], textContent: 'what to do next' }))
    } catch (error) {
      status.className = 'failed'
      status.textContent = error.message
    }
    focusScrollers()
  })
}

function pretty(text) {
  try { return JSON.stringify(JSON.parse(text), null, 2) } catch { return text }
}
