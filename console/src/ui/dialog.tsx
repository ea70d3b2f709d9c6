import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { Button } from './basics'

interface DialogProps {
  title: string
  wide?: boolean
  onClose: () => void
  /** What the form of the dialog does; without it there is no form. */
  onSubmit?: () => void
  children: ComponentChildren
  footer?: ComponentChildren
}

/** Dialog is modal: the browser keeps the focus in it, and Escape closes it. */
export function Dialog({ title, wide, onClose, onSubmit, children, footer }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const before = document.activeElement
    element.current!.showModal()
    return () => before instanceof HTMLElement && before.focus()
  }, [])
  const inside = (
    <>
      <div class="dialog-head"><h2 class="grow" id={id}>{title}</h2><Button kind="plain" icon="close" label="Close" onClick={onClose} /></div>
      <div class="content">{children}</div>
      {footer && <footer>{footer}</footer>}
    </>
  )
  return (
    <dialog ref={element} class={`dialog ${wide ? 'wide' : ''}`} aria-labelledby={id} onCancel={(event) => (event.preventDefault(), onClose())}>
      {onSubmit ? <form onSubmit={(event) => (event.preventDefault(), onSubmit())}>{inside}</form> : <div>{inside}</div>}
    </dialog>
  )
}

/** Confirm asks before a change that many users feel. */
export function Confirm({ title, action, danger, busy, onConfirm, onClose, children }: { title: string; action: string; danger?: boolean; busy?: boolean; onConfirm: () => void; onClose: () => void; children: ComponentChildren }) {
  return (
    <Dialog title={title} onClose={onClose} onSubmit={onConfirm}
      footer={<><Button onClick={onClose}>Cancel</Button><Button type="submit" kind={danger ? 'danger' : 'main'} busy={busy ?? false}>{action}</Button></>}>
      {children}
    </Dialog>
  )
}
