import type { ComponentChildren } from 'preact'
import { Field } from './basics'

interface Props {
  label: string
  value: string
  disabled?: boolean
  values?: readonly (readonly [string | number, string])[]
  onChange: (value: string) => void
  /** Options that are not among the values. */
  children?: ComponentChildren
}

/** Select offers more values than fit beside each other. */
export function Select({ label, value, disabled, values = [], onChange, children }: Props) {
  return (
    <Field label={label}>
      {(attributes) => (
        <select class="input" {...attributes} value={value} disabled={disabled} onChange={(event) => onChange(event.currentTarget.value)}>
          {values.map(([one, name]) => <option value={one}>{name}</option>)}
          {children}
        </select>
      )}
    </Field>
  )
}
