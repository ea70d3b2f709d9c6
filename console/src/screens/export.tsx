import { useEffect, useState } from 'preact/hooks'
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
  const [file, setFile] = useState({ text: '', isComplete: false })
  const run = (): void => void job.start(0, async (step) => {
    const rows = [columns]
    let cursor: string | undefined
    do {
      const page = await client.moderation.listBans({ channelId: channel.id, limit: 100, cursor, ...filters }, { signal: AbortSignal.timeout(30_000) })
      for (const ban of page.rows) rows.push([ban.slug, ban.id, ban.bannedAt, ban.bannedBy.slug, ban.reason ?? '', ban.expiresAt ?? ''])
      cursor = page.pagination.cursor
      step.advance(rows.length - 1)
    } while (cursor && step.goesOn())
    setFile({ text: csvOf(rows), isComplete: !cursor })
  })
  useEffect(run, [])
  const count = plural(job.done, 'ban')
  const { text, isComplete } = file
  return (
    <Dialog title={isFiltered ? 'Export the bans that match' : 'Export all bans'} onClose={() => (job.state === 'running' ? job.stop() : onClose())}
      footer={job.state === 'running' ? undefined : <>
        <Button onClick={onClose}>Close</Button>
        {text && <Download kind="main" name={`bans-${channel.username}-${new Date(now()).toISOString().slice(0, 10)}.csv`} text={text}>Download</Download>}
      </>}>
      {job.state === 'running' ? <JobProgress job={job}>Bans read:</JobProgress> : job.state === 'failed' ? <Problem error={job.error} onRetry={run} />
        : <Note kind={isComplete ? 'good' : 'warn'}><p role="status">{isComplete ? `${count} read.` : `Stopped. The file has only the latest ${count}.`}</p></Note>}
      <p class="muted">A CSV with username, user id, time, moderator, reason and end. “Import a list” reads it.</p>
    </Dialog>
  )
}
