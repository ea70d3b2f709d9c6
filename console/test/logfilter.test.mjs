import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from './load.mjs'

const { filtersOf, isFor, localTime, logQueryOf, newEntries, timeOf, undoable } = await load('model/logfilter.ts')
const at = (minute) => new Date(Date.UTC(2026, 10, 26, 12, minute)).toISOString()
const filters = (query = '') => filtersOf(new URLSearchParams(query))

test('filters of the address become the query of the server', () => {
  assert.deepEqual(logQueryOf(filters('group=mutes&by=m&last=3600&cause=batch'), 'c', Date.parse(at(30))), {
    channelId: 'c', type: ['channel.mute', 'channel.unmute', 'channel.mute.expire'], moderatorId: 'm', since: at(-30), cause: ['batch'],
  })
  assert.equal(logQueryOf(filters(`since=${at(1)}&last=chosen`), 'c', 0).since, at(1))
  assert.ok(!logQueryOf(filters(), 'c', 0).type.includes('channel.chat.clear_user_messages'))
})

const event = (id, type, minute, payload = {}) => ({ type, payload, metadata: { messageId: id, messageTimestamp: at(minute) } })

test('new entries are those that the filters want and that are not shown', () => {
  const events = [event('4', 'channel.follow', 9), event('3', 'channel.ban', 8, { moderatorId: 'm', bannedUserDisplayName: 'Ada' }), event('2', 'channel.mute', 7), event('1', 'channel.ban', 3)]
  const rows = [{ id: '2', createdAt: at(7) }, { id: '1', createdAt: at(3) }]
  assert.equal(newEntries(filters(), events, rows, 0), 1)
  assert.equal(newEntries(filters('by=other'), events, rows, 0), 0)
  assert.equal(newEntries(filters('query=ad'), events, rows, 0), 1)
  assert.equal(newEntries(filters('group=bans'), events, [], Date.parse(at(8))), 1)
  assert.equal(isFor(filters(`until=${at(8)}`), events[1]), false)
})

const row = (id, type, user, minute, expiresAt = null) => ({ id, type, user: { id: user }, createdAt: at(minute), expiresAt })

test('only the latest sanction of a user can be undone, and only while it is in force', () => {
  const rows = [row('e', 'channel.unban', 'ada', 50), row('d', 'channel.ban', 'bo', 40), row('c', 'channel.mute', 'bo', 30, at(35)), row('b', 'channel.ban', 'bo', 20), row('a', 'channel.ban', 'ada', 10)]
  assert.deepEqual([...undoable(rows, Date.parse(at(55)))], ['d'])
  assert.deepEqual([...undoable(rows, Date.parse(at(40)) + 86_400_001)], [])
})

test('a local time survives the field', () => {
  assert.equal(timeOf(localTime(at(17))), at(17))
  assert.equal(localTime(''), '')
  assert.equal(timeOf(''), '')
})
