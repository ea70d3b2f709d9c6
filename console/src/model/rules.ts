import type { ChatRule, Span } from '@moderato-live/client'
import { formatClock, formatDay, formatDuration, plural } from '../format'

export type Kind = ChatRule['kind']
export type Action = ChatRule['action']

/** What a rule does, the strictest last: the strictest of all that match is done. */
export const actions: Record<Action, string> = { flag: 'Flag', delete: 'Delete', hold: 'Hold', block: 'Refuse', mute: 'Mute' }
export const actionHints: Record<Action, string> = {
  flag: 'It is posted, and marked for moderators.', delete: 'Nobody sees it, and it is kept as evidence. The sender is told.', hold: 'It waits in the queue until a moderator decides.',
  block: 'It is not posted, and the sender is told.', mute: 'It is not posted, and the sender is muted.',
}

interface Input {
  name: keyof ChatRule
  type: 'lines' | 'number' | 'check' | 'choice'
  label: string
  hint?: string
  min?: number
  max?: number
  values?: readonly (readonly [string, string])[]
}

const lines = (name: keyof ChatRule, label: string, hint: string): Input => ({ name, type: 'lines', label, hint })
const number = (name: keyof ChatRule, label: string, min: number, max: number, hint = ''): Input => ({ name, type: 'number', label, min, max, hint: `${hint && `${hint} `}${min} to ${max}.` })
const share = [number('minLength', 'Only messages of at least … characters', 1, 500), number('percent', 'Percent of the characters', 1, 100)]

/** The kinds of rules, with what they look for, what a new one has, and its fields. */
export const kinds: Record<Kind, { name: string; about: string; start: Partial<ChatRule>; inputs: Input[] }> = {
  terms: { name: 'Terms', about: 'Words and phrases, also in look-alike letters.', start: { evasions: false }, inputs: [
    lines('terms', 'Terms, one a line', 'Up to 1,000. A * at the start or end of a term stands for the rest of a word.'), lines('allow', 'Never these, one a line', 'Words that have a term in them and are fine.'),
    { name: 'evasions', type: 'check', label: 'Also with digits for letters, repeated letters, and letters with something between them' }] },
  pattern: { name: 'Pattern', about: 'A regular expression.', start: {}, inputs: [lines('patterns', 'Patterns, one a line', 'Up to 10 expressions of RE2, such as free (subs?|gems).')] },
  links: { name: 'Links', about: 'Addresses of websites.', start: { mode: 'all' }, inputs: [
    { name: 'mode', type: 'choice', label: 'Which links', values: [['all', 'All but the allowed'], ['listed', 'Only the listed']] },
    lines('allowDomains', 'Allowed domains, one a line', 'With their subdomains.'), lines('blockDomains', 'Listed domains, one a line', 'With their subdomains.')] },
  caps: { name: 'Capitals', about: 'Messages in capital letters.', start: { minLength: 10, percent: 70 }, inputs: share },
  symbols: { name: 'Symbols', about: 'Messages of symbols, and letters with many marks.', start: { minLength: 10, percent: 70 }, inputs: [...share, number('maxMarks', 'Most marks on one letter', 1, 20, 'Empty if it does not matter.')] },
  repetition: { name: 'Repetition', about: 'The same text again and again.', start: { sameSender: 3, withinSeconds: 60 }, inputs: [
    number('sameSender', 'By one sender, so many times', 2, 20, 'Either this or the next.'), number('senders', 'By so many senders', 2, 1000), number('withinSeconds', 'Within … seconds', 1, 600)] },
  mentions: { name: 'Mentions', about: 'Messages that mention many users.', start: { max: 5 }, inputs: [number('max', 'Most users in a message', 1, 50)] },
}

/** newRule returns a rule that still lacks its name and what it looks for. */
export const newRule = (kind: Kind): ChatRule => ({
  ruleId: '', name: '', kind, action: 'hold', muteSeconds: null, strikes: 0, enabled: true, expiresAt: null, exemptRoles: [], exemptFollowersOlderThanSeconds: null, message: null,
  terms: [], allow: [], evasions: null, patterns: [], mode: null, allowDomains: [], blockDomains: [], minLength: null, percent: null, maxMarks: null, sameSender: null, senders: null, withinSeconds: null, max: null,
  ...kinds[kind].start,
})

/** cleaned returns a rule without empty lines, as it is sent. */
export function cleaned(rule: ChatRule): ChatRule {
  const entries = Object.entries(rule).map(([name, value]) => [name, Array.isArray(value) ? value.map((one: string) => one.trim()).filter(Boolean) : value])
  return { ...(Object.fromEntries(entries) as ChatRule), name: rule.name.trim(), message: rule.message?.trim() || null, muteSeconds: rule.action === 'mute' ? rule.muteSeconds ?? 600 : null }
}

/** summaryOf tells in a few words what a rule looks for. */
export function summaryOf(rule: ChatRule): string {
  const { kind, terms, patterns, mode, blockDomains, percent, sameSender, senders, withinSeconds, max } = rule
  const times = sameSender ? `${sameSender} times by one sender` : `by ${senders} senders`
  return {
    terms: () => plural(terms.length, 'term'), pattern: () => plural(patterns.length, 'pattern'), links: () => (mode === 'listed' ? plural(blockDomains.length, 'domain') : 'all links'),
    caps: () => `${percent} % capitals`, symbols: () => `${percent} % symbols`, repetition: () => `${times} in ${formatDuration(withinSeconds ?? 0)}`, mentions: () => `more than ${max} mentions`,
  }[kind]()
}

export const actionOf = ({ action, muteSeconds }: Pick<ChatRule, 'action' | 'muteSeconds'>): string => (action === 'mute' ? `Mute for ${formatDuration(muteSeconds ?? 0)}` : actions[action])

/** What the editor calls the fields that every rule has. */
export const labels = {
  name: 'Name', action: 'What happens to the message', muteSeconds: 'Muted for', message: 'Told to the sender',
  exemptRoles: 'Exempt, beside the owner and moderators', exemptFollowersOlderThanSeconds: 'Exempt followers', expiresAt: 'Ends', enabled: 'State',
}
export const roleNames = { vip: 'VIPs', og: 'OGs', subscriber: 'Subscribers' }

const inputOf = ({ kind }: ChatRule, name: string): Input | undefined => kinds[kind].inputs.find((input) => input.name === name)

/** labelOf returns what the editor calls a field of a rule. */
export const labelOf = (rule: ChatRule, name: string): string => (labels as Record<string, string>)[name] ?? inputOf(rule, name)?.label.replace(', one a line', '') ?? name

/** changedFields returns the names of the fields in which two rules differ. */
export const changedFields = (a: ChatRule, b: ChatRule): string[] => Object.keys(a).filter((name) => JSON.stringify(a[name as keyof ChatRule]) !== JSON.stringify(b[name as keyof ChatRule]))

export interface Difference {
  kind: 'Added' | 'Changed' | 'Deleted'
  rule: ChatRule
  /** What a changed rule had, and what it has. */
  fields: { label: string; lost: string[]; gained: string[] }[]
}

export const followersText = (seconds: number): string => (seconds ? `Of more than ${formatDuration(seconds)}` : 'All')

/** said returns the values of a field as the editor shows them. */
function said(rule: ChatRule, name: string): string[] {
  const value: unknown = rule[name as keyof ChatRule]
  if (value === null || value === '') return []
  switch (name) {
    case 'action': return [actions[value as Action]]
    case 'muteSeconds': return [formatDuration(value as number)]
    case 'exemptRoles': return (value as (keyof typeof roleNames)[]).map((role) => roleNames[role])
    case 'exemptFollowersOlderThanSeconds': return [followersText(value as number)]
    case 'expiresAt': return [`${formatDay(value as string)}, ${formatClock(value as string)}`]
    case 'enabled': return [value ? 'On' : 'Off']
  }
  if (Array.isArray(value)) return value as string[]
  if (typeof value === 'boolean') return [value ? 'Yes' : 'No']
  return [inputOf(rule, name)?.values?.find(([one]) => one === value)?.[1] ?? String(value)]
}

/** differences returns what must change for the rules to become others. Of lists, only what differs. */
export function differences(from: ChatRule[], to: ChatRule[]): Difference[] {
  const before = new Map(from.map((rule) => [rule.ruleId, rule]))
  const kept = new Set(to.map(({ ruleId }) => ruleId))
  const changed = to.flatMap((rule): Difference[] => {
    const old = before.get(rule.ruleId)
    if (!old) return [{ kind: 'Added', rule, fields: [] }]
    const fields = changedFields(old, rule).map((name) => {
      const [lost, gained] = [said(old, name), said(rule, name)]
      return { label: labelOf(rule, name), lost: lost.filter((one) => !gained.includes(one)), gained: gained.filter((one) => !lost.includes(one)) }
    })
    return fields.length ? [{ kind: 'Changed', rule, fields }] : []
  })
  return [...changed, ...from.filter(({ ruleId }) => !kept.has(ruleId)).map((rule): Difference => ({ kind: 'Deleted', rule, fields: [] }))]
}

export const isKind = (name: string): name is Kind => Object.hasOwn(kinds, name)

/** placedIn returns rules as they are put among known ones: what these have not is new. */
export function placedIn(known: readonly ChatRule[], rules: readonly ChatRule[]): ChatRule[] {
  const ids = new Set(known.map(({ ruleId }) => ruleId))
  return rules.map((rule) => ({ ...rule, ruleId: ids.has(rule.ruleId) ? rule.ruleId : '' }))
}

/** readExport reads rules from an exported file. Those that the channel has are replaced, the others are new. */
export function readExport(text: string, known: ChatRule[]): ChatRule[] {
  const parsed = JSON.parse(text) as { rules?: ChatRule[] } | ChatRule[] | null
  const rules = Array.isArray(parsed) ? parsed : parsed?.rules
  if (!Array.isArray(rules) || rules.some((rule) => typeof rule?.name !== 'string' || !isKind(rule.kind))) throw new Error('This is no list of rules.')
  return placedIn(known, rules)
}

/** partsOf splits a text around its spans, which count code points: every second part is in one. */
export function partsOf(text: string, spans: readonly Span[]): string[] {
  const letters = [...text]
  const parts: string[] = []
  let at = 0
  for (const { start, end } of [...spans].sort((a, b) => a.start - b.start)) {
    if (end <= at) continue
    parts.push(letters.slice(at, Math.max(at, start)).join(''), letters.slice(Math.max(at, start), end).join(''))
    at = end
  }
  return [...parts, letters.slice(at).join('')]
}
