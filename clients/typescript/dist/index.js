export { Auth } from './auth.js';
export { Moderato } from './client.js';
export { APIConnectionError, IdempotencyKeyReusedError, ModeratoError, SignInError, WebhookVerificationError } from './errors.js';
export { EventStream } from './events.js';
export { List } from './paging.js';
export { verifyWebhook } from './webhooks.js';
