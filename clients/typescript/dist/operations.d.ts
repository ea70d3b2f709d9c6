import { EventsResource, Resource } from './resource.js';
import type { List } from './paging.js';
import type { components, operations } from './schema.js';
import type { RequestOptions, Transport } from './transport.js';
type Schemas = components['schemas'];
/** The query of an operation, in which lists are named without `[]`. */
type Query<Id extends keyof operations> = Lists<NonNullable<operations[Id]['parameters']['query']>>;
type Lists<Parameters> = {
    [Name in keyof Parameters as Name extends `${infer Plain}[]` ? Plain : Name]: Parameters[Name];
};
/** What identifies an event. Live events have no `sequence`. */
export type EventMetadata = Omit<Schemas['EventMetadata'], 'sequence'> & {
    sequence?: number;
};
/** The payload of each type of events. */
export interface EventPayloads {
    'channel.ban': BanEvent;
    'channel.unban': UnbanEvent;
    'channel.mute': MuteEvent;
    'channel.mute.expire': MuteExpireEvent;
    'channel.chat.clear_user_messages': ClearUserMessagesEvent;
    'channel.moderator.add': RoleEvent;
    'channel.moderator.remove': RoleEvent;
    'channel.vip.add': RoleEvent;
    'channel.vip.remove': RoleEvent;
    'channel.og.add': RoleEvent;
    'channel.og.remove': RoleEvent;
    'channel.update': UpdateEvent;
    'channel.follow': FollowEvent;
    'channel.unfollow': FollowEvent;
    'channel.subscribe': SubscriptionEvent;
    'channel.subscription.end': SubscriptionEvent;
    'channel.subscription.gift': GiftEvent;
    'channel.thanks': ThanksEvent;
    'channel.vote': VoteEvent;
    'stream.online': StreamEvent;
    'stream.offline': StreamEvent;
    'channel.raid': RaidEvent;
    'channel.chat.message': ChatMessageEvent;
    'channel.chat.message_delete': MessageDeleteEvent;
    'channel.chat.clear': ChatClearEvent;
    'channel.unmute': UnmuteEvent;
    'channel.chat.pin': ChatPinEvent;
    'channel.chat.settings': ChatSettingsEvent;
    'channel.chat.rules': ChatRulesEvent;
    'channel.chat.flag': ChatFlagEvent;
    'channel.chat.hold': ChatHoldEvent;
    'channel.chat.hold.update': ChatHoldUpdateEvent;
    'channel.shield.preset': ShieldPresetEvent;
    'channel.shield.begin': ShieldBeginEvent;
    'channel.shield.end': ShieldEndEvent;
}
export type Activity = Schemas['Activity'];
export type AddModeratorRequest = Schemas['AddModeratorRequest'];
export type AddOgRequest = Schemas['AddOgRequest'];
export type AddOgResponse = Schemas['AddOgResponse'];
export type AddVipRequest = Schemas['AddVipRequest'];
export type AddVipResponse = Schemas['AddVipResponse'];
export type AudienceMember = Schemas['AudienceMember'];
export type BanBatch = Schemas['BanBatch'];
export type BanElsewhere = Schemas['BanElsewhere'];
export type BanEvent = Schemas['BanEvent'];
export type BanUserRequest = Schemas['BanUserRequest'];
export type BanUserResponse = Schemas['BanUserResponse'];
export type BanUsersRequest = Schemas['BanUsersRequest'];
export type BanUsersResponse = Schemas['BanUsersResponse'];
export type BannedBy = Schemas['BannedBy'];
export type BannedUser = Schemas['BannedUser'];
export type BatchCounts = Schemas['BatchCounts'];
export type BatchResult = Schemas['BatchResult'];
export type BatchTargetInput = Schemas['BatchTargetInput'];
export type Category = Schemas['Category'];
export type Channel = Schemas['Channel'];
export type ChannelCategory = Schemas['ChannelCategory'];
export type ChatClearEvent = Schemas['ChatClearEvent'];
export type ChatEmote = Schemas['ChatEmote'];
export type ChatFlagEvent = Schemas['ChatFlagEvent'];
export type ChatHoldEvent = Schemas['ChatHoldEvent'];
export type ChatHoldUpdateEvent = Schemas['ChatHoldUpdateEvent'];
export type ChatMessage = Schemas['ChatMessage'];
export type ChatMessageEvent = Schemas['ChatMessageEvent'];
export type ChatPinEvent = Schemas['ChatPinEvent'];
export type ChatRule = Schemas['ChatRule'];
export type ChatRuleInput = Schemas['ChatRuleInput'];
export type ChatRuleVersion = Schemas['ChatRuleVersion'];
export type ChatRulesEvent = Schemas['ChatRulesEvent'];
export type ChatSender = Schemas['ChatSender'];
export type ChatSettings = Schemas['ChatSettings'];
export type ChatSettingsEvent = Schemas['ChatSettingsEvent'];
export type ClaimHeldMessagesRequest = Schemas['ClaimHeldMessagesRequest'];
export type ClaimHeldMessagesResponse = Schemas['ClaimHeldMessagesResponse'];
export type ClearChatRequest = Schemas['ClearChatRequest'];
export type ClearUserMessagesEvent = Schemas['ClearUserMessagesEvent'];
export type Clip = Schemas['Clip'];
export type CommitSweepRequest = Schemas['CommitSweepRequest'];
export type CommitSweepResponse = Schemas['CommitSweepResponse'];
export type ContentCategory = Schemas['ContentCategory'];
export type ContentUser = Schemas['ContentUser'];
export type CreateEventTicketRequest = Schemas['CreateEventTicketRequest'];
export type CreateEventTicketResponse = Schemas['CreateEventTicketResponse'];
export type CreateSubscriptionRequest = Schemas['CreateSubscriptionRequest'];
export type CreateSubscriptionResponse = Schemas['CreateSubscriptionResponse'];
export type CreateWebhookRequest = Schemas['CreateWebhookRequest'];
export type CreateWebhookResponse = Schemas['CreateWebhookResponse'];
export type DecideHeldMessagesRequest = Schemas['DecideHeldMessagesRequest'];
export type DecideHeldMessagesResponse = Schemas['DecideHeldMessagesResponse'];
export type DeleteMessageRequest = Schemas['DeleteMessageRequest'];
export type DeleteSubscriptionRequest = Schemas['DeleteSubscriptionRequest'];
export type DeleteWebhookRequest = Schemas['DeleteWebhookRequest'];
export type Emote = Schemas['Emote'];
export type EnableWebhookRequest = Schemas['EnableWebhookRequest'];
export type EnableWebhookResponse = Schemas['EnableWebhookResponse'];
export type ErrorCode = Schemas['ErrorCode'];
export type EventCategory = Schemas['EventCategory'];
export type EventSubscription = Schemas['EventSubscription'];
export type EvidenceMessage = Schemas['EvidenceMessage'];
export type FollowEvent = Schemas['FollowEvent'];
export type FollowedChannel = Schemas['FollowedChannel'];
export type Follower = Schemas['Follower'];
export type GetAchievementStatsResponse = Schemas['GetAchievementStatsResponse'];
export type GetChatRulesResponse = Schemas['GetChatRulesResponse'];
export type GetChatSettingsResponse = Schemas['GetChatSettingsResponse'];
export type GetLiveStatsResponse = Schemas['GetLiveStatsResponse'];
export type GetMetricsResponse = Schemas['GetMetricsResponse'];
export type GetModerationSettingsResponse = Schemas['GetModerationSettingsResponse'];
export type GetPinnedMessageResponse = Schemas['GetPinnedMessageResponse'];
export type GetProfileResponse = Schemas['GetProfileResponse'];
export type GetPropagationResponse = Schemas['GetPropagationResponse'];
export type GetSelfResponse = Schemas['GetSelfResponse'];
export type GetShieldResponse = Schemas['GetShieldResponse'];
export type GetStatsResponse = Schemas['GetStatsResponse'];
export type GetStreamInfoResponse = Schemas['GetStreamInfoResponse'];
export type GetUserResponse = Schemas['GetUserResponse'];
export type GiftEvent = Schemas['GiftEvent'];
export type HeldClaim = Schemas['HeldClaim'];
export type HeldDecisionInput = Schemas['HeldDecisionInput'];
export type HeldDecisionResult = Schemas['HeldDecisionResult'];
export type HeldMessage = Schemas['HeldMessage'];
export type ListActivitiesResponse = Schemas['ListActivitiesResponse'];
export type ListBanBatchesResponse = Schemas['ListBanBatchesResponse'];
export type ListBannedUsersResponse = Schemas['ListBannedUsersResponse'];
export type ListBansResponse = Schemas['ListBansResponse'];
export type ListCategoriesResponse = Schemas['ListCategoriesResponse'];
export type ListChannelsResponse = Schemas['ListChannelsResponse'];
export type ListChatRuleVersionsResponse = Schemas['ListChatRuleVersionsResponse'];
export type ListClipsResponse = Schemas['ListClipsResponse'];
export type ListFollowedResponse = Schemas['ListFollowedResponse'];
export type ListFollowersResponse = Schemas['ListFollowersResponse'];
export type ListHeldMessagesResponse = Schemas['ListHeldMessagesResponse'];
export type ListLogResponse = Schemas['ListLogResponse'];
export type ListMessagesResponse = Schemas['ListMessagesResponse'];
export type ListMutesResponse = Schemas['ListMutesResponse'];
export type ListRaidsResponse = Schemas['ListRaidsResponse'];
export type ListRolesResponse = Schemas['ListRolesResponse'];
export type ListSubscribersResponse = Schemas['ListSubscribersResponse'];
export type ListSubscriptionsResponse = Schemas['ListSubscriptionsResponse'];
export type ListVodsResponse = Schemas['ListVodsResponse'];
export type ListWebhookDeliveriesResponse = Schemas['ListWebhookDeliveriesResponse'];
export type ListedBan = Schemas['ListedBan'];
export type ListedMute = Schemas['ListedMute'];
export type LogEntry = Schemas['LogEntry'];
export type LogUser = Schemas['LogUser'];
export type MessageDeleteEvent = Schemas['MessageDeleteEvent'];
export type MetricsBucket = Schemas['MetricsBucket'];
export type ModeratedChannel = Schemas['ModeratedChannel'];
export type MuteEvent = Schemas['MuteEvent'];
export type MuteExpireEvent = Schemas['MuteExpireEvent'];
export type MuteUserRequest = Schemas['MuteUserRequest'];
export type MuteUserResponse = Schemas['MuteUserResponse'];
export type Pagination = Schemas['Pagination'];
export type PermittedOperation = Schemas['PermittedOperation'];
export type Person = Schemas['Person'];
export type PinMessageRequest = Schemas['PinMessageRequest'];
export type PostMessageRequest = Schemas['PostMessageRequest'];
export type PostMessageResponse = Schemas['PostMessageResponse'];
export type PreviewChatRulesRequest = Schemas['PreviewChatRulesRequest'];
export type PreviewChatRulesResponse = Schemas['PreviewChatRulesResponse'];
export type PreviewSweepRequest = Schemas['PreviewSweepRequest'];
export type PreviewSweepResponse = Schemas['PreviewSweepResponse'];
export type PreviewedMessage = Schemas['PreviewedMessage'];
export type Raid = Schemas['Raid'];
export type RaidEvent = Schemas['RaidEvent'];
export type RedeliverWebhookEventRequest = Schemas['RedeliverWebhookEventRequest'];
export type RemoveBanRequest = Schemas['RemoveBanRequest'];
export type RemoveModeratorRequest = Schemas['RemoveModeratorRequest'];
export type RemoveMuteRequest = Schemas['RemoveMuteRequest'];
export type RemoveOgRequest = Schemas['RemoveOgRequest'];
export type RemoveVipRequest = Schemas['RemoveVipRequest'];
export type RestoreChatRulesRequest = Schemas['RestoreChatRulesRequest'];
export type RestoreChatRulesResponse = Schemas['RestoreChatRulesResponse'];
export type RevertCounts = Schemas['RevertCounts'];
export type RevertModeratorRequest = Schemas['RevertModeratorRequest'];
export type RevertModeratorResponse = Schemas['RevertModeratorResponse'];
export type RevokeGrantRequest = Schemas['RevokeGrantRequest'];
export type RoleEvent = Schemas['RoleEvent'];
export type RoleHolder = Schemas['RoleHolder'];
export type RotateWebhookSecretRequest = Schemas['RotateWebhookSecretRequest'];
export type RotateWebhookSecretResponse = Schemas['RotateWebhookSecretResponse'];
export type RulePreview = Schemas['RulePreview'];
export type SenderFacts = Schemas['SenderFacts'];
export type SessionSubscription = Schemas['SessionSubscription'];
export type ShieldAutoStart = Schemas['ShieldAutoStart'];
export type ShieldAutoStartInput = Schemas['ShieldAutoStartInput'];
export type ShieldBeginEvent = Schemas['ShieldBeginEvent'];
export type ShieldEndEvent = Schemas['ShieldEndEvent'];
export type ShieldPreset = Schemas['ShieldPreset'];
export type ShieldPresetEvent = Schemas['ShieldPresetEvent'];
export type ShieldSettings = Schemas['ShieldSettings'];
export type ShieldSettingsInput = Schemas['ShieldSettingsInput'];
export type Span = Schemas['Span'];
export type StreamCategory = Schemas['StreamCategory'];
export type StreamEvent = Schemas['StreamEvent'];
export type Subscriber = Schemas['Subscriber'];
export type SubscriptionCondition = Schemas['SubscriptionCondition'];
export type SubscriptionConditionInput = Schemas['SubscriptionConditionInput'];
export type SubscriptionEvent = Schemas['SubscriptionEvent'];
export type SubscriptionInfo = Schemas['SubscriptionInfo'];
export type SweepCounts = Schemas['SweepCounts'];
export type SweepExemptions = Schemas['SweepExemptions'];
export type SweepMatch = Schemas['SweepMatch'];
export type ThanksEvent = Schemas['ThanksEvent'];
export type TimedSetting = Schemas['TimedSetting'];
export type UnbanEvent = Schemas['UnbanEvent'];
export type UndoBanBatchRequest = Schemas['UndoBanBatchRequest'];
export type UndoBanBatchResponse = Schemas['UndoBanBatchResponse'];
export type UndoCounts = Schemas['UndoCounts'];
export type UnmuteEvent = Schemas['UnmuteEvent'];
export type UnpinMessageRequest = Schemas['UnpinMessageRequest'];
export type UpdateChatRulesRequest = Schemas['UpdateChatRulesRequest'];
export type UpdateChatRulesResponse = Schemas['UpdateChatRulesResponse'];
export type UpdateChatSettingsRequest = Schemas['UpdateChatSettingsRequest'];
export type UpdateChatSettingsResponse = Schemas['UpdateChatSettingsResponse'];
export type UpdateEvent = Schemas['UpdateEvent'];
export type UpdateInfoRequest = Schemas['UpdateInfoRequest'];
export type UpdateInfoResponse = Schemas['UpdateInfoResponse'];
export type UpdateShieldPresetRequest = Schemas['UpdateShieldPresetRequest'];
export type UpdateShieldPresetResponse = Schemas['UpdateShieldPresetResponse'];
export type UpdateShieldRequest = Schemas['UpdateShieldRequest'];
export type UpdateShieldResponse = Schemas['UpdateShieldResponse'];
export type UserAccount = Schemas['UserAccount'];
export type UserBan = Schemas['UserBan'];
export type UserFollow = Schemas['UserFollow'];
export type UserGrant = Schemas['UserGrant'];
export type UserMessage = Schemas['UserMessage'];
export type UserMute = Schemas['UserMute'];
export type UserSummary = Schemas['UserSummary'];
export type Vod = Schemas['Vod'];
export type Vote = Schemas['Vote'];
export type VoteEvent = Schemas['VoteEvent'];
export type Voter = Schemas['Voter'];
export type Webhook = Schemas['Webhook'];
export type WebhookDelivery = Schemas['WebhookDelivery'];
/** Operations: moderation. */
export declare class Moderation extends Resource {
    /**
     * Returns the channels in which a user has the moderator role, in the order in which the roles were given.
     *
     * Tokens: user, for the token's own user (otherwise NOT_SELF); app, if that user granted `users.read` to the client (otherwise GRANT_MISSING); service. Scope: `users.read`. Errors: RESULT_TOO_LARGE if the complete list is longer than the server's limit. A complete list of thousands of rows exceeds the size that gRPC clients accept by default (4 MiB): request pages with `limit` and `cursor`.
     */
    listModeratedChannels(query: Query<'listModeratedChannels'>, options?: RequestOptions): List<ModeratedChannel[]>;
    /**
     * Returns the users who have the moderator role in a channel, ordered by when they got the role, oldest first.
     *
     * Tokens: user, app or service, for any channel. Scope: none. Errors: CHANNEL_NOT_FOUND if the channel does not exist; RESULT_TOO_LARGE if the complete list is longer than the server's limit. A complete list of thousands of rows exceeds the size that gRPC clients accept by default (4 MiB): request pages with `limit` and `cursor`.
     */
    listModerators(query: Query<'listModerators'>, options?: RequestOptions): List<UserSummary[]>;
    /**
     * Gives a user the moderator role in a channel. If the user already has the role, the call succeeds, changes nothing and emits nothing. Emits `channel.moderator.add`.
     *
     * Tokens: user, and only the channel's owner (otherwise NOT_CHANNEL_OWNER). Scope: `channel.moderate`. Errors: USER_NOT_FOUND if the user does not exist; TARGET_IS_CHANNEL if the user is the channel's owner.
     */
    addModerator(body: AddModeratorRequest, options?: RequestOptions): Promise<void>;
    /**
     * Removes the moderator role in a channel from a user. If the user does not have the role, the call succeeds, changes nothing and emits nothing. Emits `channel.moderator.remove`.
     *
     * Tokens, scope and errors: as `addModerator`.
     */
    removeModerator(body: RemoveModeratorRequest, options?: RequestOptions): Promise<void>;
    /**
     * Bans a user from a channel until the ban is removed or, if the ban has a duration, expires, and deletes all the user's messages in the channel, however many there are. The user's roles, mute, follow and subscription stay unchanged, but a banned moderator has no moderation rights while the ban lasts. Emits `channel.ban`, then `channel.chat.clear_user_messages`, and `channel.unban` when the ban expires.
     *
     * If the user is banned already, the new ban replaces the ban in force if `replace` is true or if it lasts longer. It emits `channel.ban` alone, with `replaces`. Otherwise the call changes nothing, emits nothing, and returns the ban in force.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR). Scope: `channel.moderate`. Errors: INVALID_ARGUMENT if both or neither of `banUserId` and `banUsername` are given; USER_NOT_FOUND if the user does not exist; TARGET_IS_CHANNEL if the user is the channel's owner.
     */
    banUser(body: BanUserRequest, options?: RequestOptions): Promise<BanUserResponse>;
    /**
     * Removes the ban of a user from a channel. Messages that the ban deleted stay deleted unless `restoreMessages` is set. The user is exempt from the afterglows that run in the channel. Emits `channel.unban`.
     *
     * Tokens, scope and relation: as `banUser`. Errors: NOT_BANNED (404) if the user is not banned from the channel or does not exist.
     */
    removeBan(body: RemoveBanRequest, options?: RequestOptions): Promise<void>;
    /**
     * Prevents a user from posting in a channel for `durationSeconds`, ten minutes by default, and deletes all the user's messages in the channel. Emits `channel.mute`, then `channel.chat.clear_user_messages`, and `channel.mute.expire` when the mute expires. With `replace`, it replaces an active mute of the user, and emits `channel.mute` alone, with `replaces`.
     *
     * Tokens, scope and relation: as `banUser`. Errors: MUTE_ACTIVE (409), with the existing `muteExpiresAt`, if a mute of the user is still active and `replace` is not set; USER_NOT_FOUND if the user does not exist; TARGET_IS_CHANNEL if the user is the channel's owner.
     */
    muteUser(body: MuteUserRequest, options?: RequestOptions): Promise<MuteUserResponse>;
    /**
     * Ends the mute of a user in a channel. Messages that the mute deleted stay deleted unless `restoreMessages` is set. Emits `channel.unmute`.
     *
     * Tokens, scope and relation: as `banUser`. Errors: NOT_MUTED (404) if the user has no active mute in the channel or does not exist.
     */
    removeMute(body: RemoveMuteRequest, options?: RequestOptions): Promise<void>;
    /**
     * Bans up to 1,000 users in one transaction: a ban by anyone else comes before all of them or after all of them. Each user who can be banned is; the results say what happened to each, in the order of the request. A ban that lasts longer than the ban in force replaces it. For each user whom it bans, it emits the events of `banUser`, in the same order. A dry run changes nothing and returns what would happen.
     *
     * Tokens, scope and relation: as `banUser`. Errors: INVALID_ARGUMENT if there are no users or more than 1,000, or if both or neither of `userId` and `username` of a user are given.
     */
    banUsers(body: BanUsersRequest, options?: RequestOptions): Promise<BanUsersResponse>;
    /**
     * Returns the batches of bans of a channel, newest first.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR); service. Scope: `channel.moderate`. Errors: CHANNEL_NOT_FOUND if the channel does not exist; CURSOR_INVALID if the cursor is of another channel.
     */
    listBanBatches(query: Query<'listBanBatches'>, options?: RequestOptions): List<ListBanBatchesResponse>;
    /**
     * Lifts, in one transaction, the bans of a batch that are still the present ones. If such a ban replaced another one that would still run, that one is in force again. If `restoreMessages` is set, the messages that these bans deleted are visible again, unless something else deleted them since. Messages can be restored for 24 hours. Emits `channel.unban` for each user who is free, and `channel.ban` with `replaces` for each ban that is in force again, in the order of the batch. A repeated call finds no bans to lift, and changes nothing.
     *
     * Tokens, scope and relation: as `banUser`. Errors: BATCH_NOT_FOUND (404) if the channel has no such batch.
     */
    undoBanBatch(body: UndoBanBatchRequest, options?: RequestOptions): Promise<UndoBanBatchResponse>;
    /**
     * Finds the users of a channel who match all of some conditions, so that `commitSweep` can ban them. It changes nothing in the channel. At least one of `phrase`, `pattern`, `followedWithinSeconds` and `firstMessageWithinSeconds` is required. The channel's owner, its moderators, VIPs and OGs never match, and users who are banned already are left out. Of the previews that found users, the latest 5 of a user in a channel and the latest 20 of a channel can be committed; the tokens of older ones expire.
     *
     * Tokens, scope and relation: as `banUser`. Errors: INVALID_ARGUMENT if there is no condition, if both `phrase` and `pattern` are given, or if the pattern does not compile; SWEEP_TOO_LARGE if there is more to examine than one sweep may.
     */
    previewSweep(body: PreviewSweepRequest, options?: RequestOptions): Promise<PreviewSweepResponse>;
    /**
     * Bans exactly the users whom a preview found, as one batch, in transactions of 1,000 users. For each user whom it bans, it emits the events of `banUser`. The first transaction checks the caller and records the sweep. From then on it is completed, by another server if necessary, in the caller's name. Each transaction checks that the caller may still moderate the channel, and that the user has not revoked the grant to the client; otherwise the sweep ends, and so does its afterglow. The call waits for the end, and returns `IN_PROGRESS` if that takes long: `listBanBatches` then shows how many users are banned. A call that is repeated with its idempotency key waits for the end again, and returns the same batch. `undoBanBatch` undoes the sweep, or ends it if it is in progress. The call returns `ENDED` for a sweep that ended before it was complete.
     *
     * Tokens, scope and relation: as `banUser`. Errors: SWEEP_NOT_FOUND (404) if the channel has no such preview; SWEEP_EXPIRED (409) if the token has expired or was used, or later previews have displaced its preview.
     */
    commitSweep(body: CommitSweepRequest, options?: RequestOptions): Promise<CommitSweepResponse>;
    /**
     * Lifts, in one transaction, the bans and mutes that a moderator or a rule made in a channel since a point in time and that are still the present ones, whether they were made one by one, in batches or by sweeps. The messages that they deleted are visible again, unless something else deleted them too. Messages can be restored for 24 hours. A sweep of the moderator that is in progress ends, and so does an afterglow. Emits `channel.unban` for each lifted ban and `channel.unmute` for each lifted mute, in the order in which the bans and mutes were made. A ban of somebody else that the moderator replaced is in force again if it would still run, with `channel.ban` and `replaces`. One call lifts up to 10,000, the oldest first: if `hasMore` is true, repeat the call. A dry run changes nothing and returns what would happen. The moderator keeps the role: remove it first. The chat rules that the moderator put or deleted since then, and that nobody else has put since, become what they were before, with `channel.chat.rules`. If the channel has no room for all of them beside those that others have created since, the oldest come back. With `ruleId` instead of `moderatorId`, the mutes are lifted that the rule made, also if it was deleted since. The rule stays.
     *
     * Tokens: user, and only the channel's owner (otherwise NOT_CHANNEL_OWNER). Scope: `channel.moderate`. Errors: INVALID_ARGUMENT if `since` is in the future; USER_NOT_FOUND if the moderator does not exist.
     */
    revertModerator(body: RevertModeratorRequest, options?: RequestOptions): Promise<RevertModeratorResponse>;
    /**
     * Returns what a moderator must know about a user in a channel: who the user is, their roles, ban, mute, follow and subscription, and their latest messages. With `include=card` it also returns what the user did and what was done about it. All of it is as of one instant.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR); service. Scope: `channel.moderate`. Errors: CHANNEL_NOT_FOUND if the channel does not exist; USER_NOT_FOUND if the user does not exist.
     */
    getUser(query: Query<'getUser'>, options?: RequestOptions): Promise<GetUserResponse>;
    /**
     * Returns the log of a channel, newest entry first: who changed what. The log consists of the event rows, which are written in the same transactions as the changes.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR), or service. Scope: `channel.moderate`. Errors: CURSOR_INVALID if the cursor is of another channel or filter.
     */
    listLog(query: Query<'listLog'>, options?: RequestOptions): List<ListLogResponse>;
    /**
     * Returns the users who are banned from a channel, newest ban first. With filters it returns those of them who match all filters.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR); service. Scope: `channel.moderate`. Errors: CHANNEL_NOT_FOUND if the channel does not exist; CURSOR_INVALID if the cursor is of another channel or filter.
     */
    listBans(query: Query<'listBans'>, options?: RequestOptions): List<ListBansResponse>;
    /**
     * Returns the users who are muted in a channel, newest mute first. With `query` it returns those of them who match.
     *
     * Tokens, scope, relation and errors: as `listBans`.
     */
    listMutes(query: Query<'listMutes'>, options?: RequestOptions): List<ListMutesResponse>;
    /**
     * Returns the users who hold roles in a channel: first the moderators, then the VIPs, then the OGs, each oldest role first. A user with two roles has two rows. With `role` or `query` it returns those rows that match.
     *
     * Tokens, scope, relation and errors: as `listBans`.
     */
    listRoles(query: Query<'listRoles'>, options?: RequestOptions): List<ListRolesResponse>;
    /**
     * Returns what happened in a channel, by intervals of time: the newest intervals, or with `since` those from then on. An interval in which nothing happened is a row of zeros.
     *
     * Each server writes its counts every 5 seconds, so the newest row grows for some seconds after its end. A server that is killed loses what it has not written yet.
     *
     * Tokens, scope, relation and errors: as `listBans`, without the cursor.
     */
    getMetrics(query: Query<'getMetrics'>, options?: RequestOptions): Promise<GetMetricsResponse>;
    /**
     * Reports how many of the platform's chat servers have applied a change of a channel: a ban, mute or role, or its end. Chat servers acknowledge changes a few times a second, so a report is complete within about a second after them.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR), or service. Scope: `channel.moderate`. Errors: CHANNEL_NOT_FOUND if the channel does not exist; CURSOR_INVALID if the cursor is not that of an event.
     */
    getPropagation(query: Query<'getPropagation'>, options?: RequestOptions): Promise<GetPropagationResponse>;
}
/** Operations: channels. */
export declare class Channels extends Resource {
    /**
     * Returns channels: live channels first, then by number of viewers, then by id, each descending.
     *
     * Tokens: user, app or service. Scope: `users.read`.
     */
    listChannels(query?: Query<'listChannels'>, options?: RequestOptions): List<ListChannelsResponse>;
    /**
     * Returns a page of the raids of a channel, newest first.
     *
     * Tokens: user; app or service. Scope: `users.read`. Errors: CURSOR_INVALID; CHANNEL_NOT_FOUND if the channel does not exist.
     */
    listRaids(query: Query<'listRaids'>, options?: RequestOptions): List<ListRaidsResponse>;
    /**
     * Returns a page of the categories whose name contains a text, ignoring case. A category whose name is the text comes first, then those whose name begins with it, then those with a word that begins with it, then the others; equal ones are in the order of their names.
     *
     * Tokens: user, app or service, with any scope. Errors: CURSOR_INVALID.
     */
    listCategories(query?: Query<'listCategories'>, options?: RequestOptions): List<ListCategoriesResponse>;
    /**
     * Returns the emotes of the platform, ordered by name. They show in every channel, whatever `isPublic` is.
     *
     * Tokens: user, app or service, with any scope.
     */
    listPlatformEmotes(options?: RequestOptions): Promise<Emote[]>;
    /**
     * Returns the emotes of a channel, ordered by name, whether they are public or not.
     *
     * Tokens: user, app or service, with any scope. Errors: CHANNEL_NOT_FOUND.
     */
    listEmotes(channelId: string, options?: RequestOptions): Promise<Emote[]>;
    /**
     * Returns the live state of the authorized channel. Deprecated: use `getLiveStats`. Over REST the response has the headers `Deprecation` and `Link`, which announce this.
     *
     * Tokens: user; app or service, with `channelId`. Scope: `users.read`.
     *
     * @deprecated
     */
    getStreamInfo(query?: Query<'getStreamInfo'>, options?: RequestOptions): Promise<GetStreamInfoResponse>;
    /**
     * Returns the counters of the authorized channel.
     *
     * Tokens: user; app or service, with `channelId`. Scope: `users.read`.
     */
    getStats(query?: Query<'getStats'>, options?: RequestOptions): Promise<GetStatsResponse>;
    /**
     * Returns the followers of the authorized channel, newest first.
     *
     * Tokens: user. Scope: `users.read`.
     */
    listFollowers(query?: Query<'listFollowers'>, options?: RequestOptions): List<ListFollowersResponse>;
    /**
     * Returns the channels that the token's user follows, newest first.
     *
     * Tokens: user. Scope: `users.read`.
     */
    listFollowed(query?: Query<'listFollowed'>, options?: RequestOptions): List<ListFollowedResponse>;
    /**
     * Returns the users who are banned from the authorized channel, newest ban first, and for each the user who applied the ban.
     *
     * Tokens: user. Scope: `users.read`.
     */
    listBannedUsers(query?: Query<'listBannedUsers'>, options?: RequestOptions): List<ListBannedUsersResponse>;
    /**
     * Returns the VIPs of the authorized channel, ordered by when they got the role, oldest first.
     *
     * Tokens: user; app or service, with `channelId`. Scope: `users.read`. Errors: RESULT_TOO_LARGE if the complete list is longer than the server's limit. A complete list of thousands of rows exceeds the size that gRPC clients accept by default (4 MiB): request pages with `limit` and `cursor`.
     */
    listVips(query?: Query<'listVips'>, options?: RequestOptions): List<UserSummary[]>;
    /**
     * Gives a user the VIP role. If the user already has the role, the call succeeds, changes nothing and emits nothing. Emits `channel.vip.add`.
     *
     * Tokens: user, and only the channel's owner (otherwise NOT_CHANNEL_OWNER). Scope: `channel.moderate`. Errors: USER_NOT_FOUND if the user does not exist; TARGET_IS_CHANNEL if the user is the channel's owner.
     */
    addVip(body: AddVipRequest, options?: RequestOptions): Promise<AddVipResponse>;
    /**
     * Removes the VIP role from a user. If the user does not have the role, the call succeeds, changes nothing and emits nothing. Emits `channel.vip.remove`.
     *
     * Tokens, scope and errors: as `addVip`.
     */
    removeVip(body: RemoveVipRequest, options?: RequestOptions): Promise<void>;
    /**
     * Returns the moderators of the authorized channel, ordered by when they got the role, oldest first.
     *
     * Tokens, scope and errors: as `listVips`.
     */
    listMods(query?: Query<'listMods'>, options?: RequestOptions): List<UserSummary[]>;
    /**
     * Returns the OGs of the authorized channel, ordered by when they got the role, oldest first.
     *
     * Tokens, scope and errors: as `listVips`.
     */
    listOgs(query?: Query<'listOgs'>, options?: RequestOptions): List<UserSummary[]>;
    /**
     * Gives a user the OG role. If the user already has the role, the call succeeds, changes nothing and emits nothing. Emits `channel.og.add`.
     *
     * Tokens, scope and errors: as `addVip`.
     */
    addOg(body: AddOgRequest, options?: RequestOptions): Promise<AddOgResponse>;
    /**
     * Removes the OG role from a user. If the user does not have the role, the call succeeds, changes nothing and emits nothing. Emits `channel.og.remove`.
     *
     * Tokens, scope and errors: as `addVip`.
     */
    removeOg(body: RemoveOgRequest, options?: RequestOptions): Promise<void>;
    /**
     * Returns the active subscribers of the authorized channel, newest first.
     *
     * Tokens: user. Scope: `users.read`.
     */
    listSubscribers(query?: Query<'listSubscribers'>, options?: RequestOptions): List<ListSubscribersResponse>;
    /**
     * Returns the recent activities of the authorized channel, newest first.
     *
     * Tokens: user. Scope: `users.read`.
     */
    listActivities(query?: Query<'listActivities'>, options?: RequestOptions): List<ListActivitiesResponse>;
    /**
     * Returns the votes for a channel, newest first, of one week or of all weeks.
     *
     * Tokens: user, for the user's own channel (otherwise NOT_CHANNEL_OWNER); app or service, for any channel. Scope: `users.read`. Errors: RESULT_TOO_LARGE if the complete list is longer than the server's limit. A complete list of thousands of rows exceeds the size that gRPC clients accept by default (4 MiB): request pages with `limit` and `cursor`.
     */
    listVotes(query: Query<'listVotes'>, options?: RequestOptions): List<Vote[]>;
    /**
     * Returns the clips of a channel. Any channel may be named.
     *
     * Tokens: user, app or service. Scope: `users.read`. Errors: CHANNEL_NOT_FOUND if the channel does not exist.
     */
    listClips(query: Query<'listClips'>, options?: RequestOptions): List<ListClipsResponse>;
    /**
     * Returns the recorded streams of a channel. Any channel may be named.
     *
     * Tokens: user, app or service. Scope: `users.read`. Errors: CHANNEL_NOT_FOUND if the channel does not exist.
     */
    listVods(query: Query<'listVods'>, options?: RequestOptions): List<ListVodsResponse>;
    /**
     * Returns the counters of the live stream of the authorized channel.
     *
     * Tokens: user; app or service, with `channelId`. Scope: `users.read`.
     */
    getLiveStats(query?: Query<'getLiveStats'>, options?: RequestOptions): Promise<GetLiveStatsResponse>;
    /**
     * Sets the title, the language and, if given, the category of the authorized channel and of its live stream. Emits `channel.update`, unless nothing changes.
     *
     * Tokens: user. Scope: `channel.moderate`. Errors: CATEGORY_NOT_FOUND if the category does not exist.
     */
    updateInfo(body: UpdateInfoRequest, options?: RequestOptions): Promise<UpdateInfoResponse>;
}
/** Operations: webhooks. */
export declare class Webhooks extends Resource {
    /**
     * Creates a webhook, which sends events from now on.
     *
     * Errors: CHANNEL_NOT_FOUND if the channel does not exist; INVALID_ARGUMENT if an app names no channel; WEBHOOK_EXISTS if the same user, app or backend has a webhook for the channel with the same URL and event types, also if it is disabled; WEBHOOK_LIMIT_REACHED if the channel's owner and moderators have 20 webhooks for it already, or service tokens have 20, or the app has 20 for it or 1000 in all, or a user who neither owns nor moderates the channel has 20 for such channels, or all such users have 200 for the channel.
     */
    createWebhook(body: CreateWebhookRequest, options?: RequestOptions): Promise<CreateWebhookResponse>;
    /**
     * Returns the webhooks of a channel, oldest first.
     *
     * Errors: CHANNEL_NOT_FOUND if the channel does not exist.
     */
    listWebhooks(query?: Query<'listWebhooks'>, options?: RequestOptions): Promise<Webhook[]>;
    /**
     * Deletes a webhook and all its deliveries. A delivery that is in flight may still arrive.
     *
     * Errors: WEBHOOK_NOT_FOUND if the webhook does not exist.
     */
    deleteWebhook(body: DeleteWebhookRequest, options?: RequestOptions): Promise<void>;
    /**
     * Gives a webhook a new secret. For 24 hours deliveries carry the signatures of both the new and the former secret. Older secrets are no longer used.
     *
     * Errors: WEBHOOK_NOT_FOUND if the webhook does not exist.
     */
    rotateWebhookSecret(body: RotateWebhookSecretRequest, options?: RequestOptions): Promise<RotateWebhookSecretResponse>;
    /**
     * Enables a disabled webhook. The webhook resumes where it stopped. It starts with the events from now on instead if the events since then are no longer kept, or if it was disabled because its user or app lost the right to its types. An enabled webhook stays unchanged.
     *
     * Errors: WEBHOOK_NOT_FOUND if the webhook does not exist; NOT_CHANNEL_MODERATOR or GRANT_MISSING if the webhook's user or app has no right to its types.
     */
    enableWebhook(body: EnableWebhookRequest, options?: RequestOptions): Promise<EnableWebhookResponse>;
    /**
     * Returns a page of a webhook's deliveries, newest event first. A delivery is listed for 7 days after it was delivered or given up.
     *
     * Errors: WEBHOOK_NOT_FOUND if the webhook does not exist.
     */
    listWebhookDeliveries(query: Query<'listWebhookDeliveries'>, options?: RequestOptions): List<ListWebhookDeliveriesResponse>;
    /**
     * Sends an event again, immediately and outside the order; pending events do not wait for it. It is retried like any other delivery, but if it is given up, the webhook stays enabled, and an event that was delivered before keeps the status `delivered`. A delivery that is already pending stays in its place and is attempted now.
     *
     * Errors: WEBHOOK_NOT_FOUND if the webhook does not exist; WEBHOOK_DISABLED if it is disabled; EVENT_NOT_FOUND if the event is no longer kept, or is not of the webhook's channel and types; REDELIVERY_LIMIT_REACHED if 100 redeliveries of the webhook are pending already.
     */
    redeliverWebhookEvent(body: RedeliverWebhookEventRequest, options?: RequestOptions): Promise<void>;
}
/** Operations: users. */
export declare class Users extends Resource {
    /**
     * Returns the user of the token, or the user whom an app names.
     *
     * Tokens: user; app or service, with `userId` or `username`. Scope: `users.read`. Errors: USER_NOT_FOUND; NOT_SELF if a user token is used to name another user, who need not exist.
     */
    getProfile(query?: Query<'getProfile'>, options?: RequestOptions): Promise<GetProfileResponse>;
    /**
     * Returns the numbers of the channel of the token's user, or of the user whom an app names. A user without a channel has zeros.
     *
     * Tokens: user; app or service, with `userId`. Scope: `users.read`. Errors: USER_NOT_FOUND; NOT_SELF if a user token is used to name another user, who need not exist.
     */
    getAchievementStats(query?: Query<'getAchievementStats'>, options?: RequestOptions): Promise<GetAchievementStatsResponse>;
    /**
     * Returns users by id and by username: first those with the ids, in the order of the request, then those with the usernames. Users who do not exist are left out, and a user who is named twice is returned once.
     *
     * Tokens: user, app or service. Scope: `users.read`.
     */
    listUsers(query?: Query<'listUsers'>, options?: RequestOptions): Promise<UserSummary[]>;
    /**
     * Returns which clients the caller has granted which scopes, ordered by client id.
     *
     * Errors: RESULT_TOO_LARGE if there are more than 1000.
     */
    listGrants(options?: RequestOptions): Promise<UserGrant[]>;
    /** Takes back everything that the caller granted to a client. The client's tokens of the caller end: changes with them are refused immediately, and reads within 2 s on every server. The webhooks that the client created in the caller's name are deleted. Revoking a grant that does not exist changes nothing. */
    revokeGrant(body: RevokeGrantRequest, options?: RequestOptions): Promise<void>;
}
/** Operations: events. */
export declare class Events extends EventsResource {
    /** Returns a ticket that opens one stream, on any server, within 60 s. The stream has the rights of the caller: what the caller may hear is checked when the stream opens and while it is open, and the stream ends with the caller's token. A ticket is as secret as a token while it is valid. */
    createEventTicket(body?: CreateEventTicketRequest, options?: RequestOptions): Promise<CreateEventTicketResponse>;
    /**
     * Subscribes a session to one type of events of a channel, from now on. A repeated call with the same type and channel returns the existing subscription, which then has the rights of the newer token. The session may be connected to any server. A session with subscriptions counts as one event stream of the caller.
     *
     * Tokens: user, app or service, with the scope and the relation to the channel that the type needs. The first subscription of a session decides whose it is: the client and user, or the app. Errors: SESSION_NOT_FOUND if the session does not exist or has ended; AUTH_CONTEXT_MISMATCH if the session belongs to another client, user or app; STREAM_LIMIT_REACHED if the session has 100 subscriptions, or the caller has as many sessions as it may have event streams; CHANNEL_NOT_FOUND if the channel does not exist; SCOPE_MISSING, TOKEN_KIND_NOT_ACCEPTED, NOT_CHANNEL_MODERATOR or GRANT_MISSING if the caller may not receive the type.
     */
    createSubscription(body: CreateSubscriptionRequest, options?: RequestOptions): Promise<CreateSubscriptionResponse>;
    /**
     * Returns the subscriptions in the sessions of the caller, oldest first.
     *
     * Tokens: user, app or service: those of the client and user, or of the app.
     */
    listSubscriptions(query?: Query<'listSubscriptions'>, options?: RequestOptions): List<ListSubscriptionsResponse>;
    /**
     * Ends a subscription. A session that is connected to another server than the one that was called may still receive its events for a second.
     *
     * Errors: SUBSCRIPTION_NOT_FOUND if the caller has no subscription with this id.
     */
    deleteSubscription(body: DeleteSubscriptionRequest, options?: RequestOptions): Promise<void>;
    /**
     * Returns the subscriptions of one session, oldest first.
     *
     * Tokens: user, app or service: those of the client and user, or of the app. Errors: SESSION_NOT_FOUND if the session does not exist or has ended; AUTH_CONTEXT_MISMATCH if the session belongs to another client, user or app. A session without a subscription belongs to nobody, and has an empty list.
     */
    listSessionSubscriptions(sessionId: string, options?: RequestOptions): Promise<SessionSubscription[]>;
}
/** Operations: chat. */
export declare class Chat extends Resource {
    /**
     * Posts a message in a channel. A post and a ban or mute of its sender take effect one after the other, even if they run at the same time: either the post is refused, or the ban or mute deletes the message. The same holds for `clearChat`.
     *
     * Tokens: user, who posts as itself (another `senderId` returns NOT_SELF); app, which posts as a user who granted it the scope (otherwise GRANT_MISSING); or service, which posts as any user. Scope: `users.bot`, or `channel.moderate` with a user token. No role in the channel is required. Errors: USER_BANNED, with `expiresAt`, if the sender is banned from the channel; USER_MUTED, with `muteExpiresAt`, if the sender is muted there; CHAT_RESTRICTED, with `restriction` and `retryAt`, if the settings of the channel's chat refuse the message; MESSAGE_HELD, with `messageId`, `expiresAt` and the `message` of the rule if it has one, if the message waits for a decision of a moderator; MESSAGE_BLOCKED, with the `message` of the rule if it has one, if the channel does not allow the message, or too many wait; RATE_LIMITED if the sender posts too fast in the channel, by default more than 20 messages in 30 s, or 100 for its owner and moderators; CHANNEL_NOT_FOUND or USER_NOT_FOUND if the channel or the sender does not exist.
     */
    postMessage(body: PostMessageRequest, options?: RequestOptions): Promise<PostMessageResponse>;
    /**
     * Deletes one message. The event `channel.chat.message_delete` reports it.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR). Scope: `channel.moderate`. The sender of the message may delete it with the scope `users.bot` as well. Errors: MESSAGE_NOT_FOUND if the channel has no such message, or it is deleted already; CHANNEL_NOT_FOUND if the channel does not exist.
     */
    deleteMessage(body: DeleteMessageRequest, options?: RequestOptions): Promise<void>;
    /**
     * Returns the messages of a channel, newest first, without those that are deleted. Anyone sees the messages of the live stream or, while the channel is offline, of the last 8 hours. For the channel's owner and moderators the list goes on to the oldest message. A call examines a bounded number of stored rows. A page can therefore be short, or even empty, while its cursor still leads to more messages.
     *
     * Tokens: user, app or service. Scope: `users.read` or `channel.moderate`. Older messages and `userId` require the scope `channel.moderate` and a user who owns or moderates the channel: with `userId`, others get SCOPE_MISSING or NOT_CHANNEL_MODERATOR. Errors: CHANNEL_NOT_FOUND if the channel does not exist; CURSOR_INVALID if the cursor is of another channel or filter.
     */
    listMessages(query: Query<'listMessages'>, options?: RequestOptions): List<ListMessagesResponse>;
    /**
     * Deletes all messages of a channel, at a cost that does not depend on their number. A message that is being posted at that moment is either deleted as well, or posted after the deletion. The event `channel.chat.clear` reports it.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR). Scope: `channel.moderate`. Errors: CHANNEL_NOT_FOUND if the channel does not exist.
     */
    clearChat(body: ClearChatRequest, options?: RequestOptions): Promise<void>;
    /**
     * Returns the message that the channel's moderators pinned, however old it is; null if none is pinned, or the pinned message is deleted.
     *
     * Tokens: user, app or service. Scope: `users.read`. Errors: CHANNEL_NOT_FOUND if the channel does not exist.
     */
    getPinnedMessage(query: Query<'getPinnedMessage'>, options?: RequestOptions): Promise<GetPinnedMessageResponse>;
    /**
     * Pins a message, in place of the one that was pinned before. The event `channel.chat.pin` reports it, unless the message is pinned already.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR). Scope: `channel.moderate`. Errors: MESSAGE_NOT_FOUND if the channel has no such message, or it is deleted; CHANNEL_NOT_FOUND if the channel does not exist.
     */
    pinMessage(body: PinMessageRequest, options?: RequestOptions): Promise<void>;
    /**
     * Removes the pin. The message stays. The event `channel.chat.pin` reports it, with a null `message`.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR). Scope: `channel.moderate`. Errors: MESSAGE_NOT_FOUND if no message is pinned; CHANNEL_NOT_FOUND if the channel does not exist.
     */
    unpinMessage(body: UnpinMessageRequest, options?: RequestOptions): Promise<void>;
}
/** Operations: tokens. */
export declare class Tokens extends Resource {
    /**
     * Returns what the token of the call is and which operations it may call. It never returns the token itself.
     *
     * Tokens: user, app or service. No scope is required.
     */
    getSelf(options?: RequestOptions): Promise<GetSelfResponse>;
}
/** Operations: rules. */
export declare class Rules extends Resource {
    /**
     * Returns the settings of a channel's chat as they are in force. A channel whose settings never changed has the defaults and the version 0.
     *
     * Tokens: user, app or service. Scope: `users.read`. Errors: CHANNEL_NOT_FOUND if the channel does not exist.
     */
    getChatSettings(query: Query<'getChatSettings'>, options?: RequestOptions): Promise<GetChatSettingsResponse>;
    /**
     * Changes the settings that the request has, and keeps the others. The event `channel.chat.settings` reports it, unless nothing changes.
     *
     * With `durationSeconds` the settings return to their former values by themselves, with another event: each setting to the value that it had before it was set for a time, unless it was changed since. If it is set for a time once more, the later change replaces the earlier one.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR). Scope: `channel.moderate`. Errors: VERSION_CONFLICT (409) with `version` if `expectedVersion` is not the present version; CHANNEL_NOT_FOUND if the channel does not exist.
     */
    updateChatSettings(body: UpdateChatSettingsRequest, options?: RequestOptions): Promise<UpdateChatSettingsResponse>;
    /**
     * Returns the settings of a channel's chat as they are in force, and when those end that are set for a time. `own` has them without the shield.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR); or service. Scope: `channel.moderate`. Errors: CHANNEL_NOT_FOUND if the channel does not exist.
     */
    getModerationSettings(query: Query<'getModerationSettings'>, options?: RequestOptions): Promise<GetModerationSettingsResponse>;
    /**
     * Returns all rules of a channel, in the order in which they were created: those of the present version, or of an earlier one that ended in the last 90 days. What it returns can be put into another channel if the ids are left out.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR); or service. Scope: `channel.moderate`. Errors: CHANNEL_NOT_FOUND if the channel does not exist; VERSION_NOT_FOUND if the channel does not have the version, or no longer has it.
     */
    getChatRules(query: Query<'getChatRules'>, options?: RequestOptions): Promise<GetChatRulesResponse>;
    /**
     * Creates, replaces and deletes rules, as one new version. The event `channel.chat.rules` reports it. The rules apply to messages that are posted afterwards, at once on every server.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR). Scope: `channel.moderate`. Errors: VERSION_CONFLICT (409) with `version` if `expectedVersion` is not the present version; RULE_LIMIT_REACHED (409) with `limit` if the channel would have more than 100 rules, 10,000 terms or 512 KiB of text; RULES_TOO_COSTLY, which names the rule that takes the most steps, if the rules would take too long for each message; INVALID_ARGUMENT if the channel does not have a rule that the request names; CHANNEL_NOT_FOUND if the channel does not exist.
     */
    updateChatRules(body: UpdateChatRulesRequest, options?: RequestOptions): Promise<UpdateChatRulesResponse>;
    /**
     * Returns what the rules of a channel would do with its stored messages of some time, or with some texts, if the request changed them. It changes nothing.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR). Scope: `channel.moderate`. Errors: PREVIEW_TOO_LARGE if there are more than 200,000 messages; RULE_LIMIT_REACHED (409), RULES_TOO_COSTLY and INVALID_ARGUMENT as of `updateChatRules`; CHANNEL_NOT_FOUND if the channel does not exist.
     */
    previewChatRules(body: PreviewChatRulesRequest, options?: RequestOptions): Promise<PreviewChatRulesResponse>;
    /**
     * Returns who changed the rules of a channel in the last 90 days, newest first.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR); or service. Scope: `channel.moderate`. Errors: CURSOR_INVALID if the cursor is of another channel; CHANNEL_NOT_FOUND if the channel does not exist.
     */
    listChatRuleVersions(query: Query<'listChatRuleVersions'>, options?: RequestOptions): List<ListChatRuleVersionsResponse>;
    /**
     * Makes the rules of a channel what they were in an earlier version, as one new version. Rules that have expired since are left out. The event `channel.chat.rules` reports it, unless nothing changes.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR). Scope: `channel.moderate`. Errors: VERSION_CONFLICT (409) with `version` if `expectedVersion` is not the present version; VERSION_NOT_FOUND if the channel does not have the version, or no longer has it; RULE_LIMIT_REACHED or RULES_TOO_COSTLY if they are too many together with those of the shield; CHANNEL_NOT_FOUND if the channel does not exist.
     */
    restoreChatRules(body: RestoreChatRulesRequest, options?: RequestOptions): Promise<RestoreChatRulesResponse>;
    /**
     * Returns whether the shield of a channel is up, and what it does.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR); or service. Scope: `channel.moderate`. Errors: CHANNEL_NOT_FOUND if the channel does not exist.
     */
    getShield(query: Query<'getShield'>, options?: RequestOptions): Promise<GetShieldResponse>;
    /**
     * Raises the shield of a channel for a time, changes when it ends, or lowers it. Emits `channel.shield.begin` when it is raised or its end changes, `channel.shield.end` when it is lowered, and `channel.chat.settings` if other settings are in force then.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR). Scope: `channel.moderate`. Errors: CHANNEL_NOT_FOUND if the channel does not exist.
     */
    updateShield(body: UpdateShieldRequest, options?: RequestOptions): Promise<UpdateShieldResponse>;
    /**
     * Replaces what the shield of a channel does. If the shield is up, the change is in force at once. Emits `channel.shield.preset`, unless nothing changes.
     *
     * Tokens: user, and only the channel's owner (otherwise NOT_CHANNEL_OWNER). Scope: `channel.moderate`. Errors: RULE_LIMIT_REACHED (409) and RULES_TOO_COSTLY as of `updateChatRules`, together with the rules of the channel; CHANNEL_NOT_FOUND if the channel does not exist.
     */
    updateShieldPreset(body: UpdateShieldPresetRequest, options?: RequestOptions): Promise<UpdateShieldPresetResponse>;
}
/** Operations: held. */
export declare class Held extends Resource {
    /**
     * Returns messages that are or were held in a channel: pending ones oldest first, others newest first. Those that were decided are kept for 90 days.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR); or service. Scope: `channel.moderate`. Errors: CURSOR_INVALID if the cursor is of another channel or filter; CHANNEL_NOT_FOUND if the channel does not exist.
     */
    listHeldMessages(query: Query<'listHeldMessages'>, options?: RequestOptions): List<ListHeldMessagesResponse>;
    /**
     * Tells the other moderators for 30 seconds that the caller looks at held messages. A claim is advice: everybody may decide. A repeated claim lasts 30 seconds from then. The live event `channel.chat.hold.update` reports claims.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR). Scope: `channel.moderate`. Errors: CHANNEL_NOT_FOUND if the channel does not exist.
     */
    claimHeldMessages(body: ClaimHeldMessagesRequest, options?: RequestOptions): Promise<ClaimHeldMessagesResponse>;
    /**
     * Approves or denies held messages. The first decision about a message holds. An approved message is posted with the time of the approval, unless the sender is banned or muted. The event `channel.chat.hold.update` reports each decision.
     *
     * Tokens: user, who must own or moderate the channel (otherwise NOT_CHANNEL_MODERATOR). Scope: `channel.moderate`. Errors: CHANNEL_NOT_FOUND if the channel does not exist.
     */
    decideHeldMessages(body: DecideHeldMessagesRequest, options?: RequestOptions): Promise<DecideHeldMessagesResponse>;
}
/** All operations. */
export declare class Resources {
    readonly moderation: Moderation;
    readonly channels: Channels;
    readonly webhooks: Webhooks;
    readonly users: Users;
    readonly events: Events;
    readonly chat: Chat;
    readonly tokens: Tokens;
    readonly rules: Rules;
    readonly held: Held;
    /** @internal */
    constructor(transport: Transport);
}
export {};
