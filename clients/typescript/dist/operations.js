// Generated from docs/openapi/openapi.json by generate.mjs; do not edit.
import { EventsResource, Resource } from './resource.js';
/** Operations: moderation. */
export class Moderation extends Resource {
    /**
     * Returns the channels in which a user has the moderator role, in the order in which the roles were given.
     *
     * Tokens: user, for the token's own user (otherwise NOT_SELF); app, if that user granted `users.read` to the client (otherwise GRANT_MISSING); service. Scope: `users.read`. Errors: RESULT_TOO_LARGE if the complete list is longer than the server's limit. A complete list of thousands of rows exceeds the size that gRPC clients accept by default (4 MiB): request pages with `limit` and `cursor`.
     */
    listModeratedChannels(query, options) {
        return this.list('/v1/moderation/channels', query, 100, options);
    }
    /**
     * Returns the users who have the moderator role in a channel, ordered by when they got the role, oldest first.
     *
     * Tokens: user, app or service, for any channel. Scope: none. Errors: CHANNEL_NOT_FOUND if the channel does not exist; RESULT_TOO_LARGE if the complete list is longer than the server's limit. A complete list of thousands of rows exceeds the size that gRPC clients accept by default (4 MiB): request pages with `limit` and `cursor`.
     */
    listModerators(query, options) {
        return this.list('/v1/moderation/moderators', query, 100, options);
    }
    /**
     * Gives a user the moderator role in a channel. If the user already has the role, the call succeeds, changes nothing and emits nothing. Emits `channel.moderator.add`.
     *
     * Tokens: user, and only the channel's owner (otherwise NOT_CHANNEL_OWNER). Scope: `channel.moderate`. Errors: USER_NOT_FOUND if the user does not exist; TARGET_IS_CHANNEL if the user is the channel's owner.
     */
    addModerator(body, options) {
        return this.send('POST', '/v1/moderation/moderators', body, options);
    }
    /**
     * Removes the moderator role in a channel from a user. If the user does not have the role, the call succeeds, changes nothing and emits nothing. Emits `channel.moderator.remove`.
     *
     * Tokens, scope and errors: as `addModerator`.
     */
    removeModerator(body, options) {
        return this.send('DELETE', '/v1/moderation/moderators', body, options);
    }
    /**
     * Bans a user from a channel until the ban is removed or, if the ban has a duration, expires, and deletes all the user's messages in the channel, however many there are. The user's roles, mute, follow and subscription stay unchanged, but a banned moderator has no moderation rights while the ban lasts. Emits `channel.ban`, then `channel.chat.clear_user_messages`, and `channel.unban` when the ban expires.
     *
     * If the user is banned already, the new ban replaces the ban in force if `replace` is true or if it lasts longer. It emits `channel.ban` alone, with `replaces`. Otherwise the call changes nothing, emits nothing, and returns the ban in force.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR). Scope: `channel.moderate`. Errors: INVALID_ARGUMENT if both or neither of `banUserId` and `banUsername` are given; USER_NOT_FOUND if the user does not exist; TARGET_IS_CHANNEL if the user is the channel's owner.
     */
    banUser(body, options) {
        return this.send('POST', '/v1/moderation/ban', body, options);
    }
    /**
     * Removes the ban of a user from a channel. Messages that the ban deleted stay deleted unless `restoreMessages` is set. The user is exempt from the afterglows that run in the channel. Emits `channel.unban`.
     *
     * Tokens, scope and relation: as `banUser`. Errors: NOT_BANNED (404) if the user is not banned from the channel or does not exist.
     */
    removeBan(body, options) {
        return this.send('DELETE', '/v1/moderation/ban', body, options);
    }
    /**
     * Prevents a user from posting in a channel for `durationSeconds`, ten minutes by default, and deletes all the user's messages in the channel. Emits `channel.mute`, then `channel.chat.clear_user_messages`, and `channel.mute.expire` when the mute expires. With `replace`, it replaces an active mute of the user, and emits `channel.mute` alone, with `replaces`.
     *
     * Tokens, scope and relation: as `banUser`. Errors: MUTE_ACTIVE (409), with the existing `muteExpiresAt`, if a mute of the user is still active and `replace` is not set; USER_NOT_FOUND if the user does not exist; TARGET_IS_CHANNEL if the user is the channel's owner.
     */
    muteUser(body, options) {
        return this.send('POST', '/v1/moderation/mute', body, options);
    }
    /**
     * Ends the mute of a user in a channel. Messages that the mute deleted stay deleted unless `restoreMessages` is set. Emits `channel.unmute`.
     *
     * Tokens, scope and relation: as `banUser`. Errors: NOT_MUTED (404) if the user has no active mute in the channel or does not exist.
     */
    removeMute(body, options) {
        return this.send('DELETE', '/v1/moderation/mute', body, options);
    }
    /**
     * Bans up to 1,000 users in one transaction: a ban by anyone else comes before all of them or after all of them. Each user who can be banned is; the results say what happened to each, in the order of the request. A ban that lasts longer than the ban in force replaces it. For each user whom it bans, it emits the events of `banUser`, in the same order. A dry run changes nothing and returns what would happen.
     *
     * Tokens, scope and relation: as `banUser`. Errors: INVALID_ARGUMENT if there are no users or more than 1,000, or if both or neither of `userId` and `username` of a user are given.
     */
    banUsers(body, options) {
        return this.send('POST', '/v1/moderation/bans', body, options);
    }
    /**
     * Returns the batches of bans of a channel, newest first.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR); service. Scope: `channel.moderate`. Errors: CHANNEL_NOT_FOUND if the channel does not exist; CURSOR_INVALID if the cursor is of another channel.
     */
    listBanBatches(query, options) {
        return this.list('/v1/moderation/bans', query, 100, options);
    }
    /**
     * Lifts, in one transaction, the bans of a batch that are still the present ones. If such a ban replaced another one that would still run, that one is in force again. If `restoreMessages` is set, the messages that these bans deleted are visible again, unless something else deleted them since. Messages can be restored for 24 hours. Emits `channel.unban` for each user who is free, and `channel.ban` with `replaces` for each ban that is in force again, in the order of the batch. A repeated call finds no bans to lift, and changes nothing.
     *
     * Tokens, scope and relation: as `banUser`. Errors: BATCH_NOT_FOUND (404) if the channel has no such batch.
     */
    undoBanBatch(body, options) {
        return this.send('DELETE', '/v1/moderation/bans', body, options);
    }
    /**
     * Finds the users of a channel who match all of some conditions, so that `commitSweep` can ban them. It changes nothing in the channel. At least one of `phrase`, `pattern`, `followedWithinSeconds` and `firstMessageWithinSeconds` is required. The channel's owner, its moderators, VIPs and OGs never match, and users who are banned already are left out. Of the previews that found users, the latest 5 of a user in a channel and the latest 20 of a channel can be committed; the tokens of older ones expire.
     *
     * Tokens, scope and relation: as `banUser`. Errors: INVALID_ARGUMENT if there is no condition, if both `phrase` and `pattern` are given, or if the pattern does not compile; SWEEP_TOO_LARGE if there is more to examine than one sweep may.
     */
    previewSweep(body, options) {
        return this.send('POST', '/v1/moderation/sweeps', body, options);
    }
    /**
     * Bans exactly the users whom a preview found, as one batch, in transactions of 1,000 users. For each user whom it bans, it emits the events of `banUser`. The first transaction checks the caller and records the sweep. From then on it is completed, by another server if necessary, in the caller's name. Each transaction checks that the caller may still moderate the channel, and that the user has not revoked the grant to the client; otherwise the sweep ends, and so does its afterglow. The call waits for the end, and returns `IN_PROGRESS` if that takes long: `listBanBatches` then shows how many users are banned. A call that is repeated with its idempotency key waits for the end again, and returns the same batch. `undoBanBatch` undoes the sweep, or ends it if it is in progress. The call returns `ENDED` for a sweep that ended before it was complete.
     *
     * Tokens, scope and relation: as `banUser`. Errors: SWEEP_NOT_FOUND (404) if the channel has no such preview; SWEEP_EXPIRED (409) if the token has expired or was used, or later previews have displaced its preview.
     */
    commitSweep(body, options) {
        return this.send('POST', '/v1/moderation/sweeps/commit', body, options);
    }
    /**
     * Lifts, in one transaction, the bans and mutes that a moderator or a rule made in a channel since a point in time and that are still the present ones, whether they were made one by one, in batches or by sweeps. The messages that they deleted are visible again, unless something else deleted them too. Messages can be restored for 24 hours. A sweep of the moderator that is in progress ends, and so does an afterglow. Emits `channel.unban` for each lifted ban and `channel.unmute` for each lifted mute, in the order in which the bans and mutes were made. A ban of somebody else that the moderator replaced is in force again if it would still run, with `channel.ban` and `replaces`. One call lifts up to 10,000, the oldest first: if `hasMore` is true, repeat the call. A dry run changes nothing and returns what would happen. The moderator keeps the role: remove it first. The chat rules that the moderator put or deleted since then, and that nobody else has put since, become what they were before, with `channel.chat.rules`. If the channel has no room for all of them beside those that others have created since, the oldest come back. With `ruleId` instead of `moderatorId`, the mutes are lifted that the rule made, also if it was deleted since. The rule stays.
     *
     * Tokens: user, and only the channel's owner (otherwise NOT_CHANNEL_OWNER). Scope: `channel.moderate`. Errors: INVALID_ARGUMENT if `since` is in the future; USER_NOT_FOUND if the moderator does not exist.
     */
    revertModerator(body, options) {
        return this.send('POST', '/v1/moderation/reverts', body, options);
    }
    /**
     * Returns what a moderator must know about a user in a channel: who the user is, their roles, ban, mute, follow and subscription, and their latest messages. With `include=card` it also returns what the user did and what was done about it. All of it is as of one instant.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR); service. Scope: `channel.moderate`. Errors: CHANNEL_NOT_FOUND if the channel does not exist; USER_NOT_FOUND if the user does not exist.
     */
    getUser(query, options) {
        return this.get('/v1/moderation/users', query, options);
    }
    /**
     * Returns the log of a channel, newest entry first: who changed what. The log consists of the event rows, which are written in the same transactions as the changes.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR), or service. Scope: `channel.moderate`. Errors: CURSOR_INVALID if the cursor is of another channel or filter.
     */
    listLog(query, options) {
        return this.list('/v1/moderation/log', query, 100, options);
    }
    /**
     * Returns the users who are banned from a channel, newest ban first. With filters it returns those of them who match all filters.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR); service. Scope: `channel.moderate`. Errors: CHANNEL_NOT_FOUND if the channel does not exist; CURSOR_INVALID if the cursor is of another channel or filter.
     */
    listBans(query, options) {
        return this.list('/v1/moderation/banned-users', query, 100, options);
    }
    /**
     * Returns the users who are muted in a channel, newest mute first. With `query` it returns those of them who match.
     *
     * Tokens, scope, relation and errors: as `listBans`.
     */
    listMutes(query, options) {
        return this.list('/v1/moderation/muted-users', query, 100, options);
    }
    /**
     * Returns the users who hold roles in a channel: first the moderators, then the VIPs, then the OGs, each oldest role first. A user with two roles has two rows. With `role` or `query` it returns those rows that match.
     *
     * Tokens, scope, relation and errors: as `listBans`.
     */
    listRoles(query, options) {
        return this.list('/v1/moderation/roles', query, 100, options);
    }
    /**
     * Returns what happened in a channel, by intervals of time: the newest intervals, or with `since` those from then on. An interval in which nothing happened is a row of zeros.
     *
     * Each server writes its counts every 5 seconds, so the newest row grows for some seconds after its end. A server that is killed loses what it has not written yet.
     *
     * Tokens, scope, relation and errors: as `listBans`, without the cursor.
     */
    getMetrics(query, options) {
        return this.get('/v1/moderation/metrics', query, options);
    }
    /**
     * Reports how many of the platform's chat servers have applied a change of a channel: a ban, mute or role, or its end. Chat servers acknowledge changes a few times a second, so a report is complete within about a second after them.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR), or service. Scope: `channel.moderate`. Errors: CHANNEL_NOT_FOUND if the channel does not exist; CURSOR_INVALID if the cursor is not that of an event.
     */
    getPropagation(query, options) {
        return this.get('/v1/moderation/propagation', query, options);
    }
}
/** Operations: channels. */
export class Channels extends Resource {
    /**
     * Returns channels: live channels first, then by number of viewers, then by id, each descending.
     *
     * Tokens: user, app or service. Scope: `users.read`.
     */
    listChannels(query = {}, options) {
        return this.list('/v1/channels', query, 20, options);
    }
    /**
     * Returns a page of the raids of a channel, newest first.
     *
     * Tokens: user; app or service. Scope: `users.read`. Errors: CURSOR_INVALID; CHANNEL_NOT_FOUND if the channel does not exist.
     */
    listRaids(query, options) {
        return this.list('/v1/channels/raids', query, 100, options);
    }
    /**
     * Returns a page of the categories whose name contains a text, ignoring case. A category whose name is the text comes first, then those whose name begins with it, then those with a word that begins with it, then the others; equal ones are in the order of their names.
     *
     * Tokens: user, app or service, with any scope. Errors: CURSOR_INVALID.
     */
    listCategories(query = {}, options) {
        return this.list('/v1/categories', query, 200, options);
    }
    /**
     * Returns the emotes of the platform, ordered by name. They show in every channel, whatever `isPublic` is.
     *
     * Tokens: user, app or service, with any scope.
     */
    listPlatformEmotes(options) {
        return this.get('/v1/emotes/blaze', {}, options);
    }
    /**
     * Returns the emotes of a channel, ordered by name, whether they are public or not.
     *
     * Tokens: user, app or service, with any scope. Errors: CHANNEL_NOT_FOUND.
     */
    listEmotes(channelId, options) {
        return this.get(`/v1/emotes/channels/${encodeURIComponent(channelId)}`, {}, options);
    }
    /**
     * Returns the live state of the authorized channel. Deprecated: use `getLiveStats`. Over REST the response has the headers `Deprecation` and `Link`, which announce this.
     *
     * Tokens: user; app or service, with `channelId`. Scope: `users.read`.
     *
     * @deprecated
     */
    getStreamInfo(query = {}, options) {
        return this.get('/v1/channels/stream-info', query, options);
    }
    /**
     * Returns the counters of the authorized channel.
     *
     * Tokens: user; app or service, with `channelId`. Scope: `users.read`.
     */
    getStats(query = {}, options) {
        return this.get('/v1/channels/stats', query, options);
    }
    /**
     * Returns the followers of the authorized channel, newest first.
     *
     * Tokens: user. Scope: `users.read`.
     */
    listFollowers(query = {}, options) {
        return this.list('/v1/channels/followers', query, 100, options);
    }
    /**
     * Returns the channels that the token's user follows, newest first.
     *
     * Tokens: user. Scope: `users.read`.
     */
    listFollowed(query = {}, options) {
        return this.list('/v1/channels/followed', query, 100, options);
    }
    /**
     * Returns the users who are banned from the authorized channel, newest ban first, and for each the user who applied the ban.
     *
     * Tokens: user. Scope: `users.read`.
     */
    listBannedUsers(query = {}, options) {
        return this.list('/v1/channels/banned-users', query, 100, options);
    }
    /**
     * Returns the VIPs of the authorized channel, ordered by when they got the role, oldest first.
     *
     * Tokens: user; app or service, with `channelId`. Scope: `users.read`. Errors: RESULT_TOO_LARGE if the complete list is longer than the server's limit. A complete list of thousands of rows exceeds the size that gRPC clients accept by default (4 MiB): request pages with `limit` and `cursor`.
     */
    listVips(query = {}, options) {
        return this.list('/v1/channels/roles/vips', query, 100, options);
    }
    /**
     * Gives a user the VIP role. If the user already has the role, the call succeeds, changes nothing and emits nothing. Emits `channel.vip.add`.
     *
     * Tokens: user, and only the channel's owner (otherwise NOT_CHANNEL_OWNER). Scope: `channel.moderate`. Errors: USER_NOT_FOUND if the user does not exist; TARGET_IS_CHANNEL if the user is the channel's owner.
     */
    addVip(body, options) {
        return this.send('POST', '/v1/channels/vips', body, options);
    }
    /**
     * Removes the VIP role from a user. If the user does not have the role, the call succeeds, changes nothing and emits nothing. Emits `channel.vip.remove`.
     *
     * Tokens, scope and errors: as `addVip`.
     */
    removeVip(body, options) {
        return this.send('DELETE', '/v1/channels/vips', body, options);
    }
    /**
     * Returns the moderators of the authorized channel, ordered by when they got the role, oldest first.
     *
     * Tokens, scope and errors: as `listVips`.
     */
    listMods(query = {}, options) {
        return this.list('/v1/channels/roles/mods', query, 100, options);
    }
    /**
     * Returns the OGs of the authorized channel, ordered by when they got the role, oldest first.
     *
     * Tokens, scope and errors: as `listVips`.
     */
    listOgs(query = {}, options) {
        return this.list('/v1/channels/roles/ogs', query, 100, options);
    }
    /**
     * Gives a user the OG role. If the user already has the role, the call succeeds, changes nothing and emits nothing. Emits `channel.og.add`.
     *
     * Tokens, scope and errors: as `addVip`.
     */
    addOg(body, options) {
        return this.send('POST', '/v1/channels/ogs', body, options);
    }
    /**
     * Removes the OG role from a user. If the user does not have the role, the call succeeds, changes nothing and emits nothing. Emits `channel.og.remove`.
     *
     * Tokens, scope and errors: as `addVip`.
     */
    removeOg(body, options) {
        return this.send('DELETE', '/v1/channels/ogs', body, options);
    }
    /**
     * Returns the active subscribers of the authorized channel, newest first.
     *
     * Tokens: user. Scope: `users.read`.
     */
    listSubscribers(query = {}, options) {
        return this.list('/v1/channels/subscribers', query, 100, options);
    }
    /**
     * Returns the recent activities of the authorized channel, newest first.
     *
     * Tokens: user. Scope: `users.read`.
     */
    listActivities(query = {}, options) {
        return this.list('/v1/channels/activities', query, 100, options);
    }
    /**
     * Returns the votes for a channel, newest first, of one week or of all weeks.
     *
     * Tokens: user, for the user's own channel (otherwise NOT_CHANNEL_OWNER); app or service, for any channel. Scope: `users.read`. Errors: RESULT_TOO_LARGE if the complete list is longer than the server's limit. A complete list of thousands of rows exceeds the size that gRPC clients accept by default (4 MiB): request pages with `limit` and `cursor`.
     */
    listVotes(query, options) {
        return this.list('/v1/channels/votes', query, 100, options);
    }
    /**
     * Returns the clips of a channel. Any channel may be named.
     *
     * Tokens: user, app or service. Scope: `users.read`. Errors: CHANNEL_NOT_FOUND if the channel does not exist.
     */
    listClips(query, options) {
        return this.list('/v1/channels/clips', query, 20, options);
    }
    /**
     * Returns the recorded streams of a channel. Any channel may be named.
     *
     * Tokens: user, app or service. Scope: `users.read`. Errors: CHANNEL_NOT_FOUND if the channel does not exist.
     */
    listVods(query, options) {
        return this.list('/v1/channels/vods', query, 20, options);
    }
    /**
     * Returns the counters of the live stream of the authorized channel.
     *
     * Tokens: user; app or service, with `channelId`. Scope: `users.read`.
     */
    getLiveStats(query = {}, options) {
        return this.get('/v1/channels/live-stats', query, options);
    }
    /**
     * Sets the title, the language and, if given, the category of the authorized channel and of its live stream. Emits `channel.update`, unless nothing changes.
     *
     * Tokens: user. Scope: `channel.moderate`. Errors: CATEGORY_NOT_FOUND if the category does not exist.
     */
    updateInfo(body, options) {
        return this.send('POST', '/v1/channels/info', body, options);
    }
}
/** Operations: webhooks. */
export class Webhooks extends Resource {
    /**
     * Creates a webhook, which sends events from now on.
     *
     * Errors: CHANNEL_NOT_FOUND if the channel does not exist; INVALID_ARGUMENT if an app names no channel; WEBHOOK_EXISTS if the same user, app or backend has a webhook for the channel with the same URL and event types, also if it is disabled; WEBHOOK_LIMIT_REACHED if the channel's owner and moderators have 20 webhooks for it already, or service tokens have 20, or the app has 20 for it or 1000 in all, or a user who neither owns nor moderates the channel has 20 for such channels, or all such users have 200 for the channel.
     */
    createWebhook(body, options) {
        return this.send('POST', '/v1/webhooks', body, options);
    }
    /**
     * Returns the webhooks of a channel, oldest first.
     *
     * Errors: CHANNEL_NOT_FOUND if the channel does not exist.
     */
    listWebhooks(query = {}, options) {
        return this.get('/v1/webhooks', query, options);
    }
    /**
     * Deletes a webhook and all its deliveries. A delivery that is in flight may still arrive.
     *
     * Errors: WEBHOOK_NOT_FOUND if the webhook does not exist.
     */
    deleteWebhook(body, options) {
        return this.send('DELETE', '/v1/webhooks', body, options);
    }
    /**
     * Gives a webhook a new secret. For 24 hours deliveries carry the signatures of both the new and the former secret. Older secrets are no longer used.
     *
     * Errors: WEBHOOK_NOT_FOUND if the webhook does not exist.
     */
    rotateWebhookSecret(body, options) {
        return this.send('POST', '/v1/webhooks/rotate-secret', body, options);
    }
    /**
     * Enables a disabled webhook. The webhook resumes where it stopped. It starts with the events from now on instead if the events since then are no longer kept, or if it was disabled because its user or app lost the right to its types. An enabled webhook stays unchanged.
     *
     * Errors: WEBHOOK_NOT_FOUND if the webhook does not exist; NOT_CHANNEL_MODERATOR or GRANT_MISSING if the webhook's user or app has no right to its types.
     */
    enableWebhook(body, options) {
        return this.send('POST', '/v1/webhooks/enable', body, options);
    }
    /**
     * Returns a page of a webhook's deliveries, newest event first. A delivery is listed for 7 days after it was delivered or given up.
     *
     * Errors: WEBHOOK_NOT_FOUND if the webhook does not exist.
     */
    listWebhookDeliveries(query, options) {
        return this.list('/v1/webhooks/deliveries', query, 100, options);
    }
    /**
     * Sends an event again, immediately and outside the order; pending events do not wait for it. It is retried like any other delivery, but if it is given up, the webhook stays enabled, and an event that was delivered before keeps the status `delivered`. A delivery that is already pending stays in its place and is attempted now.
     *
     * Errors: WEBHOOK_NOT_FOUND if the webhook does not exist; WEBHOOK_DISABLED if it is disabled; EVENT_NOT_FOUND if the event is no longer kept, or is not of the webhook's channel and types; REDELIVERY_LIMIT_REACHED if 100 redeliveries of the webhook are pending already.
     */
    redeliverWebhookEvent(body, options) {
        return this.send('POST', '/v1/webhooks/redeliver', body, options);
    }
}
/** Operations: users. */
export class Users extends Resource {
    /**
     * Returns the user of the token, or the user whom an app names.
     *
     * Tokens: user; app or service, with `userId` or `username`. Scope: `users.read`. Errors: USER_NOT_FOUND; NOT_SELF if a user token is used to name another user, who need not exist.
     */
    getProfile(query = {}, options) {
        return this.get('/v1/users/profile', query, options);
    }
    /**
     * Returns the numbers of the channel of the token's user, or of the user whom an app names. A user without a channel has zeros.
     *
     * Tokens: user; app or service, with `userId`. Scope: `users.read`. Errors: USER_NOT_FOUND; NOT_SELF if a user token is used to name another user, who need not exist.
     */
    getAchievementStats(query = {}, options) {
        return this.get('/v1/users/achievement-stats', query, options);
    }
    /**
     * Returns users by id and by username: first those with the ids, in the order of the request, then those with the usernames. Users who do not exist are left out, and a user who is named twice is returned once.
     *
     * Tokens: user, app or service. Scope: `users.read`.
     */
    listUsers(query = {}, options) {
        return this.get('/v1/users', query, options);
    }
    /**
     * Returns which clients the caller has granted which scopes, ordered by client id.
     *
     * Errors: RESULT_TOO_LARGE if there are more than 1000.
     */
    listGrants(options) {
        return this.get('/v1/users/grants', {}, options);
    }
    /** Takes back everything that the caller granted to a client. The client's tokens of the caller end: changes with them are refused immediately, and reads within 2 s on every server. The webhooks that the client created in the caller's name are deleted. Revoking a grant that does not exist changes nothing. */
    revokeGrant(body, options) {
        return this.send('DELETE', '/v1/users/grants', body, options);
    }
}
/** Operations: events. */
export class Events extends EventsResource {
    /** Returns a ticket that opens one stream, on any server, within 60 s. The stream has the rights of the caller: what the caller may hear is checked when the stream opens and while it is open, and the stream ends with the caller's token. A ticket is as secret as a token while it is valid. */
    createEventTicket(body = {}, options) {
        return this.send('POST', '/v1/events/tickets', body, options);
    }
    /**
     * Subscribes a session to one type of events of a channel, from now on. A repeated call with the same type and channel returns the existing subscription, which then has the rights of the newer token. The session may be connected to any server. A session with subscriptions counts as one event stream of the caller.
     *
     * Tokens: user, app or service, with the scope and the relation to the channel that the type needs. The first subscription of a session decides whose it is: the client and user, or the app. Errors: SESSION_NOT_FOUND if the session does not exist or has ended; AUTH_CONTEXT_MISMATCH if the session belongs to another client, user or app; STREAM_LIMIT_REACHED if the session has 100 subscriptions, or the caller has as many sessions as it may have event streams; CHANNEL_NOT_FOUND if the channel does not exist; SCOPE_MISSING, TOKEN_KIND_NOT_ACCEPTED, NOT_CHANNEL_MODERATOR or GRANT_MISSING if the caller may not receive the type.
     */
    createSubscription(body, options) {
        return this.send('POST', '/v1/events/subscriptions', body, options);
    }
    /**
     * Returns the subscriptions in the sessions of the caller, oldest first.
     *
     * Tokens: user, app or service: those of the client and user, or of the app.
     */
    listSubscriptions(query = {}, options) {
        return this.list('/v1/events/subscriptions', query, 100, options);
    }
    /**
     * Ends a subscription. A session that is connected to another server than the one that was called may still receive its events for a second.
     *
     * Errors: SUBSCRIPTION_NOT_FOUND if the caller has no subscription with this id.
     */
    deleteSubscription(body, options) {
        return this.send('DELETE', '/v1/events/subscriptions', body, options);
    }
    /**
     * Returns the subscriptions of one session, oldest first.
     *
     * Tokens: user, app or service: those of the client and user, or of the app. Errors: SESSION_NOT_FOUND if the session does not exist or has ended; AUTH_CONTEXT_MISMATCH if the session belongs to another client, user or app. A session without a subscription belongs to nobody, and has an empty list.
     */
    listSessionSubscriptions(sessionId, options) {
        return this.get(`/v1/events/${encodeURIComponent(sessionId)}/subscriptions`, {}, options);
    }
}
/** Operations: chat. */
export class Chat extends Resource {
    /**
     * Posts a message in a channel. A post and a ban or mute of its sender take effect one after the other, even if they run at the same time: either the post is refused, or the ban or mute deletes the message. The same holds for `clearChat`.
     *
     * Tokens: user, who posts as itself (another `senderId` returns NOT_SELF); app, which posts as a user who granted it the scope (otherwise GRANT_MISSING); or service, which posts as any user. Scope: `users.bot`, or `channel.moderate` with a user token. No role in the channel is required. Errors: USER_BANNED, with `expiresAt`, if the sender is banned from the channel; USER_MUTED, with `muteExpiresAt`, if the sender is muted there; CHAT_RESTRICTED, with `restriction` and `retryAt`, if the settings of the channel's chat refuse the message; MESSAGE_HELD, with `messageId`, `expiresAt` and the `message` of the rule if it has one, if the message waits for a decision of a moderator; MESSAGE_BLOCKED, with the `message` of the rule if it has one, if the channel does not allow the message, or too many wait; RATE_LIMITED if the sender posts too fast in the channel, by default more than 20 messages in 30 s, or 100 for its owner and moderators; CHANNEL_NOT_FOUND or USER_NOT_FOUND if the channel or the sender does not exist.
     */
    postMessage(body, options) {
        return this.send('POST', '/v1/chats/messages', body, options);
    }
    /**
     * Deletes one message. The event `channel.chat.message_delete` reports it.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR). Scope: `channel.moderate`. The sender of the message may delete it with the scope `users.bot` as well. Errors: MESSAGE_NOT_FOUND if the channel has no such message, or it is deleted already; CHANNEL_NOT_FOUND if the channel does not exist.
     */
    deleteMessage(body, options) {
        return this.send('DELETE', '/v1/chats/messages', body, options);
    }
    /**
     * Returns the messages of a channel, newest first, without those that are deleted. Anyone sees the messages of the live stream or, while the channel is offline, of the last 8 hours. For the channel's owner and moderators the list goes on to the oldest message. A call examines a bounded number of stored rows. A page can therefore be short, or even empty, while its cursor still leads to more messages.
     *
     * Tokens: user, app or service. Scope: `users.read` or `channel.moderate`. Older messages and `userId` require the scope `channel.moderate` and a user who owns or moderates the channel: with `userId`, others get SCOPE_MISSING or NOT_CHANNEL_MODERATOR. Errors: CHANNEL_NOT_FOUND if the channel does not exist; CURSOR_INVALID if the cursor is of another channel or filter.
     */
    listMessages(query, options) {
        return this.list('/v1/chats/messages', query, 100, options);
    }
    /**
     * Deletes all messages of a channel, at a cost that does not depend on their number. A message that is being posted at that moment is either deleted as well, or posted after the deletion. The event `channel.chat.clear` reports it.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR). Scope: `channel.moderate`. Errors: CHANNEL_NOT_FOUND if the channel does not exist.
     */
    clearChat(body, options) {
        return this.send('DELETE', '/v1/chats', body, options);
    }
    /**
     * Returns the message that the channel's moderators pinned, however old it is; null if none is pinned, or the pinned message is deleted.
     *
     * Tokens: user, app or service. Scope: `users.read`. Errors: CHANNEL_NOT_FOUND if the channel does not exist.
     */
    getPinnedMessage(query, options) {
        return this.get('/v1/chats/pinned', query, options);
    }
    /**
     * Pins a message, in place of the one that was pinned before. The event `channel.chat.pin` reports it, unless the message is pinned already.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR). Scope: `channel.moderate`. Errors: MESSAGE_NOT_FOUND if the channel has no such message, or it is deleted; CHANNEL_NOT_FOUND if the channel does not exist.
     */
    pinMessage(body, options) {
        return this.send('POST', '/v1/chats/pinned', body, options);
    }
    /**
     * Removes the pin. The message stays. The event `channel.chat.pin` reports it, with a null `message`.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR). Scope: `channel.moderate`. Errors: MESSAGE_NOT_FOUND if no message is pinned; CHANNEL_NOT_FOUND if the channel does not exist.
     */
    unpinMessage(body, options) {
        return this.send('DELETE', '/v1/chats/pinned', body, options);
    }
}
/** Operations: tokens. */
export class Tokens extends Resource {
    /**
     * Returns what the token of the call is and which operations it may call. It never returns the token itself.
     *
     * Tokens: user, app or service. No scope is required.
     */
    getSelf(options) {
        return this.get('/v1/tokens/self', {}, options);
    }
}
/** Operations: rules. */
export class Rules extends Resource {
    /**
     * Returns the settings of a channel's chat as they are in force. A channel whose settings never changed has the defaults and the version 0.
     *
     * Tokens: user, app or service. Scope: `users.read`. Errors: CHANNEL_NOT_FOUND if the channel does not exist.
     */
    getChatSettings(query, options) {
        return this.get('/v1/chats/settings', query, options);
    }
    /**
     * Changes the settings that the request has, and keeps the others. The event `channel.chat.settings` reports it, unless nothing changes.
     *
     * With `durationSeconds` the settings return to their former values by themselves, with another event: each setting to the value that it had before it was set for a time, unless it was changed since. If it is set for a time once more, the later change replaces the earlier one.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR). Scope: `channel.moderate`. Errors: VERSION_CONFLICT (409) with `version` if `expectedVersion` is not the present version; CHANNEL_NOT_FOUND if the channel does not exist.
     */
    updateChatSettings(body, options) {
        return this.send('POST', '/v1/chats/settings', body, options);
    }
    /**
     * Returns the settings of a channel's chat as they are in force, and when those end that are set for a time. `own` has them without the shield.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR); or service. Scope: `channel.moderate`. Errors: CHANNEL_NOT_FOUND if the channel does not exist.
     */
    getModerationSettings(query, options) {
        return this.get('/v1/moderation/settings', query, options);
    }
    /**
     * Returns all rules of a channel, in the order in which they were created: those of the present version, or of an earlier one that ended in the last 90 days. What it returns can be put into another channel if the ids are left out.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR); or service. Scope: `channel.moderate`. Errors: CHANNEL_NOT_FOUND if the channel does not exist; VERSION_NOT_FOUND if the channel does not have the version, or no longer has it.
     */
    getChatRules(query, options) {
        return this.get('/v1/chats/rules', query, options);
    }
    /**
     * Creates, replaces and deletes rules, as one new version. The event `channel.chat.rules` reports it. The rules apply to messages that are posted afterwards, at once on every server.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR). Scope: `channel.moderate`. Errors: VERSION_CONFLICT (409) with `version` if `expectedVersion` is not the present version; RULE_LIMIT_REACHED (409) with `limit` if the channel would have more than 100 rules, 10,000 terms or 512 KiB of text; RULES_TOO_COSTLY, which names the rule that takes the most steps, if the rules would take too long for each message; INVALID_ARGUMENT if the channel does not have a rule that the request names; CHANNEL_NOT_FOUND if the channel does not exist.
     */
    updateChatRules(body, options) {
        return this.send('POST', '/v1/chats/rules', body, options);
    }
    /**
     * Returns what the rules of a channel would do with its stored messages of some time, or with some texts, if the request changed them. It changes nothing.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR). Scope: `channel.moderate`. Errors: PREVIEW_TOO_LARGE if there are more than 200,000 messages; RULE_LIMIT_REACHED (409), RULES_TOO_COSTLY and INVALID_ARGUMENT as of `updateChatRules`; CHANNEL_NOT_FOUND if the channel does not exist.
     */
    previewChatRules(body, options) {
        return this.send('POST', '/v1/chats/rules/preview', body, options);
    }
    /**
     * Returns who changed the rules of a channel in the last 90 days, newest first.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR); or service. Scope: `channel.moderate`. Errors: CURSOR_INVALID if the cursor is of another channel; CHANNEL_NOT_FOUND if the channel does not exist.
     */
    listChatRuleVersions(query, options) {
        return this.list('/v1/chats/rules/versions', query, 100, options);
    }
    /**
     * Makes the rules of a channel what they were in an earlier version, as one new version. Rules that have expired since are left out. The event `channel.chat.rules` reports it, unless nothing changes.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR). Scope: `channel.moderate`. Errors: VERSION_CONFLICT (409) with `version` if `expectedVersion` is not the present version; VERSION_NOT_FOUND if the channel does not have the version, or no longer has it; RULE_LIMIT_REACHED or RULES_TOO_COSTLY if they are too many together with those of the shield; CHANNEL_NOT_FOUND if the channel does not exist.
     */
    restoreChatRules(body, options) {
        return this.send('POST', '/v1/chats/rules/restore', body, options);
    }
    /**
     * Returns whether the shield of a channel is up, and what it does.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR); or service. Scope: `channel.moderate`. Errors: CHANNEL_NOT_FOUND if the channel does not exist.
     */
    getShield(query, options) {
        return this.get('/v1/moderation/shield', query, options);
    }
    /**
     * Raises the shield of a channel for a time, changes when it ends, or lowers it. Emits `channel.shield.begin` when it is raised or its end changes, `channel.shield.end` when it is lowered, and `channel.chat.settings` if other settings are in force then.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR). Scope: `channel.moderate`. Errors: CHANNEL_NOT_FOUND if the channel does not exist.
     */
    updateShield(body, options) {
        return this.send('POST', '/v1/moderation/shield', body, options);
    }
    /**
     * Replaces what the shield of a channel does. If the shield is up, the change is in force at once. Emits `channel.shield.preset`, unless nothing changes.
     *
     * Tokens: user, and only the channel's owner (otherwise NOT_CHANNEL_OWNER). Scope: `channel.moderate`. Errors: RULE_LIMIT_REACHED (409) and RULES_TOO_COSTLY as of `updateChatRules`, together with the rules of the channel; CHANNEL_NOT_FOUND if the channel does not exist.
     */
    updateShieldPreset(body, options) {
        return this.send('POST', '/v1/moderation/shield/preset', body, options);
    }
}
/** Operations: held. */
export class Held extends Resource {
    /**
     * Returns messages that are or were held in a channel: pending ones oldest first, others newest first. Those that were decided are kept for 90 days.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR); or service. Scope: `channel.moderate`. Errors: CURSOR_INVALID if the cursor is of another channel or filter; CHANNEL_NOT_FOUND if the channel does not exist.
     */
    listHeldMessages(query, options) {
        return this.list('/v1/chats/held', query, 100, options);
    }
    /**
     * Tells the other moderators for 30 seconds that the caller looks at held messages. A claim is advice: everybody may decide. A repeated claim lasts 30 seconds from then. The live event `channel.chat.hold.update` reports claims.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR). Scope: `channel.moderate`. Errors: CHANNEL_NOT_FOUND if the channel does not exist.
     */
    claimHeldMessages(body, options) {
        return this.send('POST', '/v1/chats/held/claims', body, options);
    }
    /**
     * Approves or denies held messages. The first decision about a message holds. An approved message is posted with the time of the approval, unless the sender is banned or muted. The event `channel.chat.hold.update` reports each decision.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR). Scope: `channel.moderate`. Errors: CHANNEL_NOT_FOUND if the channel does not exist.
     */
    decideHeldMessages(body, options) {
        return this.send('POST', '/v1/chats/held/decisions', body, options);
    }
}
/** All operations. */
export class Resources {
    moderation;
    channels;
    webhooks;
    users;
    events;
    chat;
    tokens;
    rules;
    held;
    /** @internal */
    constructor(transport) {
        this.moderation = new Moderation(transport);
        this.channels = new Channels(transport);
        this.webhooks = new Webhooks(transport);
        this.users = new Users(transport);
        this.events = new Events(transport);
        this.chat = new Chat(transport);
        this.tokens = new Tokens(transport);
        this.rules = new Rules(transport);
        this.held = new Held(transport);
    }
}
