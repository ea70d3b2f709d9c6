import type { PreviewSweepResponse } from '@moderato-live/client'
import { useEffect, useState } from 'preact/hooks'
import { now } from '../api/clock'
import { useDesk } from '../desk'
import { formatClock, formatDuration, formatNumber, plural } from '../format'
import { splitAround, type Preview, type Sweep, type Terms } from '../sweep'
import { Button, Choices, Empty, Field, Note, Remaining, nameColor } from '../ui/basics'
import { Confirm } from '../ui/dialog'
import { banTimes } from './sanction'

const exemptNames: [keyof PreviewSweepResponse['exempted'], string, string][] = [
  ['owner', 'owner', 'owners'], ['moderators', 'moderator', 'moderators'], ['vips', 'VIP', 'VIPs'], ['ogs', 'OG', 'OGs'],
  ['subscribers', 'subscriber', 'subscribers'], ['followers', 'longer follower', 'longer followers'],
]

/** PreviewPanel shows whom a sweep would ban. It can be committed while it is of the conditions that are shown. */
export function PreviewPanel({ sweep, preview: { conditions, result } }: { sweep: Sweep; preview: Preview }) {
  const { openCard } = useDesk()
  const isOver = useIsOver(result.expiresAt)
  const isChanged = JSON.stringify(conditions) !== JSON.stringify(sweep.conditions)
  const exempted = exemptNames.filter(([cause]) => result.exempted[cause] > 0)
  const phrase = conditions.kind === 'phrase' ? conditions.text : ''
  return (
    <>
      <header>
        <h2 class="grow"><span role="status">{result.matched > 0 ? `${plural(result.matched, 'user')} would be banned` : 'Nobody matches'}</span></h2>
        {result.matched > 0 && !isOver && !isChanged && <span class="chip">Valid for <Remaining until={result.expiresAt} /></span>}
      </header>
      <div class="inside stack">
        {isChanged ? <Note kind="warn">You changed the conditions. Below is the preview of the earlier ones. <Again sweep={sweep} /></Note>
          : isOver && result.matched > 0 && <Note kind="warn">This preview has expired. <Again sweep={sweep} /></Note>}
        {exempted.length > 0 && <p class="row wrap"><span class="muted">They match, but are never banned:</span>{exempted.map(([cause, one, many]) => <span class="chip good">{plural(result.exempted[cause], one, many)}</span>)}</p>}
        {result.matched === 0 && <Empty icon="search" title="Nobody matches all conditions">Try a longer time, or fewer conditions. Banned users no longer match.</Empty>}
        {result.sample.length > 0 && (
          <>
            <h3>{result.sample.length < result.matched ? `${result.sample.length} of the ${formatNumber(result.matched)} users` : 'All of them'}</h3>
            <ul class={`sample ${isChanged || isOver ? 'stale' : ''}`} tabIndex={0} aria-label="Users who would be banned">
              {result.sample.map((user) => (
                <li key={user.userId}>
                  <button type="button" class={`user-link cut ${nameColor(user.userId)}`} onClick={() => openCard(user.userId)}><bdi>{user.displayName}</bdi></button>
                  {user.message ? <bdi class="user-text grow">{splitAround(user.message.message, phrase).map((part, i) => (i % 2 ? <mark>{part}</mark> : part))}</bdi> : <span class="muted grow">followed</span>}
                  {user.message && <time class="small muted" dateTime={user.message.createdAt}>{formatClock(user.message.createdAt)}</time>}
                </li>
              ))}
            </ul>
          </>
        )}
        {result.matched > 0 && <CommitForm sweep={sweep} matched={result.matched} text={conditions.text} kind={conditions.kind} disabled={isChanged || isOver} />}
      </div>
    </>
  )
}

const Again = ({ sweep }: { sweep: Sweep }) => <Button little icon="refresh" onClick={() => void sweep.find()}>Preview again</Button>

/** useIsOver reports whether a time of the server's clock has passed. */
export function useIsOver(at: string): boolean {
  const [isOver, set] = useState(Date.parse(at) <= now())
  useEffect(() => {
    set(Date.parse(at) <= now())
    const timer = setTimeout(() => set(true), Math.max(0, Date.parse(at) - now()))
    return () => clearTimeout(timer)
  }, [at])
  return isOver
}

const afterglows = [[0, 'None'], [60, '1 min'], [120, '2 min'], [300, '5 min'], [600, '10 min']] as const

function CommitForm({ sweep, matched, text: found, kind, disabled }: { sweep: Sweep; matched: number; text: string; kind: 'phrase' | 'pattern'; disabled: boolean }) {
  const [terms, setTerms] = useState<Terms>({ ...sweep.terms, reason: sweep.terms.reason || (found && `Raid: ${found}`).slice(0, 500) })
  const [asked, setAsked] = useState(false)
  const set = (change: Partial<Terms>): void => setTerms({ ...terms, ...change })
  const text = `Ban ${plural(matched, 'user')}`
  return (
    <form class="stack commit-form" aria-label="Ban them" onSubmit={(event) => (event.preventDefault(), setAsked(true))}>
      <Field label="Reason (optional)">{(attributes) => <input class="input" {...attributes} value={terms.reason} maxLength={500} autocomplete="off" onInput={(event) => set({ reason: event.currentTarget.value })} />}</Field>
      <div class="field"><span class="label">Ban them</span><Choices<number> label="Duration" values={banTimes} value={terms.durationSeconds} onChange={(durationSeconds) => set({ durationSeconds })} /></div>
      {found && (
        <div class="field">
          <span class="label">Afterglow</span>
          <Choices<number> label="Afterglow" values={afterglows} value={terms.afterglowSeconds} onChange={(afterglowSeconds) => set({ afterglowSeconds })} />
          <span class="small muted">During the afterglow, whoever else posts the {kind} is refused and banned too.</span>
        </div>
      )}
      <div><Button type="submit" kind="danger" icon="ban" disabled={disabled}>{text}…</Button></div>
      {asked && (
        <Confirm title={`${text}?`} action={text} danger onClose={() => setAsked(false)} onConfirm={() => disabled ? setAsked(false) : sweep.ban({ ...terms, reason: terms.reason.trim() })}>
          <p>{plural(matched, 'user is', 'users are')} banned {terms.durationSeconds ? `for ${formatDuration(terms.durationSeconds)}` : 'permanently'}, and their messages are hidden.
            {terms.afterglowSeconds > 0 && ` For ${formatDuration(terms.afterglowSeconds)}, whoever else posts the ${kind} is banned too.`}
          </p>
          <p class="muted">You can undo it, and bring the messages back, for 24 hours.</p>
          {disabled && <Note kind="warn">The preview is no longer valid. Close this and preview again.</Note>}
        </Confirm>
      )}
    </form>
  )
}
