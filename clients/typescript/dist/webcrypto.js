let found;
/** webcrypto returns Web Crypto, which Node.js 18 does not have as a global. */
export function webcrypto() {
    const node = 'node:crypto'; // not a literal in import(), so that bundlers for browsers leave it alone
    found ??= globalThis.crypto
        ? Promise.resolve(globalThis.crypto)
        : import(/* @vite-ignore */ /* webpackIgnore: true */ node).then((module) => module.webcrypto);
    return found;
}
/** randomUUID returns a random UUID. Unlike Web Crypto's, it works on pages without TLS. */
export async function randomUUID() {
    const bytes = (await webcrypto()).getRandomValues(new Uint8Array(16));
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
/** randomText returns 43 random characters, which are safe in URLs. */
export async function randomText() {
    return base64url((await webcrypto()).getRandomValues(new Uint8Array(32)));
}
/** challengeOf returns the S256 challenge of a PKCE code verifier. */
export async function challengeOf(verifier) {
    const digest = await (await webcrypto()).subtle.digest('SHA-256', new TextEncoder().encode(verifier));
    return base64url(new Uint8Array(digest));
}
function base64url(bytes) {
    return btoa(String.fromCharCode(...bytes)).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
}
