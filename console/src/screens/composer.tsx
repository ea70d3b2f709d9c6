import { useRef, useState } from 'preact/hooks'
import { messageOf, newKey } from '../actions'
import { useDesk } from '../desk'
import { Button } from '../ui/basics'

/** Composer posts messages. A message that was not sent stays, and is sent once if it is repeated. */
export function Composer({ onSent }: { onSent: () => void }) {
  const { client, channel } = useDesk()
  const [text, setText] = useState('')
  const [error, setError] = useState('')
  const [busy, setBusy] = useState(false)
  const key = useRef<string>(undefined)
  const send = async (): Promise<void> => {
    const message = text.trim()
    if (!message || busy) return
    key.current ??= newKey()
    setBusy(true)
    setError('')
    try {
      await client.chat.postMessage({ channelId: channel.id, message }, { idempotencyKey: key.current })
      key.current = undefined
      setText('')
      onSent()
    } catch (failure) {
      setError(messageOf(failure))
    } finally {
      setBusy(false)
    }
  }
  return (
    <form class="composer" onSubmit={(event) => (event.preventDefault(), void send())}>
      <div class="grow">
        <textarea class="input" rows={1} maxLength={500} aria-label="Message" placeholder={`Message ${channel.username}’s chat`} value={text}
          onInput={(event) => (setText(event.currentTarget.value), (key.current = undefined))}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) (event.preventDefault(), void send())
            if (event.key === 'Escape') event.currentTarget.blur()
          }} />
        {error && <p class="problem" role="alert">{error}</p>}
      </div>
      <Button kind="main" icon="send" label="Send" type="submit" busy={busy} disabled={!text.trim()} />
    </form>
  )
}
