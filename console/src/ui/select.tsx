import type { ComponentChildren } from 'preact'
import { Field } from './basics'

type Values = readonly (readonly [string | number, string])[]

/** Select offers more values than fit beside each other. Its children are further options. */
export function Select({ label, value, disabled, values = [], onChange, children }: { label: string; value: string; disabled?: boolean; values?: Values; onChange: (value: string) => void; children?: ComponentChildren }) {
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
