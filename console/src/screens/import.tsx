import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { actions } from '../actions'
import { useDesk } from '../desk'
import { formatDuration, formatNumber, plural } from '../format'
import { Commit, dryRun, type Checked, type Terms } from '../model/banlist'
import { maxLines, readList, textOf, type ReadList } from '../model/csv'
import { Button, Check, Choices, Field, Note, Problem } from '../ui/basics'
import { CopyButton, Download } from '../ui/copy'
import { Dialog } from '../ui/dialog'
import { JobProgress, useJob } from '../ui/job'
import { roleNames, type Role } from './roles'
import { banTimes } from './sanction'

const maxBytes = 10_000_000
const maxShown = 50
const statuses: [string, string][] = [
  ['EXTENDED', 'Banned for a shorter time, would be extended'], ['ALREADY_BANNED', 'Already banned'], ['USER_NOT_FOUND', 'Unknown here'],
  ['TARGET_IS_CHANNEL', 'The owner of the channel, left out'], ['DUPLICATE', 'Listed twice'], ['INVALID', 'Not a valid name'],
]

/** Import bans the users of a list, after a dry run has told what would happen. */
export function Import({ onClose }: { onClose: (banned: boolean) => void }) {
  const { client, channel } = useDesk()
  const [text, setText] = useState('')
  const [file, setFile] = useState<string>()
  const [reason, setReason] = useState('')
  const [seconds, setSeconds] = useState(0)
  const [checked, setChecked] = useState<Checked>()
  const [withRoles, setWithRoles] = useState(false)
  const [commit, setCommit] = useState<Commit>()
  const offerUndo = useUndo(commit)
  const job = useJob()
  const list = useMemo(() => readList(text), [text])
  const terms: Terms = { reason: reason.trim() || null, durationSeconds: seconds || null }
  const isRunning = job.state === 'running'
  const canCheck = list.users.length > 0 && list.lines <= maxLines
  const users = checked ? [...checked.users, ...(withRoles ? checked.withRole.map(({ id }) => id) : [])] : []
  const check = (): void => (setWithRoles(false), void job.start(list.users.length, async (step) => setChecked(await dryRun(client, channel.id, list.users, terms, step))))
  const ban = (one: Commit): void => (setCommit(one), void job.start(one.users.length, (step) => one.run(step)))
  const close = (): void => (isRunning ? job.stop() : onClose(commit !== undefined))
  // The second click of a double click on "Check" must not ban.
  const isTooSoon = (): boolean => checked !== undefined && !commit && performance.now() - checked.at < 800
  const choose = (content: string, name?: string): void => (setText(content), setFile(name))
  const [word, next] = commit && commit.done < commit.users.length ? [job.state === 'failed' ? 'Try again' : 'Go on', () => ban(commit)]
    : !commit && users.length > 0 ? [`Ban ${plural(users.length, 'user')}`, () => ban(new Commit(client, channel.id, users, terms))]
      : commit || checked ? ['Close', close] : [`Check ${plural(list.users.length, 'user')}`, check]
  return (
    <Dialog wide title="Import a ban list" onClose={close} onSubmit={() => isRunning || (!checked && !canCheck) || isTooSoon() || next()}
      footer={isRunning ? undefined : <>
        {checked && !commit && <Button icon="left" class="push" onClick={() => setChecked(undefined)}>Back</Button>}
        {word !== 'Close' && <Button onClick={close}>{commit ? 'Close' : 'Cancel'}</Button>}
        <Button type="submit" kind={word.startsWith('Ban ') ? 'danger' : 'main'} disabled={!checked && !canCheck}>{word}</Button>
      </>}>
      {isRunning && <JobProgress job={job}>{commit ? 'Banned' : 'Checked'}</JobProgress>}
      {job.state === 'failed' && <Problem error={job.error} />}
      {isRunning ? null : commit ? <Summary commit={commit} unsure={job.state === 'failed'} onUndo={() => (offerUndo()?.(), close())} />
        : checked ? <Result result={checked} terms={terms} withRoles={withRoles} onWithRoles={setWithRoles} />
          : <>
            <Source text={text} file={file} onChange={choose} />
            <Preview list={list} />
            <Choices<number> label="Duration" values={banTimes} value={seconds} onChange={setSeconds} />
            <Field label="Reason (optional)">{(attributes) => <input class="input" {...attributes} value={reason} maxLength={500} autocomplete="off" onInput={(event) => setReason(event.currentTarget.value)} />}</Field>
            <p class="small muted">The check changes nothing. It tells who would be banned.</p>
          </>}
    </Dialog>
  )
}

/** useUndo returns what tells of the bans with their undo, which Z does too. It does so at the latest when the dialog goes. */
function useUndo(commit: Commit | undefined): () => (() => void) | undefined {
  const made = useRef<Commit | undefined>(undefined)
  made.current = commit
  const told = useRef<Commit | undefined>(undefined)
  const offer = (): (() => void) | undefined => {
    const { current } = made
    if (!current?.batchIds.length || told.current === current) return undefined
    told.current = current
    return actions.tell(`Banned ${plural(current.banned, 'user')} of a list`, () => current.undo(), current.batchIds.join())
  }
  useEffect(() => () => void offer(), [])
  return offer
}

function Source({ text, file, onChange }: { text: string; file: string | undefined; onChange: (text: string, file?: string) => void }) {
  const [problem, setProblem] = useState<string>()
  const input = useRef<HTMLInputElement>(null)
  const read = async (chosen: File | undefined): Promise<void> => {
    if (!chosen) return
    if (chosen.size > maxBytes) return setProblem(`“${chosen.name}” is larger than 10 MB. Is it a list of users?`)
    setProblem(undefined)
    onChange(textOf(new Uint8Array(await chosen.arrayBuffer())), chosen.name)
  }
  return (
    <>
      {file ? <p class="row"><span class="grow user-text">From the file <strong><bdi>{file}</bdi></strong></span><Button little onClick={() => onChange('')}>Remove</Button></p>
        : <Field label="Usernames or user ids, one a line" problem={problem}>
          {(attributes) => <textarea class="input list-text" {...attributes} value={text} spellcheck={false} autocapitalize="none" placeholder={'spam_bot_01\nspam_bot_02'} onInput={(event) => onChange(event.currentTarget.value)} />}
        </Field>}
      <p class="row wrap">
        <Button icon="upload" onClick={() => input.current?.click()}>{file ? 'Choose another file' : 'Choose a file'}</Button>
        <span class="small muted">Text or CSV, of which the first column is read.</span>
        <input ref={input} type="file" hidden accept=".csv,.txt,.tsv,text/*" aria-label="File" onChange={(event) => (void read(event.currentTarget.files?.[0]), (event.currentTarget.value = ''))} />
      </p>
    </>
  )
}

function Preview({ list: { users, problems, duplicates, header, lines } }: { list: ReadList }) {
  if (lines === 0) return null
  if (lines > maxLines) return <Note kind="danger">The list has {plural(lines, 'line')}. One import takes at most {formatNumber(maxLines)}: split it.</Note>
  const first = users.slice(0, 5).map((user) => ('userId' in user ? user.userId : user.username)).join(', ')
  return (
    <div class="box inside stack tight">
      <p role="status"><strong>{plural(users.length, 'user')} read</strong>{duplicates > 0 && `, ${plural(duplicates, 'duplicate')} left out`}{header && <>, without the header “<bdi>{header}</bdi>”</>}</p>
      {first && <p class="muted small user-text"><bdi>{first}</bdi>{users.length > 5 && ', …'}</p>}
      {problems.length > 0 && (
        <details>
          <summary>{plural(problems.length, 'line')} cannot be a username, left out</summary>
          <ul class="lines small">
            {problems.slice(0, maxShown).map(({ line, text }) => <li class="user-text">Line {line}: <bdi>{text.slice(0, 80)}</bdi></li>)}
            {problems.length > maxShown && <li>and {plural(problems.length - maxShown, 'other')}</li>}
          </ul>
        </details>
      )}
    </div>
  )
}

function Result({ result: { users, withRole, counts, unknown }, terms, withRoles, onWithRoles }: { result: Checked; terms: Terms; withRoles: boolean; onWithRoles: (on: boolean) => void }) {
  const names = unknown.join('\n')
  const extended = Math.min(counts.EXTENDED ?? 0, users.length)
  return (
    <>
      <table class="table counts">
        <tbody>
          <tr><th scope="row"><strong>Would be banned {terms.durationSeconds ? `for ${formatDuration(terms.durationSeconds)}` : 'permanently'}</strong></th>
            <td class="right number"><strong>{formatNumber(users.length + (withRoles ? withRole.length : 0))}</strong></td></tr>
          {statuses.filter(([status]) => (status === 'EXTENDED' ? extended : counts[status]))
            .map(([status, text]) => <tr><th scope="row">{status === 'EXTENDED' ? `Of these, ${text.toLowerCase()}` : text}</th><td class="right number">{formatNumber(counts[status]!)}</td></tr>)}
          {withRole.length > 0 && <tr><th scope="row">Have a role{!withRoles && ', left out'}</th><td class="right number">{formatNumber(withRole.length)}</td></tr>}
        </tbody>
      </table>
      {withRole.length > 0 && (
        <Note kind="warn">
          <p class="user-text">{withRole.slice(0, maxShown).map(({ name, role }, i) => <>{i > 0 && ', '}<strong><bdi>{name}</bdi></strong> ({roleNames[role as Role]})</>)}</p>
          <Check label="Ban them too" checked={withRoles} onChange={onWithRoles} />
        </Note>
      )}
      {unknown.length > 0 && (
        <details>
          <summary>{plural(unknown.length, 'name')} that nobody has here</summary>
          <p class="row wrap"><CopyButton text={names}>Copy</CopyButton><Download name="unknown.txt" text={names}>Download</Download></p>
          <ul class="lines small">{unknown.slice(0, maxShown).map((name) => <li class="user-text"><bdi>{name}</bdi></li>)}{unknown.length > maxShown && <li>and {plural(unknown.length - maxShown, 'other')}</li>}</ul>
        </details>
      )}
      {terms.reason && <p class="user-text">Reason: “<bdi>{terms.reason}</bdi>”</p>}
    </>
  )
}

function Summary({ commit, unsure, onUndo }: { commit: Commit; unsure: boolean; onUndo: () => void }) {
  const rest = commit.users.length - commit.done
  const meanwhile = commit.counts.ALREADY_BANNED ?? 0
  return (
    <>
      <Note kind={rest ? 'warn' : 'good'}>
        <p role="status"><strong>{plural(commit.banned, 'user')} banned.</strong>
          {meanwhile > 0 && ` ${formatNumber(meanwhile)} were banned meanwhile.`}{rest > 0 && ` ${plural(rest, 'user')} of the list left.`}{unsure && ' The next of them may be banned already: “Try again” finds out.'}
        </p>
      </Note>
      {commit.batchIds.length > 0 && <p class="row wrap"><Button icon="undo" onClick={onUndo}>Undo these bans</Button><span class="small muted">Within 24 hours, this also brings their messages back. Later you find it on the screen Raid.</span></p>}
    </>
  )
}
