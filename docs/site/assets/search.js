'use strict'
// The search reads the index of all passages when it is first used.
let index
const loadIndex = () => index ??= fetch('/docs/search.json').then((response) => response.json())

// What other platforms, chat commands and people call things.
const alsoCalled = new Map(Object.entries({
  unban: 'remove ban', untimeout: 'remove mute', unmute: 'remove mute', timeout: 'mute user', kick: 'mute user',
  mod: 'add moderator', unmod: 'remove moderator', vip: 'add vip', unvip: 'remove vip',
  gdpr: 'delete user', erasure: 'delete user', erase: 'delete', 'right forgotten': 'delete user', forgotten: 'delete user', purge: 'delete', privacy: 'delete user',
  'personal data': 'export user', 'right access': 'export user', 'data export': 'export user', 'subject access': 'export user',
  permission: 'scope', privilege: 'scope', login: 'signing in', signin: 'signing in', 'sign in': 'signing in', 'log in': 'signing in',
  sdk: 'client libraries', install: 'downloads', download: 'downloads', throttling: 'rate limit', 'api key': 'token', websocket: 'socket.io',
  monitoring: 'metrics', prometheus: 'metrics', grafana: 'metrics', ha: 'failover', hook: 'webhook', callback: 'webhook', 'dead letter': 'deliveries',
}))

// Words that say nothing of what is asked for.
const fillers = new Set(('a an the my your our his her their i me we you he she it they do does did is are was be can could should would will to of for in on at with by ' +
  'from as and or how what when where which who why there this that get have has need want please use using').split(' '))

// singular returns a word without the s of its plural.
const singular = (word) => /[a-z]{3}[^s]s$/.test(word) ? word.slice(0, -1) : word

// wordsOf returns the words of a query that say what is asked for.
function wordsOf(query) {
  const all = query.toLowerCase().replace(/[?!,;"“”]/g, ' ').split(/\s+/).filter(Boolean)
  const meant = all.filter((word) => !fillers.has(word))
  return meant.length > 0 ? meant : all
}

// edits returns how many letters must be inserted, removed, replaced or swapped to make one
// word of another.
function edits(from, to) {
  let before, row = Array.from({ length: to.length + 1 }, (_, i) => i)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (from[i - 1] === to[j - 1] ? 0 : 1))
      if (before && i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]) next[j] = Math.min(next[j], before[j - 2] + 1)
    }
    before = row
    row = next
  }
  return row[to.length]
}

// vocabulary returns how often each word is in the passages; words of titles count more.
let counted
function vocabulary(passages) {
  if (counted) return counted
  counted = new Map([...alsoCalled.keys()].flatMap((name) => name.split(' ')).map((word) => [word, 10]))
  const add = (text, n) => { for (const word of text.toLowerCase().match(/[a-z]{3,}/g) ?? []) counted.set(word, (counted.get(word) ?? 0) + n) }
  for (const passage of passages) {
    add(passage.heading ?? passage.page, 10)
    add(passage.text ?? '', 1)
  }
  return counted
}

// corrected returns a word, or the known one that is most like it: a typing error in a short
// word, two in a long one.
function corrected(word, known) {
  if (!/^[a-z]{4,}$/.test(word) || [...known.keys()].some((other) => other.startsWith(word))) return word
  const allowed = word.length < 8 ? 1 : 2
  let best = word, least = allowed + 1
  const alike = (other) => { let n = 0; while (n < word.length && word[n] === other[n]) n++; return n * 1e6 + known.get(other) } // people get the beginning right
  for (const other of known.keys()) {
    if (Math.abs(other.length - word.length) > allowed) continue
    const n = edits(word, other)
    if (n < least || n === least && alike(other) > alike(best)) [best, least] = [other, n]
  }
  return best
}

// rank compares a title with a query. A title that has all words ranks above every passage
// that has only some of them there, and a page above a heading within a page.
function rank(passage, title, words) {
  const query = words.join(' ')
  if (!words.every((word) => title.includes(word))) return passage.heading ? 0 : 1
  const isWhole = title.split(' ').slice(0, words.length).join(' ') === query
  return (passage.heading ? 0 : 200) + (title === query ? 2000 : isWhole ? 1100 : title.startsWith(query) ? 1000 : title.includes(query) ? 700 : 500)
}

// scoreOf returns how well a passage matches, or -1 if it lacks a word.
function scoreOf(passage, words) {
  const title = (passage.heading ?? passage.page).toLowerCase(), page = passage.page.toLowerCase()
  const text = (passage.text ?? '').toLowerCase()
  let score = rank(passage, title, words)
  for (const word of words) {
    if (title === word) score += 40
    else if (title.startsWith(word)) score += 20
    else if (title.includes(word)) score += 12
    else if (page.includes(word)) score += 5
    else if (text.includes(word)) score += 1
    else return -1
  }
  return passage.isBackground ? score / 10 : score
}

// find returns the passages that have all words, the best first: words in a title count
// more than words in the text, and pages for operators less than others. If none has all,
// those with most of the words are returned.
function find(passages, query) {
  const known = vocabulary(passages)
  const asked = wordsOf(query).map((word) => singular(corrected(word, known)))
  if (asked.length === 0) return []
  const also = alsoCalled.get(asked.join(' ')) ?? asked.map((word) => alsoCalled.get(word) ?? word).join(' ')
  const queries = [asked, also.split(' ')]
  const best = (score) => passages.map((passage) => ({ passage, score: Math.max(...queries.map((words) => score(passage, words))) }))
    .filter(({ score }) => score >= 0).sort((a, b) => b.score - a.score)
  let found = best(scoreOf)
  if (found.length === 0) found = best((passage, words) => words.map((word) => scoreOf(passage, [word])).filter((n) => n > 0).reduce((a, b) => a + b + 1000, -1))
  return found.slice(0, 12).map(({ passage }) => passage)
}

// excerpt returns the text around the first word of the query, with the words marked.
function excerpt(text, query) {
  const words = wordsOf(query).map(singular)
  const lower = text.toLowerCase()
  const at = Math.max(0, Math.min(...words.map((word) => lower.indexOf(word)).filter((i) => i >= 0), text.length) - 40)
  const start = at < text.length - 40 ? at : 0
  const shown = (start > 0 ? '…' : '') + text.slice(start, start + 180)
  const pattern = new RegExp(`(${words.map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|')})`, 'iu')
  return shown.split(pattern).map((part, i) => i % 2 ? element('mark', { textContent: part }) : part)
}

function startSearch(box) {
  const input = box.querySelector('input'), panel = box.querySelector('.results'), list = box.querySelector('ul')
  const status = box.querySelector('[role=status]')
  let chosen = -1
  const show = (isOpen) => {
    panel.hidden = !isOpen
    input.setAttribute('aria-expanded', isOpen)
    if (!isOpen) input.removeAttribute('aria-activedescendant')
  }
  const choose = (i) => {
    const items = [...list.children]
    chosen = items.length ? (i + items.length) % items.length : -1
    items.forEach((item, at) => item.setAttribute('aria-selected', at === chosen))
    if (chosen < 0) return input.removeAttribute('aria-activedescendant')
    input.setAttribute('aria-activedescendant', items[chosen].id)
    items[chosen].scrollIntoView({ block: 'nearest' })
  }
  const open = (item) => { location.href = item.dataset.url; show(false); input.blur() }
  const update = async () => {
    const query = input.value.trim()
    const passages = await loadIndex()
    if (query !== input.value.trim()) return
    const found = find(passages, query)
    list.replaceChildren(...found.map((passage, i) => {
      const title = passage.heading ? [element('span', { textContent: `${passage.page} › ` }), passage.heading] : [passage.page]
      const item = element('li', { id: `result-${i}` }, element('strong', {}, ...title), element('small', {}, ...excerpt(passage.text ?? '', query)))
      item.setAttribute('role', 'option')
      item.dataset.url = passage.url
      item.addEventListener('mousedown', (event) => event.preventDefault())
      item.addEventListener('click', () => open(item))
      return item
    }))
    box.querySelector('.none').hidden = found.length > 0
    status.textContent = query ? `${found.length} results` : ''
    show(query !== '')
    choose(0)
  }
  input.addEventListener('focus', loadIndex)
  input.addEventListener('input', update)
  input.addEventListener('blur', () => show(false))
  input.addEventListener('keydown', async (event) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      if (panel.hidden) await update()
      else choose(chosen + (event.key === 'ArrowDown' ? 1 : -1))
    } else if (event.key === 'Enter') {
      await update()
      if (list.children[chosen]) open(list.children[chosen])
    } else if (event.key === 'Escape') {
      show(false)
      input.blur()
    }
  })
  addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, textarea, select')) return
    event.preventDefault()
    input.focus()
    input.select()
  })
}
