import { Deadline } from './deadline.js'
import { errorOf, ModeratoError, refuseRedirect } from './errors.js'
import { retryDelay, sleep } from './retry.js'
import { randomUUID } from './webcrypto.js'

/** Options of one call. */
export interface RequestOptions {
  /** Cancels the call. */
  signal?: AbortSignal | undefined
  /** How long an attempt may take, in milliseconds; by default as for the client. */
  timeout?: number | undefined
  /** How often the call is repeated after transient failures; by default as for the client. */
  retries?: number | undefined
  /**
   * The idempotency key of a change, by default a new UUID. Choose one and store it to
   * repeat the call after a restart of your program.
   */
  idempotencyKey?: string | undefined
}

/** A call of the API. */
export interface Call extends RequestOptions {
  method: string
  path: string
  query?: object | undefined
  body?: object | undefined
}

/** What calls are authenticated with. */
export interface Credentials {
  /** current returns the access token; undefined if there is none. */
  current(): string | undefined
  /** renew replaces an access token that was refused, and reports whether there is another one. */
  renew(refused: string): Promise<boolean>
}

/** The settings of a transport. */
export interface TransportSettings {
  baseUrl: string
  clientId: string
  timeout: number
  retries: number
  fetch: typeof fetch
}

/** Transport sends calls, and repeats them after transient failures. */
export class Transport {
  readonly settings: TransportSettings
  readonly #credentials: Credentials

  constructor(settings: TransportSettings, credentials: Credentials) {
    this.settings = settings
    this.#credentials = credentials
  }

  /** call returns the data of a response, and its headers. */
  async call<Data>(call: Call): Promise<{ data: Data; headers: Headers }> {
    const retries = call.retries ?? this.settings.retries
    const headers = await keyOf(call)
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#attempt<Data>(call, headers)
      } catch (error) {
        const delay = error instanceof ModeratoError && attempt < retries ? retryDelay(error, attempt) : undefined
        if (delay === undefined) throw error
        await sleep(delay, call.signal)
      }
    }
  }

  async #attempt<Data>(call: Call, headers: Record<string, string>): Promise<{ data: Data; headers: Headers }> {
    const deadline = new Deadline(call.timeout ?? this.settings.timeout, call.signal)
    try {
      const response = await this.open(call, deadline, headers)
      const answer = await response.json().catch((error: unknown) => Promise.reject(deadline.failure(error)))
      return { data: answer.data, headers: response.headers }
    } finally {
      deadline.end()
    }
  }

  /**
   * open sends a call once, and returns the response if the call succeeded. An access
   * token that has expired is renewed.
   */
  async open(call: Call, deadline: Deadline, headers: Record<string, string> = {}): Promise<Response> {
    const token = this.#credentials.current()
    const response = await this.#send(call, token, deadline, headers)
    if (response.ok) return response
    const error = await errorOf(response)
    if (!token || !isTokenRefused(error) || !(await this.#credentials.renew(token))) throw error
    const again = await this.#send(call, this.#credentials.current(), deadline, headers)
    if (!again.ok) throw await errorOf(again)
    return again
  }

  async #send(call: Call, token: string | undefined, deadline: Deadline, extra: Record<string, string>): Promise<Response> {
    const headers: Record<string, string> = { 'client-id': this.settings.clientId, ...extra }
    if (token) headers.authorization = `Bearer ${token}`
    const init: RequestInit = { method: call.method, headers, signal: deadline.signal, redirect: 'manual' }
    if (call.body) {
      headers['content-type'] = 'application/json'
      init.body = JSON.stringify(call.body)
    }
    let response: Response
    try {
      response = await this.settings.fetch(urlOf(this.settings.baseUrl, call.path, call.query), init)
    } catch (error) {
      throw deadline.failure(error)
    }
    refuseRedirect(response)
    return response
  }
}

/** keyOf returns the header with the idempotency key of a change, which all its attempts share. */
async function keyOf(call: Call): Promise<Record<string, string>> {
  return call.method === 'GET' ? {} : { 'idempotency-key': call.idempotencyKey ?? (await randomUUID()) }
}

/** isTokenRefused reports whether a new access token helps. */
export function isTokenRefused(error: ModeratoError): boolean {
  return error.code === 'TOKEN_EXPIRED' || error.code === 'TOKEN_INVALID'
}

/** urlOf returns the URL of a call. A list has `[]` behind its name, and undefined is left out. */
export function urlOf(baseUrl: string, path: string, query: object = {}): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    const isList = Array.isArray(value)
    for (const one of isList ? value : [value]) {
      if (one !== undefined && one !== null) parameters.append(isList ? `${name}[]` : name, String(one))
    }
  }
  const text = parameters.toString()
  return baseUrl + path + (text && `?${text}`)
}
