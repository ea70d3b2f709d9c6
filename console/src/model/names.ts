import type { Moderato } from '@moderato-live/client'
import { useEffect, useState } from 'preact/hooks'
import { Watched } from './watched'

/** How many users one call looks up. */
const atOnce = 100
const maxKnown = 2000

/** Names looks up the names of users of whom an event has only the id. */
export class Names extends Watched {
  readonly #client: Moderato
  readonly #known = new Map<string, string>()
  #wanted = new Set<string>()

  constructor(client: Moderato) {
    super()
    this.#client = client
  }

  learn(id: string, displayName: string): void {
    if (this.#known.size >= maxKnown) this.#known.delete(this.#known.keys().next().value!)
    this.#known.set(id, displayName)
  }

  get(id: string): string | undefined {
    return this.#known.get(id)
  }

  want(id: string): void {
    if (!id || this.#known.has(id)) return
    if (this.#wanted.size === 0) setTimeout(() => void this.#lookUp(), 50)
    this.#wanted.add(id)
  }

  async #lookUp(): Promise<void> {
    const ids = [...this.#wanted].slice(0, atOnce)
    this.#wanted = new Set()
    try {
      for (const user of await this.#client.users.listUsers({ userId: ids })) this.learn(user.id, user.displayName)
      this.changed()
    } catch {
      // Without names the page says "a moderator"; the next event asks again.
    }
  }
}

/** useName returns the name of a user, or a word for them until it is known. */
export function useName(names: Names, id: string, otherwise = 'a moderator'): string {
  const [name, setName] = useState(names.get(id))
  useEffect(() => {
    setName(names.get(id))
    names.want(id)
    return names.subscribe(() => setName(names.get(id)))
  }, [names, id])
  return name ?? otherwise
}
