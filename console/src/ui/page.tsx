import type { ComponentChildren } from 'preact'
import { Problem, Progress } from './basics'
import type { Loaded } from './load'

/** Page is a screen beside the chat, with what stands beside its title. */
export function Page({ title, beside, children }: { title: string; beside?: ComponentChildren; children: ComponentChildren }) {
  return <div class="page"><div class="page-inside"><div class="page-head"><h1>{title}</h1>{beside}</div>{children}</div></div>
}

/** Waiting shows that something is being read, once that takes long, or why it could not be. */
export function Waiting({ of: { error, slow, reload } }: { of: Pick<Loaded<unknown>, 'error' | 'slow' | 'reload'> }) {
  if (error) return <Problem error={error} onRetry={reload} />
  return slow ? <Progress /> : null
}
