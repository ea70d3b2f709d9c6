import { Auth } from './auth.js';
import { Resources } from './operations.js';
import { Transport } from './transport.js';
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
    auth;
    #transport;
    constructor(options) {
        const settings = {
            ...options,
            baseUrl: options.baseUrl.replace(/\/+$/, ''),
            timeout: options.timeout ?? 20_000,
            retries: options.retries ?? 2,
            fetch: options.fetch ?? ((...request) => fetch(...request)),
        };
        const auth = new Auth(settings);
        const transport = new Transport(settings, auth);
        super(transport);
        this.auth = auth;
        this.#transport = transport;
    }
    /** Calls an operation for which this version of the library has no method. */
    async request(call) {
        return (await this.#transport.call(call)).data;
    }
}
