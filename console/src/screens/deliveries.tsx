import type { Webhook, WebhookDelivery } from '@moderato-live/client'
import { useState } from 'preact/hooks'
import { actions } from '../actions'
import { now } from '../api/clock'
import { useDesk } from '../desk'
import { formatClock } from '../format'
import { Button, Problem, Progress, Time } from '../ui/basics'
import { Icon } from '../ui/icon'
import { useList } from '../ui/load'

const statuses = { delivered: ['good', 'check', 'Delivered'], pending: ['warn', 'clock', 'Waiting'], failed: ['danger', 'warning', 'Given up'] } as const

/** Deliveries lists what a webhook sent in the last days, and sends events again. */
export function Deliveries({ webhook }: { webhook: Webhook }) {
  const { client } = useDesk()
  const [readAt, setReadAt] = useState('')
  const list = useList(async (cursor, signal) => {
    const page = await client.webhooks.listWebhookDeliveries({ webhookId: webhook.id, limit: 50, ...(cursor && { cursor }) }, { signal })
    if (!cursor) setReadAt(new Date(now()).toISOString())
    return page
  }, [webhook.id])
  const redeliver = async ({ eventId, type }: WebhookDelivery): Promise<void> => {
    await actions.run(`Sending ${type} again`, `${type} is sent again`, (options) => client.webhooks.redeliverWebhookEvent({ webhookId: webhook.id, eventId }, options))
    list.reload()
  }
  if (list.error && !list.rows) return <Problem error={list.error} onRetry={list.reload} />
  if (!list.rows) return <>{list.slow && <Progress />}</>
  return (
    <div class="deliveries">
      <p class="row small muted"><span class="grow">As of {readAt && formatClock(readAt)}. A delivery stays here for 7 days.</span><Button little icon="refresh" onClick={list.reload}>Read again</Button></p>
      {list.error && <Problem error={list.error} onRetry={list.reload} />}
      {list.rows.length === 0 ? <p class="muted">Nothing was sent in the last 7 days.</p> : (
        <table class="table">
          <thead><tr><th scope="col">Event</th><th scope="col">Status</th><th scope="col" class="wide">Attempts</th><th scope="col" class="wide">Next or done</th><th scope="col">Again</th></tr></thead>
          <tbody>{list.rows.map((row) => <Delivery key={row.id} row={row} onAgain={webhook.status === 'enabled' && (() => void redeliver(row))} />)}</tbody>
        </table>
      )}
      {list.more && <Button busy={list.loadingMore} onClick={list.more}>More</Button>}
    </div>
  )
}

function Delivery({ row, onAgain }: { row: WebhookDelivery; onAgain: false | (() => void) }) {
  const [kind, icon, text] = statuses[row.status as keyof typeof statuses] ?? ['', 'info', row.status]
  const at = row.deliveredAt ?? row.nextAttemptAt
  return (
    <tr>
      <th scope="row"><code>{row.type}</code>{row.lastError && <p class="small muted user-text"><bdi>{row.lastError}</bdi></p>}</th>
      <td><span class={`chip ${kind}`}><Icon name={icon} />{text}</span></td>
      <td class="wide number">{row.attempts}{row.lastStatus !== null && <span class="muted"> (last: {row.lastStatus})</span>}</td>
      <td class="wide">{!at ? '–' : row.status === 'pending' && Date.parse(at) < now() ? 'After the earlier ones' : <Time at={at} />}</td>
      <td>{onAgain ? <Button little onClick={onAgain}>Send<span class="hidden-text"> {row.type} again</span></Button> : '–'}</td>
    </tr>
  )
}
