import type { ChatRule, FieldError } from '@moderato-live/client'
import { useRef, useState } from 'preact/hooks'
import { actions as changes } from '../actions'
import { useDesk, useReadOnly } from '../desk'
import { merged, problemsOf, remaining } from '../model/problems'
import { actionHints, actions, changedFields, cleaned, followersText, kinds, labelOf, labels, roleNames, type Action } from '../model/rules'
import { Button, Check, Choices, Field, Note } from '../ui/basics'
import { reread } from '../ui/conflict'
import { Select } from '../ui/select'
import { TimeField } from './logfilters'
import { TryRule } from './tryrule'
import { muteTimes } from './sanction'

interface Props {
  rule: ChatRule
  /** The version of the rules in which it is so; 0 for a rule of the shield. */
  version: number
  /** What to do with the rule instead of saving it: for a rule of the shield. */
  onTake?: (rule: ChatRule) => void
  /** What is known to be wrong with it. */
  mistakes?: readonly FieldError[]
  onSaved: () => void
  onClose: () => void
}

/** RuleEditor changes a rule, and shows meanwhile what it would do. */
export function RuleEditor({ rule, version, onTake, mistakes = [], onSaved, onClose }: Props) {
  const { client, channel, rules } = useDesk()
  const readOnly = useReadOnly()
  const [base, setBase] = useState({ rule, version })
  const [draft, setDraft] = useState(rule)
  const [fields, setFields] = useState(mistakes)
  const problems = problemsOf(fields, draft)
  const set = (change: Partial<ChatRule>): void => (setDraft({ ...draft, ...change }), setFields(remaining(fields, change)))
  const form = useRef<HTMLFormElement>(null)
  const isNew = rule.ruleId === ''
  // Other rules may have changed since; this one only if the user has seen it.
  const others = isNew || onTake ? [] : changedFields(base.rule, rule)
  const save = async (): Promise<void> => {
    const put = cleaned(draft)
    if (onTake) return onTake(put)
    changes.leave() // what was refused before
    const expectedVersion = others.length ? base.version : version
    const known = new Set(rules.data?.rules.map(({ ruleId }) => ruleId))
    const send = (body: object, expected: number) => async (options: object) => {
      const saved = await reread('rules', client.rules.updateChatRules({ channelId: channel.id, expectedVersion: expected, ...body }, options), rules.reload, setFields)
      rules.reload()
      return saved
    }
    const write = (options: object) => send({ put: [put] }, expectedVersion)(options).then((saved) => (form.current && onSaved(), saved)) // also when it is tried again
    const result = await changes.run(put.name ? `Saving “${put.name}”` : 'Saving the rule', `Saved “${put.name}”`, write,
      ({ rules: all, version }) => send(isNew ? { delete: all.flatMap(({ ruleId }) => (known.has(ruleId) ? [] : [ruleId])) } : { put: [base.rule] }, version))
    if (!result) setTimeout(() => form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus())
  }
  const { name, about, inputs } = kinds[rule.kind]
  const isTold = draft.action !== 'flag' && draft.action !== 'hold'
  const shown = ['name', 'exemptFollowersOlderThanSeconds', 'expiresAt', isTold && 'message', ...inputs.map((input) => input.type !== 'choice' && input.type !== 'check' && input.name)]
  const general = Object.entries(problems).filter(([field]) => !shown.includes(field)).flatMap(([field, all]) => all.map((problem) => `${field && `${labelOf(draft, field)}: `}${problem}`))
  return (
    <div class="rule-editor">
      <form class="box" aria-label="Rule" ref={form} noValidate={!onTake} onSubmit={(event) => (event.preventDefault(), void save())}>
        <header><Button kind="plain" icon="left" label="Back to the rules" onClick={onClose} /><h2 class="grow">{isNew ? `New rule: ${name}` : name}</h2><span class="small muted wide">{about}</span></header>
        <div class="inside stack">
          <Field label={labels.name} problem={problems.name}>{(attributes) => <input class="input" {...attributes} value={draft.name} required maxLength={60} autocomplete="off" onInput={(event) => set({ name: event.currentTarget.value })} />}</Field>
          {inputs.map((input) => <RuleInput input={input} draft={draft} problem={problems[input.name]} onChange={set} />)}
          <div class="field">
            <span class="label">{labels.action}</span>
            <Choices<Action> label={labels.action} values={Object.entries(actions) as [Action, string][]} value={draft.action} onChange={(action) => set({ action })} />
            <span class="small muted">{actionHints[draft.action]}</span>
          </div>
          {draft.action === 'mute' &&
            <div class="field"><span class="label">{labels.muteSeconds}</span><Choices<number> label={labels.muteSeconds} values={muteTimes} value={draft.muteSeconds ?? 600} onChange={(muteSeconds) => set({ muteSeconds })} /></div>}
          {isTold && <Field label={`${labels.message} (optional)`} hint="Replaces the standard text. Do not quote the term here." problem={problems.message}>
            {(attributes) => <input class="input" {...attributes} value={draft.message ?? ''} maxLength={150} autocomplete="off" onInput={(event) => set({ message: event.currentTarget.value })} />}
          </Field>}
          <fieldset class="plain-set"><legend class="label">{labels.exemptRoles}</legend>
            <div class="row wrap checks">{(Object.entries(roleNames) as [keyof typeof roleNames, string][]).map(([role, text]) =>
              <Check label={text} checked={draft.exemptRoles.includes(role)} onChange={(on) => set({ exemptRoles: on ? [...draft.exemptRoles, role] : draft.exemptRoles.filter((one) => one !== role) })} />)}</div>
          </fieldset>
          <div class="pair">
            <Select label={labels.exemptFollowersOlderThanSeconds} problem={problems.exemptFollowersOlderThanSeconds}
              value={String(draft.exemptFollowersOlderThanSeconds ?? '')} onChange={(value) => set({ exemptFollowersOlderThanSeconds: value === '' ? null : Number(value) })}
              values={[['', 'No'], ...[...new Set([0, 86_400, 604_800, 2_592_000, draft.exemptFollowersOlderThanSeconds ?? 0])].map((one) => [one, followersText(one)] as const)]} />
            <TimeField label={`${labels.expiresAt} (optional)`} problem={problems.expiresAt} value={draft.expiresAt ?? ''} onChange={(at) => set({ expiresAt: at || null })} />
          </div>
          <Check label="On" checked={draft.enabled !== false} onChange={(enabled) => set({ enabled })} />
          {others.length > 0 && <Note kind="warn">Somebody else changed this rule meanwhile: {others.map((field) => labelOf(rule, field)).join('; ')}.
            {' '}<Button little onClick={() => setBase({ rule, version })}>Save over it</Button> <Button little onClick={() => (setBase({ rule, version }), setDraft(rule))}>Take theirs</Button>
          </Note>}
          {general.length > 0 && <ul class="problem user-text" role="alert">{general.map((one) => <li>{one}</li>)}</ul>}
          <p class="row"><Button type="submit" kind="main" disabled={readOnly}>{onTake ? 'Done' : 'Save'}</Button><Button onClick={onClose}>Cancel</Button></p>
        </div>
      </form>
      <TryRule rule={draft} onProblems={(found) => setFields((known) => merged(known, found))} />
    </div>
  )
}

interface InputProps {
  input: (typeof kinds)['terms']['inputs'][number]
  draft: ChatRule
  problem: readonly string[] | undefined
  onChange: (change: Partial<ChatRule>) => void
}

function RuleInput({ input: { name, type, label, hint, min, max, values }, draft, problem, onChange }: InputProps) {
  const value = draft[name]
  const set = (next: unknown): void => onChange({ [name]: next })
  if (type === 'check') return <Check label={label} checked={value === true} onChange={set} />
  if (type === 'choice') return <div class="field"><span class="label">{label}</span><Choices label={label} values={values!} value={value as string} onChange={set} /></div>
  return (
    <Field label={label} problem={problem} {...(hint && { hint })}>
      {(attributes) => type === 'number'
        ? <input class="input" type="number" {...attributes} min={min} max={max} value={value === null ? '' : String(value)} onInput={({ currentTarget }) => set(currentTarget.value === '' ? null : Number(currentTarget.value))} />
        : <textarea class="input list-text" {...attributes} spellcheck={false} value={(value as string[]).join('\n')} onInput={({ currentTarget }) => set(currentTarget.value === '' ? [] : currentTarget.value.split('\n'))} />}
    </Field>
  )
}
