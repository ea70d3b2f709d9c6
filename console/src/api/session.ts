import { Moderato, ModeratoError, SignInError, type PendingSignIn, type Tokens } from '@moderato-live/client'
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
  /** Which sign-in this tab uses. A renewal keeps the id, and another sign-in has another one. */
  #id: string | undefined
  #renewal: Promise<Access> | undefined

  /** start continues an earlier sign-in, or ends the one from which the browser returns. */
  async start(): Promise<void> {
    addEventListener('storage', ({ key, newValue }) => {
      if (key !== refreshKey) return
      if (newValue === null) this.#end('You signed out in another tab.')
      else if (this.#id !== undefined && parse(newValue).id !== this.#id) location.reload()
    })
    try {
      const returned = new URL(location.href)
      if (returned.searchParams.has('state') && await this.#finish(returned)) return
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
    store(refreshKey, null)
    this.#end('')
    if (access) await this.#auth(access.token, refreshToken && parse(refreshToken).refreshToken).signOut().catch(() => undefined)
  }

  /**
   * finish ends a sign-in, and reports whether it succeeded. Any page can send the browser here, so
   * what fails changes nothing that is stored: neither a sign-in nor what another tab has begun.
   */
  async #finish(returned: URL): Promise<boolean> {
    const pending = JSON.parse(stored(pendingKey) ?? '{}') as PendingSignIn & { hash?: string }
    const isOurs = pending.state === returned.searchParams.get('state')
    if (isOurs) store(pendingKey, null)
    history.replaceState(null, '', location.pathname + (isOurs ? pending.hash ?? '' : location.hash))
    try {
      this.#take(await this.#auth().finishSignIn(returned, { ...pending, redirectUri }), crypto.randomUUID())
      return true
    } catch (error) {
      this.reason = error instanceof SignInError && error.code === 'access_denied' ? 'You did not authorize the console.' : 'The sign-in failed. Sign in again.'
      return false
    }
  }

  #take(tokens: Tokens, id: string): Access {
    this.#id = id
    if (tokens.refreshToken) store(refreshKey, `${tokens.refreshToken} ${id}`)
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
      const before = stored(refreshKey)
      if (before === null) throw new SignInError('Sign in again.', { code: 'invalid_grant' })
      const { refreshToken, id } = parse(before)
      if (this.#id !== undefined && id !== this.#id) {
        location.reload()
        throw new SignInError('Another user signed in.', { code: 'signed_out' })
      }
      this.#id = id
      const tokens = await this.#auth('', refreshToken).refresh()
      const after = stored(refreshKey)
      if (after !== null && parse(after).id === id) return this.#take(tokens, id)
      void this.#auth(tokens.accessToken, tokens.refreshToken).signOut().catch(() => undefined)
      throw new SignInError('You signed out.', { code: 'signed_out' })
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
    if (this.state === 'signed-out') return
    if (isRefused(error)) {
      store(refreshKey, null)
      return this.#end('Your sign-in has ended. Sign in again.')
    }
    this.reason = error instanceof Error ? error.message : String(error)
    this.#become('unreachable')
  }

  #end(reason: string): void {
    this.#access = this.#id = undefined
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

/** isRefused reports whether the server ended the sign-in. A proxy that refuses a request does not. */
const isRefused = (error: unknown): boolean => error instanceof ModeratoError && ['invalid_grant', 'invalid_client'].includes(error.code)

/** parse returns a refresh token that is stored, and the id of its sign-in. */
function parse(value: string): { refreshToken: string; id: string } {
  const [refreshToken = '', id = ''] = value.split(' ')
  return { refreshToken, id }
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
