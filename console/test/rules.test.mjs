import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from './load.mjs'

const { changedFields, cleaned, differences, isKind, kinds, newRule, partsOf, placedIn, readExport, summaryOf } = await load('model/rules.ts')
const { changesOf, modesOf, settings, textOf, undoOf } = await load('model/modes.ts')
const rule = (ruleId, change) => ({ ...newRule('terms'), ruleId, name: `rule ${ruleId}`, terms: ['one', 'two'], ...change })

test('spans count code points, may touch, and may lie in each other', () => {
  const marked = (text, ...spans) => partsOf(text, spans.map(([start, end]) => ({ start, end })))
  assert.deepEqual(marked('plain'), ['plain'])
  assert.deepEqual(marked('👋 gems 👋', [2, 6]), ['👋 ', 'gems', ' 👋'])
  assert.deepEqual(marked('abcdef', [4, 6], [0, 2]), ['', 'ab', 'cd', 'ef', ''])
  assert.deepEqual(marked('abcdef', [0, 4], [1, 2], [3, 6]), ['', 'abcd', '', 'ef', ''])
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

test('versions differ in rules, said as the editor does, and lists in what only one of them has', () => {
  const before = [rule('a'), rule('b'), rule('c')]
  const after = [rule('a', { terms: ['two', 'three'], enabled: false, action: 'mute', muteSeconds: 3600, expiresAt: '2027-01-05T10:00:00Z', exemptRoles: ['vip'], evasions: true }), rule('c'), rule('d')]
  const [changed, added, deleted] = differences(before, after)
  assert.deepEqual(changed.fields.filter(({ label }) => label !== 'Ends'), [
    { label: 'What happens to the message', lost: ['Hold'], gained: ['Mute'] }, { label: 'Muted for', lost: [], gained: ['1 h'] },
    { label: 'State', lost: ['On'], gained: ['Off'] }, { label: 'Exempt, beside the owner and moderators', lost: [], gained: ['VIPs'] },
    { label: 'Terms', lost: ['one'], gained: ['three'] }, { label: 'Also with digits for letters, repeated letters, and letters with something between them', lost: ['No'], gained: ['Yes'] },
  ])
  assert.match(changed.fields.find(({ label }) => label === 'Ends').gained[0], /^5 Jan 2027, \d\d:00$/)
  assert.deepEqual([added, deleted].map(({ kind, rule: { name } }) => [kind, name]), [['Added', 'rule d'], ['Deleted', 'rule b']])
  assert.deepEqual(changedFields(rule('a'), rule('a')), [])
})

test('an import replaces the rules that the channel has, and adds the others', () => {
  const text = JSON.stringify({ rules: [rule('a'), rule('b')] })
  assert.deepEqual(readExport(text, [rule('b')]).map(({ ruleId }) => ruleId), ['', 'b'])
  for (const wrong of ['{}', '[{"name":"x","kind":"spells"}]', '[{"name":"x","kind":"constructor"}]', '[1]', 'null']) assert.throws(() => readExport(wrong, []), /no list of rules/)
})

test('a kind is one of the list, whatever else an object has', () => assert.deepEqual(['caps', 'constructor', ''].map(isKind), [true, false, false]))

test('a rule that was removed comes back as a new one', () => assert.deepEqual(placedIn([rule('a')], [rule('a'), rule('b')]).map(({ ruleId }) => ruleId), ['a', '']))

test('the modes that are on are named, and values that the page does not offer too', () => {
  const off = { slowSeconds: 0, followersOnlySeconds: -1, subscribersOnly: false, emoteOnly: false, minAccountAgeSeconds: 0, uniqueSeconds: 0, firstMessage: 'allow', exemptRoles: ['og', 'vip'], holdSeconds: 600, onHoldExpiry: 'deny' }
  assert.deepEqual(modesOf(off), [])
  const on = modesOf({ ...off, slowSeconds: 7, followersOnlySeconds: 0, emoteOnly: true, firstMessage: 'hold' })
  assert.deepEqual(on.map(({ text }) => text), ['Slow mode: 7 s', 'Followers only: All followers', 'Emotes only', 'First messages: Held for a moderator'])
  assert.equal(textOf(settings.find(({ name }) => name === 'exemptRoles'), ['og', 'vip']), 'VIPs and OGs')
  assert.deepEqual(changesOf({ slowSeconds: 0, exemptRoles: ['vip', 'og'], emoteOnly: true }, off), { emoteOnly: true })
})

test('an undo puts back what was, unless that was for a time', () => {
  assert.deepEqual(undoOf({ slowSeconds: 5 }, { slowSeconds: 30, emoteOnly: true }, [{ setting: 'emoteOnly' }]), { slowSeconds: 30 })
  assert.equal(undoOf({ slowSeconds: 5 }, { slowSeconds: 30 }, [{ setting: 'slowSeconds' }]), undefined)
})
