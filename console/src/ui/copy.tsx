import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Button } from './basics'
import { Icon } from './icon'

/** CopyButton copies a text, and says whether the browser allowed that. */
export function CopyButton({ text, children }: { text: string; children: string }) {
  const [said, setSaid] = useState('')
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text)
      setSaid('Copied')
    } catch {
      setSaid('Not allowed: select and copy it')
    }
    setTimeout(() => setSaid(''), 3000)
  }
  return <><Button little icon={said === 'Copied' ? 'check' : 'log'} onClick={() => void copy()}>{said || children}</Button><span class="hidden-text" role="status">{said}</span></>
}

/** Download is a link that saves a text as a file. */
export function Download({ name, text, kind = 'little', children }: { name: string; text: string; kind?: 'little' | 'main'; children: ComponentChildren }) {
  const [url, setUrl] = useState<string>()
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }))
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [text])
  return <a class={`button ${kind}`} href={url ?? ''} download={name}><Icon name="download" />{children}</a>
}
