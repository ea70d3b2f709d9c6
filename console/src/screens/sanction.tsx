import { useEffect, useRef, useState } from 'preact/hooks'
import { actions, ban, mute, useNotices, type Notice, type Target } from '../actions'
import { useDesk } from '../desk'
import { Button, Choices, Field, Note, Problem } from '../ui/basics'
import { isByKeyboard, keyLevels, useKeys } from '../ui/keys'

export const banTimes = [[0, 'Permanently'], [600, '10 min'], [3600, '1 h'], [86_400, '1 day'], [604_800, '7 days'], [1_209_600, '14 days']] as const
/** Keys 1 to 5 mute for these times, after M. */
export const muteTimes = [[60, '1 min'], [600, '10 min'], [3600, '1 h'], [86_400, '1 day'], [604_800, '7 days']] as const

/**
 * SanctionForm bans or mutes, with a reason and a duration. B in the chat opens it, and B again
 * bans. Who opened it with a mouse writes the reason first, so no letter of it is taken for a key.
 * It stays until the server has confirmed, and shows what the server refused.
 */
export function SanctionForm({ kind, target, role, onClose }: { kind: 'ban' | 'mute'; target: Target; role: string | undefined; onClose: () => void }) {
  const { client, channel } = useDesk()
  const [seconds, setSeconds] = useState<number>(kind === 'ban' ? 0 : 600)
  const [reason, setReason] = useState('')
  const form = useRef<HTMLFormElement>(null)
  const [sent, setSent] = useState<Notice>()
  useNotices()
  const state = sent?.state
  const submit = (): void => {
    if (state === 'busy') return
    void (kind === 'ban' ? ban(client, channel.id, target, reason.trim(), seconds || undefined) : mute(client, channel.id, target, seconds, reason.trim()))
    setSent(actions.notices.at(-1))
  }
  useEffect(() => {
    if (state === 'done') onClose()
    if (state === 'failed') actions.dismiss(sent!)
  }, [state])
  useEffect(() => {
    const start = isByKeyboard() ? 'h3' : matchMedia('(hover: hover)').matches ? 'input' : undefined
    if (start) form.current!.querySelector<HTMLElement>(start)!.focus()
  }, [])
  useKeys({
    Escape: onClose,
    ...(kind === 'ban' ? { b: submit } : Object.fromEntries(muteTimes.map(([value], i) => [String(i + 1), () => setSeconds(value)]))),
  }, keyLevels.form)
  return (
    <form class="sanction-form" ref={form} onSubmit={(event) => (event.preventDefault(), submit())}>
      <h3 tabIndex={-1}>{kind === 'ban' ? 'Ban' : 'Mute'} <bdi>{target.displayName}</bdi></h3>
      {role && <Note kind="warn">This user is {role} in this channel.</Note>}
      <Field label="Reason (optional)">{(attributes) => <input class="input" {...attributes} value={reason} maxLength={500} onInput={(event) => setReason(event.currentTarget.value)} autocomplete="off" />}</Field>
      <Choices<number> label="Duration" values={kind === 'ban' ? banTimes : muteTimes} value={seconds} onChange={setSeconds} />
      <p class="small muted">{kind === 'ban' ? 'Hides all their messages in this channel. If you undo the ban within 24 hours, the messages come back.' : 'Hides all their messages in this channel, and refuses new ones until the mute ends.'}</p>
      {state === 'failed' && <Problem error={sent!.error} onRetry={sent!.retry} />}
      <div class="row">
        <Button type="submit" kind="danger" icon={kind} busy={state === 'busy'} {...(kind === 'ban' && { keys: 'B' })}>{kind === 'ban' ? 'Ban' : 'Mute'}</Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </form>
  )
}
