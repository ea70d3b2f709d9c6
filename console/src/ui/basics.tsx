import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { messageOf } from '../actions'
import { now } from '../api/clock'
import { picture } from '../api/settings'
import { formatAgo, formatFull, formatRemaining, formatWhen } from '../format'
import { Icon, type IconName } from './icon'

interface ButtonProps {
  kind?: 'main' | 'danger' | 'plain'
  little?: boolean
  icon?: IconName
  /** The name of a button that shows only its icon. */
  label?: string
  busy?: boolean
  disabled?: boolean | undefined
  keys?: string
  onClick?: (event: MouseEvent) => void
  type?: 'button' | 'submit'
  pressed?: boolean
  class?: string
  children?: ComponentChildren
}

export function Button({ kind, little, icon, label, busy, disabled, keys, onClick, type = 'button', pressed, class: extra = '', children }: ButtonProps) {
  const classes = ['button', kind, little && 'little', !children && 'icon', extra].filter(Boolean).join(' ')
  return (
    <button type={type} class={classes} onClick={onClick} disabled={disabled || busy} aria-label={label} title={label} aria-pressed={pressed} aria-busy={busy}>
      {busy ? <span class="spinner" /> : icon && <Icon name={icon} />}
      {children}
      {keys && <kbd>{keys}</kbd>}
    </button>
  )
}

/** A user whose picture or initials are shown. */
interface Pictured {
  displayName: string
  avatarUrl?: string | undefined
}

export function Avatar({ user, size = '' }: { user: Pictured; size?: '' | 'little' | 'large' }) {
  const url = picture(user.avatarUrl)
  const [failed, setFailed] = useState(false)
  return (
    <span class={`avatar ${size}`} aria-hidden="true">
      {url && !failed ? <img src={url} alt="" loading="lazy" decoding="async" onError={() => setFailed(true)} /> : initials(user.displayName)}
    </span>
  )
}

function initials(name: string): string {
  const words = name.split(/[\s_.-]+/u).filter(Boolean)
  return words.slice(0, 2).map((word) => [...word][0]).join('').toUpperCase() || '?'
}

/** nameColor returns the class of a user's color, which is always the same. */
export function nameColor(id: string): string {
  let sum = 0
  for (let i = 0; i < id.length; i++) sum = (sum * 31 + id.charCodeAt(i)) | 0
  return `n${Math.abs(sum) % 12}`
}

export function Time({ at, ago }: { at: string; ago?: boolean }) {
  return <time dateTime={at} title={formatFull(at)}>{ago ? formatAgo(at) : formatWhen(at)}</time>
}

/** Remaining counts down to a time of the server's clock. */
export function Remaining({ until }: { until: string }) {
  const [, tick] = useState(0)
  const isOver = Date.parse(until) <= now()
  useEffect(() => {
    if (isOver) return
    const timer = setInterval(() => tick((n) => n + 1), 1000)
    return () => clearInterval(timer)
  }, [until, isOver])
  return <span class="number" title={formatFull(until)}>{formatRemaining(until)}</span>
}

interface FieldProps {
  label: string
  problem?: string | readonly string[] | undefined
  hint?: string
  class?: string
  children: (attributes: { id: string; 'aria-invalid'?: boolean; 'aria-describedby'?: string }) => ComponentChildren
}

/** Field is a labelled input, with what is wrong with it. */
export function Field({ label, problem, hint, class: extra = '', children }: FieldProps) {
  const id = useId()
  const problems = typeof problem === 'string' ? [problem] : problem ?? []
  const isWrong = problems.length > 0
  return (
    <div class={`field ${extra}`}>
      <label class="label" for={id}>{label}</label>
      {children({ id, ...(isWrong && { 'aria-invalid': true }), ...((isWrong || hint) && { 'aria-describedby': `${id}-note` }) })}
      {isWrong ? <ul id={`${id}-note`} class="problem user-text">{problems.map((one) => <li>{one}</li>)}</ul> : hint && <span id={`${id}-note`} class="small muted">{hint}</span>}
    </div>
  )
}

export function Check({ label, checked, onChange }: { label: ComponentChildren; checked: boolean; onChange: (checked: boolean) => void }) {
  return (
    <label class="check">
      <input type="checkbox" checked={checked} onChange={(event) => onChange(event.currentTarget.checked)} />
      <span>{label}</span>
    </label>
  )
}

/** SearchField tells what was typed after a short pause. */
export function SearchField({ label, value, onSearch }: { label: string; value: string; onSearch: (text: string) => void }) {
  const [text, setText] = useState(value)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  // What was typed meanwhile stays: the value changes late, or to what was sent.
  const sent = useRef(value)
  useEffect(() => {
    if (value === sent.current) return
    sent.current = value
    setText(value)
  }, [value])
  const change = (next: string): void => {
    setText(next)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => onSearch((sent.current = next.trim())), 300)
  }
  return (
    <div class="search">
      <Icon name="search" />
      <input class="input" type="search" data-search aria-label={label} placeholder={label} value={text} onInput={(event) => change(event.currentTarget.value)} maxLength={100} autocomplete="off" spellcheck={false} />
    </div>
  )
}

/** Choices offers a few values as buttons, of which one is pressed. */
export function Choices<Value>({ label, values, value, onChange }: { label: string; values: readonly (readonly [Value, string])[]; value: Value; onChange: (value: Value) => void }) {
  return (
    <div class="choices" role="group" aria-label={label}>
      {values.map(([one, text]) => <button type="button" class="choice" aria-pressed={one === value} onClick={() => onChange(one)}>{text}</button>)}
    </div>
  )
}

export function Progress({ text = 'Loading' }: { text?: string }) {
  return <p class="progress" role="status"><span class="spinner" />{text}…</p>
}

export function Empty({ icon, title, children }: { icon: IconName; title: string; children?: ComponentChildren }) {
  return <div class="empty"><Icon name={icon} /><strong>{title}</strong>{children && <p>{children}</p>}</div>
}

export function Problem({ error, onRetry }: { error: unknown; onRetry?: (() => void) | undefined }) {
  return (
    <div class="notice danger" role="alert">
      <Icon name="warning" />
      <p class="grow user-text">{messageOf(error)}</p>
      {onRetry && <Button little onClick={onRetry}>Try again</Button>}
    </div>
  )
}

export function Note({ kind, children }: { kind: 'warn' | 'good' | 'danger'; children: ComponentChildren }) {
  return <div class={`notice ${kind}`}><Icon name={kind === 'good' ? 'check' : 'warning'} /><div class="grow">{children}</div></div>
}
