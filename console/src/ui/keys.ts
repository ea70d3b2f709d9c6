import { useLayoutEffect, useRef } from 'preact/hooks'
import { store, stored } from '../api/storage'

const setting = 'moderato-console-keys'

/** areKeysOn reports whether keys without a modifier do something. */
export const areKeysOn = (): boolean => stored(setting) !== 'off'
export const setKeys = (on: boolean): void => void store(setting, on ? null : 'off')

type Handler = (event: KeyboardEvent) => void
type Keys = Record<string, Handler>

/** How long the second key of a pair may take, in milliseconds. */
const pairTime = 1500

interface Layer {
  level: number
  keys: Keys
}

/** The keys that go on while they are held: they only move. All others act once for each press. */
const repeatable = ['j', 'k', 'ArrowDown', 'ArrowUp']

const layers: Layer[] = []
let prefix: { key: string; at: number } | undefined

/** isTyping reports whether keys belong to the element that has the focus. */
function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches('input:not([type=checkbox], [type=radio]), textarea, select') || target.closest('dialog') !== null)
}

let byKeyboard = false
addEventListener('pointerdown', () => void (byKeyboard = false), true)
addEventListener('keydown', () => void (byKeyboard = true), true)

/** isByKeyboard reports whether the user's latest input was a key. */
export const isByKeyboard = (): boolean => byKeyboard

addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || isTyping(event.target)) return
  const isControl = event.target instanceof HTMLElement && event.target.matches('button, a, summary, [role=tab]')
  if (isControl && (event.key === 'Enter' || event.key === ' ')) return
  if (!areKeysOn() && event.key.length === 1 && event.key !== '?') return
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key
  if (event.repeat && !repeatable.includes(key)) return
  const pair = prefix && event.timeStamp - prefix.at < pairTime ? `${prefix.key} ${key}` : undefined
  for (const candidate of pair ? [pair, key] : [key]) {
    const layer = layers.findLast(({ keys }) => candidate in keys)
    if (!layer) continue
    prefix = undefined
    event.preventDefault()
    return layer.keys[candidate]!(event)
  }
  prefix = layers.some(({ keys }) => Object.keys(keys).some((name) => name.startsWith(`${key} `))) ? { key, at: event.timeStamp } : undefined
})

/** Which keys come first: those of a form, of a screen, of the card beside it, of every screen. */
export const keyLevels = { form: 3, screen: 2, card: 1, everywhere: 0 } as const

/** useKeys binds keys while a component is shown. */
export function useKeys(keys: Keys, level: number = keyLevels.screen): void {
  const layer = useRef<Layer>({ level, keys })
  // Before the next key, so that it meets what the former one changed.
  useLayoutEffect(() => void (layer.current.keys = keys))
  useLayoutEffect(() => {
    layers.push(layer.current)
    layers.sort((a, b) => a.level - b.level)
    return () => void layers.splice(layers.indexOf(layer.current), 1)
  }, [])
}
