import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from './load.mjs'

const { changedFields, cleaned, differences, kinds, newRule, partsOf, problemsOf, readExport, summaryOf } = await load('model/rules.ts')
const { changesOf, modesOf, settings, textOf } = await load('model/modes.ts')
const rule = (ruleId, change) => ({ ...newRule('terms'), ruleId, name: `rule ${ruleId}`, terms: ['one', 'two'], ...change })

test('spans count code points, may touch, and may lie in each other', () => {
  const marked = (text, ...spans) => partsOf(text, spans.map(([start, end]) => ({ start, end })))
  assert.deepEqual(marked('plain'), ['plain'])
  assert.deepEqual(marked('👋 gems 👋', [2, 6]), ['👋 ', 'gems', ' 👋'])
  assert.deepEqual(marked('abcdef', [4, 6], [0, 2]), ['', 'ab', 'cd', 'ef', ''])
  assert.deepEqual(marked('abcdef', [0, 4], [1, 2], [3, 6]), ['', 'abcd', '', 'ef', ''])
})

test('what is wrong stands at its field, with the term that is meant', () => {
  const fields = [{ field: 'put[0].terms[1]', description: 'is too short' }, { field: 'put[0].name', description: 'is empty' }, { field: 'put', description: 'are too many' }]
  assert.deepEqual(problemsOf(fields, rule('a')), { terms: '“two” is too short', name: 'is empty', '': 'are too many' })
})

test('a rule is sent without empty lines, and with a time only if it mutes', () => {
  const sent = cleaned(rule('a', { name: ' x ', terms: [' one', '', 'two '], message: ' ', action: 'hold', muteSeconds: 60 }))
  assert.deepEqual([sent.name, sent.terms, sent.message, sent.muteSeconds], ['x', ['one', 'two'], null, null])
  assert.equal(cleaned(rule('a', { action: 'mute' })).muteSeconds, 600)
})

test('every kind has a rule to begin with, fields that rules have, and a summary', () => {
  for (const [kind, { inputs }] of Object.entries(kinds)) {
    for (const { name, type } of inputs) assert.ok(name in newRule(kind) && (type !== 'lines' || Array.isArray(newRule(kind)[name])), `${kind}: ${name}`)
    assert.ok(summaryOf(newRule(kind)).length > 3, kind)
  }
})

test('versions differ in rules, and lists in what only one of them has', () => {
  const before = [rule('a'), rule('b'), rule('c')]
  const after = [rule('a', { terms: ['two', 'three'], enabled: false }), rule('c'), rule('d')]
  assert.deepEqual(differences(before, after), [
    { kind: 'Changed', name: 'rule a', fields: [{ name: 'enabled', lost: 'true', gained: 'false' }, { name: 'terms', lost: 'one', gained: 'three' }] },
    { kind: 'Added', name: 'rule d', fields: [] }, { kind: 'Deleted', name: 'rule b', fields: [] },
  ])
  assert.deepEqual(changedFields(rule('a'), rule('a')), [])
})

test('an import replaces the rules that the channel has, and adds the others', () => {
  const text = JSON.stringify({ rules: [rule('a'), rule('b')] })
  assert.deepEqual(readExport(text, [rule('b')]).map(({ ruleId }) => ruleId), ['', 'b'])
  for (const wrong of ['{}', '[{"name":"x","kind":"spells"}]', '[1]']) assert.throws(() => readExport(wrong, []), /no list of rules/)
})

test('the modes that are on are named, and values that the page does not offer too', () => {
  const off = { slowSeconds: 0, followersOnlySeconds: -1, subscribersOnly: false, emoteOnly: false, minAccountAgeSeconds: 0, uniqueSeconds: 0, firstMessage: 'allow', exemptRoles: ['og', 'vip'], holdSeconds: 600, onHoldExpiry: 'deny' }
  assert.deepEqual(modesOf(off), [])
  const on = modesOf({ ...off, slowSeconds: 7, followersOnlySeconds: 0, emoteOnly: true, firstMessage: 'hold' })
  assert.deepEqual(on.map(({ text }) => text), ['Slow mode: 7 s', 'Followers only: All followers', 'Emotes only', 'First messages: Held for a moderator'])
  assert.equal(textOf(settings.find(({ name }) => name === 'exemptRoles'), ['og', 'vip']), 'VIPs and OGs')
  assert.deepEqual(changesOf({ slowSeconds: 0, exemptRoles: ['vip', 'og'], emoteOnly: true }, off), { emoteOnly: true })
})
