import { useEffect, useState } from 'preact/hooks'
import { initialState, reduce, type Action, type ChannelState, type Stream } from './state'

/** While events arrive faster than this, the page is drawn once for all of them. */
const drawInterval = 100

/** Store holds the state of the channel that is open. */
export class Store {
  state: ChannelState
  readonly #listeners = new Set<() => void>()
  #drawing = false
  #drawnAt = 0

  constructor(channelId: string, stream: Stream) {
    this.state = initialState(channelId, stream)
  }

  /** dispatch changes the state. What the user does is drawn at once. */
  dispatch(action: Action): void {
    this.state = reduce(this.state, action)
    if (action.type === 'hold') return this.#draw()
    if (this.#drawing) return
    this.#drawing = true
    setTimeout(() => requestAnimationFrame(() => this.#draw()), Math.max(0, this.#drawnAt + drawInterval - performance.now()))
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #draw(): void {
    this.#drawing = false
    this.#drawnAt = performance.now()
    for (const listener of [...this.#listeners]) listener()
  }
}

/** useStored returns a part of the state, and draws the component again when it changes. */
export function useStored<Part>(store: Store, select: (state: ChannelState) => Part): Part {
  const part = select(store.state)
  const [, draw] = useState(part)
  useEffect(() => store.subscribe(() => draw(() => select(store.state))), [store])
  return part
}
