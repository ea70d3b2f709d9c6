import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from './load.mjs'

const { csvOf, readList, textOf } = await load('model/csv.ts')
const names = (text) => readList(text).users.map((user) => user.username ?? user.userId)

test('plain lists', () => {
  assert.deepEqual(names('ada\n@Bob\r\n\n  carl \rd.e-f_1'), ['ada', 'Bob', 'carl', 'd.e-f_1'])
  const id = '019aa123-4c00-7d11-9c0e-5f2a64c1b8d7'
  assert.deepEqual(readList(id).users, [{ userId: id }])
  assert.deepEqual(readList('').users, [])
})

test('a header, a byte order mark, duplicates and blank lines', () => {
  const list = readList('\ufeffUsername\nada\n\nADA\n@ada\nbob\n')
  assert.deepEqual(list.users, [{ username: 'ada' }, { username: 'bob' }])
  assert.equal(list.header, 'Username')
  assert.equal(list.duplicates, 2)
  assert.deepEqual(names('ada\nname'), ['ada', 'name'], 'only the first line can be a header')
})

test('a list that ends with a delimiter', () => assert.deepEqual(names('ada,\nbob,'), ['ada', 'bob']))

test('CSV: the first column, quotes, other delimiters', () => {
  assert.deepEqual(names('username,reason\n"ada","said ""hi"", twice"\nbob,x\n'), ['ada', 'bob'])
  assert.deepEqual(names('ada;spam\nbob\tspam'), ['ada', 'bob'])
})

test('a line break in a quoted field begins no user', () => {
  const list = readList('ada,"first line\nsecond\nthird"\nbad name\n')
  assert.deepEqual(list.users, [{ username: 'ada' }])
  assert.deepEqual(list.problems, [{ line: 4, text: 'bad name' }])
})

test('a stray quote takes only its own line', () => {
  assert.deepEqual(names(`ada,"oops\n${'bob\n'.repeat(1)}${'carl-'.padEnd(30, 'x')}\n${'#'.repeat(2100)}\ndora`), ['ada', 'bob', 'carl-'.padEnd(30, 'x'), 'dora'])
})

test('lines that cannot be a username', () => {
  assert.deepEqual(readList('two words\nname\u200b\n' + 'x'.repeat(41)).problems.map((p) => p.line), [1, 2, 3])
})

test('100,000 lines take no time to speak of', () => {
  const text = Array.from({ length: 100_000 }, (_, i) => `"user_${i}",spam`).join('\r\n')
  const start = performance.now()
  assert.equal(readList(text).users.length, 100_000)
  assert.ok(performance.now() - start < 5000)
})

test('an export has no formulas, and an import reads it back', () => {
  const text = csvOf([['username', 'reason'], ['-ada-', '=HYPERLINK("x")'], ['bob', 'a, b']])
  assert.equal(text, '\ufeffusername,reason\r\n"\'-ada-","\'=HYPERLINK(""x"")"\r\nbob,"a, b"\r\n')
  assert.deepEqual(names(text), ['-ada-', 'bob'])
})

test('files of spreadsheets', () => {
  assert.deepEqual(names(textOf(new Uint8Array(Buffer.from('\ufeffada\r\nbob', 'utf16le')))), ['ada', 'bob'])
  assert.deepEqual(names(textOf(new Uint8Array(Buffer.from('\ufeffada\r\nbob')))), ['ada', 'bob'])
})
