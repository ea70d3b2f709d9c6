import type { ChatSettings as Settings } from '@moderato-live/client'
import { formatDuration } from '../format'

export type { Settings }
export type SettingName = keyof Settings

export interface Setting {
  name: SettingName
  label: string
  /** What it does, for somebody who has never used it. */
  hint: string
  values: readonly (readonly [unknown, string])[]
  /** Whether a shield can have it. */
  isPublic: boolean
}

const spans = (off: number, ...seconds: number[]) => [[off, 'Off'], ...seconds.map((one) => [one, formatDuration(one)])] as [unknown, string][]
const onOff = [[false, 'Off'], [true, 'On']] as const
const roles = [[['vip', 'og'], 'VIPs and OGs'], [['vip', 'og', 'subscriber'], 'VIPs, OGs and subscribers'], [['vip'], 'VIPs'], [['og'], 'OGs'], [['subscriber'], 'Subscribers'], [[], 'Nobody']] as const
const hour = 3600
const day = 86_400

export const settings: Setting[] = [
  { name: 'slowSeconds', label: 'Slow mode', hint: 'How long each viewer waits between two messages.', values: spans(0, 3, 5, 10, 30, 60, 120, 300, 600, hour), isPublic: true },
  { name: 'followersOnlySeconds', label: 'Followers only', hint: 'Only those who have followed for this long may write.',
    values: [[-1, 'Off'], [0, 'All followers'], ...spans(0, 600, 1800, hour, day, 7 * day, 30 * day, 90 * day).slice(1)], isPublic: true },
  { name: 'subscribersOnly', label: 'Subscribers only', hint: 'Only subscribers may write.', values: onOff, isPublic: true },
  { name: 'emoteOnly', label: 'Emotes only', hint: 'Messages may have emoji and emotes, and no words.', values: onOff, isPublic: true },
  { name: 'minAccountAgeSeconds', label: 'Account age', hint: 'Accounts younger than this may not write. Accounts of unknown age may.', values: spans(0, hour, day, 7 * day, 30 * day, 90 * day, 365 * day), isPublic: true },
  { name: 'uniqueSeconds', label: 'No repeats', hint: 'No text may be repeated within this time, whoever wrote it.', values: spans(0, 10, 30, 60, 120, 300), isPublic: true },
  { name: 'firstMessage', label: 'First messages', hint: 'What happens to a message of somebody who has not written here for 30 days.', values: [['allow', 'Allowed'], ['hold', 'Held for a moderator'], ['block', 'Refused']], isPublic: true },
  { name: 'exemptRoles', label: 'Not restricted', hint: 'Whom the settings above do not restrict. They never restrict the owner and moderators.', values: roles, isPublic: true },
  { name: 'holdSeconds', label: 'Held for', hint: 'How long a held message waits for a moderator.', values: spans(0, 60, 300, 600, 1800, hour, 6 * hour, day).slice(1), isPublic: false },
  { name: 'onHoldExpiry', label: 'Without a decision', hint: 'What happens to a held message for which no moderator had time.', values: [['deny', 'Deny it'], ['approve', 'Approve it']], isPublic: false },
]

export const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(Array.isArray(a) ? [...a].sort() : a) === JSON.stringify(Array.isArray(b) ? [...b].sort() : b)

/** textOf returns a value as the page names it, also one that it does not offer. */
export function textOf({ values }: Setting, value: unknown): string {
  return values.find(([one]) => isSame(one, value))?.[1] ?? (typeof value === 'number' ? formatDuration(value) : Array.isArray(value) ? value.join(', ') : String(value))
}

/** isFromShield tells whether the shield is stricter than the channel's own setting. */
export const isFromShield = (current: Settings & { own: Settings }, name: SettingName): boolean => !isSame(current[name], current.own[name])

/** modesOf returns the settings that restrict somebody, with how they are shown. */
export function modesOf(current: Settings): { name: SettingName; text: string }[] {
  return settings.slice(0, 7).filter(({ values: [off], name }) => !isSame(off![0], current[name]))
    .map((setting) => ({ name: setting.name, text: setting.values === onOff ? setting.label : `${setting.label}: ${textOf(setting, current[setting.name])}` }))
}

/** changesOf returns the chosen values that differ from the present ones. */
export const changesOf = (chosen: Partial<Settings>, current: Settings): Partial<Settings> =>
  Object.fromEntries(Object.entries(chosen).filter(([name, value]) => !isSame(value, current[name as SettingName])))

/**
 * undoOf returns the values that undo changes of the channel's own settings. Nothing undoes the change of a value that
 * holds for a time: it would be back for ever.
 */
export function undoOf(changes: Partial<Settings>, own: Settings, timed: readonly { setting: string }[]): Partial<Settings> | undefined {
  if (timed.some(({ setting }) => setting in changes)) return undefined
  return Object.fromEntries(Object.keys(changes).map((name) => [name, own[name as SettingName]]))
}
