import { useEffect, useRef, useState } from 'preact/hooks'
import { listBans } from '../api/pending'
import { now } from '../api/clock'
import { useDesk } from '../desk'
import { plural } from '../format'
import { csvOf } from '../model/csv'
import { Button, Note, Problem } from '../ui/basics'
import { Download } from '../ui/copy'
import { Dialog } from '../ui/dialog'
import { JobProgress, useJob } from '../ui/job'
import type { Filters } from './sanctions'

const columns = ['username', 'user id', 'banned at', 'by', 'reason', 'expires at']

/** Export reads all bans that match the filters, and offers them as a file. */
export function Export({ filters, isFiltered, onClose }: { filters: Filters; isFiltered: boolean; onClose: () => void }) {
  const { client, channel } = useDesk()
  const job = useJob()
  const read = useRef<{ rows: string[][]; cursor: string | undefined }>({ rows: [columns], cursor: undefined })
  const [text, setText] = useState('')
  const run = (): void => void job.start(0, async (step) => {
    const { rows } = read.current
    do {
      const page = await listBans(client, { channelId: channel.id, limit: 100, cursor: read.current.cursor, ...filters }, AbortSignal.timeout(30_000))
      for (const ban of page.rows) rows.push([ban.slug, ban.id, ban.bannedAt, ban.bannedBy.slug, ban.reason ?? '', ban.expiresAt ?? ''])
      read.current.cursor = page.pagination.cursor
      step.advance(rows.length - 1)
    } while (read.current.cursor && step.goesOn())
    setText(csvOf(rows))
  })
  useEffect(run, [])
  const count = plural(read.current.rows.length - 1, 'ban')
  const isComplete = job.state === 'done' || read.current.cursor === ''
  return (
    <Dialog title={isFiltered ? 'Export the bans that match' : 'Export all bans'} onClose={() => (job.state === 'running' ? job.stop() : onClose())}
      footer={job.state === 'running' ? undefined : <>
        <Button onClick={onClose}>Close</Button>
        {!isComplete && <Button onClick={run}>{job.state === 'failed' ? 'Try again' : 'Go on'}</Button>}
        {text && job.state !== 'failed' && <Download kind="main" name={`bans-${channel.username}-${new Date(now()).toISOString().slice(0, 10)}.csv`} text={text}>Download</Download>}
      </>}>
      {job.state === 'running' ? <JobProgress job={job}>Bans read:</JobProgress> : job.state === 'failed' ? <Problem error={job.error} />
        : <Note kind={isComplete ? 'good' : 'warn'}><p role="status">{isComplete ? `${count} read.` : `Stopped. The file has only the latest ${count}.`}</p></Note>}
      <p class="muted">A CSV with username, user id, time, moderator, reason and end. “Import a list” reads it.</p>
    </Dialog>
  )
}
