import type { CreateWebhookRequest, Webhook, WebhookDelivery } from '@moderato-live/client'
import { useState } from 'preact/hooks'
import { actions, messageOf, newKey } from '../actions'
import { now } from '../api/clock'
import { useDesk } from '../desk'
import { formatClock, formatDay, plural } from '../format'
import type { Route } from '../route'
import { Button, Check, Choices, Empty, Field, Note, Problem, Time } from '../ui/basics'
import { CopyButton } from '../ui/copy'
import { Confirm, Dialog } from '../ui/dialog'
import { Icon } from '../ui/icon'
import { useList, useLoad } from '../ui/load'
import { Waiting } from '../ui/page'
import { useFilters } from './userlist'

const reasons: Record<string, string> = {
  failing: 'A delivery failed for 3 days.', gone: 'The receiver answered that it is gone (410).',
  right_lost: 'Its user or app lost the right to its events.', behind: 'Events that it had not sent yet are no longer kept.',
}

type Asked = { what: 'create' } | { what: 'delete' | 'rotate'; webhook: Webhook } | { what: 'secret'; secret: string; until?: string }

/** Webhooks lists where events of the channel are sent, and manages that. */
export function Webhooks({ route }: { route: Route }) {
  const { client, channel } = useDesk()
  const filter = useFilters(route)
  const [asked, setAsked] = useState<Asked | undefined>()
  const webhooks = useLoad((signal) => client.webhooks.listWebhooks({ channelId: channel.id }, { signal }), [channel.id])
  const close = (): void => setAsked(undefined)
  const open = route.query.get('webhook')
  const run = async <Result,>(doing: string, done: string, change: (options: { idempotencyKey: string }) => Promise<Result>): Promise<Result | undefined> => {
    close()
    const result = await actions.run(doing, done, change)
    webhooks.reload()
    return result
  }
  const rotate = async ({ id, url }: Webhook): Promise<void> => {
    const result = await run(`Changing the secret of ${url}`, `${url} has a new secret`, (options) => client.webhooks.rotateWebhookSecret({ webhookId: id }, options))
    if (result) setAsked({ what: 'secret', secret: result.secret, until: result.formerSecretExpiresAt })
  }
  if (!webhooks.data) return <Waiting of={webhooks} />
  return (
    <>
      <div class="row wrap"><p class="muted">A webhook sends what happens in the channel to a server of yours.</p><Button kind="main" icon="plus" onClick={() => setAsked({ what: 'create' })}>New webhook</Button></div>
      {webhooks.data.length === 0 && <Empty icon="link" title="No webhooks yet">Bots and dashboards that hear events by webhook appear here.</Empty>}
      {webhooks.data.map((webhook) => (
        <section class="box" key={webhook.id}>
          <div class="inside stack">
            <div class="row wrap top">
              <h2 class="grow user-text"><bdi>{webhook.url}</bdi></h2>
              {webhook.status === 'enabled' ? <span class="chip good"><Icon name="check" />Enabled</span> : <span class="chip danger"><Icon name="warning" />Disabled</span>}
            </div>
            <p class="small muted" title={webhook.type.join(', ')}>{webhook.type.length ? plural(webhook.type.length, 'type of events', 'types of events') : 'All types of events but chat'}, since {formatDay(webhook.createdAt)}
              {webhook.clientId && <>, made by the app {webhook.clientId}</>}.
              {' '}{webhook.lastSuccessAt ? <>Last delivery <Time at={webhook.lastSuccessAt} ago />.</> : 'Nothing was delivered yet.'}</p>
            {webhook.disabledReason && <Note kind="danger">{reasons[webhook.disabledReason] ?? webhook.disabledReason}</Note>}
            {webhook.lastError && <Note kind="warn"><p class="user-text">Last error: <bdi>{webhook.lastError}</bdi></p></Note>}
            <div class="row wrap">
              <Button little pressed={open === webhook.id} icon="log" onClick={() => (webhooks.reload(), filter({ webhook: open === webhook.id ? '' : webhook.id }))}>Deliveries</Button>
              {webhook.status !== 'enabled' && <Button little kind="main" onClick={() => void run(`Enabling ${webhook.url}`, `Enabled ${webhook.url}`, (options) => client.webhooks.enableWebhook({ webhookId: webhook.id }, options))}>Enable</Button>}
              <Button little onClick={() => setAsked({ what: 'rotate', webhook })}>New secret</Button>
              <Button little icon="trash" class="warn-text" onClick={() => setAsked({ what: 'delete', webhook })}>Delete</Button>
            </div>
          </div>
          {open === webhook.id && <Deliveries webhook={webhook} />}
        </section>
      ))}
      {asked?.what === 'create' && <Create onClose={close} onCreated={(secret) => (webhooks.reload(), setAsked({ what: 'secret', secret }))} />}
      {asked?.what === 'secret' && <Secret secret={asked.secret} until={asked.until} onClose={close} />}
      {asked?.what === 'rotate' && (
        <Confirm title="Give it a new secret?" action="New secret" onConfirm={() => void rotate(asked.webhook)} onClose={close}>
          <p class="user-text"><bdi>{asked.webhook.url}</bdi></p><p>For 24 hours deliveries are signed with both secrets. Then receivers that know only the old one refuse them.</p>
        </Confirm>
      )}
      {asked?.what === 'delete' && (
        <Confirm title="Delete the webhook?" action="Delete" danger onClose={close}
          onConfirm={() => void run(`Deleting ${asked.webhook.url}`, `Deleted ${asked.webhook.url}`, (options) => client.webhooks.deleteWebhook({ webhookId: asked.webhook.id }, options))}>
          <p class="user-text"><bdi>{asked.webhook.url}</bdi></p><p>The receiver hears nothing more, and the list of its deliveries is gone. This cannot be undone.</p>
        </Confirm>
      )}
    </>
  )
}

function Secret({ secret, until, onClose }: { secret: string; until: string | undefined; onClose: () => void }) {
  return (
    <Dialog title="The secret of the webhook" onClose={onClose} footer={<Button kind="main" onClick={onClose}>I have stored it</Button>}>
      <Note kind="warn">It is shown only now. Store it in the receiver, which verifies deliveries with it.{until && <> The former secret is valid until <Time at={until} />.</>}</Note>
      <p class="row wrap"><code class="grow secret">{secret}</code><CopyButton text={secret}>Copy</CopyButton></p>
    </Dialog>
  )
}

const groups: [string, [string, string][]][] = [
  ['Moderation', [['channel.ban', 'Ban'], ['channel.unban', 'Unban'], ['channel.mute', 'Mute'], ['channel.unmute', 'Unmute'], ['channel.mute.expire', 'Mute ended'],
    ['channel.chat.message_delete', 'Message deleted'], ['channel.chat.clear_user_messages', 'Messages of a user hidden'], ['channel.chat.clear', 'Chat cleared'], ['channel.chat.pin', 'Message pinned']]],
  ['Chat rules', [['channel.chat.settings', 'Settings changed'], ['channel.chat.rules', 'Rules changed'], ['channel.chat.hold.update', 'Held message decided'],
    ['channel.shield.begin', 'Shield raised'], ['channel.shield.end', 'Shield lowered'], ['channel.shield.preset', 'Shield preset changed']]],
  ['Roles', [['channel.moderator.add', 'Moderator added'], ['channel.moderator.remove', 'Moderator removed'], ['channel.vip.add', 'VIP added'],
    ['channel.vip.remove', 'VIP removed'], ['channel.og.add', 'OG added'], ['channel.og.remove', 'OG removed']]],
  ['Viewers', [['channel.follow', 'Follow'], ['channel.unfollow', 'Unfollow'], ['channel.subscribe', 'Subscription'], ['channel.subscription.end', 'Subscription ended'],
    ['channel.subscription.gift', 'Subscriptions given'], ['channel.thanks', 'Thanks'], ['channel.vote', 'Vote']]],
  ['Stream', [['stream.online', 'Stream started'], ['stream.offline', 'Stream ended'], ['channel.update', 'Stream info changed'], ['channel.raid', 'Raid'], ['channel.chat.message', 'Chat message']]],
]

function Create({ onCreated, onClose }: { onCreated: (secret: string) => void; onClose: () => void }) {
  const { client, channel } = useDesk()
  const [url, setUrl] = useState('https://')
  const [all, setAll] = useState(true)
  const [types, setTypes] = useState<ReadonlySet<string>>(new Set())
  const [problem, setProblem] = useState<string>()
  const [busy, setBusy] = useState(false)
  const [key, setKey] = useState(newKey)
  const change = (set: () => void): void => (setKey(newKey()), setProblem(undefined), set())
  const create = async (): Promise<void> => {
    if (!all && types.size === 0) return setProblem('Choose at least one type.')
    setBusy(true)
    try {
      const request: CreateWebhookRequest = { channelId: channel.id, url: url.trim(), type: all ? null : [...types] }
      onCreated((await client.webhooks.createWebhook(request, { idempotencyKey: key })).secret)
    } catch (error) {
      setProblem(messageOf(error))
      setBusy(false)
    }
  }
  const toggle = (type: string, on: boolean) => change(() => setTypes(new Set(on ? [...types, type] : [...types].filter((one) => one !== type))))
  return (
    <Dialog wide title="New webhook" onClose={onClose} onSubmit={() => void create()}
      footer={<><Button onClick={onClose}>Cancel</Button><Button type="submit" kind="main" busy={busy}>Create</Button></>}>
      <Field label="Address of the receiver">
        {(attributes) => <input class="input" type="url" required maxLength={2048} {...attributes} value={url} autocomplete="off" spellcheck={false} onInput={({ currentTarget }) => change(() => setUrl(currentTarget.value))} />}
      </Field>
      <Choices label="Which events" values={[[true, 'All types but chat, also future ones'], [false, 'Chosen types']] as const} value={all} onChange={(value) => change(() => setAll(value))} />
      {!all && <div class="type-groups">{groups.map(([name, list]) => <fieldset><legend>{name}</legend>
        {list.map(([type, text]) => <Check key={type} label={<span title={type}>{text}</span>} checked={types.has(type)} onChange={(on) => toggle(type, on)} />)}</fieldset>)}</div>}
      {problem && <Problem error={problem} />}
    </Dialog>
  )
}

const statuses = { delivered: ['good', 'check', 'Delivered'], pending: ['warn', 'clock', 'Waiting'], failed: ['danger', 'warning', 'Given up'] } as const

/** Deliveries lists what a webhook sent in the last days, and sends events again. */
function Deliveries({ webhook }: { webhook: Webhook }) {
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
  if (!list.rows) return <Waiting of={list} />
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
