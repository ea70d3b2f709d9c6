export { Auth, type DevicePrompt, type PendingSignIn, type Scope, type Tokens } from './auth.js';
export { Moderato, type ModeratoOptions } from './client.js';
export { APIConnectionError, IdempotencyKeyReusedError, ModeratoError, SignInError, WebhookVerificationError, type FieldError } from './errors.js';
export type { Event, EventType } from './event.js';
export { EventStream, type ListenOptions } from './events.js';
export type * from './operations.js';
export { List, type Page } from './paging.js';
export type { Call, RequestOptions } from './transport.js';
export { verifyWebhook, type WebhookHeaders, type WebhookOptions } from './webhooks.js';
