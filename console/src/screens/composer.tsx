import { useRef, useState } from 'preact/hooks'
import { messageOf, newKey } from '../actions'
import { useDesk } from '../desk'
import { plural } from '../format'
import { Button } from '../ui/basics'

/** The most characters of a message, as the server counts them: an emoji is one. */
const maxLength = 500

/** Composer posts messages. A message that was not sent stays, and is sent once if it is repeated. */
export function Composer({ onSent }: { onSent: () => void }) {
  const { client, channel } = useDesk()
  const [text, setText] = useState('')
  const [error, setError] = useState('')
  const [busy, setBusy] = useState(false)
  const key = useRef<string>(undefined)
  const tooMany = [...text.trim().normalize()].length - maxLength
  const send = async (): Promise<void> => {
    const message = text.trim()
    if (!message || busy || tooMany > 0) return
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
        <textarea class="input" rows={1} aria-label="Message" placeholder={`Message ${channel.username}’s chat`} value={text}
          onInput={(event) => (setText(event.currentTarget.value), (key.current = undefined))}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) (event.preventDefault(), void send())
            if (event.key === 'Escape') event.currentTarget.blur()
          }} />
        {tooMany > 0 && <p class="problem" role="status">The message is {plural(tooMany, 'character')} too long.</p>}
        {error && <p class="problem" role="alert">{error}</p>}
      </div>
      <Button kind="main" icon="send" label="Send" type="submit" busy={busy} disabled={!text.trim() || tooMany > 0} />
    </form>
  )
}
