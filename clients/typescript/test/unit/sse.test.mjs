import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Parser } from '../../dist/sse.js'

const stream = 'retry: 2000\n: listening\nid: a\n\nid: b\ndata: {"x":\ndata: 1}\n\nevent: missed\ndata:{}\n\n'
const messages = [
  { event: 'message', id: 'a', data: undefined },
  { event: 'message', id: 'b', data: '{"x":\n1}' },
  { event: 'missed', id: 'b', data: '{}' },
]

test('messages are the same wherever the stream is cut and however lines end', () => {
  for (const end of ['\n', '\r\n']) {
    const text = stream.replaceAll('\n', end)
    for (let cut = 0; cut <= text.length; cut++) {
      const parser = new Parser()
      assert.deepEqual([...parser.push(text.slice(0, cut)), ...parser.push(text.slice(cut))], messages, `cut at ${cut}`)
    }
  }
})

test('an unfinished message is not returned', () => {
  assert.deepEqual(new Parser().push('id: a\ndata: 1\n'), [])
})
