import { ModeratoError, type Moderato } from '@moderato-live/client'
import { useEffect, useState } from 'preact/hooks'
import { formatDuration } from './format'

/** What the user did, with its state: shown as done only when the server confirmed it. */
export interface Notice {
  id: number
  /** What is being done, and what is done: "Banning Ada", "Banned Ada". */
  doing: string
  done: string
  state: 'busy' | 'done' | 'failed' | 'undone'
  /** The server's message, if it failed. */
  error?: string
  undo?: () => Promise<unknown>
  retry?: () => void
}

/** Change sends a change with an idempotency key. */
export type Change<Result> = (options: { idempotencyKey: string }) => Promise<Result>

/** How long a notice of something done is shown. One that failed stays. */
const shownFor = 10_000
const maxNotices = 4

/** Actions runs what the user does, and keeps what can be undone. */
class Actions {
  notices: Notice[] = []
  /** Everything that this page did and can undo, latest last. */
  #undoable: Notice[] = []
  #nextId = 1
  readonly #listeners = new Set<() => void>()

  /**
   * run sends a change. A change that failed can be repeated with the same idempotency key, so
   * it happens once even if the first response was lost.
   */
  async run<Result>(doing: string, done: string, change: Change<Result>, undo?: (result: Result) => Change<unknown> | undefined): Promise<Result | undefined> {
    const notice: Notice = { id: this.#nextId++, doing, done, state: 'busy' }
    const idempotencyKey = newKey()
    const attempt = async (): Promise<Result | undefined> => {
      this.#set(notice, { state: 'busy', error: '' })
      try {
        const result = await change({ idempotencyKey })
        const back = undo?.(result)
        this.#set(notice, { state: 'done' })
        if (back) this.#remember(notice, back)
        this.#expire(notice)
        return result
      } catch (error) {
        const failed: Partial<Notice> = { state: 'failed', error: messageOf(error) }
        if (isWorthRepeating(error)) failed.retry = () => void attempt()
        this.#set(notice, failed)
        return undefined
      }
    }
    return attempt()
  }

  /** tell tells of something that was done elsewhere, and returns its undo. */
  tell(done: string, back: Change<unknown>): () => void {
    const notice: Notice = { id: this.#nextId++, doing: done, done, state: 'done' }
    this.#set(notice, {})
    this.#remember(notice, back)
    this.#expire(notice)
    return () => void notice.undo?.()
  }

  #remember(notice: Notice, back: Change<unknown>): void {
    const idempotencyKey = newKey()
    notice.undo = async () => {
      this.#set(notice, { state: 'busy' })
      try {
        await back({ idempotencyKey })
        this.#undoable = this.#undoable.filter((other) => other !== notice)
        delete notice.undo
        this.#set(notice, { state: 'undone' })
        this.#expire(notice)
      } catch (error) {
        this.#set(notice, { state: 'failed', error: messageOf(error), retry: () => void notice.undo?.() })
      }
    }
    this.#undoable.push(notice)
    this.#draw()
  }

  /** undoLatest undoes the latest change that can be undone, and reports whether there was one. */
  undoLatest(): boolean {
    const latest = this.#undoable.at(-1)
    void latest?.undo?.()
    return latest !== undefined
  }

  dismiss(notice: Notice): void {
    this.notices = this.notices.filter((other) => other !== notice)
    this.#draw()
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #set(notice: Notice, change: Partial<Notice>): void {
    Object.assign(notice, change)
    if (change.state !== 'failed') delete notice.retry
    this.notices = [...this.notices.filter((other) => other !== notice), notice].slice(-maxNotices)
    this.#draw()
  }

  #expire(notice: Notice): void {
    const { state } = notice
    setTimeout(() => notice.state === state && this.dismiss(notice), shownFor)
  }

  #draw(): void {
    for (const listener of this.#listeners) listener()
  }
}

export const actions = new Actions()

export function useNotices(): Notice[] {
  const [notices, set] = useState(actions.notices)
  useEffect(() => actions.subscribe(() => set([...actions.notices])), [])
  return notices
}

/** messageOf returns what to show for an error: the server's own sentence. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function isWorthRepeating(error: unknown): boolean {
  return error instanceof ModeratoError && (error.status === undefined || error.status >= 500 || error.status === 429 || error.status === 409)
}

export function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Target is the user whom an action concerns. */
export interface Target {
  id: string
  displayName: string
}

export function ban(client: Moderato, channelId: string, target: Target, reason?: string, durationSeconds?: number): Promise<unknown> {
  return actions.run(
    `Banning ${target.displayName}`, `Banned ${target.displayName}${durationSeconds ? ` for ${formatDuration(durationSeconds)}` : ''}`,
    (options) => client.moderation.banUser({ channelId, banUserId: target.id, reason: reason || null, durationSeconds: durationSeconds ?? null, replace: true }, options),
    () => (options) => client.moderation.removeBan({ channelId, banUserId: target.id, restoreMessages: true }, options),
  )
}

export function unban(client: Moderato, channelId: string, target: Target, restoreMessages = true): Promise<unknown> {
  return actions.run(
    `Unbanning ${target.displayName}`, `Unbanned ${target.displayName}`,
    (options) => client.moderation.removeBan({ channelId, banUserId: target.id, restoreMessages }, options),
  )
}

export function mute(client: Moderato, channelId: string, target: Target, durationSeconds: number, reason?: string): Promise<unknown> {
  return actions.run(
    `Muting ${target.displayName}`, `Muted ${target.displayName} for ${formatDuration(durationSeconds)}`,
    (options) => client.moderation.muteUser({ channelId, mutedUserId: target.id, durationSeconds, reason: reason || null, replace: true }, options),
    () => (options) => client.moderation.removeMute({ channelId, mutedUserId: target.id, restoreMessages: true }, options),
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
