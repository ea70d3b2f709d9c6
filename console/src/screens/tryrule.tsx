import { ModeratoError, type ChatRule, type FieldError, type PreviewChatRulesResponse } from '@moderato-live/client'
import { useEffect, useState } from 'preact/hooks'
import { useDesk } from '../desk'
import { formatNumber, plural } from '../format'
import { mistakesOf } from '../model/problems'
import { cleaned, actions, type Action } from '../model/rules'
import { Button, Choices, Field, Note, Problem, Progress, Time, nameColor } from '../ui/basics'
import { Marked } from '../ui/marked'

const windows = [[600, '10 min'], [3600, '1 h'], [21_600, '6 h'], [86_400, '1 day']] as const
/** After how long a pause the typed text is tried. */
const pause = 400
/** How many rules a preview leaves out, beside the one that it tries. */
const maxOthers = 99

/** TryRule shows what a rule would do with texts as they are typed, and with the messages of the channel. */
export function TryRule({ rule, onProblems }: { rule: ChatRule; onProblems: (fields: readonly FieldError[]) => void }) {
  const { client, channel, openCard, rules } = useDesk()
  const [text, setText] = useState('')
  const [typed, setTyped] = useState<PreviewChatRulesResponse>()
  const [within, setWithin] = useState<number>(3600)
  const [found, setFound] = useState<{ result: PreviewChatRulesResponse; of: string }>()
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  // A rule of the shield is none of the channel yet.
  const others = rules.data?.rules.filter(({ ruleId }) => ruleId !== rule.ruleId) ?? []
  const isKnown = others.length !== rules.data?.rules.length
  const put = cleaned({ ...rule, ruleId: isKnown ? rule.ruleId : '', name: rule.name.trim() || 'This rule', enabled: true })
  const of = JSON.stringify(put)
  const texts = text.split('\n').filter((line) => line.trim()).slice(0, 100)
  const failed = (failure: unknown): void => {
    const fields = mistakesOf(failure)
    const [text] = fields.filter(({ field }) => field.startsWith('texts'))
    onProblems(fields.filter(({ field }) => !field.startsWith('texts')))
    if (text) setError(`One of the texts ${text.description}.`)
    else if (fields.length === 0) setError(failure)
  }
  const preview = (leftOut: ChatRule[], of: { texts: string[] } | { withinSeconds: number }, options = {}): Promise<PreviewChatRulesResponse> =>
    client.rules.previewChatRules({ channelId: channel.id, put: [put], delete: leftOut.map(({ ruleId }) => ruleId).slice(0, maxOthers), ...of }, options)
  // Where no rule fits beside the others, one that does least makes room.
  const tryTexts = (options: object): Promise<PreviewChatRulesResponse> => preview([], { texts }, options).catch((failure: unknown) => {
    if (!(failure instanceof ModeratoError) || failure.code !== 'RULE_LIMIT_REACHED') throw failure
    return preview(failure.data.limit === 'rules' ? others.toSorted((a, b) => Number(a.enabled) - Number(b.enabled)).slice(0, 1) : others, { texts }, options)
  })
  useEffect(() => {
    setTyped(undefined)
    setError(undefined)
    if (texts.length === 0) return
    const abort = new AbortController()
    const timer = setTimeout(() => tryTexts({ signal: abort.signal }).then(setTyped, (failure: unknown) => void (!abort.signal.aborted && failed(failure))), pause)
    return () => (clearTimeout(timer), abort.abort())
  }, [of, text])
  const look = async (): Promise<void> => {
    setBusy(true)
    setError(undefined)
    try {
      // Without the other rules: their matches tell nothing about this one.
      setFound({ result: await preview(others, { withinSeconds: within }), of })
    } catch (failure) {
      failed(failure)
    }
    setBusy(false)
  }
  return (
    <section class="box" aria-label="What it would do">
      <header><h2>What it would do</h2></header>
      <div class="inside stack">
        <Field label="Try it on texts, one a line" hint="As from a viewer without a role. Nothing is posted.">
          {(attributes) => <textarea class="input" {...attributes} data-search value={text} maxLength={5000} spellcheck={false} onInput={(event) => setText(event.currentTarget.value)} />}
        </Field>
        {typed && (
          <ul class="lines tried" aria-label="Results" aria-live="polite">
            {texts.map((line) => {
              const match = typed.sample.find((one) => one.text === line.trim().normalize('NFC')) // as the server returns it
              return <li class="row top"><span class="grow">{match ? <Marked text={match.text} spans={match.spans} /> : <bdi class="user-text">{line}</bdi>}</span>
                {match ? <Verdict action={match.action} rule={match.ruleName} /> : <span class="chip good">Posted</span>}</li>
            })}
          </ul>
        )}
        <div class="field"><span class="label">Or look at the messages of the last</span><Choices<number> label="Messages of the last" values={windows} value={within} onChange={setWithin} /></div>
        <div><Button icon="search" busy={busy} onClick={() => void look()}>Dry run</Button></div>
        {busy && <Progress text="Looking at messages" />}
        {error ? <Problem error={error} /> : null}
        {found && !busy && <div class={`stack ${found.of === of ? '' : 'stale'}`}>
          {found.of !== of && <Note kind="warn">You changed the rule since. Start the dry run again.</Note>}
          <Found result={found.result} onCard={openCard} />
        </div>}
      </div>
    </section>
  )
}

const Verdict = ({ action, rule }: { action: string; rule: string }) => <span class={`chip ${action === 'flag' ? '' : action === 'hold' ? 'warn' : 'danger'}`} title={rule}>{actions[action as Action] ?? action}: <bdi class="cut">{rule}</bdi></span>

/** Found tells whom the rules would have hit, and whether these are the right ones. */
function Found({ result: { examined, matched, users, sanctionedUsers, trustedUsers, sample }, onCard }: { result: PreviewChatRulesResponse; onCard: (userId: string) => void }) {
  return (
    <>
      <p role="status"><strong>{formatNumber(matched)} of {plural(examined, 'message')}</strong>, by {plural(users, 'user')}</p>
      {sanctionedUsers > 0 && <Note kind="good">{plural(sanctionedUsers, 'user was', 'users were')} banned or muted since: about them, the rule is probably right.</Note>}
      {trustedUsers > 0 && <Note kind="warn">{plural(trustedUsers, 'user has', 'users have')} a role, a subscription or a follow of more than 7 days: about them, the rule is probably wrong.</Note>}
      {sample.length > 0 && (
        <ul class="lines" aria-label="Some of the messages">
          {sample.map((one) => (
            <li>
              <p class="row wrap tight">{one.user && <button type="button" class={`user-link ${nameColor(one.user.id)}`} onClick={() => onCard(one.user!.id)}><bdi>{one.user.displayName}</bdi></button>}
                {one.sentAt && <span class="small muted"><Time at={one.sentAt} /></span>}<Verdict action={one.action} rule={one.ruleName} />
              </p>
              <Marked text={one.text} spans={one.spans} />
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
