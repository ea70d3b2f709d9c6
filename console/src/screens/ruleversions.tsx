import type { ChatRule, ChatRuleVersion } from '@moderato-live/client'
import { useState } from 'preact/hooks'
import { actions } from '../actions'
import { useDesk, useReadOnly } from '../desk'
import { plural } from '../format'
import { actionOf, differences, kinds, summaryOf } from '../model/rules'
import { Button, Empty, Problem, Time } from '../ui/basics'
import { reread } from '../ui/conflict'
import { Confirm } from '../ui/dialog'
import { useList, useLoad } from '../ui/load'
import { Waiting } from '../ui/page'

const causes: Record<string, string> = { restore: 'an earlier version restored', expired: 'a rule ended', revert: 'a moderator reverted' }

/** RuleVersions lists who changed the rules, shows what a change was, and restores a version. */
export function RuleVersions() {
  const { client, channel, rules } = useDesk()
  const readOnly = useReadOnly()
  const present = rules.data
  const list = useList((cursor, signal) => client.rules.listChatRuleVersions({ channelId: channel.id, limit: 50, ...(cursor && { cursor }) }, { signal }), [channel.id, present?.version])
  const [opened, setOpened] = useState<number>()
  const [asked, setAsked] = useState<ChatRuleVersion>()
  const restore = (version: number, expectedVersion: number) => (options: object) => reread('rules', client.rules.restoreChatRules({ channelId: channel.id, version, expectedVersion }, options), rules.reload).then((result) => (rules.reload(), result))
  if (!list.rows) return <Waiting of={list} />
  return (
    <>
      {list.error ? <Problem error={list.error} onRetry={list.more ?? list.reload} /> : null}
      {list.rows.length === 0 ? <Empty icon="log" title="No versions yet">Each change of the rules of the last 90 days appears here.</Empty> : (
        <ul class="box entries">
          {list.rows.map((row) => (
            <li key={row.version}>
              <Time at={row.changedAt} />
              <div class="grow">
                <p class="row wrap tight"><strong>Version {row.version}</strong>
                  {row.moderator ? <span>by <bdi>{row.moderator.displayName}</bdi></span> : <span class="muted">by itself</span>}
                  <span class="muted">{[row.put.length && `${plural(row.put.length, 'rule')} saved`, row.deleted.length && `${plural(row.deleted.length, 'rule')} deleted`, causes[row.cause]].filter(Boolean).join(', ')}</span>
                  {row.version === present?.version && <span class="chip good">In force</span>}</p>
                {opened === row.version && <Change from={row.version - 1} to={row.version} />}
              </div>
              <div class="row">
                <Button little pressed={opened === row.version} onClick={() => setOpened(opened === row.version ? undefined : row.version)}>Difference</Button>
                {!readOnly && present && row.version !== present.version && <Button little icon="undo" onClick={() => setAsked(row)}>Restore</Button>}
              </div>
            </li>
          ))}
        </ul>
      )}
      {list.more && <Button class="more-button" busy={list.loadingMore} onClick={list.more}>Earlier versions</Button>}
      {asked && present && (
        <Confirm title={`Restore version ${asked.version}?`} action="Restore" onClose={() => setAsked(undefined)}
          onConfirm={() => { setAsked(undefined); void actions.run(`Restoring version ${asked.version}`, `Restored version ${asked.version}`, restore(asked.version, present.version), ({ version }) => restore(present.version, version)) }}>
          <p>The rules become what they were then. This changes:</p><Change from={present.rules} to={asked.version} />
        </Confirm>
      )}
    </>
  )
}

/** Change shows what differs between two versions. */
function Change({ from, to }: { from: number | ChatRule[]; to: number }) {
  const { client, channel } = useDesk()
  const loaded = useLoad(async (signal) => {
    const read = (version: number) => (version === 0 ? [] : client.rules.getChatRules({ channelId: channel.id, version }, { signal }).then(({ rules }) => rules))
    const [before, after] = await Promise.all([typeof from === 'number' ? read(from) : from, read(to)])
    return differences(before, after)
  }, [from, to])
  if (!loaded.data) return <Waiting of={loaded} />
  return (
    <ul class="lines small">
      {loaded.data.length === 0 && <li>No difference.</li>}
      {loaded.data.map(({ kind, rule, fields }) => (
        <li class="user-text"><strong>{kind}</strong> “<bdi>{rule.name}</bdi>”{kind !== 'Changed' && <>, {kinds[rule.kind].name}: {summaryOf(rule)}. {actionOf(rule)}.</>}
          {fields.length > 0 && <dl class="facts difference">{fields.map(({ label, lost, gained }) => <><dt>{label}</dt><dd>{lost.map((one) => <del>{one}</del>)}{gained.map((one) => <ins>{one}</ins>)}</dd></>)}</dl>}
        </li>
      ))}
    </ul>
  )
}
