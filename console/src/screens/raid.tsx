import { useEffect, useRef } from 'preact/hooks'
import { useDesk, useReadOnly } from '../desk'
import { go, type Route } from '../route'
import { batchIdOf, problemOf, useSweep, type Conditions, type Sweep } from '../sweep'
import { Button, Check, Choices, Empty, Field, Note, Problem, Progress } from '../ui/basics'
import { Page } from '../ui/page'
import { Select } from '../ui/select'
import { Batches, BatchRows, useBatches } from './batches'
import { CommitPanel } from './raidcommit'
import { PreviewPanel } from './raidpreview'

/** Raid finds the accounts of a raid by what they have in common, and bans them as one batch. */
export function Raid({ route }: { route: Route }) {
  const { client, channel, profile } = useDesk()
  const readOnly = useReadOnly()
  const sweep = useSweep(client, channel.id, profile.userId)
  const { commit } = sweep
  const phrase = route.query.get('phrase')
  useEffect(() => {
    if (!phrase || commit) return
    sweep.set({ kind: 'phrase', text: phrase })
    go({ ...route, query: {} }, true) // A reload must not bring it back over what the user typed.
  }, [phrase, sweep, commit === undefined])
  const list = useBatches(`${commit?.state} ${commit?.undone} ${commit?.batch?.bannedCount}`, (rows) => sweep.see(rows))
  // What still bans users stands first. The page's own commit has a panel.
  const running = list.rows?.filter(({ afterglowEndsAt, batchId }) => afterglowEndsAt && batchId !== (commit && batchIdOf(commit))) ?? []
  const undone = (batchId: string): void => (list.reload(), sweep.wasUndone(batchId))
  return (
    <Page title="Raid">
      {readOnly && <Note kind="danger">You no longer moderate this channel, so you cannot ban anybody.</Note>}
      {running.length > 0 && <section class="box" aria-label="Running"><header><h2>An afterglow is running</h2></header><BatchRows rows={running} onUndone={undone} /></section>}
      {commit ? <CommitPanel sweep={sweep} commit={commit} readOnly={readOnly} /> : !readOnly && (
        <div class="raid">
          <ConditionsForm sweep={sweep} />
          <section class="box" aria-label="Preview"><Result sweep={sweep} /></section>
        </div>
      )}
      <Batches list={list} rows={list.rows?.filter((row) => !running.includes(row))} onUndone={undone} />
    </Page>
  )
}

function Result({ sweep }: { sweep: Sweep }) {
  if (sweep.previewing) return <Progress text="Looking for users who match" />
  if (sweep.previewError) return <div class="inside"><Problem error={sweep.previewError} onRetry={() => void sweep.find()} /></div>
  if (sweep.preview) return <PreviewPanel key={sweep.preview.result.sweepToken} sweep={sweep} preview={sweep.preview} />
  return <Empty icon="raid" title="No preview yet">A preview shows whom the conditions match. You decide after that.</Empty>
}

const windows = [[60, '1 min'], [300, '5 min'], [600, '10 min'], [1800, '30 min'], [3600, '1 h']] as const
const ages = [[0, 'Does not matter'], [300, 'In the last 5 min'], [600, 'In the last 10 min'], [3600, 'In the last hour'], [86_400, 'In the last day'], [604_800, 'In the last 7 days']] as const
const exemptions = [[0, 'All followers'], [86_400, 'Followers of more than 1 day'], [604_800, 'Followers of more than 7 days'], [1_209_600, 'Followers of more than 14 days'], [315_360_000, 'Followers are not exempt']] as const

function ConditionsForm({ sweep }: { sweep: Sweep }) {
  const { conditions } = sweep
  const problem = problemOf(conditions)
  const isPhrase = conditions.kind === 'phrase'
  const text = useRef<HTMLDivElement>(null)
  useEffect(() => text.current?.querySelector('input')?.focus(), [])
  return (
    <form class="box" aria-label="Conditions" onSubmit={(event) => (event.preventDefault(), !problem && void sweep.find())}>
      <header><h2>Who takes part</h2></header>
      <div class="inside stack">
        <Choices<Conditions['kind']> label="Kind of text" values={[['phrase', 'Phrase'], ['pattern', 'Pattern']]} value={conditions.kind} onChange={(kind) => sweep.set({ kind })} />
        <div ref={text}>
          <Field label={isPhrase ? 'Their message contains' : 'Their message matches'}
            hint={isPhrase ? 'Disguises are found too: look-alike letters, accents, hidden characters.' : 'A regular expression of RE2, such as free (subs?|gems).'}>
            {(attributes) => <input class="input" {...attributes} data-search value={conditions.text} maxLength={500} autocomplete="off" spellcheck={false} onInput={(event) => sweep.set({ text: event.currentTarget.value })} />}
          </Field>
        </div>
        <div class="field"><span class="label">Messages of the last</span><Choices<number> label="Messages of the last" values={windows} value={conditions.within} onChange={(within) => sweep.set({ within })} /></div>
        <div class="pair">
          <Select label="Followed" values={ages} value={String(conditions.followedWithin)} onChange={(value) => sweep.set({ followedWithin: Number(value) })} />
          <Select label="First message" values={ages} value={String(conditions.firstMessageWithin)} onChange={(value) => sweep.set({ firstMessageWithin: Number(value) })} />
        </div>
        <Select label="Never ban" values={exemptions} value={String(conditions.exemptFollowersOlderThan)} onChange={(value) => sweep.set({ exemptFollowersOlderThan: Number(value) })} />
        <Check label="Never ban subscribers" checked={conditions.exemptSubscribers} onChange={(exemptSubscribers) => sweep.set({ exemptSubscribers })} />
        <p class="small muted">All conditions must hold. The owner, moderators, VIPs and OGs are never banned.</p>
        <div class="row wrap"><Button type="submit" kind="main" icon="search" busy={sweep.previewing} disabled={problem !== ''}>Preview</Button>{problem && <span class="small muted grow">{problem}</span>}</div>
      </div>
    </form>
  )
}
