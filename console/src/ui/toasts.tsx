import { actions, hasFailed, useNotices, type Notice } from '../actions'
import { plural } from '../format'
import { Button } from './basics'
import { Icon } from './icon'

/** How many failures are shown. The others appear when these are repeated or dismissed. */
const shownFailures = 2

/** Toasts tell what became of the latest actions. */
export function Toasts() {
  const notices = useNotices()
  const hidden = notices.filter(hasFailed).slice(0, -shownFailures)
  return (
    <div class="toasts" role="status" aria-live="polite">
      {hidden.length > 0 && <p class="toast failed">{plural(hidden.length, 'earlier action')} failed too</p>}
      {notices.map((notice) => !hidden.includes(notice) && <Toast key={notice.id} notice={notice} />)}
    </div>
  )
}

function Toast({ notice }: { notice: Notice }) {
  const { state, doing, done, error, undo, retry, again = 'Try again' } = notice
  return (
    <div class={`toast ${state}`}>
      {state === 'busy' ? <span class="spinner" /> : <Icon class="state" name={state === 'failed' ? 'warning' : state === 'undone' ? 'undo' : 'check'} />}
      <p class="grow user-text">
        {state === 'busy' && `${doing}…`}
        {state === 'done' && done}
        {state === 'asking' && <>Press Z again to undo this: {done}.</>}
        {state === 'undone' && `Undone: ${done}`}
        {state === 'failed' && <>{doing && <strong>{doing} failed. </strong>}{error}</>}
      </p>
      {(state === 'done' || state === 'asking') && undo && <Button little kind="plain" icon="undo" keys="Z" onClick={() => void undo()}>Undo</Button>}
      {state === 'failed' && retry && <Button little onClick={retry}>{again}</Button>}
      {state !== 'busy' && <Button little kind="plain" icon="close" label="Dismiss" onClick={() => actions.dismiss(notice)} />}
    </div>
  )
}
