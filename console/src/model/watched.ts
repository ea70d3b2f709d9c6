import { useEffect, useState } from 'preact/hooks'

/** Watched is what tells its listeners that it changed. */
export class Watched {
  readonly #listeners = new Set<() => void>()

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  protected changed(): void {
    for (const listener of [...this.#listeners]) listener()
  }
}

/** useWatched draws the component again when something changes. */
export function useWatched(watched: Watched): void {
  const [, draw] = useState(0)
  useEffect(() => watched.subscribe(() => draw((n) => n + 1)), [watched])
}
