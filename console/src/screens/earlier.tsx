import { useRef, useState } from 'preact/hooks'
import { messageOf } from '../actions'
import { useDesk } from '../desk'
import { useStored } from '../model/store'
import { Button } from '../ui/basics'

/** EarlierMessages shows older messages: first those that the page has, then page by page. */
export function EarlierMessages({ hidden, onShow }: { hidden: number; onShow: () => void }) {
  const { client, channel, store } = useDesk()
  const first = useStored(store, (state) => state.messages[0])
  const cursor = useRef<string>('')
  const [state, setState] = useState<'idle' | 'busy' | 'end'>('idle')
  const [error, setError] = useState('')
  if (!first || (state === 'end' && hidden === 0)) return null
  const read = async (): Promise<void> => {
    setState('busy')
    setError('')
    try {
      for (;;) {
        const { messages, pagination } = await client.chat.listMessages({ channelId: channel.id, limit: 100, ...(cursor.current && { cursor: cursor.current }) })
        cursor.current = pagination.cursor
        const older = messages.filter((m) => m.createdAt < first.at)
        if (older.length > 0) {
          store.dispatch({ type: 'hold', held: true })
          store.dispatch({ type: 'earlier', messages: older })
        }
        if (!pagination.cursor) return setState('end')
        if (older.length > 0) return setState('idle')
      }
    } catch (failure) {
      setError(messageOf(failure))
      setState('idle')
    }
  }
  return (
    <li class="gap">
      <Button little kind="plain" busy={state === 'busy'} onClick={() => (onShow(), hidden === 0 && void read())}>Earlier messages</Button>
      {error && <p role="alert">{error}</p>}
    </li>
  )
}
