/// <reference types="node" />
import { readFileSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import type { Tokens } from './auth.js'
import type { Event, EventType } from './event.js'
import type { EventStream } from './events.js'

/** How many events are remembered, to recognise one that comes twice. */
const remembered = 1000

interface State {
  tokens?: Tokens
  cursor?: string
  handled?: string[]
}

/**
 * What a program must not forget when it restarts: its tokens, and which events it has
 * handled. It is a file that only its owner may read, because it has the tokens. Each change
 * replaces the file as a whole, so that a crash leaves the former or the new one. Two
 * programs need two files.
 *
 * ```js
 * const state = new FileState('bot.json')
 * const moderato = new Moderato({ baseUrl, clientId, tokens: state.tokens, onTokens: state.saveTokens })
 * for await (const event of state.events((cursor) => moderato.events.listen({ ...cursor }))) {
 *   console.log(event.type)
 * }
 * ```
 */
export class FileState {
  readonly #path: string
  readonly #state: State = {}
  #saving: Promise<void> = Promise.resolve()

  constructor(path: string) {
    this.#path = path
    try {
      this.#state = JSON.parse(readFileSync(path, 'utf8')) as State
    } catch (error) {
      if ((error as { code?: string }).code !== 'ENOENT') throw error
    }
  }

  /** The tokens that were saved last; undefined before the first sign-in. */
  get tokens(): Tokens | undefined {
    return this.#state.tokens
  }

  /** Saves tokens: pass it as `onTokens`. */
  readonly saveTokens = (tokens: Tokens): Promise<void> => this.#save({ tokens })

  /** Where the events that were handled end; undefined before the first. */
  get cursor(): string | undefined {
    return this.#state.cursor
  }

  /**
   * Yields the events that were not handled yet, each once. `listen` opens the stream: it
   * gets the option `cursor`, or none. An event counts as handled when the loop asks for
   * the next one: if the program ends before, the event comes again.
   */
  async *events<Type extends EventType>(listen: (resume: { cursor?: string }) => Promise<EventStream<Type>>): AsyncGenerator<Event<Type>, void, undefined> {
    const stream = await listen(this.cursor === undefined ? {} : { cursor: this.cursor })
    for await (const event of stream) {
      const handled = this.#state.handled ?? []
      if (handled.includes(event.metadata.messageId)) continue
      yield event
      await this.#save({ cursor: event.cursor, handled: [...handled, event.metadata.messageId].slice(-remembered) })
    }
  }

  /** save writes the state with changes, after the writes that were begun before. */
  #save(changes: State): Promise<void> {
    Object.assign(this.#state, changes)
    const text = JSON.stringify(this.#state)
    this.#saving = this.#saving.catch(() => undefined).then(async () => {
      const file = await open(`${this.#path}.new`, 'w', 0o600)
      try {
        await file.writeFile(text)
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(`${this.#path}.new`, this.#path)
    })
    return this.#saving
  }
}
