import type { BanBatch, CommitSweepResponse, Moderato, PreviewSweepResponse } from '@moderato-live/client'
import { actions, type Change } from './actions'
import { now } from './api/clock'
import { plural } from './format'
import { Watched, useWatched } from './model/watched'

/** Conditions say whom a sweep bans. A duration of 0 is not asked for. */
export interface Conditions {
  kind: 'phrase' | 'pattern'
  text: string
  within: number
  followedWithin: number
  firstMessageWithin: number
  exemptFollowersOlderThan: number
  exemptSubscribers: boolean
}

const initial: Conditions = {
  kind: 'phrase', text: '', within: 600, followedWithin: 0, firstMessageWithin: 0, exemptFollowersOlderThan: 604_800, exemptSubscribers: true,
}

export interface Preview {
  conditions: Conditions
  result: PreviewSweepResponse
}

/** What is asked of a commit. */
export interface Terms {
  reason: string
  durationSeconds: number
  afterglowSeconds: number
}

/** A commit, from the moment when the user confirmed it. */
export interface Commit {
  state: 'busy' | 'done' | 'failed'
  matched: number
  terms: Terms
  startedAt: number
  /** Its batch, once the server lists it. */
  batch?: BanBatch | undefined
  result?: CommitSweepResponse
  error?: unknown
  undone?: boolean
  retry: () => void
}

/** How often the progress of a commit is read: while the server bans, and after a commit that failed. */
const busyInterval = 700
const failedInterval = 3000

/** Sweep is a sweep of a channel. It goes on while another screen is shown. */
export class Sweep extends Watched {
  conditions = initial
  preview: Preview | undefined
  previewError: unknown
  previewing = false
  commit: Commit | undefined
  /** The terms of the latest commit, or else what a sweep begins with. */
  terms: Terms = { reason: '', durationSeconds: 0, afterglowSeconds: 0 }
  readonly #client: Moderato
  readonly #channelId: string
  readonly #userId: string

  constructor(client: Moderato, channelId: string, userId: string) {
    super()
    this.#client = client
    this.#channelId = channelId
    this.#userId = userId
  }

  set(change: Partial<Conditions>): void {
    this.conditions = { ...this.conditions, ...change }
    this.changed()
  }

  async find(): Promise<void> {
    const { conditions } = this
    this.preview = undefined
    this.previewError = undefined
    this.previewing = true
    this.changed()
    try {
      this.preview = { conditions, result: await this.#client.moderation.previewSweep({ channelId: this.#channelId, ...requestOf(conditions) }) }
    } catch (error) {
      this.previewError = error
    }
    this.previewing = false
    this.changed()
  }

  /**
   * ban bans the users of the preview. A repeated call with the same key waits for the end of
   * the same sweep.
   */
  ban(terms: Terms): void {
    const { result: { sweepToken, matched } } = this.preview!
    let key: string | undefined
    const body = {
      channelId: this.#channelId, sweepToken, reason: terms.reason || null,
      durationSeconds: terms.durationSeconds || null, afterglowSeconds: terms.afterglowSeconds || null,
    }
    const send: Change<CommitSweepResponse> = async (options) => {
      key ??= options.idempotencyKey
      this.#progress({ state: 'busy' })
      try {
        for (;;) {
          const result = await this.#client.moderation.commitSweep(body, { idempotencyKey: key })
          this.#progress({ result })
          if (result.status === 'IN_PROGRESS') continue
          this.#progress({ state: 'done' })
          return result
        }
      } catch (error) {
        this.#progress({ state: 'failed', error })
        throw error
      }
    }
    const run = (): void => void actions.run(`Banning ${plural(matched, 'user')}`, `Banned ${plural(matched, 'user')} in a sweep`, send, ({ batchId }) => this.#undo(batchId), ({ batchId }) => batchId)
    this.terms = terms
    this.commit = { state: 'busy', matched, terms, startedAt: now(), retry: run }
    this.preview = undefined
    run()
    void this.#follow(this.commit)
  }

  #undo(batchId: string): Change<unknown> {
    return async (options) => {
      const { counts } = await this.#client.moderation.undoBanBatch({ channelId: this.#channelId, batchId, restoreMessages: true }, options)
      this.wasUndone(batchId)
      return counts
    }
  }

  wasUndone(batchId: string): void {
    if (this.commit && batchIdOf(this.commit) === batchId) this.#progress({ undone: true })
  }

  /** see takes over how the batch of the commit is now. Others lift its bans too. */
  see(rows: readonly BanBatch[]): void {
    const { commit } = this
    if (!commit || commit.undone) return
    const id = commit.result?.batchId
    // The server answers with the id only after a while. Until then it is the user's own batch since the start.
    const batch = rows.find((row) => (id ? row.batchId === id : row.bannedBy.id === this.#userId && Date.parse(row.createdAt) >= commit.startedAt))
    if (!batch) return
    this.#progress({ batch })
    if (commit.state === 'busy' || !isOver(batch)) return
    actions.wasUndone(batch.batchId)
    this.#progress({ undone: true })
  }

  /** again looks for users who came after the preview of a commit that has ended. */
  again(): void {
    this.commit = undefined
    void this.find()
  }

  /** close forgets a commit that has ended, and its conditions. */
  close(): void {
    this.commit = undefined
    this.conditions = initial
    this.terms = { ...this.terms, reason: '' }
    this.changed()
  }

  /**
   * follow reads how far the batch has come, until the commit is done; from then on, the screen
   * reads it. A commit that failed is followed as well: the server may have done it.
   */
  async #follow(commit: Commit): Promise<void> {
    while (this.commit === commit && !commit.undone && !(commit.state === 'done' && commit.batch)) {
      await new Promise((resolve) => setTimeout(resolve, commit.state === 'failed' ? failedInterval : busyInterval))
      await this.#read(commit).catch(() => undefined) // The next round asks again.
    }
  }

  async #read(commit: Commit): Promise<void> {
    const { rows } = await this.#client.moderation.listBanBatches({ channelId: this.#channelId, limit: 20 })
    if (this.commit === commit) this.see(rows)
  }

  #progress(change: Partial<Commit>): void {
    if (this.commit) Object.assign(this.commit, change)
    this.changed()
  }
}

/** isOver reports whether nothing of a batch is in force any more. */
const isOver = ({ bannedCount, stillBannedCount, afterglowEndsAt }: BanBatch): boolean => bannedCount > 0 && stillBannedCount === 0 && !afterglowEndsAt

export const batchIdOf = ({ result, batch }: Commit): string | undefined => result?.batchId ?? batch?.batchId

/** afterglowEnd returns when the afterglow of a commit ends, by the server's clock; 0 if it has ended. */
export const afterglowEnd = ({ batch, startedAt, terms }: Commit): number =>
  batch ? (batch.afterglowEndsAt ? Date.parse(batch.afterglowEndsAt) : 0) : startedAt + terms.afterglowSeconds * 1000

/** requestOf returns the conditions as the server takes them. */
export function requestOf({ kind, text, within, followedWithin, firstMessageWithin, exemptFollowersOlderThan, exemptSubscribers }: Conditions) {
  return {
    ...(text && { [kind]: text }), withinSeconds: within,
    followedWithinSeconds: followedWithin || null, firstMessageWithinSeconds: firstMessageWithin || null,
    exemptFollowersOlderThanSeconds: exemptFollowersOlderThan, exemptSubscribers,
  }
}

/** problemOf says why conditions cannot be sent; empty if they can. */
export function problemOf({ text, followedWithin, firstMessageWithin }: Conditions): string {
  if ([...text].length > 500) return 'The text can have 500 characters.'
  return text || followedWithin || firstMessageWithin ? '' : 'Give a phrase or pattern, or say how new the users are.'
}

/** splitAround cuts a text where a phrase stands in it. Every second part is the phrase. */
export function splitAround(text: string, phrase: string): string[] {
  if (!phrase) return [text]
  return text.split(new RegExp(`(${phrase.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')})`, 'giu'))
}

const sweeps = new Map<string, Sweep>()

/** useSweep returns the user's sweep of a channel, and draws the component again when it changes. */
export function useSweep(client: Moderato, channelId: string, userId: string): Sweep {
  const key = `${channelId} ${userId}`
  let sweep = sweeps.get(key)
  if (!sweep) sweeps.set(key, (sweep = new Sweep(client, channelId, userId)))
  useWatched(sweep)
  return sweep
}
