import type { ChatRule, RevertModeratorResponse } from '@moderato-live/client'
import { useRef, useState } from 'preact/hooks'
import { messageOf, newKey } from '../actions'
import { now } from '../api/clock'
import { useDesk } from '../desk'
import { formatNumber, plural } from '../format'
import { Button, Choices, Note, Problem } from '../ui/basics'
import { Dialog } from '../ui/dialog'
import { Select } from '../ui/select'
import { Moderators, TimeField, useModerators } from './logfilters'
import { useRoles } from './roles'

type Counts = RevertModeratorResponse['counts']
const ranges = [[900, '15 min'], [3600, '1 h'], [21_600, '6 h'], [86_400, '1 day'], [604_800, '7 days'], [0, 'Since …']] as const
const sum = (a: Counts, b: Counts): Counts => ({ unbanned: a.unbanned + b.unbanned, unmuted: a.unmuted + b.unmuted, restored: a.restored + b.restored })
const none: Counts = { unbanned: 0, unmuted: 0, restored: 0 }
const total = ({ unbanned, unmuted, restored }: Counts): number => unbanned + unmuted + restored

function describe({ unbanned, unmuted, restored }: Counts): string {
  const parts = [[unbanned, 'ban'], [unmuted, 'mute'], [restored, 'replaced ban']] as const
  return parts.filter(([count]) => count > 0).map(([count, noun]) => plural(count, noun)).join(' and ') || 'nothing'
}

/**
 * RevertDialog lifts all that a moderator did since a time, or that a rule did: first as a dry run. A dry run counts no
 * changes of rules, so a moderator can be reverted whatever it finds. The server does at most 10,000 at a time, so it is
 * asked again until nothing remains.
 */
export function RevertDialog({ moderatorId: first, rule, onClose }: { moderatorId: string; rule?: ChatRule; onClose: () => void }) {
  const { client, channel } = useDesk()
  const [moderatorId, setModeratorId] = useState(first === channel.id ? '' : first)
  const [range, setRange] = useState<number>(3600)
  const [chosen, setChosen] = useState('')
  const [found, setFound] = useState<RevertModeratorResponse & { since: string }>()
  const [done, setDone] = useState<Counts>()
  const [state, setState] = useState<'' | 'looking' | 'reverting' | 'stopped' | 'ended'>('')
  const [error, setError] = useState<unknown>()
  const stopped = useRef(false)
  const key = useRef<string>(undefined)
  const forget = (): void => (setFound(undefined), setDone(undefined), setError(undefined), setState(''))
  const call = (since: string, dryRun: boolean, idempotencyKey?: string) =>
    client.moderation.revertModerator({ channelId: channel.id, ...(rule ? { ruleId: rule.ruleId } : { moderatorId, since }), dryRun }, idempotencyKey ? { idempotencyKey } : {})

  const look = async (): Promise<void> => {
    forget()
    setState('looking')
    const since = range ? new Date(now() - range * 1000).toISOString() : chosen
    try {
      setFound({ ...(await call(since, true)), since })
    } catch (failure) {
      setError(failure)
    }
    setState('')
  }
  const revert = async (): Promise<void> => {
    stopped.current = false
    setError(undefined)
    setState('reverting')
    try {
      for (let counts = done ?? none; ; ) {
        // A call that failed is repeated with its key, so that its counts are not lost.
        const part = await call(found!.since, false, (key.current ??= newKey()))
        key.current = undefined
        counts = sum(counts, part.counts)
        setDone(counts)
        if (!part.hasMore) return setState('ended')
        if (stopped.current) return setState('stopped')
      }
    } catch (failure) {
      setError(failure)
      setState('stopped')
    }
  }
  const busy = state === 'looking' || state === 'reverting'
  const isEmpty = found && rule && total(found.counts) === 0
  const canLook = rule !== undefined || moderatorId !== '' && (range > 0 || chosen !== '')
  const lifted = found && total(found.counts) > 0 && `Lift ${found.hasMore ? 'more than ' : ''}${describe(found.counts)}`
  const action = [lifted, !rule && 'revert their rules'].filter(Boolean).join(', ').replace(/^r/, 'R')
  const footer = state === 'ended' ? <Button kind="main" onClick={onClose}>Close</Button> : (
    <>
      {state === 'reverting' ? <Button onClick={() => (stopped.current = true)}>Stop</Button> : <Button onClick={onClose}>{done ? 'Close' : 'Cancel'}</Button>}
      {found && !isEmpty ? <Button type="submit" kind="danger" icon="undo" busy={busy}>{done ? 'Go on' : action}</Button> : <Button type="submit" kind="main" icon="search" busy={busy} disabled={!canLook}>Look what would change</Button>}
    </>
  )
  return (
    <Dialog wide title={rule ? `Undo what “${rule.name}” did` : 'Revert a moderator'} onClose={() => !busy && onClose()} onSubmit={() => !busy && void (found && !isEmpty ? revert() : canLook && look())} footer={footer}>
      <p class="muted">
        Lifts every {rule ? 'mute that this rule made and' : 'ban and mute of this moderator'} that is still in force, and brings the messages back.
        {' '}{rule ? 'The rule stays: switch it off first if it is wrong.' : 'Bans by others stay. Their changes of chat rules are reverted too, where nobody changed the rule since.'}
      </p>
      {!rule && <Select label="Moderator" value={moderatorId} disabled={busy || !!done} onChange={(id) => (setModeratorId(id), forget())}><option value="">Choose a moderator</option><Moderators chosen={moderatorId} withoutOwner /></Select>}
      {moderatorId && <StillModerator id={moderatorId} />}
      {!rule && !done && !busy && <div class="field"><span class="label">What they did in the last</span><Choices<number> label="What they did in the last" values={ranges} value={range} onChange={(next) => (setRange(next), forget())} /></div>}
      {!rule && !done && !busy && range === 0 && <TimeField label="Since" value={chosen} onChange={(at) => (setChosen(at), forget())} />}
      {error ? <Problem error={messageOf(error)} /> : null}
      {found && !done && <Found found={found} ofRule={rule !== undefined} />}
      {done && <Note kind={state === 'ended' ? 'good' : 'warn'}>{state === 'ended' ? 'Lifted: ' : 'Lifted so far: '}{describe(done)}.{!rule && ' Their changes of rules are reverted.'}{state === 'stopped' && ' More remains.'}</Note>}
    </Dialog>
  )
}

function Found({ found: { counts, results, hasMore }, ofRule }: { found: RevertModeratorResponse; ofRule: boolean }) {
  if (total(counts) === 0) return <Note kind="good">{ofRule ? 'None of its mutes' : 'None of their bans and mutes'} is in force any more.</Note>
  const names = results.flatMap(({ username }) => username ?? []).slice(0, 20)
  return (
    <Note kind="warn">
      <strong>{hasMore && 'More than '}{describe(counts)} would be lifted.</strong>
      <p class="user-text small">{names.map((name, i) => <>{i > 0 && ', '}<bdi>{name}</bdi></>)}{results.length > names.length && ` and ${formatNumber(results.length - names.length)} more`}</p>
    </Note>
  )
}

/** StillModerator warns that a moderator can ban again after the revert. */
function StillModerator({ id }: { id: string }) {
  const roles = useRoles()
  const [removed, setRemoved] = useState('')
  const moderator = useModerators().slice(1).find((one) => one.id === id)
  if (!moderator || removed === id) return null
  const remove = async (): Promise<void> => {
    if (await roles.remove(moderator, 'moderator') !== undefined) setRemoved(id)
  }
  return <Note kind="warn"><bdi>{moderator.displayName}</bdi> is still a moderator, and can ban again. <Button little onClick={() => void remove()}>Remove as moderator</Button></Note>
}
