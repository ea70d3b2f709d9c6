/** webcrypto returns Web Crypto, which Node.js 18 does not have as a global. */
export declare function webcrypto(): Promise<Crypto>;
/** randomUUID returns a random UUID. Unlike Web Crypto's, it works on pages without TLS. */
export declare function randomUUID(): Promise<string>;
/** randomText returns 43 random characters, which are safe in URLs. */
export declare function randomText(): Promise<string>;
/** challengeOf returns the S256 challenge of a PKCE code verifier. */
export declare function challengeOf(verifier: string): Promise<string>;
