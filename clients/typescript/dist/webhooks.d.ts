import { type Event } from './event.js';
/** The headers of a request: those of fetch, or those of Node.js. */
export type WebhookHeaders = Headers | Record<string, string | string[] | undefined>;
/** Options of {@link verifyWebhook}. */
export interface WebhookOptions {
    /** How many seconds the delivery's time may differ from the clock; 300 by default. */
    tolerance?: number | undefined;
}
/**
 * Verifies a webhook delivery (Standard Webhooks), and returns its event. A delivery can
 * come twice, with the same `event.metadata.messageId`.
 *
 * @param body - The bytes of the request's body, or their text, as they were received.
 * @param secret - The secret of the webhook. While you change it, give the new and the former one.
 * @throws WebhookVerificationError if the delivery is not authentic, or too old: respond with 401.
 */
export declare function verifyWebhook(body: Uint8Array | string, headers: WebhookHeaders, secret: string | string[], { tolerance }?: WebhookOptions): Promise<Event>;
