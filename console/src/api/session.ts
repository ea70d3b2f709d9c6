import { Moderato, ModeratoError, SignInError, type PendingSignIn } from '@moderato-live/client'
import { heard } from './clock'
import { store, stored } from './storage'
import { Watched } from '../model/watched'

export const clientId = 'moderato-console'
const refreshKey = 'moderato-console-refresh'
const pendingKey = 'moderato-console-sign-in'
const redirectUri = location.origin + location.pathname

/** Where the page stands with the user's sign-in. */
export type SignInState = 'starting' | 'signed-out' | 'signed-in' | 'unreachable'

interface Access {
  token: string
  /** When the token should be renewed, by performance.now(). */
  renewAt: number
}

/**
 * Session signs the user in. The access token stays in memory. All tabs share the refresh
 * token, which changes with each renewal, so they renew one after another.
 */
class Session extends Watched {
  state: SignInState = 'starting'
  /** Why the user is signed out, in a sentence; empty if the user chose it. */
  reason = ''
  /** The client with which the page calls the API. */
  readonly client = new Moderato({
    baseUrl: location.origin, clientId, retries: 0, timeout: 20_000,
    fetch: (input, init) => this.#send(input as string, init ?? {}),
  })
  #access: Access | undefined
  #renewal: Promise<Access> | undefined

  /** start continues an earlier sign-in, or ends the one from which the browser returns. */
  async start(): Promise<void> {
    addEventListener('storage', (event) => {
      if (event.key === refreshKey && event.newValue === null) this.#end('You signed out in another tab.')
    })
    try {
      const returned = new URL(location.href)
      if (returned.searchParams.has('state')) return await this.#finish(returned)
      if (stored(refreshKey) === null) return this.#become('signed-out')
      await this.#renew()
    } catch (error) {
      this.#failed(error)
    }
  }

  /** signIn sends the browser to the sign-in page. The hint names a user of the demo. */
  async signIn(hint?: string): Promise<void> {
    const pending = await this.client.auth.startSignIn({
      redirectUri, scopes: ['users.read', 'channel.moderate', 'users.bot', 'offline.access'],
    })
    if (!store(pendingKey, JSON.stringify({ ...pending, hash: location.hash }))) {
      this.reason = 'This browser blocks storage for this page. Allow it in the settings of the site, then sign in again.'
      return this.#become('signed-out')
    }
    location.assign(pending.url + (hint ? `&login_hint=${encodeURIComponent(hint)}` : ''))
  }

  async signOut(): Promise<void> {
    const refreshToken = stored(refreshKey)
    const access = this.#access
    this.#end('')
    if (access) await this.#auth(access.token, refreshToken).signOut().catch(() => undefined)
  }

  async #finish(returned: URL): Promise<void> {
    const pending = JSON.parse(stored(pendingKey) ?? '{}') as PendingSignIn & { hash?: string }
    store(pendingKey, null)
    history.replaceState(null, '', location.pathname + (pending.hash ?? ''))
    const auth = this.#auth()
    const tokens = await auth.finishSignIn(returned, { ...pending, redirectUri })
    this.#take(tokens)
  }

  #take(tokens: { accessToken: string; refreshToken?: string; expiresAt?: string }): Access {
    if (tokens.refreshToken) store(refreshKey, tokens.refreshToken)
    // The library computes expiresAt from the browser's clock, so this difference is a duration.
    const lifetime = Date.parse(tokens.expiresAt ?? '') - Date.now()
    this.#access = { token: tokens.accessToken, renewAt: performance.now() + lifetime - 30_000 }
    this.#become('signed-in')
    return this.#access
  }

  #auth(accessToken = '', refreshToken: string | null = null): Moderato['auth'] {
    const tokens = accessToken || refreshToken ? { accessToken, ...(refreshToken && { refreshToken }) } : undefined
    return new Moderato({ baseUrl: location.origin, clientId, tokens }).auth
  }

  #renew(): Promise<Access> {
    this.#renewal ??= exclusively(async () => {
      const refreshToken = stored(refreshKey)
      if (refreshToken === null) throw new SignInError('Sign in again.', { code: 'invalid_grant' })
      return this.#take(await this.#auth('', refreshToken).refresh())
    }).finally(() => (this.#renewal = undefined))
    return this.#renewal
  }

  async #send(url: string, init: RequestInit): Promise<Response> {
    let access = this.#access
    if (!access || performance.now() > access.renewAt) access = await this.#renewed()
    const response = await request(url, init, access.token)
    if (response.status !== 401) return response
    // The token was revoked, or ended before its time. One renewal shows whether the sign-in still holds.
    if (this.#access === access) access = await this.#renewed()
    return request(url, init, (this.#access ?? access).token)
  }

  async #renewed(): Promise<Access> {
    try {
      return await this.#renew()
    } catch (error) {
      if (isRefused(error)) this.#failed(error)
      throw error
    }
  }

  #failed(error: unknown): void {
    if (isRefused(error)) return this.#end(error.code === 'access_denied' ? 'You did not authorize the console.' : 'Your sign-in has ended. Sign in again.')
    this.reason = error instanceof Error ? error.message : String(error)
    this.#become('unreachable')
  }

  #end(reason: string): void {
    store(refreshKey, null)
    this.#access = undefined
    this.reason = reason
    this.#become('signed-out')
  }

  #become(state: SignInState): void {
    this.state = state
    this.changed()
  }
}

async function request(url: string, init: RequestInit, token: string): Promise<Response> {
  const response = await fetch(url, { ...init, headers: { ...(init.headers as Record<string, string>), authorization: `Bearer ${token}` } })
  heard(response.headers.get('date'))
  return response
}

/** isRefused reports whether the server ended the sign-in, as opposed to not answering. */
function isRefused(error: unknown): error is ModeratoError {
  return error instanceof SignInError || (error instanceof ModeratoError && error.status !== undefined && error.status < 500 && error.status !== 429)
}

/** How long a tab waits for the token that another has just renewed. */
const arrival = 1000

/**
 * exclusively runs a task while no other tab runs one. What the tab before stored may arrive after
 * the lock, so a tab that had to wait for the lock also waits for that. It can arrive later than any
 * wait: the server lets two tabs use one token within a minute.
 */
async function exclusively<Result>(task: () => Promise<Result>): Promise<Result> {
  if (!navigator.locks) return task()
  const former = stored(refreshKey)
  const first = await navigator.locks.request(refreshKey, { ifAvailable: true }, async (lock) => lock && { result: await task() })
  if (first) return first.result
  return navigator.locks.request(refreshKey, async () => {
    if (stored(refreshKey) === former) {
      await new Promise((resolve) => {
        addEventListener('storage', resolve, { once: true })
        setTimeout(resolve, arrival)
      })
    }
    return task()
  }) as Promise<Result>
}

export const session = new Session()
