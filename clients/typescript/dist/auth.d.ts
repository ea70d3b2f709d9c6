import type { Credentials, TransportSettings } from './transport.js';
/** A scope that a user can grant. */
export type Scope = 'users.read' | 'channel.moderate' | 'users.bot' | 'offline.access';
/** The tokens of a user or an app. They are secrets. */
export interface Tokens {
    accessToken: string;
    /** Renews the access token. Present if the scope `offline.access` was granted. */
    refreshToken?: string;
    /** When the access token expires: an RFC 3339 time. */
    expiresAt?: string;
    /** What was granted, which can be less than what was asked for. */
    scopes?: Scope[];
}
/** A sign-in that a browser was sent off for. Keep it until the browser returns: it is a secret. */
export interface PendingSignIn {
    /** Where to send the browser. */
    url: string;
    state: string;
    codeVerifier: string;
    redirectUri: string;
}
/** What to show to a user who signs in on another device. */
export interface DevicePrompt {
    /** The address with the code in it. */
    url: string;
    /** The code, which the page shows as well. */
    userCode: string;
    /** The address without the code, to be typed. */
    shortUrl: string;
}
/** The settings of Auth. */
export interface AuthSettings extends TransportSettings {
    clientSecret?: string | undefined;
    tokens?: Tokens | undefined;
    onTokens?: ((tokens: Tokens) => void | Promise<void>) | undefined;
}
/** Signs users in, and keeps them signed in. */
export declare class Auth implements Credentials {
    #private;
    /** @internal */
    constructor(settings: AuthSettings);
    /** The current tokens; undefined if nobody is signed in. */
    get tokens(): Tokens | undefined;
    /**
     * Begins to sign in a user in a browser (authorization code with PKCE). Keep what it
     * returns, for example in the user's session, and send the browser to its `url`.
     */
    startSignIn(options: {
        redirectUri: string;
        scopes: Scope[];
    }): Promise<PendingSignIn>;
    /**
     * Ends what {@link startSignIn} began, with the URL at which the browser returned.
     *
     * @throws SignInError with `access_denied` if the user refused.
     */
    finishSignIn(returnedTo: string | URL, pending: PendingSignIn): Promise<Tokens>;
    /**
     * Signs in a user on another device, for programs without a browser (device flow).
     * Show what `onPrompt` gets; the promise resolves when the user has approved.
     *
     * @throws SignInError with `access_denied` or `expired_token`.
     */
    signInWithDevice(options: {
        scopes: Scope[];
        onPrompt: (prompt: DevicePrompt) => void;
        signal?: AbortSignal | undefined;
    }): Promise<Tokens>;
    /** Signs in as the app itself, which needs the client's secret. */
    signInAsApp(options?: {
        scopes?: Scope[] | undefined;
    }): Promise<Tokens>;
    /**
     * Renews the access token. Calls do this by themselves when it has expired; several at
     * the same moment share one renewal.
     *
     * @throws SignInError with `invalid_grant` if the user must sign in again.
     */
    refresh(): Promise<Tokens>;
    /** Ends the tokens on the server, and forgets them. */
    signOut(): Promise<void>;
    /** @internal */
    current(): string | undefined;
    /** @internal */
    renew(refused: string): Promise<boolean>;
}
