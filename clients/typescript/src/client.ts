import { Auth, type Tokens } from './auth.js'
import { Resources } from './operations.js'
import { Transport, type Call } from './transport.js'

/** The settings of a client. */
export interface ModeratoOptions {
  /** The address of the server, such as `https://api.example.com`. */
  baseUrl: string
  /** The id of your client. */
  clientId: string
  /** The secret of your client, if it has one. Keep it out of browsers. */
  clientSecret?: string | undefined
  /** The tokens of an earlier sign-in, or `{ accessToken }` alone. */
  tokens?: Tokens | undefined
  /**
   * Stores new tokens. Each refresh replaces the refresh token, and the former one soon
   * stops working, so a program that is to stay signed in must store them here.
   */
  onTokens?: ((tokens: Tokens) => void | Promise<void>) | undefined
  /** How long an attempt of a call may take, in milliseconds; 20000 by default, longer than a server takes. */
  timeout?: number | undefined
  /** How often a call is repeated after a transient failure; 2 by default. */
  retries?: number | undefined
  /** What sends requests; the global `fetch` by default. */
  fetch?: typeof fetch | undefined
}

/**
 * A client of Moderato.
 *
 * ```js
 * const moderato = new Moderato({ baseUrl: 'https://api.example.com', clientId: 'my-bot' })
 * await moderato.auth.signInWithDevice({ scopes: ['users.read'], onPrompt: ({ url }) => console.log(url) })
 * console.log(await moderato.users.getProfile())
 * ```
 */
export class Moderato extends Resources {
  /** Signs users in, and keeps them signed in. */
  readonly auth: Auth
  readonly #transport: Transport

  constructor(options: ModeratoOptions) {
    const settings = {
      ...options,
      baseUrl: options.baseUrl.replace(/\/+$/, ''),
      timeout: options.timeout ?? 20_000,
      retries: options.retries ?? 2,
      fetch: options.fetch ?? ((...request: Parameters<typeof fetch>) => fetch(...request)),
    }
    const auth = new Auth(settings)
    const transport = new Transport(settings, auth)
    super(transport)
    this.auth = auth
    this.#transport = transport
  }

  /** Calls an operation for which this version of the library has no method. */
  async request<Data = unknown>(call: Call): Promise<Data> {
    return (await this.#transport.call<Data>(call)).data
  }
}
