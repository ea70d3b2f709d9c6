import type { FieldError, GetModerationSettingsResponse, GetShieldResponse, UpdateChatSettingsResponse } from '@moderato-live/client'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { actions } from '../actions'
import { useDesk, useReadOnly } from '../desk'
import { changesOf, isFromShield, isSame, modesOf, type Setting, settings, textOf, type Settings, undoOf } from '../model/modes'
import { useStored, type Store } from '../model/store'
import { hrefOf } from '../route'
import { Button, Choices, Note, Remaining, Time } from '../ui/basics'
import { reread } from '../ui/conflict'
import { Icon } from '../ui/icon'
import { useKept, useLoad, type Loaded } from '../ui/load'
import { Waiting } from '../ui/page'
import { Select } from '../ui/select'
import { AfterglowChips } from './batches'

/** useLatest changes when one of the types of events came, and after each interruption. */
export function useLatest(store: Store, prefix: string): string {
  return useStored(store, ({ recent, connection }) => `${recent.find(({ type }) => type.startsWith(prefix))?.metadata.messageId} ${connection.state === 'live'}`)
}

/** useModes reads the settings of the chat, and again when somebody changed them. */
function useModes(): Loaded<GetModerationSettingsResponse> {
  const { client, channel, store } = useDesk()
  return useKept(useLoad((signal) => client.rules.getModerationSettings({ channelId: channel.id }, { signal }), [channel.id, useLatest(store, 'channel.chat.settings')]))
}

/** useShield reads the shield, and again when it was raised, lowered or changed. */
export function useShield(): Loaded<GetShieldResponse> {
  const { client, channel, store } = useDesk()
  return useKept(useLoad((signal) => client.rules.getShield({ channelId: channel.id }, { signal }), [channel.id, useLatest(store, 'channel.shield')]))
}

/** ModeStrip shows above the chat what restricts it, and for how long. */
export function ModeStrip({ children }: { children?: ComponentChildren }) {
  const { channel } = useDesk()
  const { data, error, reload } = useModes()
  const modes = data && modesOf(data)
  const [frame, doesScroll] = useScrolling<HTMLDivElement>()
  return (
    <div class="mode-strip">
      <div class="modes grow" ref={frame} role="group" aria-label="Modes of the chat" {...(doesScroll && { tabIndex: 0 })}>
      <ul class="row wrap">
        <AfterglowChips />
        {error ? <li class="row small"><span class="danger-text">The modes are not known.</span><Button little onClick={reload}>Try again</Button></li> : null}
        {modes?.length === 0 && <li class="small muted">Everybody may write</li>}
        {modes?.map(({ name, text }) => {
          const isRaised = isFromShield(data!, name)
          const timed = data!.timed.find(({ setting }) => setting === name)
          return <li class="chip warn"><Icon name={isRaised ? 'raid' : 'clock'} /><span>{text}{isRaised ? ', shield' : timed && <>, <Remaining until={timed.endsAt} /></>}</span></li>
        })}
      </ul>
      </div>
      <a class="button little" href={hrefOf({ channel: channel.username, screen: 'rules', part: 'modes' })} aria-label="Change the modes"><Icon name="settings" /><span class="wide">Change</span></a>
      {children}
    </div>
  )
}

/** useScrolling reports whether an element is wider than there is room, so that the keyboard scrolls it. */
function useScrolling<Element extends HTMLElement>() {
  const frame = useRef<Element>(null)
  const [doesScroll, set] = useState(false)
  useEffect(() => {
    const element = frame.current!
    const observer = new ResizeObserver(() => set(element.scrollWidth > element.clientWidth))
    for (const one of [element, element.firstElementChild!]) observer.observe(one)
    return () => observer.disconnect()
  }, [])
  return [frame, doesScroll] as const
}

const durations = [[0, 'Until changed'], [300, '5 min'], [600, '10 min'], [1800, '30 min'], [3600, '1 h'], [86_400, '1 day']] as const

/**
 * ModeSettings changes the channel's own settings of the chat, for a time or until somebody changes
 * them again. It tells which of them the shield replaces.
 */
export function ModeSettings() {
  const { client, channel } = useDesk()
  const readOnly = useReadOnly()
  const modes = useModes()
  const shieldEndsAt = useShield().data?.endsAt
  const { data, reload } = modes
  const [chosen, setChosen] = useState<Partial<Settings>>({})
  const [duration, setDuration] = useState(0)
  const [problems, setProblems] = useState<readonly FieldError[]>([])
  if (!data) return <Waiting of={modes} />
  const changes = changesOf(chosen, data.own)
  const count = Object.keys(changes).length
  const set = (expectedVersion: number, values: object) => async (options: object): Promise<UpdateChatSettingsResponse> => {
    const result = await reread('settings', client.rules.updateChatSettings({ channelId: channel.id, expectedVersion, ...values }, options), reload, setProblems)
    setChosen({})
    reload()
    return result
  }
  const noteOf = (setting: Setting): ComponentChildren => {
    const { name } = setting
    const timed = data.timed.find((one) => one.setting === name)
    return (
      <>
        {isFromShield(data, name) && <span class="small shield-note"><Icon name="raid" /><span>Now, by the shield: {textOf(setting, data[name])}</span></span>}
        {timed && <span class="small timed-note">The former value returns in <Remaining until={timed.endsAt} />.</span>}
      </>
    )
  }
  const save = (): void => {
    setProblems([])
    const former = undoOf(changes, data.own, data.timed)
    void actions.run('Changing the settings of the chat', 'Changed the settings of the chat', set(data.version, { ...(duration && { durationSeconds: duration }), ...changes }),
      ({ version }) => former && set(version, former))
  }
  return (
    <form class="box inside stack" onSubmit={(event) => (event.preventDefault(), save())}>
      {data.shieldActive && <Note kind="warn">The shield is up{shieldEndsAt && <> until <Time at={shieldEndsAt} /></>}. These are the channel’s own settings. Where the shield is stricter, it holds instead.</Note>}
      <SettingFields values={{ ...data.own, ...chosen }} all problems={problems} noteOf={noteOf} onChange={(change) => (setChosen({ ...chosen, ...change }), setProblems([]))} />
      <div class="field"><span class="label">The change holds</span><Choices<number> label="The change holds" values={durations} value={duration} onChange={setDuration} /></div>
      <p class="row wrap">
        <Button type="submit" kind="main" disabled={!count || readOnly}>Save</Button>
        {count > 0 && <Button onClick={() => setChosen({})}>Discard</Button>}
        {count > 0 && <span class="small muted">{settings.filter(({ name }) => name in changes).map((one) => `${one.label}: ${textOf(one, changes[one.name])}`).join(', ')}</span>}
      </p>
    </form>
  )
}

interface FieldsProps {
  /** The values; null for a setting that is left as it is. */
  values: { [Name in keyof Settings]?: Settings[Name] | null }
  all?: boolean
  problems?: readonly FieldError[]
  disabled?: boolean
  onChange: (change: Partial<Settings>) => void
  noteOf?: (setting: Setting) => ComponentChildren
}

/** SettingFields are the settings with what they mean. Those of a shield can be left as they are. */
export function SettingFields({ values, all, problems = [], disabled = false, onChange, noteOf }: FieldsProps) {
  return (
    <div class="setting-fields">
      {settings.filter(({ isPublic }) => all || isPublic).map((setting) => {
        const { name, label, hint } = setting
        const value = values[name] ?? null
        const offered = setting.values.find(([one]) => isSame(one, value))?.[0] ?? value
        const options = [...(all ? [] : [[null, 'As it is'] as const]), ...setting.values, ...(value === null || setting.values.some(([one]) => one === offered) ? [] : [[value, textOf(setting, value)] as const])]
        const problem = problems.find(({ field }) => field.split('.').at(-1)!.startsWith(name))?.description
        return (
          <div class="setting">
            <Select label={label} disabled={disabled} hint={hint} problem={problem}
              values={options.map(([one, text]) => [JSON.stringify(one), text] as const)} value={JSON.stringify(offered)} onChange={(chosen) => onChange({ [name]: JSON.parse(chosen) as never })} />
            {noteOf?.(setting)}
          </div>
        )
      })}
    </div>
  )
}
