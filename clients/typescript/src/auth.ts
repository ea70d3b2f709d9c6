import { Deadline } from './deadline.js'
import { errorOf, ModeratoError, refuseRedirect, SignInError } from './errors.js'
import { retryDelay, sleep } from './retry.js'
import type { Credentials, TransportSettings } from './transport.js'
import { challengeOf, randomText } from './webcrypto.js'

/** A scope that a user can grant. */
export type Scope = 'users.read' | 'channel.moderate' | 'users.bot' | 'offline.access'

/** The tokens of a user or an app. They are secrets. */
export interface Tokens {
  accessToken: string
  /** Renews the access token. Present if the scope `offline.access` was granted. */
  refreshToken?: string
  /** When the access token expires: an RFC 3339 time. */
  expiresAt?: string
  /** What was granted, which can be less than what was asked for. */
  scopes?: Scope[]
}

/** A sign-in that a browser was sent off for. Keep it until the browser returns: it is a secret. */
export interface PendingSignIn {
  /** Where to send the browser. */
  url: string
  state: string
  codeVerifier: string
  redirectUri: string
}

/** What to show to a user who signs in on another device. */
export interface DevicePrompt {
  /** The address with the code in it. */
  url: string
  /** The code, which the page shows as well. */
  userCode: string
  /** The address without the code, to be typed. */
  shortUrl: string
}

/** The settings of Auth. */
export interface AuthSettings extends TransportSettings {
  clientSecret?: string | undefined
  tokens?: Tokens | undefined
  onTokens?: ((tokens: Tokens) => void | Promise<void>) | undefined
}

/** What the token endpoint returns. */
interface TokenResponse {
  access_token: string
  refresh_token?: string
  expires_in: number
  scope?: string
}

/** Signs users in, and keeps them signed in. */
export class Auth implements Credentials {
  readonly #settings: AuthSettings
  #tokens: Tokens | undefined
  #renewal: Promise<Tokens> | undefined

  /** @internal */
  constructor(settings: AuthSettings) {
    this.#settings = settings
    this.#tokens = settings.tokens
  }

  /** The current tokens; undefined if nobody is signed in. */
  get tokens(): Tokens | undefined {
    return this.#tokens
  }

  /**
   * Begins to sign in a user in a browser (authorization code with PKCE). Keep what it
   * returns, for example in the user's session, and send the browser to its `url`.
   */
  async startSignIn(options: { redirectUri: string; scopes: Scope[] }): Promise<PendingSignIn> {
    const { redirectUri, scopes } = options
    const [state, codeVerifier] = [await randomText(), await randomText()]
    const query = new URLSearchParams({
      response_type: 'code', client_id: this.#settings.clientId, redirect_uri: redirectUri, scope: scopes.join(' '),
      state, code_challenge: await challengeOf(codeVerifier), code_challenge_method: 'S256',
    })
    return { url: `${this.#settings.baseUrl}/oauth2/authorize?${query}`, state, codeVerifier, redirectUri }
  }

  /**
   * Ends what {@link startSignIn} began, with the URL at which the browser returned.
   *
   * @throws SignInError with `access_denied` if the user refused.
   */
  async finishSignIn(returnedTo: string | URL, pending: PendingSignIn): Promise<Tokens> {
    const returned = new URL(returnedTo, pending.redirectUri).searchParams
    if (returned.get('state') !== pending.state) {
      throw new SignInError('The state differs: this is not the sign-in that was begun.', { code: 'state_mismatch' })
    }
    const issuer = returned.get('iss')
    if (issuer !== null && issuer !== new URL(this.#settings.baseUrl).origin) {
      throw new SignInError(`The browser returns from another server, ${issuer}.`, { code: 'issuer_mismatch' })
    }
    const error = returned.get('error')
    if (error !== null) throw new SignInError(returned.get('error_description') ?? error, { code: error })
    return this.#obtain({
      grant_type: 'authorization_code', code: returned.get('code') ?? '',
      code_verifier: pending.codeVerifier, redirect_uri: pending.redirectUri,
    })
  }

  /**
   * Signs in a user on another device, for programs without a browser (device flow).
   * Show what `onPrompt` gets; the promise resolves when the user has approved.
   *
   * @throws SignInError with `access_denied` or `expired_token`.
   */
  async signInWithDevice(options: {
    scopes: Scope[]
    onPrompt: (prompt: DevicePrompt) => void
    signal?: AbortSignal | undefined
  }): Promise<Tokens> {
    const device = await this.#post<Record<string, string> & { interval?: number; expires_in: number }>(
      '/oauth2/device_authorization', { scope: options.scopes.join(' ') }, options.signal)
    options.onPrompt({ url: device.verification_uri_complete!, userCode: device.user_code!, shortUrl: device.verification_uri! })
    let interval = device.interval ?? 5
    const ends = Date.now() + device.expires_in * 1000
    for (;;) {
      await sleep(interval * 1000, options.signal)
      if (Date.now() > ends) throw new SignInError('The user has not signed in in time.', { code: 'expired_token' })
      try {
        return await this.#obtain(
          { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: device.device_code! }, undefined, options.signal)
      } catch (error) {
        if (!(error instanceof ModeratoError)) throw error
        if (error.code === 'slow_down') interval += 5
        else if (error.code !== 'authorization_pending' && retryDelay(error, 0) === undefined) throw error
      }
    }
  }

  /** Signs in as the app itself, which needs the client's secret. */
  async signInAsApp(options: { scopes?: Scope[] | undefined } = {}): Promise<Tokens> {
    return this.#obtain(appFields(options.scopes))
  }

  /**
   * Renews the access token. Calls do this by themselves when it has expired; several at
   * the same moment share one renewal.
   *
   * @throws SignInError with `invalid_grant` if the user must sign in again.
   */
  async refresh(): Promise<Tokens> {
    this.#renewal ??= this.#renew().finally(() => (this.#renewal = undefined))
    return this.#renewal
  }

  /** Ends the tokens on the server, and forgets them. */
  async signOut(): Promise<void> {
    const tokens = this.#tokens
    this.#tokens = undefined
    if (tokens) await this.#post('/oauth2/revoke', { token: tokens.refreshToken ?? tokens.accessToken })
  }

  /** @internal */
  current(): string | undefined {
    return this.#tokens?.accessToken
  }

  /** @internal */
  async renew(refused: string): Promise<boolean> {
    if (this.current() !== refused) return this.current() !== undefined
    if (!this.#renewal && !this.#canRenew()) return false
    await this.refresh()
    return true
  }

  #isApp(): boolean {
    return this.#tokens?.accessToken.startsWith('mda_') ?? false
  }

  #canRenew(): boolean {
    return this.#tokens?.refreshToken !== undefined || (this.#isApp() && this.#settings.clientSecret !== undefined)
  }

  async #renew(): Promise<Tokens> {
    const tokens = this.#tokens
    if (!tokens || !this.#canRenew()) {
      throw new SignInError('There is no refresh token: ask for the scope offline.access.', { code: 'refresh_token_missing' })
    }
    if (!tokens.refreshToken) return this.#obtain(appFields(tokens.scopes), tokens)
    const renewed = { grant_type: 'refresh_token', refresh_token: tokens.refreshToken }
    // The server accepts a refresh token again for a while, so this may be repeated.
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#obtain(renewed, tokens)
      } catch (error) {
        const delay = error instanceof ModeratoError && attempt < this.#settings.retries ? retryDelay(error, attempt) : undefined
        if (delay === undefined) throw error
        await sleep(delay)
      }
    }
  }

  /** #obtain gets tokens. Those that replace others are of no use if the user has signed out meanwhile. */
  async #obtain(fields: Record<string, string>, replaced?: Tokens, signal?: AbortSignal): Promise<Tokens> {
    const response = await this.#post<TokenResponse>('/oauth2/token', fields, signal)
    const tokens: Tokens = {
      accessToken: response.access_token,
      expiresAt: new Date(Date.now() + response.expires_in * 1000).toISOString(),
      scopes: (response.scope ?? '').split(' ').filter(Boolean) as Scope[],
    }
    if (response.refresh_token) tokens.refreshToken = response.refresh_token
    if (replaced && this.#tokens !== replaced) throw new SignInError('The user has signed out.', { code: 'signed_out' })
    this.#tokens = tokens
    await this.#settings.onTokens?.(tokens)
    return tokens
  }

  async #post<Data>(path: string, fields: Record<string, string>, signal?: AbortSignal): Promise<Data> {
    const { baseUrl, clientId, clientSecret, timeout } = this.#settings
    const body = new URLSearchParams({ client_id: clientId, ...(clientSecret && { client_secret: clientSecret }), ...fields })
    const deadline = new Deadline(timeout, signal)
    try {
      const response = await this.#settings.fetch(baseUrl + path, { method: 'POST', body, signal: deadline.signal, redirect: 'manual' })
      refuseRedirect(response)
      if (!response.ok) throw await errorOf(response)
      const text = await response.text() // empty after a revocation
      return (text ? JSON.parse(text) : undefined) as Data
    } catch (error) {
      throw error instanceof ModeratoError ? error : deadline.failure(error)
    } finally {
      deadline.end()
    }
  }
}

function appFields(scopes: Scope[] | undefined): Record<string, string> {
  return { grant_type: 'client_credentials', ...(scopes?.length && { scope: scopes.join(' ') }) }
}
