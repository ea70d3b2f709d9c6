import { type ChatRule, type FieldError, ModeratoError } from '@moderato-live/client'
import { plural } from '../format'
import { labelOf } from './rules'

/** Fields that a change of another field can put right. */
const related: Record<string, string> = { senders: 'sameSender', mode: 'blockDomains', action: 'muteSeconds' }
const maxQuote = 40

/** placeOf returns which field of which rule is wrong: put[0].terms[17] is the term 17 of the first rule. */
function placeOf(field: string): { rule: number; name: string; at: number | undefined } {
  const [, rule = '-1', name = '', at] = /^(?:put|rules)\[(\d+)\]\.?(\w*)(?:\[(\d+)\])?/.exec(field) ?? []
  return { rule: Number(rule), name, at: at === undefined ? undefined : Number(at) }
}

/** mistakesOf returns what is wrong with the fields of a request, in words for moderators. */
export function mistakesOf(error: unknown): readonly FieldError[] {
  if (!(error instanceof ModeratoError)) return []
  return error.code === 'RULES_TOO_COSTLY' ? error.fields.map(costly) : error.fields
}

/** costly names what costs most; if the request does not have that rule, the server's description names it. */
export function costly({ field, description }: FieldError): FieldError {
  const [, other] = /^the rule "(.*)" \([-0-9a-f]+\) /.exec(description) ?? []
  const what = other !== undefined ? `The rule “${other}”` : placeOf(field).name === 'patterns' ? 'This pattern' : 'This rule'
  return { field, description: `Together your rules are too slow. ${what} costs most: make it simpler, or delete rules.` }
}

/** remaining returns the mistakes that a change of a rule leaves: those of other fields. */
export function remaining(fields: readonly FieldError[], change: object): FieldError[] {
  const changed = Object.keys(change).flatMap((name) => [name, related[name]])
  return fields.filter(({ field }) => placeOf(field).name !== '' && !changed.includes(placeOf(field).name))
}

/** merged adds mistakes to others, and replaces those of the same fields. */
export const merged = (known: readonly FieldError[], found: readonly FieldError[]): FieldError[] => [...known.filter(({ field }) => !found.some((one) => one.field === field)), ...found]

/** ofRule returns the mistakes of one of several rules. */
export const ofRule = (fields: readonly FieldError[], at: number): FieldError[] => fields.filter(({ field }) => placeOf(field).rule === at)

/** withoutRule returns mistakes without those of a rule, and with the new places of the rules after it. */
export const withoutRule = (fields: readonly FieldError[], at: number): FieldError[] => fields.flatMap((one) => {
  const { rule } = placeOf(one.field)
  return rule === at ? [] : rule > at ? { ...one, field: one.field.replace(/\d+/, String(rule - 1)) } : one
})

/** problemsOf returns what is wrong with each field of a rule as the user typed it, equal mistakes of several lines together. */
export function problemsOf(fields: readonly FieldError[], rule: ChatRule): Record<string, string[]> {
  const found: Record<string, Map<string, number[]>> = {}
  for (const { field, description } of fields) {
    const { name, at } = placeOf(field)
    const of = (found[name] ??= new Map<string, number[]>())
    const lines = of.get(description) ?? []
    of.set(description, at === undefined ? lines : [...lines, lineOf(rule, name, at)])
  }
  return Object.fromEntries(Object.entries(found).map(([name, of]) => [name, [...of].map(([description, lines]) => {
    const quote = short((linesOf(rule, name)[lines[0]!] ?? '').trim())
    const where = lines.length === 0 ? '' : lines.length > 1 ? `Lines ${rangesOf(lines)}: ` : `Line ${lines[0]! + 1}${quote && `, “${quote}”`}: `
    return where + description.replace(/“([^”]*)”/g, (_, quoted: string) => `“${short(quoted)}”`)
  })]))
}

const short = (text: string): string => ([...text].length > maxQuote ? `${[...text].slice(0, maxQuote - 1).join('')}…` : text)

function linesOf(rule: ChatRule, name: string): string[] {
  const lines: unknown = rule[name as keyof ChatRule]
  return Array.isArray(lines) ? (lines as string[]) : []
}

/** lineOf returns which line an entry of a list is. Empty lines are not sent. */
const lineOf = (rule: ChatRule, name: string, at: number): number => linesOf(rule, name).flatMap((line, i) => (line.trim() ? i : []))[at] ?? at

/** rangesOf names lines as "1–3, 7". */
function rangesOf(lines: number[]): string {
  const ranges: [number, number][] = []
  for (const line of [...lines].sort((a, b) => a - b)) {
    const last = ranges.at(-1)
    if (last && line <= last[1] + 1) last[1] = line
    else ranges.push([line, line])
  }
  return ranges.map(([from, to]) => (from === to ? String(from + 1) : `${from + 1}–${to + 1}`)).join(', ')
}

/** told tells in short what is wrong: how many fields of a form, and what belongs to none of them. */
export function told(fields: readonly FieldError[]): string {
  const names = new Set(fields.map(({ field }) => field.replace(/\[\d+\]$/, '')))
  const general = fields.find(({ field }) => !field || /^(put|rules)(\[\d+\])?$/.test(field))
  return general ? general.description : `${plural(names.size, 'field needs', 'fields need')} a change.`
}

/** toldOf tells what is wrong with rules that no form shows. */
export function toldOf(fields: readonly FieldError[], rules: readonly ChatRule[]): string {
  const wrong = [...new Set(fields.map(({ field }) => placeOf(field).rule))]
  const rule = rules[wrong[0]!]
  if (!rule) return fields[0]!.description
  const [[name, problems]] = Object.entries(problemsOf(ofRule(fields, wrong[0]!), rule)) as [[string, string[]]]
  const more = wrong.length > 1 ? ` ${plural(wrong.length - 1, 'more rule needs', 'more rules need')} a change.` : ''
  return `“${rule.name}”: ${name && `${labelOf(rule, name)}: `}${problems[0]!.replace(/\.$/, '')}.${more}`
}
