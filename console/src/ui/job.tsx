import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { formatNumber } from '../format'
import { Button } from './basics'

/** Step is what the work of a job uses between its calls: whether it goes on, and how much is done. */
export interface Step {
  goesOn: () => boolean
  advance: (done: number) => void
}

export interface Job {
  state: 'idle' | 'running' | 'stopped' | 'failed' | 'done'
  done: number
  /** 0 if nobody knows how much there is. */
  total: number
  error: unknown
  start: (total: number, work: (step: Step) => Promise<void>) => Promise<void>
  stop: () => void
}

/**
 * useJob runs work that consists of many calls. It stops between two calls: when it is told to,
 * or when the component goes.
 */
export function useJob(): Job {
  const [view, setView] = useState<Pick<Job, 'state' | 'done' | 'total' | 'error'>>({ state: 'idle', done: 0, total: 0, error: undefined })
  const current = useRef({ stopped: false })
  const stop = (): void => void (current.current.stopped = true)
  const isRunning = view.state === 'running'
  useEffect(() => stop, [])
  useEffect(() => {
    if (!isRunning) return
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault()
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [isRunning])
  const start: Job['start'] = async (total, work) => {
    const own = (current.current = { stopped: false })
    setView((before) => ({ state: 'running', done: before.state === 'idle' || before.total !== total ? 0 : before.done, total, error: undefined }))
    try {
      await work({ goesOn: () => !own.stopped, advance: (done) => setView((before) => ({ ...before, done })) })
      setView((before) => ({ ...before, state: own.stopped && (!total || before.done < total) ? 'stopped' : 'done' }))
    } catch (error) {
      setView((before) => ({ ...before, state: 'failed', error }))
    }
  }
  return { ...view, start, stop }
}

/** JobProgress shows how far a job is, and stops it. */
export function JobProgress({ job, children }: { job: Job; children: ComponentChildren }) {
  const [stopping, setStopping] = useState(false)
  const count = job.total ? `${formatNumber(job.done)} of ${formatNumber(job.total)}` : formatNumber(job.done)
  return (
    <div class="job">
      <p class="row"><span class="grow">{children} <span class="number">{count}</span></span><Button little busy={stopping} onClick={() => (setStopping(true), job.stop())}>Stop</Button></p>
      <progress aria-label="Progress" {...(job.total && { value: job.done, max: job.total })} />
    </div>
  )
}
