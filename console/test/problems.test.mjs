import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from './load.mjs'

const { costly, merged, problemsOf, remaining, told, toldOf, withoutRule } = await load('model/problems.ts')
const mistakes = (of) => Object.entries(of).map(([field, description]) => ({ field, description }))
const rule = { name: 'x', kind: 'terms', terms: ['one', '', ' two', 'three', 'four', 'x'.repeat(60)] }

test('what is wrong stands at its field, with the line that the user typed', () => {
  const fields = mistakes({ 'put[0].terms[1]': 'is too short', 'put[0].terms[4]': `has “${'y'.repeat(60)}”`, 'put[0].name': 'is empty', put: 'are too many' })
  assert.deepEqual(problemsOf(fields, rule), { terms: ['Line 3, “two”: is too short', `Line 6, “${'x'.repeat(39)}…”: has “${'y'.repeat(39)}…”`], name: ['is empty'], '': ['are too many'] })
})

test('equal mistakes of several lines are one', () => {
  const fields = mistakes({ 'put[0].terms[1]': 'is bad', 'put[0].terms[2]': 'is bad', 'put[0].terms[4]': 'is bad', 'put[0].terms[3]': 'is long' })
  assert.deepEqual(problemsOf(fields, rule).terms, ['Lines 3–4, 6: is bad', 'Line 5, “four”: is long'])
})

test('a change drops the mistakes of its field, and keeps the others', () => {
  const fields = mistakes({ 'put[0].name': 'is empty', 'put[0].terms[0]': 'is bad', put: 'are too many', 'put[0].sameSender': 'is required, or senders instead' })
  const left = (change) => remaining(fields, change).map(({ field }) => field)
  assert.deepEqual(left({ name: 'y' }), ['put[0].terms[0]', 'put[0].sameSender'])
  assert.deepEqual(left({ terms: [] }), ['put[0].name', 'put[0].sameSender'])
  assert.deepEqual(left({ senders: 3 }), ['put[0].name', 'put[0].terms[0]'])
  assert.deepEqual(merged(fields, mistakes({ 'put[0].name': 'is long', 'put[0].max': 'is bad' })).map(({ description }) => description), ['is bad', 'are too many', 'is required, or senders instead', 'is long', 'is bad'])
})

test('a rule that is removed takes its mistakes with it', () => {
  const fields = mistakes({ 'rules[0].name': 'is empty', 'rules[1].terms[3]': 'is bad', 'rules[2].terms[3]': 'is bad', 'settings.slowSeconds': 'is bad' })
  assert.deepEqual(withoutRule(fields, 1).map(({ field }) => field), ['rules[0].name', 'rules[1].terms[3]', 'settings.slowSeconds'])
})

test('a toast counts the fields, and says what no field shows', () => {
  assert.equal(told(mistakes({ 'put[0].terms[0]': 'a', 'put[0].terms[1]': 'b', 'put[0].name': 'c' })), '2 fields need a change.')
  assert.equal(told(mistakes({ '': 'The rule costs.' })), 'The rule costs.')
  assert.equal(toldOf(mistakes({ 'put[1].terms[1]': 'is bad', 'put[2].name': 'is empty' }), [rule, { ...rule, name: 'y' }, rule]), '“y”: Terms: Line 3, “two”: is bad. 1 more rule needs a change.')
})

test('rules that are too slow are told in words for moderators', () => {
  const description = 'takes the most steps of rules that would take too long for each message; make it simpler, or delete rules'
  const slow = (what) => `Together your rules are too slow. ${what} costs most: make it simpler, or delete rules.`
  assert.equal(costly({ field: 'put[0].patterns[0]', description }).description, slow('This pattern'))
  assert.equal(costly({ field: '', description: `the rule "No gems" (0f-1) ${description}` }).description, slow('The rule “No gems”'))
})
