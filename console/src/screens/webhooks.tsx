import type { CreateWebhookRequest, Webhook } from '@moderato-live/client'
import { useState } from 'preact/hooks'
import { actions, messageOf, newKey } from '../actions'
import { useDesk } from '../desk'
import { formatDay, plural } from '../format'
import type { Route } from '../route'
import { Button, Check, Choices, Empty, Field, Note, Problem, Progress, Time } from '../ui/basics'
import { CopyButton } from '../ui/copy'
import { Confirm, Dialog } from '../ui/dialog'
import { Icon } from '../ui/icon'
import { useLoad } from '../ui/load'
import { Deliveries } from './deliveries'
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
  if (webhooks.error) return <Problem error={webhooks.error} onRetry={webhooks.reload} />
  if (!webhooks.data) return <>{webhooks.slow && <Progress />}</>
  return (
    <>
      <div class="row wrap"><p class="muted grow">A webhook sends what happens in the channel to a server of yours.</p><Button kind="main" icon="plus" onClick={() => setAsked({ what: 'create' })}>New webhook</Button></div>
      {webhooks.data.length === 0 && <Empty icon="link" title="No webhooks yet">Bots and dashboards that hear events by webhook appear here.</Empty>}
      {webhooks.data.map((webhook) => (
        <section class="box" key={webhook.id}>
          <div class="inside stack">
            <div class="row wrap top">
              <h2 class="grow user-text"><bdi>{webhook.url}</bdi></h2>
              {webhook.status === 'enabled' ? <span class="chip good"><Icon name="check" />Enabled</span> : <span class="chip danger"><Icon name="warning" />Disabled</span>}
            </div>
            <p class="small muted" title={webhook.type.join(', ')}>{webhook.type.length ? plural(webhook.type.length, 'type of events', 'types of events') : 'All types of events but chat'}, since {formatDay(webhook.createdAt)}{webhook.clientId && <>, made by the app {webhook.clientId}</>}. {webhook.lastSuccessAt ? <>Last delivery <Time at={webhook.lastSuccessAt} ago />.</> : 'Nothing was delivered yet.'}</p>
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
  ['Moderation', [['channel.ban', 'Ban'], ['channel.unban', 'Unban'], ['channel.mute', 'Mute'], ['channel.unmute', 'Unmute'], ['channel.mute.expire', 'Mute ended'], ['channel.chat.message_delete', 'Message deleted'], ['channel.chat.clear_user_messages', 'Messages of a user hidden'], ['channel.chat.clear', 'Chat cleared'], ['channel.chat.pin', 'Message pinned']]],
  ['Roles', [['channel.moderator.add', 'Moderator added'], ['channel.moderator.remove', 'Moderator removed'], ['channel.vip.add', 'VIP added'], ['channel.vip.remove', 'VIP removed'], ['channel.og.add', 'OG added'], ['channel.og.remove', 'OG removed']]],
  ['Viewers', [['channel.follow', 'Follow'], ['channel.unfollow', 'Unfollow'], ['channel.subscribe', 'Subscription'], ['channel.subscription.end', 'Subscription ended'], ['channel.subscription.gift', 'Subscriptions given'], ['channel.thanks', 'Thanks'], ['channel.vote', 'Vote']]],
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
      <Field label="Address of the receiver">{(attributes) => <input class="input" type="url" required maxLength={2048} {...attributes} value={url} autocomplete="off" spellcheck={false} onInput={({ currentTarget }) => change(() => setUrl(currentTarget.value))} />}</Field>
      <Choices label="Which events" values={[[true, 'All types but chat, also future ones'], [false, 'Chosen types']] as const} value={all} onChange={(value) => change(() => setAll(value))} />
      {!all && <div class="type-groups">{groups.map(([name, list]) => <fieldset><legend>{name}</legend>{list.map(([type, text]) => <Check key={type} label={<span title={type}>{text}</span>} checked={types.has(type)} onChange={(on) => toggle(type, on)} />)}</fieldset>)}</div>}
      {problem && <Problem error={problem} />}
    </Dialog>
  )
}
