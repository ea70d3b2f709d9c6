import { useEffect, useState } from 'preact/hooks'
import { initialState, reduce, type Action, type ChannelState, type Stream } from './state'
import { Watched } from './watched'

/** While events arrive faster than this, the page is drawn once for all of them. */
const drawInterval = 150

/** Store holds the state of the channel that is open. */
export class Store extends Watched {
  state: ChannelState
  #drawing = false
  #drawnAt = 0

  constructor(channelId: string, stream: Stream) {
    super()
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

  #draw(): void {
    this.#drawing = false
    this.#drawnAt = performance.now()
    this.changed()
  }
}

/** useStored returns a part of the state, and draws the component again when it changes. */
export function useStored<Part>(store: Store, select: (state: ChannelState) => Part): Part {
  const part = select(store.state)
  const [, draw] = useState(part)
  useEffect(() => store.subscribe(() => draw(() => select(store.state))), [store])
  return part
}
