import type { ComponentChildren } from 'preact'
import { Field } from './basics'

type Values = readonly (readonly [string | number, string])[]

interface Props {
  label: string
  value: string
  disabled?: boolean
  hint?: string
  problem?: string | readonly string[] | undefined
  values?: Values
  onChange: (value: string) => void
  children?: ComponentChildren
}

/** Select offers more values than fit beside each other. Its children are further options. */
export function Select({ label, value, disabled, hint, problem, values = [], onChange, children }: Props) {
  return (
    <Field label={label} problem={problem} {...(hint && { hint })}>
      {(attributes) => (
        <select class="input" {...attributes} value={value} disabled={disabled} onChange={(event) => onChange(event.currentTarget.value)}>
          {values.map(([one, name]) => <option value={one}>{name}</option>)}
          {children}
        </select>
      )}
    </Field>
  )
}
