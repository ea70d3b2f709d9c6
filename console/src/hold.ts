import type { HeldMessage } from '@moderato-live/client'
import { actions } from './actions'
import type { Desk } from './desk'
import { formatDuration } from './format'
import type { ChannelState } from './model/state'

export const statuses: Record<string, string> = { PENDING: 'Held', APPROVED: 'Approved', DENIED: 'Denied', EXPIRED: 'Expired', CANCELLED: 'Cancelled' }

/** How many messages the list beside the current one shows. */
export const maxListed = 50

/** firstListed returns where the list begins: where it began before, unless the current message would not be in it. */
export const firstListed = (before: number, at: number, count: number): number => Math.max(0, Math.min(before, at, count - maxListed), at - maxListed + 1)

/** isFound reports whether a held message matches filters. As on the server, the first of its rules is the one that held it. */
export const isFound = ({ rules, user }: HeldMessage, ruleId: string, userId: string): boolean => (!ruleId || rules[0] === ruleId) && (!userId || user.id === userId)

/** withFound returns the queue with further messages that were read, but not those that were decided meanwhile. */
export function withFound({ queue, recent }: Pick<ChannelState, 'queue' | 'recent'>, rows: HeldMessage[]): HeldMessage[] {
  const known = new Set(queue.map(({ messageId }) => messageId))
  for (const event of recent) if (event.type === 'channel.chat.hold.update' && event.payload.status !== 'PENDING') known.add(event.payload.messageId)
  return [...queue, ...rows.filter(({ messageId }) => !known.has(messageId))].sort((a, b) => Date.parse(a.heldAt) - Date.parse(b.heldAt))
}

/** Why a decision did not count. Of a message that somebody else decided, who it was. */
function reasonOf(result: string, status: string | null, by: string | undefined): string {
  if (result === 'ALREADY_DECIDED') return `It was ${(statuses[status ?? ''] ?? 'decided').toLowerCase()} before${by ? ` by ${by}` : ''}.`
  return { EXPIRED: 'The time for a decision had passed.', SENDER_REFUSED: 'The sender has since been banned or muted.' }[result] ?? 'The message no longer exists.'
}

/** decide approves or denies a held message, and reports whether the decision counted. */
export async function decide({ client, channel, store }: Desk, { messageId, user }: HeldMessage, decision: 'approve' | 'deny', muteSeconds?: number): Promise<boolean> {
  const [doing, done] = decision === 'approve' ? ['Approving', 'Approved'] : ['Denying', 'Denied']
  const what = `a message by ${user.displayName}${muteSeconds ? ` and muting them for ${formatDuration(muteSeconds)}` : ''}`
  return await actions.run(`${doing} ${what}`, `${done} ${what.replace('muting', 'muted')}`, async (options) => {
    const { results: [found] } = await client.held.decideHeldMessages({ channelId: channel.id, decisions: [{ messageId, decision, ...(muteSeconds && { muteSeconds }) }] }, options)
    const { result, status, decidedBy, decidedAt } = found!
    if (status && status !== 'PENDING') store.dispatch({ type: 'decided', messageId, hold: { status, decidedBy, decidedAt } })
    if (result !== 'APPROVED' && result !== 'DENIED') throw new Error(reasonOf(result, status, decidedBy?.displayName))
    return true
  }) === true
}
