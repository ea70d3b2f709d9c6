import type { ChatRule, FieldError, GetShieldResponse, ShieldAutoStart, ShieldPreset as Preset } from '@moderato-live/client'
import { useState } from 'preact/hooks'
import { actions } from '../actions'
import { now } from '../api/clock'
import { useDesk, useReadOnly } from '../desk'
import { formatDuration, plural } from '../format'
import { isSame, settings, textOf } from '../model/modes'
import { ofRule, problemsOf, withoutRule } from '../model/problems'
import { actionOf, type Kind, kinds, labelOf, newRule, placedIn, summaryOf } from '../model/rules'
import { hrefOf } from '../route'
import { Button, Choices, Field, Note, Remaining } from '../ui/basics'
import { reread } from '../ui/conflict'
import { Dialog } from '../ui/dialog'
import { Waiting } from '../ui/page'
import { Select } from '../ui/select'
import { SettingFields, useShield } from './modes'
import { RuleEditor } from './ruleeditor'

/** ShieldSwitch shows whether the shield is up, and asks before it raises or lowers it. It has no key. */
export function ShieldSwitch() {
  const readOnly = useReadOnly()
  const shield = useShield()
  const [asking, setAsking] = useState(false)
  const { data } = shield
  if (shield.error) return <Button little icon="refresh" onClick={shield.reload}>Shield unknown</Button>
  if (!data) return null
  return (
    <>
      <button type="button" role="switch" aria-checked={data.active} class="shield-switch" disabled={readOnly} onClick={() => setAsking(true)}>
        <span class="knob" />Shield{data.active && data.endsAt && <Remaining until={data.endsAt} />}
      </button>
      {asking && <ShieldDialog shield={data} onChanged={shield.reload} onClose={() => setAsking(false)} />}
    </>
  )
}

const durations = [[300, '5 min'], [900, '15 min'], [1800, '30 min'], [3600, '1 h'], [21_600, '6 h'], [86_400, '1 day']] as const

function ShieldDialog({ shield: { active, startedBy, cause, reason: former, endsAt, preset }, onChanged, onClose }: { shield: GetShieldResponse; onChanged: () => void; onClose: () => void }) {
  const { client, channel } = useDesk()
  // What the user does not choose does not shorten a shield that is up.
  const [seconds, setSeconds] = useState(active ? undefined : 900)
  const [reason, setReason] = useState('')
  const [isBusy, setBusy] = useState(false)
  const change = async (doing: string, done: string, body: { active: boolean; durationSeconds?: number; reason?: string }): Promise<void> => {
    setBusy(true)
    // Lowered by mistake, it is raised again for as long as it had left.
    const left = Math.max(60, Math.round((Date.parse(endsAt ?? '') - now()) / 1000)) || 900
    const back = active ? { active, durationSeconds: left, ...(former && { reason: former }) } : { active }
    const result = await actions.run(doing, done, (options) => client.rules.updateShield({ channelId: channel.id, ...body }, options), () => (options) => client.rules.updateShield({ channelId: channel.id, ...back }, options).then(onChanged))
    setBusy(false)
    if (result) (onChanged(), onClose())
  }
  const raise = (): void => {
    if (seconds) void change(active ? 'Changing the end of the shield' : 'Raising the shield',
      active ? `The shield ends in ${formatDuration(seconds)}` : 'Raised the shield', { active: true, durationSeconds: seconds, ...(reason.trim() && { reason: reason.trim() }) })
  }
  return (
    <Dialog title={active ? 'The shield is up' : 'Raise the shield?'} onClose={onClose} onSubmit={raise} footer={<>
      {active && <Button kind="danger" class="push" busy={isBusy} onClick={() => void change('Lowering the shield', 'Lowered the shield', { active: false })}>Lower the shield</Button>}
      <Button onClick={onClose}>Cancel</Button>
      <Button type="submit" kind="main" busy={isBusy} disabled={!seconds}>{active ? 'Change the end' : 'Raise the shield'}</Button>
    </>}>
      {active && <p>{startedBy ? <>Raised by <bdi>{startedBy.displayName}</bdi></> : cause === 'automatic' ? 'Raised by itself' : 'Raised'}
        {former && <>: “<bdi class="user-text">{former}</bdi>”</>}. {endsAt && <>It ends in <Remaining until={endsAt} />.</>}
      </p>}
      <h3>{active ? 'It changes' : 'This changes for everybody in the chat'}</h3>
      <PresetSummary preset={preset} />
      <p class="small muted">Of each setting, the stricter one holds. When the shield ends, the settings are as before.
        {' '}{channel.role === 'owner' && <a href={hrefOf({ channel: channel.username, screen: 'rules', part: 'shield' })} onClick={onClose}>Change what it does</a>}
      </p>
      <div class="field"><span class="label">{active ? 'It ends, from now, in' : 'It ends by itself in'}</span><Choices<number | undefined> label="Duration" values={durations} value={seconds} onChange={setSeconds} /></div>
      <Field label="Reason (optional)">{(attributes) => <input class="input" {...attributes} value={reason} maxLength={500} autocomplete="off" onInput={(event) => setReason(event.currentTarget.value)} />}</Field>
    </Dialog>
  )
}

/** PresetSummary tells what a shield does. */
function PresetSummary({ preset }: { preset: GetShieldResponse['preset'] }) {
  const changed = settings.flatMap((setting) => {
    const value = (preset.settings as unknown as Record<string, unknown>)[setting.name]
    return value === null || value === undefined || (setting.values[0] && setting.name !== 'exemptRoles' && isSame(setting.values[0][0], value)) ? [] : [`${setting.label}: ${textOf(setting, value)}`]
  })
  const { rules } = preset
  if (changed.length === 0 && rules.length === 0) return <Note kind="warn">Nothing: the owner has not set yet what the shield does.</Note>
  return (
    <ul class="bullets">
      {changed.map((text) => <li>{text}</li>)}
      {rules.length > 0 && <li>{plural(rules.length, 'rule')} more: {rules.map(({ name }, i) => <>{i > 0 && ', '}<bdi>{name}</bdi></>)}</li>}
    </ul>
  )
}

const never: ShieldAutoStart = { followsPerMinute: null, firstMessagesPerMinute: null, heldPerMinute: null }
const hasPlace = ({ field }: FieldError): boolean => /^(settings|autoStart|rules\[\d+\])/.test(field)

/** ShieldPreset shows what the shield does. The owner changes it. */
export function ShieldPreset() {
  const { client, channel } = useDesk()
  const readOnly = useReadOnly() || channel.role !== 'owner'
  const shield = useShield()
  const { data, reload } = shield
  const [edited, setEdited] = useState<Partial<Preset>>({})
  const [opened, setOpened] = useState<{ at: number; rule: ChatRule }>()
  const [fields, setFields] = useState<readonly FieldError[]>([])
  if (!data) return <Waiting of={shield} />
  if (readOnly) return <section class="box inside stack"><h2>What the shield does</h2><PresetSummary preset={data.preset} />
    <p class="small muted">Only the owner of the channel changes this. The switch of the shield stands above the chat.</p></section>
  const saved = data.preset
  const preset: Preset = { ...saved, ...edited }
  const { rules } = preset
  const isEdited = Object.keys(edited).length > 0
  // What is wrong with other fields stays.
  const set = (change: Partial<Preset>, ...changed: string[]): void => {
    setEdited({ ...edited, ...change })
    setFields(fields.filter((one) => hasPlace(one) && !changed.some((place) => one.field.startsWith(place))))
  }
  const take = (at: number, rule: ChatRule): void => (set({ rules: rules.toSpliced(at, 1, rule) }, `rules[${at}]`), setOpened(undefined))
  const remove = (at: number): void => (set({ rules: rules.toSpliced(at, 1) }), setFields(withoutRule(fields.filter(hasPlace), at)))
  if (opened) return <RuleEditor rule={opened.rule} version={0} mistakes={ofRule(fields, opened.at)} onTake={(rule) => take(opened.at, rule)} onSaved={() => undefined} onClose={() => setOpened(undefined)} />
  const send = (body: Preset) => (options: object) => reread('shield', client.rules.updateShieldPreset({ channelId: channel.id, ...body }, options), reload, setFields).then(reload)
  const save = (): void => void actions.run('Saving what the shield does', 'Saved what the shield does',
    (options) => send(preset)(options).then(() => (setEdited({}), true)), () => send({ ...saved, rules: placedIn(rules, saved.rules) }))
  return (
    <form class="box inside stack" noValidate onSubmit={(event) => (event.preventDefault(), save())}>
      {data.active && <Note kind="warn">The shield is up: what you save is in force at once.</Note>}
      <h2>Settings while the shield is up</h2>
      <SettingFields values={preset.settings} problems={fields} onChange={(change) => set({ settings: { ...preset.settings, ...change } as Preset['settings'] }, ...Object.keys(change).map((name) => `settings.${name}`))} />
      <h2>Rules while the shield is up</h2>
      <PresetRules rules={rules} fields={fields} onOpen={(at, rule) => setOpened({ at, rule })} onRemove={remove} />
      <AutoStart start={preset.autoStart ?? never} fields={fields} onChange={(autoStart, name) => set({ autoStart }, `autoStart.${name}`)} />
      {fields.filter((one) => !hasPlace(one)).map(({ description }) => <p class="problem" role="alert">{description}</p>)}
      <p class="row"><Button type="submit" kind="main" disabled={!isEdited}>Save</Button>{isEdited && <Button onClick={() => setEdited({})}>Discard</Button>}</p>
    </form>
  )
}

function PresetRules({ rules, fields, onOpen, onRemove }: { rules: ChatRule[]; fields: readonly FieldError[]; onOpen: (at: number, rule: ChatRule) => void; onRemove: (at: number) => void }) {
  const problems = rules.map((rule, i) => Object.entries(problemsOf(ofRule(fields, i), rule)).flatMap(([field, all]) => all.map((problem) => `${field && `${labelOf(rule, field)}: `}${problem}`)))
  return (
    <>
      {rules.length > 0 && <ul class="lines">
        {rules.map((rule, i) => (
          <li class="row wrap">
            <span class="grow">
              <strong><bdi>{rule.name}</bdi></strong> <span class="muted small">{kinds[rule.kind].name}: {summaryOf(rule)}. {actionOf(rule)}.</span>
              {problems[i]!.map((problem) => <p class="problem" role="alert">{problem}</p>)}
            </span>
            <Button little onClick={() => onOpen(i, rule)}>Edit<span class="hidden-text"> {rule.name}</span></Button><Button little icon="trash" label={`Remove ${rule.name}`} onClick={() => onRemove(i)} />
          </li>
        ))}
      </ul>}
      {rules.length < 20 && <div class="setting-fields">
        <Select label="Add a rule" value="" values={[['', 'Choose a kind'], ...Object.entries(kinds).map(([kind, { name }]) => [kind, name] as const)]} onChange={(kind) => onOpen(rules.length, newRule(kind as Kind))} />
      </div>}
    </>
  )
}

const starts: [keyof ShieldAutoStart, string][] = [['followsPerMinute', 'New followers in a minute'], ['firstMessagesPerMinute', 'First messages in a minute'], ['heldPerMinute', 'Held messages in a minute']]

/** AutoStart are the numbers that raise the shield. */
function AutoStart({ start, fields, onChange }: { start: ShieldAutoStart; fields: readonly FieldError[]; onChange: (start: ShieldAutoStart | null, name: string) => void }) {
  const set = (name: keyof ShieldAutoStart, value: string): void => {
    const next = { ...start, [name]: value === '' ? null : Number(value) }
    onChange(Object.values(next).some((one) => one !== null) ? next : null, name)
  }
  return (
    <>
      <h2>When it is raised by itself</h2>
      <p class="small muted">For 15 minutes, as soon as one of these numbers is reached. Empty if it does not matter.</p>
      <div class="setting-fields">{starts.map(([name, label]) => (
        <Field label={label} problem={fields.find(({ field }) => field.endsWith(name))?.description}>
          {(attributes) => <input class="input" type="number" min={1} max={100_000} {...attributes} value={start[name] ?? ''} onInput={({ currentTarget }) => set(name, currentTarget.value)} />}
        </Field>
      ))}</div>
    </>
  )
}
