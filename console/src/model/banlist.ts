import type { BanUsersRequest, Moderato } from '@moderato-live/client'
import { newKey } from '../actions'
import type { Step } from '../ui/job'
import type { Target } from './csv'

/** How many users one call bans. */
export const atOnce = 1000
/** A call is repeated after failures that pass, with the same idempotency key. */
const retries = 3

/** How a list is banned. */
export type Terms = Pick<BanUsersRequest, 'reason' | 'durationSeconds'>

export interface Checked {
  /** The users who would be banned, without those who have a role. */
  users: string[]
  /** Those who would be banned although they have a role. */
  withRole: { id: string; name: string; role: string }[]
  /** How many users have each status. */
  counts: Record<string, number>
  /** The names and ids that no user has. */
  unknown: string[]
  /** When this was known, by performance.now(). */
  at: number
}

/** dryRun tells what a ban of a list would do; nothing if it was stopped. */
export async function dryRun(client: Moderato, channelId: string, targets: Target[], terms: Terms, step: Step): Promise<Checked | undefined> {
  const checked: Checked = { users: [], withRole: [], counts: {}, unknown: [], at: 0 }
  const seen = new Set<string>()
  const roles = await readRoles(client, channelId)
  for (let next = 0; next < targets.length; next += atOnce) {
    if (!step.goesOn()) return undefined
    const users = targets.slice(next, next + atOnce)
    const { results } = await client.moderation.banUsers({ channelId, users, ...terms, dryRun: true }, { retries })
    for (const [i, { status, userId, username }] of results.entries()) {
      // A user can be in the list by name and by id, in different calls.
      const shown = userId && seen.has(userId) ? 'DUPLICATE' : status
      checked.counts[shown] = (checked.counts[shown] ?? 0) + 1
      if (shown === 'USER_NOT_FOUND') checked.unknown.push(Object.values(users[i]!)[0]!)
      if (!userId) continue
      seen.add(userId)
      const role = roles.get(userId)
      if (shown !== 'BANNED' && shown !== 'EXTENDED') continue
      if (role) checked.withRole.push({ id: userId, name: username ?? userId, role })
      else checked.users.push(userId)
    }
    step.advance(next + users.length)
  }
  return { ...checked, at: performance.now() }
}

async function readRoles(client: Moderato, channelId: string): Promise<Map<string, string>> {
  const roles = new Map<string, string>()
  let cursor: string | undefined
  do {
    const page = await client.moderation.listRoles({ channelId, limit: 100, cursor }, { signal: AbortSignal.timeout(30_000) })
    // Moderators come first, and that is the role that is shown.
    for (const { id, role } of page.rows) if (!roles.has(id)) roles.set(id, role)
    cursor = page.pagination.cursor
  } while (cursor)
  return roles
}

/** Commit bans the users of a dry run, a thousand at a time. It goes on where it failed or stopped. */
export class Commit {
  /** How many users were banned, by this call or already by another one. */
  readonly counts: Record<string, number> = {}
  /** The batches that can be undone. */
  batchIds: string[] = []
  #next = 0
  readonly #keys: string[] = []

  constructor(readonly client: Moderato, readonly channelId: string, readonly users: string[], readonly terms: Terms) {}

  get done(): number {
    return this.#next
  }

  get banned(): number {
    return (this.counts.BANNED ?? 0) + (this.counts.EXTENDED ?? 0)
  }

  async run(step: Step): Promise<void> {
    step.advance(this.#next)
    while (this.#next < this.users.length && step.goesOn()) {
      const users = this.users.slice(this.#next, this.#next + atOnce).map((userId) => ({ userId }))
      // The same users have the same key each time, so they are banned once if a response was lost.
      const idempotencyKey = (this.#keys[this.#next / atOnce] ??= newKey())
      const { batchId, results } = await this.client.moderation.banUsers({ channelId: this.channelId, users, ...this.terms }, { idempotencyKey, retries })
      for (const { status } of results) this.counts[status] = (this.counts[status] ?? 0) + 1
      if (batchId) this.batchIds.push(batchId)
      this.#next += users.length
      step.advance(this.#next)
    }
  }

  /** undo lifts the bans, the latest batch first, and shows the messages again. */
  async undo(): Promise<void> {
    for (let batchId = this.batchIds.at(-1); batchId; batchId = this.batchIds.at(-1)) {
      await this.client.moderation.undoBanBatch({ channelId: this.channelId, batchId, restoreMessages: true }, { retries })
      this.batchIds.pop()
    }
  }
}
