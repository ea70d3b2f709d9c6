// Must compile with the types of the package; what must not compile is marked.
import { List, Moderato, ModeratoError, type BanUserResponse, type Event, type UserSummary } from '@moderato-live/client'

const moderato = new Moderato({ baseUrl: 'https://api.example.com', clientId: 'my-bot', tokens: { accessToken: 'mdu_' } })

const ban: BanUserResponse = await moderato.moderation.banUser({ channelId: '', banUsername: '' }, { retries: 0, idempotencyKey: '' })
ban.bannedAt satisfies string
// @ts-expect-error channelId is required
await moderato.moderation.banUser({ banUsername: '' })
// @ts-expect-error there is no such field
await moderato.moderation.banUser({ channelId: '', user: '' })

const moderators: List<UserSummary[]> = moderato.moderation.listModerators({ channelId: '' })
for await (const moderator of moderators) moderator.displayName satisfies string
;(await moderators).length satisfies number
for await (const user of moderato.channels.listFollowers()) user.followedAt satisfies string | null
for await (const message of moderato.chat.listMessages({ channelId: '' })) message.sender.roles satisfies string[]
await moderato.users.listUsers({ username: ['a', 'b'] })

for await (const event of await moderato.events.listen({ type: ['channel.ban', 'stream.online'] })) {
  if (event.type === 'channel.ban') event.payload.bannedUserId satisfies string
  else event.payload.startedAt satisfies string
}
// @ts-expect-error there is no such type
await moderato.events.listen({ type: ['channel.bann'] })

// Every option may be undefined, as a value that comes from elsewhere can be.
export const withoutOptions: Moderato = new Moderato({
  baseUrl: '', clientId: '', clientSecret: undefined, tokens: undefined, onTokens: undefined, timeout: undefined, retries: undefined, fetch: undefined,
})
await moderato.moderation.banUser({ channelId: '', banUserId: '' }, { timeout: undefined, retries: undefined, signal: undefined, idempotencyKey: undefined })
await moderato.events.listen({ channelId: undefined, type: undefined, cursor: undefined, signal: undefined, idleTimeout: undefined, onDisconnect: undefined, onMissed: undefined })

export function describe(event: Event): string {
  switch (event.type) {
    case 'channel.follow':
      return event.payload.userDisplayName
    case 'channel.mute':
      return event.payload.muteExpiresAt
    default:
      return event.type
  }
}

export function isMuted(error: unknown): boolean {
  return error instanceof ModeratoError && error.code === 'MUTE_ACTIVE'
}
