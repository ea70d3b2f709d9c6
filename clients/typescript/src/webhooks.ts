import { WebhookVerificationError } from './errors.js'
import { eventOf, type Event } from './event.js'
import { webcrypto } from './webcrypto.js'

/** The headers of a request: those of fetch, or those of Node.js. */
export type WebhookHeaders = Headers | Record<string, string | string[] | undefined>

/** Options of {@link verifyWebhook}. */
export interface WebhookOptions {
  /** How many seconds the delivery's time may differ from the clock; 300 by default. */
  tolerance?: number | undefined
}

/**
 * Verifies a webhook delivery (Standard Webhooks), and returns its event. A delivery can
 * come twice, with the same `event.metadata.messageId`.
 *
 * @param body - The bytes of the request's body, or their text, as they were received.
 * @param secret - The secret of the webhook. While you change it, give the new and the former one.
 * @throws WebhookVerificationError if the delivery is not authentic, or too old: respond with 401.
 */
export async function verifyWebhook(
  body: Uint8Array | string,
  headers: WebhookHeaders,
  secret: string | string[],
  { tolerance = 300 }: WebhookOptions = {},
): Promise<Event> {
  const id = header(headers, 'webhook-id')
  const timestamp = header(headers, 'webhook-timestamp')
  if (!/^\d+$/.test(timestamp) || Math.abs(Date.now() / 1000 - Number(timestamp)) > tolerance) {
    throw new WebhookVerificationError('The timestamp is too far from the current time.')
  }
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const prefix = new TextEncoder().encode(`${id}.${timestamp}.`)
  const signed = new Uint8Array(prefix.length + bytes.length)
  signed.set(prefix)
  signed.set(bytes, prefix.length)
  const signatures = header(headers, 'webhook-signature').split(' ').filter((text) => text.startsWith('v1,'))
  if (!(await isSigned(signed, signatures, Array.isArray(secret) ? secret : [secret]))) {
    throw new WebhookVerificationError('No signature is valid: the secret differs, or the body was changed.')
  }
  return eventOf(JSON.parse(new TextDecoder().decode(bytes)), header(headers, 'moderato-cursor', ''))
}

/** isSigned reports whether one of the signatures is of one of the secrets. */
async function isSigned(signed: Uint8Array<ArrayBuffer>, signatures: string[], secrets: string[]): Promise<boolean> {
  const { subtle } = await webcrypto()
  for (const secret of secrets) {
    const key = await subtle.importKey('raw', bytesOf(secret.replace(/^whsec_/, '')), { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
    for (const signature of signatures) {
      // verify compares in constant time.
      if (await subtle.verify('HMAC', key, signatureOf(signature), signed)) return true
    }
  }
  return false
}

function signatureOf(text: string): Uint8Array<ArrayBuffer> {
  try {
    return bytesOf(text.slice('v1,'.length))
  } catch {
    return new Uint8Array() // is no signature
  }
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
}

function header(headers: WebhookHeaders, name: string, absent?: string): string {
  const value = headers instanceof Headers ? headers.get(name) : headers[name]
  const text = typeof value === 'string' ? value : absent
  if (text === undefined) throw new WebhookVerificationError(`The header ${name} is missing.`)
  return text
}
