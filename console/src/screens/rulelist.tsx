import type { ChatRule } from '@moderato-live/client'
import { useState } from 'preact/hooks'
import { actions } from '../actions'
import { now } from '../api/clock'
import { useDesk, useReadOnly } from '../desk'
import { formatNumber, plural } from '../format'
import { actionOf, isKind, kinds, newRule, readExport, summaryOf } from '../model/rules'
import type { Route } from '../route'
import { Button, Empty, Field, Note, Time } from '../ui/basics'
import { reread } from '../ui/conflict'
import { Download } from '../ui/copy'
import { Confirm, Dialog } from '../ui/dialog'
import { Waiting } from '../ui/page'
import { RevertDialog } from './revert'
import { RuleEditor } from './ruleeditor'
import { useShield } from './modes'
import { useFilters } from './userlist'

/** How many rules a channel has at most, with those of its shield. */
const maxRules = 100

/** RuleList lists the rules of the chat; one is edited at a time, which stands in the address. */
export function RuleList({ route }: { route: Route }) {
  const { client, channel, rules } = useDesk()
  const readOnly = useReadOnly()
  const filter = useFilters(route)
  const [asked, setAsked] = useState<{ what: 'delete' | 'revert'; rule: ChatRule } | { what: 'import' | 'kind' }>()
  const ofShield = useShield().data?.preset.rules.length ?? 0
  const { data, reload } = rules
  if (!data) return <Waiting of={rules} />
  const opened = route.query.get('rule') ?? ''
  const close = (): void => (setAsked(undefined), filter({ rule: '' }))
  const edited = data.rules.find(({ ruleId }) => ruleId === opened) ?? (isKind(opened) ? newRule(opened) : undefined)
  const change = (put: ChatRule[], remove: string[] = [], version = data.version, onConflict = reload) => (options: object) =>
    reread('rules', client.rules.updateChatRules({ channelId: channel.id, expectedVersion: version, put, delete: remove }, options), onConflict, put).then((result) => (reload(), result))
  const toggle = (rule: ChatRule): void => {
    const [doing, done] = rule.enabled ? ['Switching off', 'Switched off'] : ['Switching on', 'Switched on']
    void actions.run(`${doing} “${rule.name}”`, `${done} “${rule.name}”`, change([{ ...rule, enabled: !rule.enabled }]), ({ version }) => change([rule], [], version))
  }
  const remove = (rule: ChatRule): void => {
    close()
    void actions.run(`Deleting “${rule.name}”`, `Deleted “${rule.name}”`, change([], [rule.ruleId]),
      ({ version }) => (options) => client.rules.restoreChatRules({ channelId: channel.id, version: data.version, expectedVersion: version }, options).then(reload))
  }
  const isFull = data.rules.length + ofShield >= maxRules
  if (edited) return <RuleEditor key={opened} rule={edited} version={data.version} onSaved={close} onClose={close} />
  return (
    <>
      <div class="row wrap">
        <p class="grow muted rule-intro" role="status">{plural(data.rules.length, 'rule')}{ofShield > 0 && `, and ${ofShield} of the shield,`} of at most {maxRules}.
          {' '}{isFull && 'For a new rule, delete one first, or put the terms of several into one. '}The strictest rule that matches decides; the owner and moderators are exempt.
        </p>
        {data.rules.length > 0 && <Download name={`rules-${channel.username}.json`} text={JSON.stringify({ rules: data.rules }, null, 2)}>Export</Download>}
        {!readOnly && <><Button little icon="upload" onClick={() => setAsked({ what: 'import' })}>Import</Button><Button little kind="main" icon="plus" disabled={isFull} onClick={() => setAsked({ what: 'kind' })}>New rule</Button></>}
      </div>
      {data.rules.length === 0 ? <Empty icon="rules" title="No rules yet">A rule flags, holds, refuses or deletes messages by what is in them.</Empty> : (
        <div class="box">
          <table class="table">
            <thead><tr><th scope="col">Rule</th><th scope="col" class="wide">Looks for</th><th scope="col">Does</th><th scope="col" class="wide">State</th><th scope="col"><span class="hidden-text">Changes</span></th></tr></thead>
            <tbody>
              {data.rules.map((rule) => {
                const isOver = rule.expiresAt !== null && Date.parse(rule.expiresAt) <= now()
                const state = isOver ? <span class="chip">Ended</span> : rule.enabled ? <span class="chip good">On</span> : <span class="chip">Off</span>
                return (
                  <tr key={rule.ruleId}>
                    <th scope="row"><button type="button" class="user-link" onClick={() => filter({ rule: rule.ruleId })}><bdi>{rule.name}</bdi></button> <span class="narrow-only">{state}</span></th>
                    <td class="wide">{kinds[rule.kind].name}<span class="small muted">: {summaryOf(rule)}</span></td>
                    <td class="unbroken">{actionOf(rule)}</td>
                    <td class="wide">{state}{rule.expiresAt && !isOver && <span class="small muted"> until <Time at={rule.expiresAt} /></span>}</td>
                    <td class="right">{!readOnly && <span class="row wrap rule-tools"><Button little onClick={() => toggle(rule)}>{rule.enabled ? 'Turn off' : 'Turn on'}<span class="hidden-text"> {rule.name}</span></Button>
                      {rule.action === 'mute' && channel.role === 'owner' && <Button little icon="undo" label={`Undo what ${rule.name} did`} onClick={() => setAsked({ what: 'revert', rule })} />}
                      <Button little icon="trash" label={`Delete ${rule.name}`} onClick={() => setAsked({ what: 'delete', rule })} /></span>}</td>
                  </tr>
                )
              })}
            </tbody>
          </table>
        </div>
      )}
      {asked?.what === 'kind' && (
        <Dialog title="What should the rule look for?" onClose={close}>
          <ul class="lines">{Object.entries(kinds).map(([kind, { name, about }]) =>
            <li><button type="button" class="channel-link kind-link" onClick={() => (close(), filter({ rule: kind }))}><strong>{name}</strong> <span class="muted">{about}</span></button></li>)}
          </ul>
        </Dialog>
      )}
      {asked?.what === 'delete' && <Confirm title={`Delete “${asked.rule.name}”?`} action="Delete" danger onClose={close} onConfirm={() => remove(asked.rule)}>
        <p>Messages that it would have found are posted from now on. Its mutes stay. You can undo this, or restore an earlier version.</p>
      </Confirm>}
      {asked?.what === 'revert' && <RevertDialog moderatorId="" rule={asked.rule} onClose={close} />}
      {asked?.what === 'import' && <Import known={data.rules} onClose={close} onImport={(put) => { close(); void actions.run('Importing rules', `Imported ${plural(put.length, 'rule')}`, change(put),
        ({ version }) => (options) => client.rules.restoreChatRules({ channelId: channel.id, version: data.version, expectedVersion: version }, options).then(reload)) }} />}
    </>
  )
}

function Import({ known, onImport, onClose }: { known: ChatRule[]; onImport: (rules: ChatRule[]) => void; onClose: () => void }) {
  const [text, setText] = useState('')
  const [read, problem] = ((): [ChatRule[], string?] => {
    try {
      return [text.trim() ? readExport(text, known) : []]
    } catch (error) {
      return [[], error instanceof SyntaxError ? 'This is no JSON.' : (error as Error).message]
    }
  })()
  const replaced = read.filter(({ ruleId }) => ruleId).length
  return (
    <Dialog wide title="Import rules" onClose={onClose} onSubmit={() => read.length > 0 && onImport(read)}
      footer={<><Button onClick={onClose}>Cancel</Button><Button type="submit" kind="main" disabled={read.length === 0}>Import {read.length > 0 && plural(read.length, 'rule')}</Button></>}>
      <Field label="A file that was exported">{(attributes) => <input class="input" type="file" accept=".json,application/json" {...attributes} onChange={({ currentTarget: { files } }) => void files?.[0]?.text().then(setText)} />}</Field>
      <Field label="Or its text" problem={problem}>{(attributes) => <textarea class="input list-text" {...attributes} value={text} spellcheck={false} onInput={(event) => setText(event.currentTarget.value)} />}</Field>
      {read.length > 0 && <Note kind={replaced ? 'warn' : 'good'}>{formatNumber(read.length - replaced)} new, {formatNumber(replaced)} that replace a rule of this channel. No rule is deleted.</Note>}
    </Dialog>
  )
}
