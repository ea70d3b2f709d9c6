import { ModeratoError, type Moderato } from '@moderato-live/client'
import { formatDuration, formatFull } from './format'
import { Watched, useWatched } from './model/watched'

/** What the user did, with its state: shown as done only when the server confirmed it. */
export interface Notice {
  id: number
  /** What is being done, and what is done: "Banning Ada", "Banned Ada". */
  doing: string
  done: string
  state: 'busy' | 'done' | 'failed' | 'undone' | 'asking'
  /** The server's message, if it failed. */
  error?: string
  /** What "Try again" is named instead, if it does something else. */
  again?: string
  undo?: () => Promise<unknown>
  /** Which batch the undo lifts, if it lifts the bans of many users. */
  batchId?: string
  retry?: () => void
  /** The timer after which it leaves. */
  leaving?: ReturnType<typeof setTimeout> | undefined
}

/** Change sends a change with an idempotency key. */
export type Change<Result> = (options: { idempotencyKey: string }) => Promise<Result>

/** How long a notice is shown: longer if the user must read why. What failed stays until they repeat or dismiss it. */
const shownFor = 10_000
const reportFor = 30_000
const maxNotices = 2
const maxFailed = 20
const maxChanges = 100

/** Actions runs what the user does, and keeps what can be undone. */
class Actions extends Watched {
  notices: Notice[] = []
  /** Everything that this page did, latest last. */
  #changes: Notice[] = []
  #nextId = 1

  /**
   * run sends a change. A change that failed can be repeated with the same idempotency key, so
   * it happens once even if the first response was lost.
   */
  async run<Result>(doing: string, done: string, change: Change<Result>, undo?: (result: Result) => Change<unknown> | undefined, batchOf?: (result: Result) => string): Promise<Result | undefined> {
    const notice: Notice = { id: this.#nextId++, doing, done, state: 'busy' }
    this.#drop((other) => wasRefused(other) && other.doing === doing)
    const idempotencyKey = newKey()
    const attempt = async (): Promise<Result | undefined> => {
      this.#set(notice, { state: 'busy', error: '' })
      try {
        const result = await change({ idempotencyKey })
        const back = undo?.(result)
        if (batchOf) notice.batchId = batchOf(result)
        this.#set(notice, { state: 'done' })
        this.#remember(notice, back)
        return result
      } catch (error) {
        const failed: Partial<Notice> = { state: 'failed', error: messageOf(error) }
        if (isWorthRepeating(error)) failed.retry = () => void attempt()
        if (error instanceof InForceError) Object.assign(failed, { again: 'Replace it', retry: () => (this.dismiss(notice), error.replace()) })
        this.#set(notice, failed)
        return undefined
      }
    }
    return attempt()
  }

  /** tell tells of something that was done elsewhere, and returns its undo. */
  tell(done: string, back: Change<unknown>, batchId: string): () => void {
    const notice: Notice = { id: this.#nextId++, doing: done, done, state: 'done', batchId }
    this.#set(notice, {})
    this.#remember(notice, back)
    return () => void notice.undo?.()
  }

  /** report tells what is wrong with what the user asked for. */
  report(error: string): void {
    this.#set({ id: this.#nextId++, doing: '', done: '', state: 'failed', error }, {})
  }

  #remember(notice: Notice, back: Change<unknown> | undefined): void {
    const idempotencyKey = newKey()
    if (back) {
      notice.undo = async () => {
        this.#set(notice, { state: 'busy', doing: `Undoing “${notice.done}”` })
        try {
          await back({ idempotencyKey })
          this.#forget(notice)
          this.#set(notice, { state: 'undone' })
        } catch (error) {
          this.#set(notice, { state: 'failed', error: messageOf(error), retry: () => void notice.undo?.() })
        }
      }
    }
    this.#changes = [...this.#changes, notice].slice(-maxChanges)
    this.changed()
  }

  #forget(notice: Notice): void {
    this.#changes = this.#changes.filter((other) => other !== notice)
    delete notice.undo
  }

  /** wasUndone forgets a batch whose bans were lifted on another screen. */
  wasUndone(batchId: string): void {
    for (const notice of this.#changes) if (notice.batchId === batchId) this.#forget(notice)
    this.changed()
  }

  /**
   * undoLatest undoes the latest change, and never an earlier one instead: the user means what
   * they did last. It asks before it lifts the bans of a batch.
   */
  undoLatest(): void {
    const latest = this.#changes.at(-1)
    if (!latest) return this.report('There is nothing to undo on this page. Undo earlier bans and mutes in the log.')
    if (!latest.undo) return this.report(`“${latest.done}” cannot be undone.`)
    if (!latest.batchId || latest.state === 'asking') return void latest.undo()
    this.#set(latest, { state: 'asking' })
  }

  dismiss(notice: Notice): void {
    if (notice.state === 'asking') notice.state = 'done' // it asks again
    this.#drop((other) => other === notice)
  }

  /** leave drops what was refused on the screen that the user leaves. What can be repeated stays. */
  leave(): void {
    this.#drop(wasRefused)
  }

  #drop(isOver: (notice: Notice) => boolean): void {
    this.notices = this.notices.filter((notice) => !isOver(notice))
    this.changed()
  }

  #set(notice: Notice, change: Partial<Notice>): void {
    Object.assign(notice, change)
    if (change.state !== 'failed') delete notice.retry
    const all = [...this.notices.filter((other) => other !== notice), notice]
    const kept = [...all.filter(hasFailed).slice(-maxFailed), ...all.filter((one) => !hasFailed(one)).slice(-maxNotices)]
    this.notices = all.filter((one) => kept.includes(one))
    clearTimeout(notice.leaving)
    const stays = notice.state === 'busy' || hasFailed(notice)
    notice.leaving = stays ? undefined : setTimeout(() => this.dismiss(notice), notice.state === 'failed' ? reportFor : shownFor)
    this.changed()
  }
}

export const actions = new Actions()

export function useNotices(): Notice[] {
  useWatched(actions)
  return actions.notices
}

/** messageOf returns what to show for an error: the server's own sentence. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** hasFailed reports whether something that the user did failed, as opposed to a report. */
export const hasFailed = ({ state, doing }: Notice): boolean => state === 'failed' && doing !== ''

const wasRefused = ({ state, retry }: Notice): boolean => state === 'failed' && !retry

/** Conflicts that last until somebody changes something. */
const lasting = ['RULE_LIMIT_REACHED', 'VERSION_CONFLICT']

function isWorthRepeating(error: unknown): boolean {
  return error instanceof ModeratoError && !lasting.includes(error.code) && (error.status === undefined || error.status >= 500 || error.status === 429 || error.status === 409)
}

export function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Target is the user whom an action concerns. */
export interface Target {
  id: string
  displayName: string
}

/** InForceError says that nothing was done, because somebody else's ban or mute is in force. The user may replace it. */
class InForceError extends Error {
  readonly replace: () => void

  constructor(message: string, replace: () => void) {
    super(message)
    this.replace = replace
  }
}

const isOver = (kind: 'ban' | 'mute'): Error => new Error(`That ${kind} is no longer in force: somebody changed or removed it.`)

/**
 * ban bans a user, or makes the ban in force last longer. Only with `replace` does it weaken a ban.
 * Its undo lifts this ban alone. A ban that replaced another one has no undo, because that would free
 * whom somebody else banned.
 */
export function ban(client: Moderato, channelId: string, target: Target, reason?: string, durationSeconds?: number, replace = false): Promise<unknown> {
  return actions.run(
    `Banning ${target.displayName}`, `Banned ${target.displayName}${durationSeconds ? ` for ${formatDuration(durationSeconds)}` : ''}`,
    async (options) => {
      const { ban: before } = await client.moderation.getUser({ channelId, userId: target.id })
      const made = await client.moderation.banUser({ channelId, banUserId: target.id, reason: reason || null, durationSeconds: durationSeconds ?? null, replace }, options)
      if (made.changed === false) throw new InForceError(`${target.displayName} is already banned ${made.expiresAt ? `until ${formatFull(made.expiresAt)}` : 'permanently'}.`, () => void ban(client, channelId, target, reason, durationSeconds, true))
      return { bannedAt: made.bannedAt, isFirst: !before || before.bannedAt === made.bannedAt }
    },
    ({ bannedAt, isFirst }) => isFirst ? async (options) => {
      const { ban: present } = await client.moderation.getUser({ channelId, userId: target.id })
      if (present?.bannedAt !== bannedAt) throw isOver('ban')
      return client.moderation.removeBan({ channelId, banUserId: target.id, restoreMessages: true }, options)
    } : undefined,
  )
}

export function unban(client: Moderato, channelId: string, target: Target, restoreMessages = true): Promise<unknown> {
  return actions.run(
    `Unbanning ${target.displayName}`, `Unbanned ${target.displayName}`,
    (options) => client.moderation.removeBan({ channelId, banUserId: target.id, restoreMessages }, options),
  )
}

/** mute mutes a user who is not muted; with `replace` also one who is, which has no undo. */
export function mute(client: Moderato, channelId: string, target: Target, durationSeconds: number, reason?: string, replace = false): Promise<unknown> {
  return actions.run(
    `Muting ${target.displayName}`, `Muted ${target.displayName} for ${formatDuration(durationSeconds)}`,
    (options) => client.moderation.muteUser({ channelId, mutedUserId: target.id, durationSeconds, reason: reason || null, replace }, options).catch((error: ModeratoError) => {
      if (error.code !== 'MUTE_ACTIVE' || !error.muteExpiresAt) throw error
      throw new InForceError(`${target.displayName} is already muted until ${formatFull(error.muteExpiresAt.toISOString())}.`, () => void mute(client, channelId, target, durationSeconds, reason, true))
    }),
    ({ muteExpiresAt }) => replace ? undefined : async (options) => {
      const { mute: present } = await client.moderation.getUser({ channelId, userId: target.id })
      if (present?.muteExpiresAt !== muteExpiresAt) throw isOver('mute')
      return client.moderation.removeMute({ channelId, mutedUserId: target.id, restoreMessages: true }, options)
    },
  )
}

export function unmute(client: Moderato, channelId: string, target: Target): Promise<unknown> {
  return actions.run(
    `Unmuting ${target.displayName}`, `Unmuted ${target.displayName}`,
    (options) => client.moderation.removeMute({ channelId, mutedUserId: target.id, restoreMessages: true }, options),
  )
}

export function deleteMessage(client: Moderato, channelId: string, messageId: string, author: Target): Promise<unknown> {
  return actions.run(
    `Deleting a message by ${author.displayName}`, `Deleted a message by ${author.displayName}`,
    (options) => client.chat.deleteMessage({ channelId, messageId }, options),
  )
}
