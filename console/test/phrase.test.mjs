import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from './load.mjs'

const { suggestPhrase } = await load('screens/phrase.ts')

test('the phrase is what all messages share', () => {
  assert.equal(suggestPhrase(['get FREE skins now at example', 'wow free skins now lol', 'Free Skins now']), 'FREE skins now')
  assert.equal(suggestPhrase(['one text']), 'one text')
  assert.equal(suggestPhrase(['nothing', 'in common']), 'nothing')
  assert.equal(suggestPhrase([]), '')
  assert.equal([...suggestPhrase(['😀'.repeat(300)])].length, 100)
})
