# Generated from docs/openapi/openapi.json by generate.py; do not edit.
from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Optional

__all__ = [
    "Activity",
    "AddOgResponse",
    "AddVipResponse",
    "AudienceMember",
    "BanBatch",
    "BanElsewhere",
    "BanEvent",
    "BanUserResponse",
    "BanUsersResponse",
    "BannedBy",
    "BannedUser",
    "BatchCounts",
    "BatchResult",
    "BatchTargetInput",
    "Category",
    "Channel",
    "ChannelCategory",
    "ChatClearEvent",
    "ChatEmote",
    "ChatFlagEvent",
    "ChatHoldEvent",
    "ChatHoldUpdateEvent",
    "ChatMessage",
    "ChatMessageEvent",
    "ChatPinEvent",
    "ChatRule",
    "ChatRuleInput",
    "ChatRuleVersion",
    "ChatRulesEvent",
    "ChatSender",
    "ChatSettings",
    "ChatSettingsEvent",
    "ClaimHeldMessagesResponse",
    "ClearUserMessagesEvent",
    "Clip",
    "CommitSweepResponse",
    "ContentCategory",
    "ContentUser",
    "CreateEventTicketResponse",
    "CreateSubscriptionResponse",
    "CreateWebhookResponse",
    "DecideHeldMessagesResponse",
    "Emote",
    "EnableWebhookResponse",
    "EventCategory",
    "EventMetadata",
    "EventSubscription",
    "EvidenceMessage",
    "FollowEvent",
    "FollowedChannel",
    "Follower",
    "GetAchievementStatsResponse",
    "GetChatRulesResponse",
    "GetChatSettingsResponse",
    "GetLiveStatsResponse",
    "GetMetricsResponse",
    "GetModerationSettingsResponse",
    "GetPinnedMessageResponse",
    "GetProfileResponse",
    "GetPropagationResponse",
    "GetSelfResponse",
    "GetShieldResponse",
    "GetStatsResponse",
    "GetStreamInfoResponse",
    "GetUserResponse",
    "GiftEvent",
    "HeldClaim",
    "HeldDecisionInput",
    "HeldDecisionResult",
    "HeldMessage",
    "ListActivitiesResponse",
    "ListBanBatchesResponse",
    "ListBannedUsersResponse",
    "ListBansResponse",
    "ListCategoriesResponse",
    "ListChannelsResponse",
    "ListChatRuleVersionsResponse",
    "ListClipsResponse",
    "ListFollowedResponse",
    "ListFollowersResponse",
    "ListHeldMessagesResponse",
    "ListLogResponse",
    "ListMessagesResponse",
    "ListMutesResponse",
    "ListRaidsResponse",
    "ListRolesResponse",
    "ListSubscribersResponse",
    "ListSubscriptionsResponse",
    "ListVodsResponse",
    "ListWebhookDeliveriesResponse",
    "ListedBan",
    "ListedMute",
    "LogEntry",
    "LogUser",
    "MessageDeleteEvent",
    "MetricsBucket",
    "ModeratedChannel",
    "MuteEvent",
    "MuteExpireEvent",
    "MuteUserResponse",
    "Pagination",
    "PermittedOperation",
    "Person",
    "PostMessageResponse",
    "PreviewChatRulesResponse",
    "PreviewSweepResponse",
    "PreviewedMessage",
    "Raid",
    "RaidEvent",
    "RestoreChatRulesResponse",
    "RevertCounts",
    "RevertModeratorResponse",
    "RoleEvent",
    "RoleHolder",
    "RotateWebhookSecretResponse",
    "RulePreview",
    "SenderFacts",
    "SessionSubscription",
    "ShieldAutoStart",
    "ShieldAutoStartInput",
    "ShieldBeginEvent",
    "ShieldEndEvent",
    "ShieldPreset",
    "ShieldPresetEvent",
    "ShieldSettings",
    "ShieldSettingsInput",
    "Span",
    "StreamCategory",
    "StreamEvent",
    "Subscriber",
    "SubscriptionCondition",
    "SubscriptionConditionInput",
    "SubscriptionEvent",
    "SubscriptionInfo",
    "SweepCounts",
    "SweepExemptions",
    "SweepMatch",
    "ThanksEvent",
    "TimedSetting",
    "UnbanEvent",
    "UndoBanBatchResponse",
    "UndoCounts",
    "UnmuteEvent",
    "UpdateChatRulesResponse",
    "UpdateChatSettingsResponse",
    "UpdateEvent",
    "UpdateInfoResponse",
    "UpdateShieldPresetResponse",
    "UpdateShieldResponse",
    "UserAccount",
    "UserBan",
    "UserFollow",
    "UserGrant",
    "UserMessage",
    "UserMute",
    "UserSummary",
    "Vod",
    "Vote",
    "VoteEvent",
    "Voter",
    "Webhook",
    "WebhookDelivery",
]


@dataclass(frozen=True)
class Activity:
    """Activity is an event in a channel's activity feed."""

    id: int
    """The activity's number, unique in its channel: 1 or more."""

    type: str
    """The type: `follower`, `subscriber`, `gift`, `thanks` or `vote`."""

    created_at: datetime
    """When it happened: UTC, milliseconds."""

    info: dict[str, Any]
    """The details. Always contains `userId`, `displayName` and `slug`; for a subscriber also `renewCount`, for a gift `count`, for thanks `amount` and `message`, for a vote `amount` and `epoch`. An activity that a backend service put as a whole has `userId`, `displayName`, `slug` and what the service gave."""

    action: dict[str, Any]
    """The action that the writer of the activity offers for it; often empty."""


@dataclass(frozen=True)
class AddOgResponse:
    """AddOgResponse is the role that the user has after the call."""

    channel_id: str
    """The channel: a UUID in lower case."""

    user_id: str
    """The user: a UUID in lower case."""

    role: str
    """The role. Always `og`."""


@dataclass(frozen=True)
class AddVipResponse:
    """AddVipResponse is the role that the user has after the call."""

    channel_id: str
    """The channel: a UUID in lower case."""

    user_id: str
    """The user: a UUID in lower case."""

    role: str
    """The role. Always `vip`."""


@dataclass(frozen=True)
class AudienceMember:
    """AudienceMember is a follower or subscriber of a channel."""

    id: str
    """The user's id: a UUID in lower case."""

    display_name: str
    """The display name."""

    slug: str
    """The username in lower case."""

    avatar_url: str
    """The URL of the avatar picture. If there is none, that of the default picture."""

    is_follower: bool
    """Whether the user follows the channel."""

    followed_at: Optional[datetime]
    """When the follow began: UTC, milliseconds; null if the user does not follow the channel."""

    subscription_info: SubscriptionInfo
    """The user's subscription to the channel."""


@dataclass(frozen=True)
class BanBatch:
    """BanBatch is a batch of bans."""

    batch_id: str
    """The batch's id: a UUID in lower case."""

    created_at: datetime
    """When the bans were applied: UTC, milliseconds."""

    banned_by: BannedBy
    """The user who applied the bans."""

    reason: Optional[str]
    """Why the users are banned; null if no reason was given."""

    expires_at: Optional[datetime]
    """When the bans that were made at created_at expire or expired: UTC, milliseconds. A sweep also makes bans later, which last as long. It is null if bans last until they are removed."""

    banned_count: int
    """How many users the batch banned, including those whose bans it extended."""

    still_banned_count: int
    """How many of its bans are in force."""

    afterglow_ends_at: Optional[datetime]
    """When the afterglow of the sweep ends, which bans further users as part of the batch: UTC, milliseconds; null if none is running."""


@dataclass(frozen=True)
class BanElsewhere:
    """BanElsewhere is a user's ban from another channel."""

    channel: UserSummary
    """The channel's owner, whose id is that of the channel."""

    banned_at: datetime
    """When the ban was applied: UTC, milliseconds."""

    reason: Optional[str]
    """Why the user is banned; null if no reason was given."""

    expires_at: Optional[datetime]
    """When the ban expires: UTC, milliseconds; null if it lasts until it is removed."""


@dataclass(frozen=True)
class BanEvent:
    """BanEvent is the payload of `channel.ban`."""

    channel_id: str
    """The channel: a UUID in lower case."""

    moderator_id: str
    """The user who applied the ban, or who undid the ban that had replaced it: a UUID in lower case."""

    client_id: str
    """The id of the client through which the change was made."""

    banned_user_id: str
    """The banned user: a UUID in lower case."""

    banned_user_display_name: str
    """The banned user's display name at that time."""

    banned_at: datetime
    """When the ban was applied: UTC, milliseconds."""

    reason: Optional[str]
    """Why the user is banned; null if no reason was given."""

    expires_at: Optional[datetime]
    """When the ban expires or expired: UTC, milliseconds; null if it lasts until it is removed."""

    batch_id: Optional[str]
    """The batch that banned the user: a UUID in lower case; null if it was none."""

    cause: str
    """What caused the event: `moderator` for a single ban, `batch` for a ban of a batch. If the ban is in force again because the one that had replaced it was undone: `batch` or `revert`."""

    replaces: bool
    """Whether the user was banned already, and this ban is in force instead of the earlier one. Such a ban deletes no messages."""

    banned_user: Person
    """The banned user, as of that time."""


@dataclass(frozen=True)
class BanUserResponse:
    """BanUserResponse is the ban in force."""

    channel_id: str
    """The channel: a UUID in lower case."""

    moderator_id: str
    """The user who applied the ban: a UUID in lower case."""

    banned_user_id: str
    """The banned user: a UUID in lower case."""

    banned_user_display_name: str
    """The banned user's display name at the time of the response."""

    banned_at: datetime
    """When the ban was applied: UTC, milliseconds."""

    reason: Optional[str] = None
    """Why; null if no reason was given."""

    expires_at: Optional[datetime] = None
    """When the ban or mute expires: UTC, milliseconds; null if it lasts until it is removed. It is in force before this instant."""

    changed: Optional[bool] = None
    """Whether the call banned the user or replaced the ban in force."""


@dataclass(frozen=True)
class BanUsersResponse:
    """BanUsersResponse is what happened, or would happen, to each user."""

    batch_id: Optional[str]
    """The batch's id: a UUID in lower case; null if no user was banned."""

    counts: BatchCounts
    """How many users have each status."""

    results: list[BatchResult]
    """What happened to each user, in the order of the request."""


@dataclass(frozen=True)
class BannedBy:
    """BannedBy is the moderator who applied a ban."""

    id: str
    """The moderator's user id: a UUID in lower case."""

    display_name: str
    """The display name."""

    slug: str
    """The username in lower case."""


@dataclass(frozen=True)
class BannedUser:
    """BannedUser is a user who is banned from a channel."""

    id: str
    """The user's id: a UUID in lower case."""

    display_name: str
    """The display name."""

    slug: str
    """The username in lower case."""

    banned_at: datetime
    """When the ban was applied: UTC, milliseconds."""

    banned_by: BannedBy
    """The user who applied the ban."""

    reason: Optional[str]
    """Why the user is banned; null if no reason was given."""

    expires_at: Optional[datetime]
    """When the ban expires: UTC, milliseconds; null if it lasts until it is removed."""


@dataclass(frozen=True)
class BatchCounts:
    """BatchCounts says how many results of a batch have each status."""

    banned: int
    """Users with the status `BANNED`."""

    already_banned: int
    """Users with the status `ALREADY_BANNED`."""

    user_not_found: int
    """Users with the status `USER_NOT_FOUND`."""

    target_is_channel: int
    """Users with the status `TARGET_IS_CHANNEL`."""

    duplicate: int
    """Users with the status `DUPLICATE`."""

    extended: int
    """Users with the status `EXTENDED`."""

    invalid: int
    """Users with the status `INVALID`."""


@dataclass(frozen=True)
class BatchResult:
    """BatchResult is what happened to one user of a batch."""

    user_id: Optional[str]
    """The user's id: a UUID in lower case. Null if the request names the user by a username that no user has, or if the status is `INVALID`."""

    username: Optional[str]
    """The user's username. Null if the request names the user by an id that no user has, or if the status is `INVALID`."""

    status: str
    """For `banUsers`: `BANNED`; `EXTENDED` if the ban replaced one that would have ended earlier; `ALREADY_BANNED`, whose ban does not change; `USER_NOT_FOUND`; `TARGET_IS_CHANNEL` for the owner of the channel; `DUPLICATE` for a user whom the request names earlier as well; `INVALID` if the request has no valid `userId` or `username` there. For `undoBanBatch`: `UNBANNED`; `RESTORED` if the ban that this one replaced is in force again; `CHANGED` if another ban is in force by now; `NOT_BANNED` if the ban was removed or has expired. For `revertModerator`: `UNBANNED`; `RESTORED`; `UNMUTED`."""


@dataclass(frozen=True)
class BatchTargetInput:
    """BatchTarget names a user of a batch. Exactly one of `userId` and `username` is required."""

    user_id: Optional[str] = None
    """The user's id: a UUID in upper or lower case."""

    username: Optional[str] = None
    """The user's username, compared case-insensitively: 1 to 40 of `A-Z a-z 0-9 _ . -`. White space around the name, and one `@` before it, are ignored."""


@dataclass(frozen=True)
class Category:
    """Category is a category of channels, streams, clips and VODs."""

    id: int
    """The category's id."""

    title: str
    """The name, as in `name`."""

    slug: str
    """The name in URLs."""

    image_url: str
    """The URL of the picture. If there is none, that of the default picture."""

    parent_id: Optional[int]
    """The id of the category above this one; null if there is none."""

    name: str
    """The name."""


@dataclass(frozen=True)
class Channel:
    """Channel is a row of `listChannels`."""

    id: str
    """The channel's id, which is its owner's user id: a UUID in lower case."""

    title: str
    """The current title: 1 to 140 characters."""

    display_name: str
    """The owner's display name."""

    bio: str
    """The owner's description of the channel: up to 300 characters; may be empty."""

    slug: str
    """The owner's username in lower case, as in the channel's URL."""

    avatar_url: str
    """The URL of the owner's avatar picture. If there is none, that of the default picture."""

    lang: str
    """The language: a BCP 47 tag in canonical form."""

    is_live: bool
    """Whether the channel is live."""

    follower_count: int
    """The number of followers."""

    category: ChannelCategory
    """The channel's category."""


@dataclass(frozen=True)
class ChannelCategory:
    """ChannelCategory is the category of a channel. A channel without a category has category 0, "Uncategorized"."""

    id: int
    """The category's id: 0 or more."""

    name: str
    """The display name."""

    slug: str
    """The name as used in URLs."""

    image_url: str
    """The URL of the picture. If there is none, that of the default picture."""


@dataclass(frozen=True)
class ChatClearEvent:
    """ChatClearEvent is the payload of `channel.chat.clear`: every message that was posted in the channel so far is deleted."""

    channel_id: str
    """The channel: a UUID in lower case."""

    moderator_id: str
    """The user who deleted the messages: a UUID in lower case."""

    client_id: str
    """The id of the client through which the change was made."""

    cleared_at: datetime
    """When the messages were deleted: UTC, milliseconds."""


@dataclass(frozen=True)
class ChatEmote:
    """ChatEmote is an emote in the text of a message."""

    id: str
    """The emote's id: a UUID in lower case."""

    name: str
    """The name."""

    image_url: str
    """The URL of the picture."""


@dataclass(frozen=True)
class ChatFlagEvent:
    """ChatFlagEvent is the payload of the live event `channel.chat.flag`: a message that was posted matches rules."""

    channel_id: str
    """The channel: a UUID in lower case."""

    moderator_id: Optional[str]
    """The user who made the change: a UUID in lower case; null if it happened by itself."""

    client_id: str
    """The id of the client through which the change was made; empty if it happened by itself."""

    message_id: str
    """The message: a UUID in lower case."""

    user: Person
    """The sender."""

    message: str
    """The text."""

    rules: list[str]
    """The ids of the rules: UUIDs in lower case."""

    spans: list[Span]
    """Where in the text the rules match."""


@dataclass(frozen=True)
class ChatHoldEvent:
    """ChatHoldEvent is the payload of the live event `channel.chat.hold`: a message waits for a decision. Beside the channel it has the fields of HeldMessage."""

    channel_id: str
    """The channel: a UUID in lower case."""

    moderator_id: Optional[str]
    """The user who made the change: a UUID in lower case; null if it happened by itself."""

    client_id: str
    """The id of the client through which the change was made; empty if it happened by itself."""

    message_id: str
    """The id that the message will have if it is posted: a UUID in lower case."""

    user: Person
    """The sender."""

    facts: SenderFacts
    """What is known about the sender."""

    message: str
    """The text."""

    spans: list[Span]
    """Where in the text the rules match."""

    rules: list[str]
    """The ids of the rules that hold the message: UUIDs in lower case. If the setting `firstMessage` holds it, those of the rules that flag it."""

    held_at: datetime
    """When the message was held: UTC, milliseconds."""

    expires_at: datetime
    """When it is decided without a moderator: UTC, milliseconds."""

    status: str
    """`PENDING`."""

    claimed_by: Optional[Person]
    """Always null: nobody claims it yet."""

    claimed_until: Optional[datetime]
    """Always null."""

    decided_by: Optional[Person]
    """Always null: nobody has decided yet."""

    decided_at: Optional[datetime]
    """Always null."""

    reply_to_message_id: Optional[str]
    """The message that it replies to: a UUID in lower case; null if it is no reply."""


@dataclass(frozen=True)
class ChatHoldUpdateEvent:
    """ChatHoldUpdateEvent is the payload of `channel.chat.hold.update`: a held message was decided, or, as a live event that is not kept, claimed."""

    channel_id: str
    """The channel: a UUID in lower case."""

    moderator_id: Optional[str]
    """The user who made the change: a UUID in lower case; null if it happened by itself."""

    client_id: str
    """The id of the client through which the change was made; empty if it happened by itself."""

    message_id: str
    """The message: a UUID in lower case."""

    status: str
    """The status, as of HeldMessage."""

    decided_by: Optional[Person]
    """Who decided; null if nobody did."""

    decided_at: Optional[datetime]
    """When it was decided, expired or was cancelled: UTC, milliseconds; null while it is pending."""

    claimed_by: Optional[Person]
    """Who claims it; null unless this is a claim."""

    claimed_until: Optional[datetime]
    """Until when: UTC, milliseconds; null unless this is a claim."""


@dataclass(frozen=True)
class ChatMessage:
    """ChatMessage is a message that is not deleted."""

    id: str
    """The message's id: a UUID in lower case."""

    channel_id: str
    """The channel: a UUID in lower case."""

    sender: ChatSender
    """The sender, as of the time of the call or event; `isBot` is as of the time of the post."""

    message: str
    """The text: 1 to 500 characters in Unicode NFC."""

    reply_to_message_id: Optional[str]
    """The message that it replies to: a UUID in lower case; null if it is no reply. That message may be deleted since."""

    created_at: datetime
    """When it was posted: UTC, milliseconds."""

    emotes: list[ChatEmote]
    """The emotes that the text names as `[emote:<id>]`, each once, in the order of the text: those of the platform, those of the channel, and public ones of other channels, as of the time of the call."""


@dataclass(frozen=True)
class ChatMessageEvent:
    """ChatMessageEvent is the payload of `channel.chat.message`: a message was posted. The event is live. It is delivered at most once, shortly after the message was posted, and is not kept: it has no sequence and no cursor, and is not in the log. A message that is deleted before it is sent is not sent. The messages that were posted through one server are delivered in the order in which they were posted."""

    channel_id: str
    """The channel: a UUID in lower case."""

    message_id: str
    """The message's id: a UUID in lower case."""

    message: str
    """The text: 1 to 500 characters in Unicode NFC."""

    sender: ChatSender
    """The sender, as of the time of the post."""

    created_at: datetime
    """When it was posted: UTC, milliseconds."""

    reply_to_message_id: Optional[str]
    """The message that it replies to: a UUID in lower case; null if it is no reply."""

    emotes: list[ChatEmote]
    """The emotes that the text names as `[emote:<id>]`, each once, in the order of the text: those of the platform, those of the channel, and public ones of other channels."""


@dataclass(frozen=True)
class ChatPinEvent:
    """ChatPinEvent is the payload of `channel.chat.pin`: a message is pinned, in place of the one that was pinned before, or the pin is removed."""

    channel_id: str
    """The channel: a UUID in lower case."""

    moderator_id: str
    """The user who made the change: a UUID in lower case."""

    client_id: str
    """The id of the client through which the change was made."""

    message: Optional[ChatMessage]
    """The pinned message, as of the time of the event; null if the pin was removed. A message that is deleted later is pinned no more, without another event of this type."""


@dataclass(frozen=True)
class ChatRule:
    """ChatRule is a rule: what it looks for in messages, and what it does with those that have it. All enabled rules look at each message, and the strictest action of those that match is done: `mute`, `block`, `hold`, `delete`, `flag`. The owner and the moderators of the channel are exempt. The fields after `message` belong to kinds of rules, and a rule has those of its kind only. The others are null or empty."""

    rule_id: str
    """The rule's id: a UUID. Empty in a request to create a rule, which gets a new id."""

    name: str
    """Required. What moderators call the rule: 1 to 60 characters."""

    kind: str
    """Required. What the rule looks for: `terms`, `pattern`, `links`, `caps`, `symbols`, `repetition` or `mentions`."""

    action: str
    """Required. What happens to a message that matches: `flag` posts it and tells the moderators, `delete` stores it as a deleted message, `hold` keeps it until a moderator decides, `block` refuses it, and `mute` refuses it and mutes the sender."""

    mute_seconds: Optional[int]
    """How many seconds the sender is muted. Required with the action `mute`, else null."""

    strikes: int
    """How many strikes the sender gets. It must be 0."""

    enabled: Optional[bool]
    """Whether the rule looks at messages; true if it is not given."""

    expires_at: Optional[datetime]
    """When the rule is deleted: UTC, milliseconds; null if it stays. It is in the future when the rule is put. `updateShieldPreset` leaves out a rule that has expired since it was read."""

    exempt_roles: list[str]
    """The roles to which the rule does not apply: a list of `vip`, `og` and `subscriber`, each at most once. Empty if it applies to all of them."""

    exempt_followers_older_than_seconds: Optional[int]
    """The rule does not apply to users who have followed the channel for at least this many seconds; null if follows do not matter."""

    message: Optional[str]
    """What the sender of a refused message is told: up to 150 characters; null for nothing."""

    terms: list[str]
    """Of `terms`, required: words and phrases, which match as whole words, and also if letters that look alike, other cases, marks and punctuation disguise them: 1 to 1,000, each of 1 to 100 characters."""

    allow: list[str]
    """Of `terms`: words and phrases that are allowed. No part of them matches. Up to 1,000, each of 1 to 100 characters."""

    evasions: Optional[bool]
    """Of `terms`: whether disguises also match that are guesses: digits and signs for letters, letters that are repeated three times or more, and letters that are spaced, dotted or marked up; null for other kinds."""

    patterns: list[str]
    """Of `pattern`, required: regular expressions in the syntax of RE2: 1 to 10, each of 1 to 500 bytes. They must not match the empty text."""

    mode: Optional[str]
    """Of `links`, required: `all` refuses every link except those to `allowDomains`, and `listed` those to `blockDomains`; null for other kinds."""

    allow_domains: list[str]
    """Of `links`: domains that are allowed, with their subdomains: up to 1,000."""

    block_domains: list[str]
    """Of `links`: domains that are not allowed, with their subdomains: up to 1,000."""

    min_length: Optional[int]
    """Of `caps` and `symbols`: how many characters a message has at least: 1 to 500; 10 if it is not given. Null for other kinds."""

    percent: Optional[int]
    """Of `caps` and `symbols`: how many percent of the letters are capitals, or of the characters are symbols, at least: 1 to 100; 70 if it is not given. Null for other kinds."""

    max_marks: Optional[int]
    """Of `symbols`: how many combining marks one letter has at most; null if they do not matter."""

    same_sender: Optional[int]
    """Of `repetition`: at which post of the same text by one user the rule matches; null if it does not matter. This or `senders` is required."""

    senders: Optional[int]
    """Of `repetition`: at which number of users who post the same text the rule matches; null if it does not matter."""

    within_seconds: Optional[int]
    """Of `repetition`, required: within how many seconds the same text is posted again; null for other kinds."""

    max: Optional[int]
    """Of `mentions`, required: how many users a message may mention; null for other kinds."""


@dataclass(frozen=True)
class ChatRuleInput:
    """ChatRule is a rule: what it looks for in messages, and what it does with those that have it. All enabled rules look at each message, and the strictest action of those that match is done: `mute`, `block`, `hold`, `delete`, `flag`. The owner and the moderators of the channel are exempt. The fields after `message` belong to kinds of rules, and a rule has those of its kind only. The others are null or empty."""

    name: str
    """Required. What moderators call the rule: 1 to 60 characters."""

    kind: str
    """Required. What the rule looks for: `terms`, `pattern`, `links`, `caps`, `symbols`, `repetition` or `mentions`."""

    action: str
    """Required. What happens to a message that matches: `flag` posts it and tells the moderators, `delete` stores it as a deleted message, `hold` keeps it until a moderator decides, `block` refuses it, and `mute` refuses it and mutes the sender."""

    rule_id: Optional[str] = None
    """The rule's id: a UUID. Empty in a request to create a rule, which gets a new id."""

    mute_seconds: Optional[int] = None
    """How many seconds the sender is muted. Required with the action `mute`, else null."""

    strikes: Optional[int] = None
    """How many strikes the sender gets. It must be 0."""

    enabled: Optional[bool] = None
    """Whether the rule looks at messages; true if it is not given."""

    expires_at: Optional[datetime] = None
    """When the rule is deleted: UTC, milliseconds; null if it stays. It is in the future when the rule is put. `updateShieldPreset` leaves out a rule that has expired since it was read."""

    exempt_roles: Optional[list[str]] = None
    """The roles to which the rule does not apply: a list of `vip`, `og` and `subscriber`, each at most once. Empty if it applies to all of them."""

    exempt_followers_older_than_seconds: Optional[int] = None
    """The rule does not apply to users who have followed the channel for at least this many seconds; null if follows do not matter."""

    message: Optional[str] = None
    """What the sender of a refused message is told: up to 150 characters; null for nothing."""

    terms: Optional[list[str]] = None
    """Of `terms`, required: words and phrases, which match as whole words, and also if letters that look alike, other cases, marks and punctuation disguise them: 1 to 1,000, each of 1 to 100 characters."""

    allow: Optional[list[str]] = None
    """Of `terms`: words and phrases that are allowed. No part of them matches. Up to 1,000, each of 1 to 100 characters."""

    evasions: Optional[bool] = None
    """Of `terms`: whether disguises also match that are guesses: digits and signs for letters, letters that are repeated three times or more, and letters that are spaced, dotted or marked up; null for other kinds."""

    patterns: Optional[list[str]] = None
    """Of `pattern`, required: regular expressions in the syntax of RE2: 1 to 10, each of 1 to 500 bytes. They must not match the empty text."""

    mode: Optional[str] = None
    """Of `links`, required: `all` refuses every link except those to `allowDomains`, and `listed` those to `blockDomains`; null for other kinds."""

    allow_domains: Optional[list[str]] = None
    """Of `links`: domains that are allowed, with their subdomains: up to 1,000."""

    block_domains: Optional[list[str]] = None
    """Of `links`: domains that are not allowed, with their subdomains: up to 1,000."""

    min_length: Optional[int] = None
    """Of `caps` and `symbols`: how many characters a message has at least: 1 to 500; 10 if it is not given. Null for other kinds."""

    percent: Optional[int] = None
    """Of `caps` and `symbols`: how many percent of the letters are capitals, or of the characters are symbols, at least: 1 to 100; 70 if it is not given. Null for other kinds."""

    max_marks: Optional[int] = None
    """Of `symbols`: how many combining marks one letter has at most; null if they do not matter."""

    same_sender: Optional[int] = None
    """Of `repetition`: at which post of the same text by one user the rule matches; null if it does not matter. This or `senders` is required."""

    senders: Optional[int] = None
    """Of `repetition`: at which number of users who post the same text the rule matches; null if it does not matter."""

    within_seconds: Optional[int] = None
    """Of `repetition`, required: within how many seconds the same text is posted again; null for other kinds."""

    max: Optional[int] = None
    """Of `mentions`, required: how many users a message may mention; null for other kinds."""


@dataclass(frozen=True)
class ChatRuleVersion:
    """ChatRuleVersion is a change of the rules of a channel."""

    version: int
    """The number of the version."""

    moderator: Optional[Person]
    """Who made the change; null if it happened by itself."""

    client_id: str
    """The id of the client through which the change was made; empty if it happened by itself."""

    cause: str
    """What caused the change: `moderator`, `restore`, `expired`, or `revert` if the changes of a moderator were reverted."""

    changed_at: datetime
    """When the rules were changed: UTC, milliseconds."""

    put: list[str]
    """The ids of the rules that were created or replaced: UUIDs in lower case."""

    deleted: list[str]
    """The ids of the rules that were deleted: UUIDs in lower case."""


@dataclass(frozen=True)
class ChatRulesEvent:
    """ChatRulesEvent is the payload of `channel.chat.rules`: the rules of the channel's chat have a new version."""

    channel_id: str
    """The channel: a UUID in lower case."""

    moderator_id: Optional[str]
    """The user who made the change: a UUID in lower case; null if it happened by itself."""

    client_id: str
    """The id of the client through which the change was made; empty if it happened by itself."""

    version: int
    """The number of the version."""

    put: list[str]
    """The ids of the rules that were created or replaced: UUIDs in lower case."""

    deleted: list[str]
    """The ids of the rules that were deleted: UUIDs in lower case."""

    cause: str
    """What caused the event: `moderator`, `restore`, `expired`, or `revert` if the changes of a moderator were reverted."""


@dataclass(frozen=True)
class ChatSender:
    """ChatSender is the sender of a message, and what the sender is in the channel."""

    id: str
    """The user's id: a UUID in lower case."""

    username: str
    """The username, with the letter case that the user chose."""

    display_name: str
    """The display name."""

    avatar_url: str
    """The URL of the avatar picture. If there is none, that of the default picture."""

    is_owner: bool
    """Whether the sender owns the channel."""

    is_moderator: bool
    """Whether the sender moderates the channel."""

    is_vip: bool
    """Whether the sender is a VIP of the channel."""

    is_og: bool
    """Whether the sender is an OG of the channel."""

    is_subscriber: bool
    """Whether the sender has an active subscription to the channel."""

    is_follower: bool
    """Whether the sender follows the channel."""

    roles: list[str]
    """The sender's roles in the channel: of `moderator`, `vip` and `og`, in this order."""

    is_bot: bool
    """Whether a program posted the message: with an app token, or a backend says so."""


@dataclass(frozen=True)
class ChatSettings:
    """ChatSettings are the settings of a channel's chat."""

    slow_seconds: int
    """How many seconds a sender waits between two messages: 0 to 3600. 0 if nobody waits."""

    followers_only_seconds: int
    """How many seconds ago senders must have begun to follow the channel: 0 to 7776000. -1 if senders need not follow."""

    subscribers_only: bool
    """Whether only subscribers may post."""

    emote_only: bool
    """Whether messages may have only emoji and emotes."""

    min_account_age_seconds: int
    """How many seconds ago the account of a sender must have been created: 0 to 31536000."""

    unique_seconds: int
    """For how many seconds after a message no one may post the same text: 0 to 300."""

    first_message: str
    """What happens to the first message of a user in the channel: `allow`, `hold` or `block`."""

    exempt_roles: list[str]
    """The roles that the settings do not restrict: `vip`, `og` and `subscriber`. The owner and moderators are never restricted."""

    hold_seconds: int
    """How many seconds a message is held for a decision: 60 to 86400."""

    on_hold_expiry: str
    """What happens to a held message without a decision: `deny` or `approve`."""


@dataclass(frozen=True)
class ChatSettingsEvent:
    """ChatSettingsEvent is the payload of `channel.chat.settings`: the settings of the channel's chat that are in force after the change."""

    channel_id: str
    """The channel: a UUID in lower case."""

    moderator_id: Optional[str]
    """The user who made the change: a UUID in lower case; null if it happened by itself."""

    client_id: str
    """The id of the client through which the change was made; empty if it happened by itself."""

    version: int
    """The number of changes of the settings, and of values that ended."""

    cause: str
    """What caused the event: `moderator`, `expired` if a setting returned to its former value, or `shield` if the shield was raised or lowered."""

    slow_seconds: int
    """How many seconds a sender waits between two messages: 0 to 3600. 0 if nobody waits."""

    followers_only_seconds: int
    """How many seconds ago senders must have begun to follow the channel: 0 to 7776000. -1 if senders need not follow."""

    subscribers_only: bool
    """Whether only subscribers may post."""

    emote_only: bool
    """Whether messages may have only emoji and emotes."""

    min_account_age_seconds: int
    """How many seconds ago the account of a sender must have been created: 0 to 31536000."""

    unique_seconds: int
    """For how many seconds after a message no one may post the same text: 0 to 300."""

    first_message: str
    """What happens to the first message of a user in the channel: `allow`, `hold` or `block`."""

    exempt_roles: list[str]
    """The roles that the settings do not restrict: `vip`, `og` and `subscriber`. The owner and moderators are never restricted."""

    shield_active: bool
    """Whether the shield is up."""


@dataclass(frozen=True)
class ClaimHeldMessagesResponse:
    """ClaimHeldMessagesResponse is what happened to each claim."""

    results: list[HeldClaim]
    """The results, in the order of the request."""


@dataclass(frozen=True)
class ClearUserMessagesEvent:
    """ClearUserMessagesEvent is the payload of `channel.chat.clear_user_messages`: every message that the user has posted in the channel so far is deleted."""

    channel_id: str
    """The channel: a UUID in lower case."""

    moderator_id: str
    """The moderator whose ban or mute of the user deleted the messages: a UUID in lower case."""

    client_id: str
    """The id of the client through which the change was made."""

    target_user_id: str
    """The user whose messages are deleted: a UUID in lower case."""

    cleared_at: datetime
    """When the messages were deleted: UTC, milliseconds."""


@dataclass(frozen=True)
class Clip:
    """Clip is a clip of a channel."""

    clip_id: str
    """The clip's id: a UUID in lower case."""

    title: str
    """The title of the clip."""

    view_count: int
    """The number of views."""

    duration: int
    """The length in seconds."""

    preview_img_url: str
    """The URL of a preview picture; may be empty."""

    clip_url: str
    """The URL of the clip; may be empty."""

    creator: ContentUser
    """The user who made the clip."""

    channel: ContentUser
    """The owner of the channel."""

    category: ContentCategory
    """The category of the clip."""


@dataclass(frozen=True)
class CommitSweepResponse:
    """CommitSweepResponse says what a sweep did."""

    batch_id: str
    """The batch's id: a UUID in lower case."""

    status: str
    """`COMPLETE`; `IN_PROGRESS` if users remain who are being banned; `ENDED` if the sweep ended before it was complete: by an undo, by a revert, or because its author lost the right to ban."""

    counts: SweepCounts
    """How many users have which result so far."""


@dataclass(frozen=True)
class ContentCategory:
    """ContentCategory is the category of a clip or VOD."""

    id: int
    """The category's id: 0 or more."""

    parent_id: Optional[int]
    """The parent category's id; null if there is none."""

    name: str
    """The display name."""

    slug: str
    """The name as used in URLs."""

    image_url: str
    """The URL of the picture. If there is none, that of the default picture."""


@dataclass(frozen=True)
class ContentUser:
    """ContentUser is a user in a clip or VOD row: its creator, or the owner of its channel."""

    id: str
    """The user's id: a UUID in lower case."""

    username: str
    """The username, with the letter case that the user chose."""

    avatar_url: str
    """The URL of the avatar picture. If there is none, that of the default picture."""


@dataclass(frozen=True)
class CreateEventTicketResponse:
    """CreateEventTicketResponse is the ticket."""

    ticket: str
    """The ticket, for the query parameter `ticket`. It is returned only once, in this response."""

    expires_at: datetime
    """Until when the ticket opens a stream: UTC, milliseconds."""


@dataclass(frozen=True)
class CreateSubscriptionResponse:
    """CreateSubscriptionResponse is the subscription."""

    id: str
    """The subscription's id: a UUID in lower case."""

    type: str
    """The event type."""

    version: str
    """The version of the type's payload."""

    condition: SubscriptionCondition
    """Which events the session receives."""

    session_id: str
    """The session: a UUID in lower case."""

    created_at: datetime
    """When the subscription was created: UTC, milliseconds."""


@dataclass(frozen=True)
class CreateWebhookResponse:
    """CreateWebhookResponse is the created webhook."""

    id: str
    """The webhook's id: a UUID in lower case."""

    channel_id: Optional[str]
    """The channel: a UUID in lower case; null if the webhook covers every channel."""

    url: str
    """The URL of the receiver."""

    type: list[str]
    """The event types that the webhook sends; empty for all types but live ones."""

    secret: str
    """The secret that signs deliveries: `whsec_` and the base64 of the key, which is 32 random bytes. It is returned only once, in this response."""

    created_at: datetime
    """When the webhook was created: UTC, milliseconds."""


@dataclass(frozen=True)
class DecideHeldMessagesResponse:
    """DecideHeldMessagesResponse is what happened to each decision."""

    results: list[HeldDecisionResult]
    """The results, in the order of the request."""


@dataclass(frozen=True)
class Emote:
    """Emote is a picture that chat messages name as `[emote:<id>]`."""

    id: str
    """The emote's id: a UUID in lower case."""

    name: str
    """The name, which is unique in the channel."""

    image_url: str
    """The URL of the picture."""

    is_public: bool
    """Whether the emote also shows in channels other than its own."""


@dataclass(frozen=True)
class EnableWebhookResponse:
    """EnableWebhookResponse reports where the webhook resumes."""

    resumed: bool
    """Whether the webhook resumes where it stopped. If false, it starts with the events from now on."""


@dataclass(frozen=True)
class EventCategory:
    """EventCategory is the category of a stream."""

    id: int
    """The category's id; 0 is "Uncategorized"."""

    title: str
    """The category's name."""

    name: str
    """The same as `title`."""


@dataclass(frozen=True)
class EventMetadata:
    """EventMetadata identifies an event."""

    message_id: str
    """The event's id: a UUID in lower case. It is the same however often the event is delivered."""

    message_type: str
    """The message type. Always `notification`."""

    subscription_type: str
    """The event type, such as `channel.ban`."""

    subscription_version: str
    """The version of the type's payload: `1`."""

    message_timestamp: datetime
    """When it happened: UTC, milliseconds."""

    channel_id: str
    """The channel: a UUID in lower case."""

    sequence: Optional[int] = None
    """The event's number in its channel, which increases by one with each event, without gaps. A live event has none."""


@dataclass(frozen=True)
class EventSubscription:
    """EventSubscription is a subscription of a session."""

    id: str
    """The subscription's id: a UUID in lower case."""

    type: str
    """The event type."""

    version: str
    """The version of the type's payload."""

    condition: SubscriptionCondition
    """Which events the session receives."""

    session_id: str
    """The session: a UUID in lower case."""

    created_at: datetime
    """When the subscription was created: UTC, milliseconds."""


@dataclass(frozen=True)
class EvidenceMessage:
    """EvidenceMessage is a message of a user who was banned or muted."""

    message_id: str
    """The message's id: a UUID in lower case."""

    text: str
    """The text."""

    sent_at: datetime
    """When the message was posted: UTC, milliseconds."""


@dataclass(frozen=True)
class FollowEvent:
    """FollowEvent is the payload of `channel.follow` and `channel.unfollow`."""

    channel_id: str
    """The channel: a UUID in lower case."""

    client_id: str
    """The id of the client that reported the change."""

    user_id: str
    """The user who follows or followed: a UUID in lower case."""

    user_display_name: str
    """The user's display name at that time."""

    user_slug: str
    """The user's slug at that time."""

    followed_at: datetime
    """When the follow began: UTC, milliseconds."""

    unfollowed_at: Optional[datetime]
    """When the follow ended: UTC, milliseconds; null in `channel.follow`."""

    follower: Follower
    """The user who follows or followed, as of that time."""

    created_at: datetime
    """When the event happened: UTC, milliseconds."""


@dataclass(frozen=True)
class FollowedChannel:
    """FollowedChannel is a channel that the token's user follows."""

    id: str
    """The channel's id: a UUID in lower case."""

    display_name: str
    """The display name of the channel's owner."""

    slug: str
    """The username of the channel's owner in lower case."""

    avatar_url: str
    """The URL of the owner's avatar picture. If there is none, that of the default picture."""

    is_follower: bool
    """Whether the token's user follows the channel. Always true."""

    followed_at: datetime
    """When the follow began: UTC, milliseconds."""

    subscription_info: SubscriptionInfo
    """The subscription of the token's user to the channel."""

    is_notification_enabled: bool
    """Whether the user wants a notification when the channel goes live."""


@dataclass(frozen=True)
class Follower:
    """Follower is a user who follows a channel, and since when."""

    id: str
    """The user's id: a UUID in lower case."""

    username: str
    """The username, with the letter case that the user chose."""

    display_name: str
    """The display name."""

    avatar_url: str
    """The URL of the avatar picture. If there is none, that of the default picture."""

    followed_at: datetime
    """When the follow began: UTC, milliseconds."""


@dataclass(frozen=True)
class GetAchievementStatsResponse:
    """GetAchievementStatsResponse holds the numbers of a channel."""

    tier: int
    """The tier that the platform gave the channel; 0 if it gave none."""

    follower_count: int
    """The number of followers."""

    subscriber_count: int
    """The number of active subscribers."""

    stream_hours: int
    """How many whole hours the channel streamed in all, the live stream included, rounded down."""

    unique_chatters: int
    """How many users posted in the channel's chat today or on one of the 29 days before, in UTC, whether their messages are still visible or not. A number above 10,000 may be a minute old."""


@dataclass(frozen=True)
class GetChatRulesResponse:
    """GetChatRulesResponse has all rules of a channel."""

    version: int
    """The number of the version: how often the rules were changed until then."""

    rules: list[ChatRule]
    """All rules, in the order in which they were created."""


@dataclass(frozen=True)
class GetChatSettingsResponse:
    """GetChatSettingsResponse has the settings in force."""

    channel_id: str
    """The channel: a UUID in lower case."""

    version: int
    """The number of changes of the settings, and of values that ended."""

    slow_seconds: int
    """How many seconds a sender waits between two messages: 0 to 3600. 0 if nobody waits."""

    followers_only_seconds: int
    """How many seconds ago senders must have begun to follow the channel: 0 to 7776000. -1 if senders need not follow."""

    subscribers_only: bool
    """Whether only subscribers may post."""

    emote_only: bool
    """Whether messages may have only emoji and emotes."""

    min_account_age_seconds: int
    """How many seconds ago the account of a sender must have been created: 0 to 31536000."""

    unique_seconds: int
    """For how many seconds after a message no one may post the same text: 0 to 300."""

    first_message: str
    """What happens to the first message of a user in the channel: `allow`, `hold` or `block`."""

    exempt_roles: list[str]
    """The roles that the settings do not restrict: `vip`, `og` and `subscriber`. The owner and moderators are never restricted."""

    shield_active: bool
    """Whether the shield is up. While it is, the values are those that are in force with it: for each setting, the stricter one of the shield's preset and of the settings."""


@dataclass(frozen=True)
class GetLiveStatsResponse:
    """GetLiveStatsResponse holds the counters of a live stream. The counts are 0 if the channel is not live."""

    started_at: Optional[datetime]
    """When the stream started: UTC, milliseconds; null if the channel is not live."""

    is_live: bool
    """Whether the channel is live."""

    new_follower_count: int
    """The number of current followers whose follow began since the start of the stream."""

    new_subscriber_count: int
    """The number of current subscribers whose subscription began since the start of the stream."""

    viewer_count: int
    """The number of viewers."""


@dataclass(frozen=True)
class GetMetricsResponse:
    """GetMetricsResponse has the intervals."""

    rows: list[MetricsBucket]
    """The intervals without gaps, oldest first. The last one is the present interval, unless there are 500 before it."""


@dataclass(frozen=True)
class GetModerationSettingsResponse:
    """GetModerationSettingsResponse has the settings in force."""

    channel_id: str
    """The channel: a UUID in lower case."""

    version: int
    """The number of changes of the settings, and of values that ended."""

    slow_seconds: int
    """How many seconds a sender waits between two messages: 0 to 3600. 0 if nobody waits."""

    followers_only_seconds: int
    """How many seconds ago senders must have begun to follow the channel: 0 to 7776000. -1 if senders need not follow."""

    subscribers_only: bool
    """Whether only subscribers may post."""

    emote_only: bool
    """Whether messages may have only emoji and emotes."""

    min_account_age_seconds: int
    """How many seconds ago the account of a sender must have been created: 0 to 31536000."""

    unique_seconds: int
    """For how many seconds after a message no one may post the same text: 0 to 300."""

    first_message: str
    """What happens to the first message of a user in the channel: `allow`, `hold` or `block`."""

    exempt_roles: list[str]
    """The roles that the settings do not restrict: `vip`, `og` and `subscriber`. The owner and moderators are never restricted."""

    timed: list[TimedSetting]
    """The settings that are set for a time."""

    hold_seconds: int
    """How many seconds a message is held for a decision: 60 to 86400."""

    on_hold_expiry: str
    """What happens to a held message without a decision: `deny` or `approve`."""

    shield_active: bool
    """Whether the shield is up. While it is, the values are those that are in force with it: for each setting, the stricter one of the shield's preset and of the settings."""

    own: ChatSettings
    """The channel's own settings, as they are in force without the shield: `updateChatSettings` changes these, also while the shield is up. Always set."""


@dataclass(frozen=True)
class GetPinnedMessageResponse:
    """GetPinnedMessageResponse is the pinned message."""

    channel_id: str
    """The channel: a UUID in lower case."""

    message: Optional[ChatMessage]
    """The message; null if none is pinned."""


@dataclass(frozen=True)
class GetProfileResponse:
    """GetProfileResponse is the profile of a user."""

    user_id: str
    """The user's id: a UUID in lower case."""

    username: str
    """The username, with the letter case that the user chose."""

    slug: str
    """The username in lower case, as in the URL of the user's channel."""

    display_name: str
    """The display name."""

    avatar_url: str
    """The URL of the avatar picture. If there is none, that of the default picture."""

    channel_id: Optional[str]
    """The user's channel: a UUID in lower case, equal to `userId`; null if the user has no channel."""


@dataclass(frozen=True)
class GetPropagationResponse:
    """GetPropagationResponse reports how far a change has come."""

    subscriber_count: int
    """How many chat servers hold the standings of the channel. A chat server that lost its connection counts for a minute."""

    applied_count: int
    """How many of them have applied the change. They refuse the messages of a user who was banned, without asking Moderato."""

    slowest_milliseconds: Optional[int]
    """The time from the change until the slowest of these chat servers had applied it, in milliseconds, as the chat servers measured it. A chat server acknowledges several changes together, and this is the slowest of them. Null if no chat server has measured it."""


@dataclass(frozen=True)
class GetSelfResponse:
    """GetSelfResponse is what a token is and what it permits."""

    client_id: str
    """The id of the client to which the token was issued."""

    kind: str
    """The kind of the token: `user`, `app` or `service`."""

    user_id: Optional[str]
    """The user for whom the call acts: a UUID in lower case. It is the user of a user token, or the `acting-user` of a service token; null if the call acts for no user."""

    scopes: list[str]
    """The token's scopes, sorted; for a service token, every scope."""

    expires_at: Optional[datetime]
    """When the token expires: UTC, milliseconds; null if it does not expire."""

    operations: list[PermittedOperation]
    """The operations that accept the kind and the scopes of the token. An operation with a relation can still refuse a call, because the relation depends on the channel or user that the request names and can change at any time."""


@dataclass(frozen=True)
class GetShieldResponse:
    """GetShieldResponse is the shield of a channel."""

    active: bool
    """Whether the shield is up."""

    started_by: Optional[Person]
    """Who raised it; null if it is down or was raised by itself."""

    cause: Optional[str]
    """Why it was raised: `moderator` or `automatic`; null if it is down."""

    started_at: Optional[datetime]
    """When it was raised: UTC, milliseconds; null if it is down."""

    ends_at: Optional[datetime]
    """When it ends by itself: UTC, milliseconds; null if it is down."""

    reason: Optional[str]
    """The reason that was given; null if none was."""

    preset: ShieldPreset
    """What it does while it is up."""


@dataclass(frozen=True)
class GetStatsResponse:
    """GetStatsResponse holds the counters of a channel."""

    follower_count: int
    """The number of followers."""

    subscriber_count: int
    """The number of active subscriptions."""

    viewer_count: int
    """The number of viewers of the live stream; 0 if the channel is not live."""


@dataclass(frozen=True)
class GetStreamInfoResponse:
    """GetStreamInfoResponse is the live state of a channel."""

    is_live: bool
    """Whether the channel is live."""

    title: str
    """The title of the stream; the title of the channel if it is not live."""

    preview_img_url: str
    """The URL of a preview picture of the stream, or that of the default picture if it has none; empty if the channel is not live."""

    started_at: Optional[datetime]
    """When the stream started: UTC, milliseconds; null if the channel is not live."""

    category: StreamCategory
    """The category of the stream; the category of the channel if it is not live."""


@dataclass(frozen=True)
class GetUserResponse:
    """GetUserResponse is a user and their state in a channel."""

    user: UserSummary
    """The user."""

    roles: list[str]
    """The user's roles: `owner`, `moderator`, `vip`, `og`. A banned moderator still has the role, but no moderation right while banned."""

    ban: Optional[UserBan]
    """The ban; null if the user is not banned."""

    mute: Optional[UserMute]
    """The active mute; null if the user is not muted."""

    follow: Optional[UserFollow]
    """The follow; null if the user does not follow the channel."""

    subscription: SubscriptionInfo
    """The subscription."""

    messages: list[UserMessage]
    """The user's latest messages in the channel that are not deleted, newest first; at most 20."""

    account: Optional[UserAccount] = None
    """The user's account."""

    log: Optional[list[LogEntry]] = None
    """The latest entries of the channel's log about the user, newest first, at most 20: as `GET /v1/moderation/log` returns them with this `userId`."""

    elsewhere: Optional[list[BanElsewhere]] = None
    """The user's bans from other channels that the caller owns or moderates, newest first; at most 20. Only the 1,000 channels are searched that the caller has moderated longest. Empty for a service token that acts for no user."""

    held: Optional[list[HeldMessage]] = None
    """The user's latest messages that are or were held in the channel, whatever their status, newest first; at most 5. Those that were decided are kept for 90 days."""


@dataclass(frozen=True)
class GiftEvent:
    """GiftEvent is the payload of `channel.subscription.gift`."""

    channel_id: str
    """The channel: a UUID in lower case."""

    client_id: str
    """The id of the client that reported the change."""

    user_id: str
    """The user who gave the subscriptions: a UUID in lower case."""

    user_display_name: str
    """The user's display name at that time."""

    user_slug: str
    """The user's slug at that time."""

    key: str
    """The key of the gift, unique in its channel."""

    count: int
    """The number of subscriptions."""

    gifted_at: datetime
    """When it happened: UTC, milliseconds."""

    sender: Person
    """The user who gave the subscriptions, as of that time."""

    gift_count: int
    """The number of subscriptions."""

    created_at: datetime
    """When it happened: UTC, milliseconds."""


@dataclass(frozen=True)
class HeldClaim:
    """HeldClaim is the result of a claim."""

    message_id: str
    """The message: a UUID in lower case."""

    result: str
    """`CLAIMED`; `TAKEN` if another moderator claims the message; `ALREADY_DECIDED` if it waits no more; `NOT_FOUND` if the channel has no such message."""

    claimed_by: Optional[Person]
    """Who claims the message; null unless it is `CLAIMED` or `TAKEN`."""

    claimed_until: Optional[datetime]
    """Until when: UTC, milliseconds; null unless it is `CLAIMED` or `TAKEN`."""


@dataclass(frozen=True)
class HeldDecisionInput:
    """HeldDecision is a decision about a message."""

    message_id: str
    """Required. The message: a UUID in upper or lower case."""

    decision: str
    """Required. `approve` or `deny`."""

    mute_seconds: Optional[int] = None
    """How many seconds the sender is muted for as well; null for no mute. Only with `deny`."""


@dataclass(frozen=True)
class HeldDecisionResult:
    """HeldDecisionResult is the result of a decision."""

    message_id: str
    """The message: a UUID in lower case."""

    result: str
    """`APPROVED`; `DENIED`; `ALREADY_DECIDED`; `EXPIRED` if the time had passed; `SENDER_REFUSED` if the sender of the message that was to be approved is banned or muted, or does not exist any more; `NOT_FOUND` if the channel has no such message."""

    status: Optional[str]
    """The status of the message: `APPROVED`, `DENIED`, `EXPIRED` or `CANCELLED`; null if it is not found."""

    decided_by: Optional[Person]
    """Who decided; null if nobody did."""

    decided_at: Optional[datetime]
    """When it was decided: UTC, milliseconds; null if it is not found."""


@dataclass(frozen=True)
class HeldMessage:
    """HeldMessage is a message that waits for a decision, or waited for one."""

    message_id: str
    """The id that the message has, or would have, once it is posted: a UUID in lower case."""

    user: Person
    """The sender."""

    facts: SenderFacts
    """What was known about the sender when the message was held."""

    message: str
    """The text."""

    spans: list[Span]
    """Where in the text the rules match."""

    rules: list[str]
    """The ids of the rules that held the message: UUIDs in lower case. If the setting `firstMessage` held it, those of the rules that flag it."""

    held_at: datetime
    """When the message was held: UTC, milliseconds."""

    expires_at: datetime
    """When it is decided without a moderator: UTC, milliseconds."""

    status: str
    """`PENDING`; `APPROVED`; `DENIED`; `EXPIRED` if nobody decided and it was denied then; `CANCELLED` if the sender was banned or muted, the messages of the sender or of the channel were cleared, or the sender was deleted. A message that nobody decided and that was posted then has the status `APPROVED`, without `decidedBy`."""

    claimed_by: Optional[Person]
    """Who claims it; null if nobody does."""

    claimed_until: Optional[datetime]
    """Until when: UTC, milliseconds; null if nobody claims it."""

    decided_by: Optional[Person]
    """Who decided; null if nobody did."""

    decided_at: Optional[datetime]
    """When it was decided, expired or was cancelled: UTC, milliseconds; null while it is pending."""

    reply_to_message_id: Optional[str]
    """The message that it replies to: a UUID in lower case; null if it is no reply."""


@dataclass(frozen=True)
class ListActivitiesResponse:
    """ListActivitiesResponse is a page of activities."""

    rows: list[Activity]
    """The activities of the page."""

    pagination: Pagination
    """The cursor of the next page."""


@dataclass(frozen=True)
class ListBanBatchesResponse:
    """ListBanBatchesResponse is a page of batches."""

    rows: list[BanBatch]
    """The batches of the page, newest first."""

    pagination: Pagination
    """The cursor of the next page."""


@dataclass(frozen=True)
class ListBannedUsersResponse:
    """ListBannedUsersResponse is a page of banned users."""

    rows: list[BannedUser]
    """The banned users of the page."""

    pagination: Pagination
    """The cursor of the next page."""


@dataclass(frozen=True)
class ListBansResponse:
    """ListBansResponse is a page of bans."""

    rows: list[ListedBan]
    """The bans of the page, newest first. A search examines at most 2,000 bans for a page. So a page can have fewer rows than `limit`, or none, although there is a next page."""

    pagination: Pagination
    """The cursor of the next page; empty if this is the last page."""


@dataclass(frozen=True)
class ListCategoriesResponse:
    """ListCategoriesResponse is a page of categories."""

    rows: list[Category]
    """The categories of the page."""

    pagination: Pagination
    """The cursor of the next page."""


@dataclass(frozen=True)
class ListChannelsResponse:
    """ListChannelsResponse is a page of channels."""

    count: int
    """The total number of channels that match the filters."""

    rows: list[Channel]
    """The channels of the page."""

    pagination: Pagination
    """The cursor of the next page."""


@dataclass(frozen=True)
class ListChatRuleVersionsResponse:
    """ListChatRuleVersionsResponse is a page of versions."""

    rows: list[ChatRuleVersion]
    """The versions of the page, newest first."""

    pagination: Pagination
    """The cursor of the next page."""


@dataclass(frozen=True)
class ListClipsResponse:
    """ListClipsResponse is a page of clips."""

    count: int
    """The total number of clips of the channel."""

    rows: list[Clip]
    """The clips of the page."""

    pagination: Pagination
    """The cursor of the next page."""


@dataclass(frozen=True)
class ListFollowedResponse:
    """ListFollowedResponse is a page of followed channels."""

    rows: list[FollowedChannel]
    """The channels of the page."""

    pagination: Pagination
    """The cursor of the next page."""


@dataclass(frozen=True)
class ListFollowersResponse:
    """ListFollowersResponse is a page of followers."""

    rows: list[AudienceMember]
    """The followers of the page."""

    pagination: Pagination
    """The cursor of the next page."""


@dataclass(frozen=True)
class ListHeldMessagesResponse:
    """ListHeldMessagesResponse is a page of held messages."""

    rows: list[HeldMessage]
    """The messages of the page."""

    pagination: Pagination
    """The cursor of the next page."""


@dataclass(frozen=True)
class ListLogResponse:
    """ListLogResponse is a page of the log."""

    rows: list[LogEntry]
    """The entries of the page, newest first. A search by time, `query`, `batchId`, `ruleId` or `cause` examines at most 2,000 entries for a page. So a page can have fewer rows than `limit`, or none, although there is a next page."""

    pagination: Pagination
    """The cursor of the next page."""

    trimmed_sequence: int
    """The sequence number up to which entries may be missing from the log, because their retention time has passed; 0 if none are missing."""


@dataclass(frozen=True)
class ListMessagesResponse:
    """ListMessagesResponse is a page of messages."""

    channel_id: str
    """The channel: a UUID in lower case."""

    messages: list[ChatMessage]
    """The messages, newest first. There may be fewer than `limit`."""

    pagination: Pagination
    """The cursor of the next page."""


@dataclass(frozen=True)
class ListMutesResponse:
    """ListMutesResponse is a page of mutes."""

    rows: list[ListedMute]
    """The mutes of the page, newest first. A search examines at most 2,000 mutes for a page. So a page can have fewer rows than `limit`, or none, although there is a next page."""

    pagination: Pagination
    """The cursor of the next page; empty if this is the last page."""


@dataclass(frozen=True)
class ListRaidsResponse:
    """ListRaidsResponse is a page of raids."""

    rows: list[Raid]
    """The raids of the page."""

    pagination: Pagination
    """The cursor of the next page."""


@dataclass(frozen=True)
class ListRolesResponse:
    """ListRolesResponse is a page of users with their roles."""

    rows: list[RoleHolder]
    """The rows of the page. A search examines at most 2,000 rows for a page. So a page can have fewer rows than `limit`, or none, although there is a next page."""

    pagination: Pagination
    """The cursor of the next page; empty if this is the last page."""


@dataclass(frozen=True)
class ListSubscribersResponse:
    """ListSubscribersResponse is a page of subscribers."""

    rows: list[AudienceMember]
    """The active subscribers of the page."""

    pagination: Pagination
    """The cursor of the next page."""


@dataclass(frozen=True)
class ListSubscriptionsResponse:
    """ListSubscriptionsResponse is a page of subscriptions."""

    rows: list[EventSubscription]
    """The subscriptions of the page."""

    pagination: Pagination
    """The cursor of the next page."""


@dataclass(frozen=True)
class ListVodsResponse:
    """ListVodsResponse is a page of VODs."""

    count: int
    """The total number of VODs of the channel."""

    rows: list[Vod]
    """The VODs of the page."""

    pagination: Pagination
    """The cursor of the next page."""


@dataclass(frozen=True)
class ListWebhookDeliveriesResponse:
    """ListWebhookDeliveriesResponse is a page of deliveries."""

    rows: list[WebhookDelivery]
    """The deliveries of the page."""

    pagination: Pagination
    """The cursor of the next page."""


@dataclass(frozen=True)
class ListedBan:
    """ListedBan is a ban that is in force."""

    id: str
    """The id of the banned user: a UUID in lower case."""

    display_name: str
    """The display name."""

    slug: str
    """The username in lower case."""

    banned_at: datetime
    """When the ban was applied: UTC, milliseconds."""

    banned_by: BannedBy
    """The user who applied the ban."""

    reason: Optional[str]
    """Why the user is banned; null if no reason was given."""

    expires_at: Optional[datetime]
    """When the ban expires: UTC, milliseconds; null if it lasts until it is removed."""

    batch_id: Optional[str]
    """The batch that banned the user: a UUID in lower case; null if it was none."""

    cause: str
    """What caused the ban: `batch` for a ban of a batch, a sweep or an afterglow, otherwise `moderator`."""


@dataclass(frozen=True)
class ListedMute:
    """ListedMute is a mute that is in force."""

    id: str
    """The id of the muted user: a UUID in lower case."""

    display_name: str
    """The display name."""

    slug: str
    """The username in lower case."""

    muted_at: datetime
    """When the mute was applied: UTC, milliseconds."""

    muted_by: BannedBy
    """The user who applied the mute. Rules mute in the name of the user who edited them last."""

    reason: Optional[str]
    """Why the user is muted; null if no reason was given."""

    expires_at: datetime
    """When the mute expires: UTC, milliseconds."""

    cause: str
    """What caused the mute: `rule` for a mute by a chat rule, otherwise `moderator`."""

    rule_id: Optional[str]
    """The chat rule that muted the user: a UUID in lower case; null if none did."""


@dataclass(frozen=True)
class LogEntry:
    """LogEntry is a change in a channel."""

    id: str
    """The event's id, the same that listeners receive: a UUID in lower case."""

    sequence: int
    """The event's number in its channel, which increases by one with each event."""

    type: str
    """The event type, such as `channel.ban`."""

    created_at: datetime
    """When it happened: UTC, milliseconds."""

    moderator: Optional[LogUser]
    """The user who made the change, or who had applied the mute or ban that lapsed; null if there is no such user, as when a subscription lapses."""

    user: Optional[LogUser]
    """The user whom the change is about; null if it is about no user."""

    client_id: str
    """The id of the client through which the change was made; empty if there was none, as when a mute, a ban or a subscription lapses."""

    request_id: str
    """The id of the request that made the change; empty if there was none."""

    payload: dict[str, Any]
    """The event's payload: what the change did."""

    reason: Optional[str] = None
    """Why; null if no reason was given."""

    expires_at: Optional[datetime] = None
    """When the ban or mute expires or expired: UTC, milliseconds; null if it lasts until it is removed."""

    batch_id: Optional[str] = None
    """The batch that it belongs to: a UUID in lower case; null if it belongs to none."""

    evidence: Optional[list[EvidenceMessage]] = None
    """The user's latest messages before it, newest first: at most 10, of those that were visible and that it deleted. They are kept as long as the entry, and removed when the user is deleted. Empty if there were none, and for bans and mutes that an earlier version of Moderato applied."""

    end_reason: Optional[str] = None
    """Why it was removed; null if no reason was given."""


@dataclass(frozen=True)
class LogUser:
    """LogUser is a user in the log, with the user's current names."""

    id: str
    """The user's id: a UUID in lower case. The id of a deleted user is 5e1f8a0c-93d7-4b6e-a4c2-d07b3e9f6185."""

    display_name: str
    """The display name."""

    slug: str
    """The username in lower case."""


@dataclass(frozen=True)
class MessageDeleteEvent:
    """MessageDeleteEvent is the payload of `channel.chat.message_delete`: one message is deleted."""

    channel_id: str
    """The channel: a UUID in lower case."""

    moderator_id: str
    """The user who deleted the message, who may be its sender: a UUID in lower case."""

    client_id: str
    """The id of the client through which the change was made."""

    message_id: str
    """The message: a UUID in lower case."""

    target_user_id: str
    """The sender of the message: a UUID in lower case."""

    deleted_at: datetime
    """When the message was deleted: UTC, milliseconds."""


@dataclass(frozen=True)
class MetricsBucket:
    """MetricsBucket is what happened in a channel in an interval, by the clock of the database."""

    started_at: datetime
    """The start of the interval, a multiple of its length since 1970: UTC, milliseconds."""

    messages: int
    """The messages that were posted, including those that were deleted since."""

    first_messages: int
    """Those of them whose sender had not posted in the channel on this day or in the 30 days before."""

    follows: int
    """The follows that began."""

    bans: int
    """The bans that were made: one for each `channel.ban`, so one for each user of a batch or sweep."""

    mutes: int
    """The mutes that were made: one for each `channel.mute`."""

    held: int
    """The messages that were held for review. It is 0 on servers that hold no messages."""

    viewers: Optional[int]
    """The highest number of viewers that UpdateStream reported. Null if none was reported."""


@dataclass(frozen=True)
class ModeratedChannel:
    """ModeratedChannel is a channel in which a user is a moderator."""

    uuid: str
    """The channel's id: a UUID in lower case."""

    username: str
    """The username of the channel's owner, with the letter case that the owner chose."""

    avatar_url: str
    """The URL of the owner's avatar picture. If there is none, that of the default picture."""


@dataclass(frozen=True)
class MuteEvent:
    """MuteEvent is the payload of `channel.mute`."""

    channel_id: str
    """The channel: a UUID in lower case."""

    moderator_id: str
    """The user who applied the mute: a UUID in lower case."""

    client_id: str
    """The id of the client through which the change was made."""

    muted_user_id: str
    """The muted user: a UUID in lower case."""

    muted_user_display_name: str
    """The muted user's display name at that time."""

    mute_expires_at: datetime
    """When the mute expires: UTC, milliseconds."""

    reason: Optional[str]
    """Why the user is muted; null if no reason was given."""

    expires_at: datetime
    """The same as `muteExpiresAt`."""

    batch_id: Optional[str]
    """Null: mutes belong to no batch."""

    cause: str
    """What caused the event: `moderator`, or `rule`."""

    replaces: bool
    """Whether the user was muted already, and this mute is in force instead of the earlier one. Such a mute deletes no messages."""

    muted_user: Person
    """The muted user, as of that time."""

    rule_id: Optional[str]
    """The rule that muted the user: a UUID in lower case; null if none did. `moderatorId` is the last editor of the rule then."""


@dataclass(frozen=True)
class MuteExpireEvent:
    """MuteExpireEvent is the payload of `channel.mute.expire`. The event has no actor: `moderatorId` is the moderator who had applied the mute."""

    channel_id: str
    """The channel: a UUID in lower case."""

    moderator_id: str
    """The user who had applied the mute: a UUID in lower case."""

    muted_user_id: str
    """The user who was muted: a UUID in lower case."""

    mute_expired_at: datetime
    """When the mute expired: UTC, milliseconds."""


@dataclass(frozen=True)
class MuteUserResponse:
    """MuteUserResponse is the mute that was applied."""

    channel_id: str
    """The channel: a UUID in lower case."""

    moderator_id: str
    """The user who applied the mute: a UUID in lower case."""

    muted_user_id: str
    """The muted user: a UUID in lower case."""

    muted_user_display_name: str
    """The muted user's display name at the time of the response."""

    mute_expires_at: datetime
    """When the mute expires; UTC, milliseconds. The mute is active before this instant."""

    reason: Optional[str] = None
    """Why; null if no reason was given."""

    expires_at: Optional[datetime] = None
    """When the ban or mute expires: UTC, milliseconds; null if it lasts until it is removed. It is in force before this instant."""


@dataclass(frozen=True)
class Pagination:
    """Pagination holds the cursor of the next page."""

    cursor: str
    """The `cursor` of the request for the next page; empty on the last page. The value is opaque."""


@dataclass(frozen=True)
class PermittedOperation:
    """PermittedOperation is an operation that accepts a token."""

    name: str
    """The full name over gRPC, such as `moderato.v1.ModerationService/BanUser`."""

    method: Optional[str]
    """The HTTP method; null if the operation has no JSON request and response. Such an operation is for gRPC only, except `watchEvents`, which is also the event stream at `GET /v1/events`."""

    path: Optional[str]
    """The path; null if `method` is null."""

    relation: Optional[str]
    """What the caller must also be to the channel or user that the request names:

    - `self`: the user, or an app to which that user granted the scope.
    - `authorized`: the channel's owner, or an app that names any channel.
    - `owner`: the channel's owner.
    - `moderator`: the channel's owner, or a moderator who is not banned from it.
    - `listener`: what each event type requires.

    Null if no relation is required.
    """


@dataclass(frozen=True)
class Person:
    """Person is a user as events and lists name them."""

    id: str
    """The user's id: a UUID in lower case."""

    username: str
    """The username, with the letter case that the user chose."""

    display_name: str
    """The display name."""

    avatar_url: str
    """The URL of the avatar picture. If there is none, that of the default picture."""


@dataclass(frozen=True)
class PostMessageResponse:
    """PostMessageResponse is the message as it was stored."""

    message_id: str
    """The message's id: a UUID in lower case."""

    channel_id: str
    """The channel: a UUID in lower case."""

    sender_id: str
    """The sender: a UUID in lower case."""

    message: str
    """The text: 1 to 500 characters in Unicode NFC."""

    created_at: datetime
    """When it was posted: UTC, milliseconds."""


@dataclass(frozen=True)
class PreviewChatRulesResponse:
    """PreviewChatRulesResponse is what the rules would do."""

    examined: int
    """How many messages or texts the rules looked at."""

    matched: int
    """How many of them match a rule."""

    users: int
    """How many users sent messages that match. 0 for texts."""

    sanctioned_users: int
    """How many of those users have been banned or muted since, or still are: for them the rules are probably right."""

    trusted_users: int
    """How many of those users have a role or a subscription, or have followed the channel for more than 7 days, and were not banned or muted: for them the rules are probably wrong."""

    by_rule: list[RulePreview]
    """What each enabled rule matched, in the order of the rules."""

    sample: list[PreviewedMessage]
    """Up to 20 of the messages that match, the newest first, of as many users as possible. For texts, all that match."""


@dataclass(frozen=True)
class PreviewSweepResponse:
    """PreviewSweepResponse is what a sweep would do."""

    sweep_token: str
    """The token for `commitSweep`. It is valid for 5 minutes, for one use, in this channel."""

    expires_at: datetime
    """When the token expires: UTC, milliseconds."""

    matched: int
    """How many users match, whom `commitSweep` bans."""

    exempted: SweepExemptions
    """How many other users meet the conditions, by what exempts them."""

    sample: list[SweepMatch]
    """Some of the users who match; at most 20."""


@dataclass(frozen=True)
class PreviewedMessage:
    """PreviewedMessage is a message that a rule matched."""

    user: Optional[Person]
    """The sender; null for texts."""

    text: str
    """The text."""

    spans: list[Span]
    """Where in the text the rule matches. Empty if it is about the whole text."""

    rule_id: Optional[str]
    """The strictest rule that matches: a UUID in lower case; null if the request would create it."""

    rule_name: str
    """The name of this rule."""

    action: str
    """What this rule would do."""

    sent_at: Optional[datetime]
    """When the message was sent: UTC, milliseconds; null for texts."""


@dataclass(frozen=True)
class Raid:
    """Raid is a raid of a channel: another user sent their viewers."""

    id: str
    """The raid's id: a UUID in lower case."""

    raider: Person
    """The user whose viewers came."""

    viewer_count: int
    """The number of viewers who came."""

    created_at: datetime
    """When it happened: UTC, milliseconds."""


@dataclass(frozen=True)
class RaidEvent:
    """RaidEvent is the payload of `channel.raid`."""

    channel_id: str
    """The channel that was raided: a UUID in lower case."""

    client_id: str
    """The id of the client that reported the change."""

    raider: Person
    """The user whose viewers came, as of that time."""

    viewer_count: int
    """The number of viewers who came."""

    created_at: datetime
    """When it happened: UTC, milliseconds."""


@dataclass(frozen=True)
class RestoreChatRulesResponse:
    """RestoreChatRulesResponse has all rules of the channel after the change."""

    version: int
    """The number of changes of the rules."""

    rules: list[ChatRule]
    """All rules, in the order in which they were created."""


@dataclass(frozen=True)
class RevertCounts:
    """RevertCounts says how many results of a revert have each status."""

    unbanned: int
    """Users with the status `UNBANNED`."""

    unmuted: int
    """Users with the status `UNMUTED`."""

    restored: int
    """Users with the status `RESTORED`."""


@dataclass(frozen=True)
class RevertModeratorResponse:
    """RevertModeratorResponse is what happened, or would happen, to each user whom the moderator had banned or muted."""

    counts: RevertCounts
    """How many results have each status."""

    results: list[BatchResult]
    """What happened to each user, in the order in which the bans and mutes were made. A user who was banned and muted has two results."""

    has_more: bool
    """Whether bans or mutes remain that the next call lifts."""

    messages_removed_before: Optional[datetime]
    """Retention has removed the messages that were sent before this time, so they were not restored: UTC, milliseconds; null if no messages were to be restored, or none were removed."""


@dataclass(frozen=True)
class RoleEvent:
    """RoleEvent is the payload of `channel.moderator.add`, `channel.moderator.remove` and the corresponding events for VIPs and OGs."""

    channel_id: str
    """The channel: a UUID in lower case."""

    moderator_id: str
    """The user who added or removed the role: a UUID in lower case."""

    client_id: str
    """The id of the client through which the change was made."""

    user_id: str
    """The user whose role was added or removed: a UUID in lower case."""

    role: str
    """The role: `moderator`, `vip` or `og`."""

    changed_at: datetime
    """When the role was added or removed: UTC, milliseconds."""

    moderator: Optional[Person] = None
    """The user, if the role is `moderator`."""

    vip: Optional[Person] = None
    """The user, if the role is `vip`."""

    og: Optional[Person] = None
    """The user, if the role is `og`."""


@dataclass(frozen=True)
class RoleHolder:
    """RoleHolder is a user who holds a role in a channel."""

    id: str
    """The user's id: a UUID in lower case."""

    display_name: str
    """The display name."""

    slug: str
    """The username in lower case."""

    avatar_url: str
    """The URL of the avatar picture. If there is none, that of the default picture."""

    role: str
    """The role: `moderator`, `vip` or `og`."""

    created_at: datetime
    """When the user got the role: UTC, milliseconds."""

    is_banned: bool
    """Whether the user is banned from the channel. A banned user keeps the role, but as a moderator has no moderation right while the ban lasts."""


@dataclass(frozen=True)
class RotateWebhookSecretResponse:
    """RotateWebhookSecretResponse is the new secret."""

    id: str
    """The webhook's id: a UUID in lower case."""

    secret: str
    """The new secret, as in CreateWebhookResponse. It is returned only once, in this response."""

    former_secret_expires_at: datetime
    """Until when deliveries are also signed with the former secret: UTC, milliseconds."""


@dataclass(frozen=True)
class RulePreview:
    """RulePreview is how many messages a rule matched."""

    rule_id: Optional[str]
    """The rule's id: a UUID in lower case; null if the request would create it."""

    name: str
    """The rule's name."""

    action: str
    """What the rule would do."""

    matched: int
    """How many messages match it, whether or not another rule is stricter."""

    users: int
    """How many users sent them. 0 for texts."""


@dataclass(frozen=True)
class SenderFacts:
    """SenderFacts are facts about the sender of a message."""

    roles: list[str]
    """The roles: of `moderator`, `vip` and `og`."""

    is_subscriber: bool
    """Whether the user has a subscription."""

    followed_at: Optional[datetime]
    """Since when the user follows the channel: UTC, milliseconds; null if not."""

    account_created_at: Optional[datetime]
    """When the account was created: UTC, milliseconds; null if it is not known."""

    strikes: int
    """The user's strikes in the channel. Always 0."""


@dataclass(frozen=True)
class SessionSubscription:
    """SessionSubscription is what a session receives."""

    type: str
    """The event type."""

    version: str
    """The version of the type's payload."""

    condition: SubscriptionCondition
    """Which events the session receives."""


@dataclass(frozen=True)
class ShieldAutoStart:
    """ShieldAutoStart says when a shield is raised by itself, for 15 minutes: as soon as one of the given numbers is reached within a minute."""

    follows_per_minute: Optional[int]
    """How many users begin to follow; null if it does not matter."""

    first_messages_per_minute: Optional[int]
    """How many users post for the first time; null if it does not matter."""

    held_per_minute: Optional[int]
    """How many messages are held; null if it does not matter."""


@dataclass(frozen=True)
class ShieldAutoStartInput:
    """ShieldAutoStart says when a shield is raised by itself, for 15 minutes: as soon as one of the given numbers is reached within a minute."""

    follows_per_minute: Optional[int] = None
    """How many users begin to follow; null if it does not matter."""

    first_messages_per_minute: Optional[int] = None
    """How many users post for the first time; null if it does not matter."""

    held_per_minute: Optional[int] = None
    """How many messages are held; null if it does not matter."""


@dataclass(frozen=True)
class ShieldBeginEvent:
    """ShieldBeginEvent is the payload of `channel.shield.begin`: the shield was raised, or its end changed."""

    channel_id: str
    """The channel: a UUID in lower case."""

    moderator_id: Optional[str]
    """The user who made the change: a UUID in lower case; null if it happened by itself."""

    client_id: str
    """The id of the client through which the change was made; empty if it happened by itself."""

    cause: str
    """What caused the event: `moderator`, or `automatic` if a number of the preset was reached."""

    ends_at: datetime
    """When it ends by itself: UTC, milliseconds."""


@dataclass(frozen=True)
class ShieldEndEvent:
    """ShieldEndEvent is the payload of `channel.shield.end`: the shield is down."""

    channel_id: str
    """The channel: a UUID in lower case."""

    moderator_id: Optional[str]
    """The user who made the change: a UUID in lower case; null if it happened by itself."""

    client_id: str
    """The id of the client through which the change was made; empty if it happened by itself."""

    cause: str
    """What caused the event: `moderator`, or `expired`."""

    ended_at: datetime
    """When it ended: UTC, milliseconds."""


@dataclass(frozen=True)
class ShieldPreset:
    """ShieldPreset is what a shield does while it is up."""

    settings: ShieldSettings
    """The settings that are in force, if they are stricter than those of the channel."""

    rules: list[ChatRule]
    """The rules that apply beside those of the channel."""

    auto_start: Optional[ShieldAutoStart]
    """When the shield is raised by itself; null if it never is."""


@dataclass(frozen=True)
class ShieldPresetEvent:
    """ShieldPresetEvent is the payload of `channel.shield.preset`: what the shield does was changed."""

    channel_id: str
    """The channel: a UUID in lower case."""

    moderator_id: Optional[str]
    """The user who made the change: a UUID in lower case; null if it happened by itself."""

    client_id: str
    """The id of the client through which the change was made; empty if it happened by itself."""

    changed: list[str]
    """The fields that changed: of `settings`, `rules` and `autoStart`."""


@dataclass(frozen=True)
class ShieldSettings:
    """ShieldSettings are settings of a chat of which some are given. Their meaning is that of the fields of UpdateChatSettingsRequest. Of exempt roles, those remain that both the preset and the settings name."""

    slow_seconds: Optional[int]
    """How many seconds a sender waits between two messages; null for no change."""

    followers_only_seconds: Optional[int]
    """How many seconds ago senders must have begun to follow; null for no change."""

    subscribers_only: Optional[bool]
    """Whether only subscribers may post; null for no change."""

    emote_only: Optional[bool]
    """Whether messages may have only emoji and emotes; null for no change."""

    min_account_age_seconds: Optional[int]
    """How many seconds ago the account of a sender must have been created; null for no change."""

    unique_seconds: Optional[int]
    """For how many seconds after a message no one may post the same text; null for no change."""

    first_message: Optional[str]
    """What happens to the first message of a user: `allow`, `hold` or `block`; null for no change."""

    exempt_roles: Optional[list[str]]
    """The roles that the settings do not restrict: a list of `vip`, `og` and `subscriber`, each at most once; null for no change."""


@dataclass(frozen=True)
class ShieldSettingsInput:
    """ShieldSettings are settings of a chat of which some are given. Their meaning is that of the fields of UpdateChatSettingsRequest. Of exempt roles, those remain that both the preset and the settings name."""

    slow_seconds: Optional[int] = None
    """How many seconds a sender waits between two messages; null for no change."""

    followers_only_seconds: Optional[int] = None
    """How many seconds ago senders must have begun to follow; null for no change."""

    subscribers_only: Optional[bool] = None
    """Whether only subscribers may post; null for no change."""

    emote_only: Optional[bool] = None
    """Whether messages may have only emoji and emotes; null for no change."""

    min_account_age_seconds: Optional[int] = None
    """How many seconds ago the account of a sender must have been created; null for no change."""

    unique_seconds: Optional[int] = None
    """For how many seconds after a message no one may post the same text; null for no change."""

    first_message: Optional[str] = None
    """What happens to the first message of a user: `allow`, `hold` or `block`; null for no change."""

    exempt_roles: Optional[list[str]] = None
    """The roles that the settings do not restrict: a list of `vip`, `og` and `subscriber`, each at most once; null for no change."""


@dataclass(frozen=True)
class Span:
    """Span is a part of a text."""

    start: int
    """Where it begins, in code points."""

    end: int
    """Where it ends, in code points, exclusive."""


@dataclass(frozen=True)
class StreamCategory:
    """StreamCategory is the category in a stream info."""

    id: int
    """The category's id: 0 or more."""

    title: str
    """The category's name."""


@dataclass(frozen=True)
class StreamEvent:
    """StreamEvent is the payload of `stream.online` and `stream.offline`."""

    channel_id: str
    """The channel: a UUID in lower case."""

    client_id: str
    """The id of the client that reported the change."""

    started_at: datetime
    """When the stream started: UTC, milliseconds."""

    ended_at: Optional[datetime]
    """When the stream ended: UTC, milliseconds; null in `stream.online`."""

    title: str
    """The title of the stream."""

    lang: str
    """The language of the stream: a BCP 47 tag in canonical form."""

    category_id: int
    """The category's id; 0 is "Uncategorized"."""

    category_title: str
    """The category's name."""

    created_at: datetime
    """When the event happened: UTC, milliseconds."""

    category: EventCategory
    """The category of the stream."""


@dataclass(frozen=True)
class Subscriber:
    """Subscriber is a user who subscribes to a channel, and their subscription."""

    id: str
    """The user's id: a UUID in lower case."""

    username: str
    """The username, with the letter case that the user chose."""

    display_name: str
    """The display name."""

    avatar_url: str
    """The URL of the avatar picture. If there is none, that of the default picture."""

    subscribed_at: datetime
    """When the period began: UTC, milliseconds."""

    subscription_expires_at: datetime
    """When the period ends or ended: UTC, milliseconds."""


@dataclass(frozen=True)
class SubscriptionCondition:
    """SubscriptionCondition selects the events of a subscription."""

    channel_id: str
    """Required. The channel: a UUID in upper or lower case."""

    user_id: Optional[str] = None
    """A user: a UUID in upper or lower case; may be empty. It selects nothing: clients send the user as whom they listen. A subscription has that of the call that created it, and no such field if it was empty."""


@dataclass(frozen=True)
class SubscriptionConditionInput:
    """SubscriptionCondition selects the events of a subscription."""

    channel_id: str
    """Required. The channel: a UUID in upper or lower case."""

    user_id: Optional[str] = None
    """A user: a UUID in upper or lower case; may be empty. It selects nothing: clients send the user as whom they listen. A subscription has that of the call that created it, and no such field if it was empty."""


@dataclass(frozen=True)
class SubscriptionEvent:
    """SubscriptionEvent is the payload of `channel.subscribe` and `channel.subscription.end`."""

    channel_id: str
    """The channel: a UUID in lower case."""

    client_id: str
    """The id of the client that reported the change; empty if the subscription expired."""

    user_id: str
    """The user who subscribes or subscribed: a UUID in lower case."""

    user_display_name: str
    """The user's display name at that time."""

    user_slug: str
    """The user's slug at that time."""

    subscribed_at: datetime
    """When the period began: UTC, milliseconds."""

    expires_at: datetime
    """When the period ends or ended: UTC, milliseconds."""

    renew_count: int
    """The number of renewals."""

    streak_count: int
    """The number of consecutive periods."""

    subscriber: Subscriber
    """The user who subscribes or subscribed, as of that time."""

    months: int
    """The number of periods: the renewals and the first one."""

    streak_months: int
    """The number of consecutive periods."""

    created_at: datetime
    """When the event happened: UTC, milliseconds."""


@dataclass(frozen=True)
class SubscriptionInfo:
    """SubscriptionInfo describes a user's subscription to a channel."""

    is_subscriber: bool
    """Whether the user has an active subscription."""

    had_subscription_before: bool
    """Whether the user had a subscription period before the current one, or one that has ended."""

    renew_count: Optional[int]
    """The number of renewals; null if the user never subscribed."""

    streak_count: Optional[int]
    """The number of consecutive periods; null if the user never subscribed."""

    expires_at: Optional[datetime]
    """When the active subscription ends: UTC, milliseconds; null if no subscription is active."""

    subscribed_at: Optional[datetime]
    """When the active subscription began: UTC, milliseconds; null if no subscription is active."""


@dataclass(frozen=True)
class SweepCounts:
    """SweepCounts says what happened to the users of a sweep."""

    banned: int
    """Users whom the sweep banned."""

    already_banned: int
    """Users who had been banned since the preview."""

    user_not_found: int
    """Users who were deleted since the preview."""

    extended: int
    """Users who had been banned since the preview, with bans that would have ended earlier. The sweep replaced these bans."""


@dataclass(frozen=True)
class SweepExemptions:
    """SweepExemptions says how many users a sweep exempts. A user with several causes counts for the first of them."""

    owner: int
    """1 if the channel's owner is exempted, otherwise 0."""

    moderators: int
    """Moderators of the channel."""

    vips: int
    """VIPs of the channel."""

    ogs: int
    """OGs of the channel."""

    subscribers: int
    """Subscribers of the channel."""

    followers: int
    """Users who have followed the channel for longer than `exemptFollowersOlderThanSeconds`."""


@dataclass(frozen=True)
class SweepMatch:
    """SweepMatch is a user who matches."""

    user_id: str
    """The user's id: a UUID in lower case."""

    username: str
    """The user's username."""

    display_name: str
    """The display name."""

    message: Optional[UserMessage]
    """The first message of the user that matches; null if no condition is about messages."""


@dataclass(frozen=True)
class ThanksEvent:
    """ThanksEvent is the payload of `channel.thanks`."""

    channel_id: str
    """The channel: a UUID in lower case."""

    client_id: str
    """The id of the client that reported the change."""

    user_id: str
    """The user who thanked: a UUID in lower case."""

    user_display_name: str
    """The user's display name at that time."""

    user_slug: str
    """The user's slug at that time."""

    key: str
    """The key of the thanks, unique in its channel."""

    amount: str
    """The amount, in the platform's smallest unit. In JSON, a text of decimal digits."""

    message: str
    """The user's message; may be empty."""

    thanked_at: datetime
    """When it happened: UTC, milliseconds."""

    sender: Person
    """The user who thanked, as of that time."""

    thanks_id: str
    """The id of the thanks: its key, unique in its channel."""

    message_id: str
    """The chat message that shows the thanks: a UUID in lower case; empty if the backend named none."""

    created_at: datetime
    """When it happened: UTC, milliseconds."""


@dataclass(frozen=True)
class TimedSetting:
    """TimedSetting is a setting that is set for a time."""

    setting: str
    """The name of the setting, such as `slowSeconds`."""

    ends_at: datetime
    """When it returns to its former value: UTC, milliseconds."""


@dataclass(frozen=True)
class UnbanEvent:
    """UnbanEvent is the payload of `channel.unban`."""

    channel_id: str
    """The channel: a UUID in lower case."""

    moderator_id: str
    """The user who removed the ban, or who had applied it if it expired: a UUID in lower case."""

    client_id: str
    """The id of the client through which the change was made; empty if the ban expired."""

    unbanned_user_id: str
    """The user who was banned: a UUID in lower case."""

    unbanned_user_display_name: str
    """The user's display name at that time."""

    unbanned_at: datetime
    """When the ban was removed or expired: UTC, milliseconds."""

    reason: Optional[str]
    """Why the user was banned; null if no reason was given."""

    expires_at: Optional[datetime]
    """When the ban expires or expired: UTC, milliseconds; null if it lasts until it is removed."""

    batch_id: Optional[str]
    """The batch that had banned the user: a UUID in lower case; null if it was none."""

    cause: str
    """What caused the event: `moderator` for a single removal, `expired`, `batch` if the batch was undone, `revert` if all that a moderator did was reverted."""

    end_reason: Optional[str]
    """Why the ban was removed; null if no reason was given."""

    banned_user: Person
    """The user who was banned, as of that time."""


@dataclass(frozen=True)
class UndoBanBatchResponse:
    """UndoBanBatchResponse is what happened to each user whom the batch had banned."""

    counts: UndoCounts
    """How many users have each status."""

    results: list[BatchResult]
    """What happened to each user, in the order of the batch; only the first 10,000 of a sweep that banned more."""

    messages_removed_before: Optional[datetime]
    """Retention has removed the messages that were sent before this time, so they were not restored: UTC, milliseconds; null if no messages were to be restored, or none were removed."""


@dataclass(frozen=True)
class UndoCounts:
    """UndoCounts says how many results of an undo have each status."""

    unbanned: int
    """Users with the status `UNBANNED`."""

    changed: int
    """Users with the status `CHANGED`."""

    not_banned: int
    """Users with the status `NOT_BANNED`."""

    restored: int
    """Users with the status `RESTORED`."""


@dataclass(frozen=True)
class UnmuteEvent:
    """UnmuteEvent is the payload of `channel.unmute`: a mute that was ended before it expired."""

    channel_id: str
    """The channel: a UUID in lower case."""

    moderator_id: str
    """The user who ended the mute: a UUID in lower case."""

    client_id: str
    """The id of the client through which the change was made."""

    unmuted_user_id: str
    """The user who was muted: a UUID in lower case."""

    unmuted_user_display_name: str
    """The user's display name at that time."""

    unmuted_at: datetime
    """When the mute was ended: UTC, milliseconds."""

    reason: Optional[str]
    """Why the user was muted; null if no reason was given."""

    expires_at: datetime
    """When the mute would have expired: UTC, milliseconds."""

    cause: str
    """What caused the event: `moderator`, or `revert` if all that a moderator or a rule did was reverted."""

    end_reason: Optional[str]
    """Why the mute was ended; null if no reason was given."""

    muted_user: Person
    """The user who was muted, as of that time."""


@dataclass(frozen=True)
class UpdateChatRulesResponse:
    """UpdateChatRulesResponse has all rules of the channel after the change."""

    version: int
    """The number of changes of the rules."""

    rules: list[ChatRule]
    """All rules, in the order in which they were created."""


@dataclass(frozen=True)
class UpdateChatSettingsResponse:
    """UpdateChatSettingsResponse has the settings in force."""

    channel_id: str
    """The channel: a UUID in lower case."""

    version: int
    """The number of changes of the settings, and of values that ended."""

    slow_seconds: int
    """How many seconds a sender waits between two messages: 0 to 3600. 0 if nobody waits."""

    followers_only_seconds: int
    """How many seconds ago senders must have begun to follow the channel: 0 to 7776000. -1 if senders need not follow."""

    subscribers_only: bool
    """Whether only subscribers may post."""

    emote_only: bool
    """Whether messages may have only emoji and emotes."""

    min_account_age_seconds: int
    """How many seconds ago the account of a sender must have been created: 0 to 31536000."""

    unique_seconds: int
    """For how many seconds after a message no one may post the same text: 0 to 300."""

    first_message: str
    """What happens to the first message of a user in the channel: `allow`, `hold` or `block`."""

    exempt_roles: list[str]
    """The roles that the settings do not restrict: `vip`, `og` and `subscriber`. The owner and moderators are never restricted."""

    timed: list[TimedSetting]
    """The settings that are set for a time."""

    hold_seconds: int
    """How many seconds a message is held for a decision: 60 to 86400."""

    on_hold_expiry: str
    """What happens to a held message without a decision: `deny` or `approve`."""

    shield_active: bool
    """Whether the shield is up. While it is, the values are those that are in force with it: for each setting, the stricter one of the shield's preset and of the settings."""


@dataclass(frozen=True)
class UpdateEvent:
    """UpdateEvent is the payload of `channel.update`. It holds the values of the channel after the change."""

    channel_id: str
    """The channel: a UUID in lower case."""

    moderator_id: str
    """The user who changed the channel: a UUID in lower case."""

    client_id: str
    """The id of the client through which the change was made."""

    title: str
    """The title."""

    lang: str
    """The language: a BCP 47 tag in canonical form."""

    category_id: int
    """The category's id; 0 is "Uncategorized"."""

    category_title: str
    """The category's name."""

    updated_at: datetime
    """When the channel was changed: UTC, milliseconds."""


@dataclass(frozen=True)
class UpdateInfoResponse:
    """UpdateInfoResponse holds the values of the channel after the call."""

    title: str
    """The title."""

    lang: str
    """The language: a BCP 47 tag in canonical form."""

    category_id: int
    """The category's id; 0 is "Uncategorized"."""

    category_title: str
    """The category's name."""


@dataclass(frozen=True)
class UpdateShieldPresetResponse:
    """UpdateShieldPresetResponse is the preset after the change."""

    preset: ShieldPreset
    """The preset."""


@dataclass(frozen=True)
class UpdateShieldResponse:
    """UpdateShieldResponse is the shield after the change."""

    active: bool
    """Whether the shield is up."""

    started_by: Optional[Person]
    """Who raised it; null if it is down or was raised by itself."""

    cause: Optional[str]
    """Why it was raised: `moderator` or `automatic`; null if it is down."""

    started_at: Optional[datetime]
    """When it was raised: UTC, milliseconds; null if it is down."""

    ends_at: Optional[datetime]
    """When it ends by itself: UTC, milliseconds; null if it is down."""

    reason: Optional[str]
    """The reason that was given; null if none was."""

    preset: ShieldPreset
    """What it does while it is up."""


@dataclass(frozen=True)
class UserAccount:
    """UserAccount says how long a user is known."""

    created_at: Optional[datetime]
    """When the user's account was created: UTC, milliseconds; null if it is not known."""

    first_message_at: Optional[datetime]
    """When the user posted the first of their messages in the channel that are stored, even if they are deleted, or that retention removed: UTC, milliseconds; null if there is none."""


@dataclass(frozen=True)
class UserBan:
    """UserBan is a user's ban from a channel."""

    banned_at: datetime
    """When the ban was applied: UTC, milliseconds."""

    banned_by: BannedBy
    """The user who applied the ban."""

    reason: Optional[str] = None
    """Why; null if no reason was given."""

    expires_at: Optional[datetime] = None
    """When it expires: UTC, milliseconds; null if it lasts until it is removed."""

    batch_id: Optional[str] = None
    """The batch that it belongs to: a UUID in lower case; null if it belongs to none."""

    cause: Optional[str] = None
    """What caused it: `moderator` for a single ban or mute, `batch` for a ban of a batch, `rule` for a mute by a chat rule."""

    moderator: Optional[BannedBy] = None
    """The user who applied it. Rules mute in the name of the user who edited them last."""

    rule_id: Optional[str] = None
    """The chat rule that muted the user: a UUID in lower case; null if none did."""


@dataclass(frozen=True)
class UserFollow:
    """UserFollow is a user's follow of a channel."""

    followed_at: datetime
    """When the follow began: UTC, milliseconds."""


@dataclass(frozen=True)
class UserGrant:
    """UserGrant is what a user granted to a client."""

    client_id: str
    """The client's id."""

    client_name: str
    """The client's display name."""

    scopes: list[str]
    """The granted scopes."""


@dataclass(frozen=True)
class UserMessage:
    """UserMessage is a message that a user posted in a channel."""

    message_id: str
    """The message's id: a UUID in lower case."""

    message: str
    """The text."""

    created_at: datetime
    """When it was posted: UTC, milliseconds."""


@dataclass(frozen=True)
class UserMute:
    """UserMute is a user's active mute in a channel."""

    mute_expires_at: datetime
    """When the mute expires: UTC, milliseconds."""

    reason: Optional[str] = None
    """Why; null if no reason was given."""

    expires_at: Optional[datetime] = None
    """When it expires: UTC, milliseconds; null if it lasts until it is removed."""

    batch_id: Optional[str] = None
    """The batch that it belongs to: a UUID in lower case; null if it belongs to none."""

    cause: Optional[str] = None
    """What caused it: `moderator` for a single ban or mute, `batch` for a ban of a batch, `rule` for a mute by a chat rule."""

    moderator: Optional[BannedBy] = None
    """The user who applied it. Rules mute in the name of the user who edited them last."""

    rule_id: Optional[str] = None
    """The chat rule that muted the user: a UUID in lower case; null if none did."""


@dataclass(frozen=True)
class UserSummary:
    """UserSummary is a row of a moderator or role list."""

    id: str
    """The user's id: a UUID in lower case."""

    display_name: str
    """The display name."""

    slug: str
    """The username in lower case, as in the URL of the user's channel."""

    avatar_url: str
    """The URL of the avatar picture. If there is none, that of the default picture."""


@dataclass(frozen=True)
class Vod:
    """Vod is a recorded stream of a channel."""

    id: str
    """The VOD's id: a UUID in lower case."""

    preview_img_url: str
    """The URL of a preview picture; may be empty."""

    title: str
    """The title of the stream."""

    view_count: int
    """The number of views."""

    duration: int
    """The length in seconds."""

    started_at: datetime
    """When the stream started: UTC, milliseconds."""

    ended_at: datetime
    """When the stream ended: UTC, milliseconds."""

    category: ContentCategory
    """The category of the stream."""

    channel: ContentUser
    """The owner of the channel."""


@dataclass(frozen=True)
class Vote:
    """Vote is a vote for a channel."""

    id: str
    """The vote's id: a UUID in lower case."""

    username: str
    """The voter's username at the time of the vote."""

    address: str
    """The address from which the user voted, in the form that the voting backend uses."""

    amount: int
    """The number of whole votes."""

    voted_at: datetime
    """When it happened: UTC, milliseconds."""


@dataclass(frozen=True)
class VoteEvent:
    """VoteEvent is the payload of `channel.vote`."""

    channel_id: str
    """The channel: a UUID in lower case."""

    client_id: str
    """The id of the client that reported the change."""

    id: str
    """The vote's id: a UUID in lower case."""

    user_id: str
    """The voter: a UUID in lower case."""

    username: str
    """The voter's username at that time."""

    user_display_name: str
    """The user's display name at that time."""

    address: str
    """The address from which the user voted; may be empty."""

    epoch: int
    """The week number."""

    amount: int
    """The number of whole votes."""

    voted_at: datetime
    """When it happened: UTC, milliseconds."""

    voter: Voter
    """The user who voted, as of that time."""

    created_at: datetime
    """When it happened: UTC, milliseconds."""


@dataclass(frozen=True)
class Voter:
    """Voter is a user who voted for a channel."""

    id: str
    """The user's id: a UUID in lower case."""

    username: str
    """The username, with the letter case that the user chose."""

    display_name: str
    """The display name."""

    avatar_url: str
    """The URL of the avatar picture. If there is none, that of the default picture."""

    address: str
    """The address from which the user voted; may be empty."""


@dataclass(frozen=True)
class Webhook:
    """Webhook is a webhook and its state."""

    id: str
    """The webhook's id: a UUID in lower case."""

    channel_id: Optional[str]
    """The channel: a UUID in lower case; null if the webhook covers every channel."""

    user_id: Optional[str]
    """The user who created the webhook: a UUID in lower case; null if an app or a service token created it."""

    url: str
    """The URL of the receiver."""

    type: list[str]
    """The event types that the webhook sends; empty for all types but live ones."""

    status: str
    """The status: `enabled` or `disabled`."""

    disabled_reason: Optional[str]
    """Why the webhook is disabled: `failing` (a delivery failed for 3 days), `gone` (the receiver responded with 410), `right_lost` (the webhook's user or app has no right to its types) or `behind` (events that were not sent yet are no longer kept). Null if the webhook is enabled."""

    created_at: datetime
    """When the webhook was created: UTC, milliseconds."""

    last_success_at: Optional[datetime]
    """When an event was last delivered: UTC, milliseconds; null if none was delivered yet."""

    last_error: Optional[str]
    """The error of the last failed attempt; null if no attempt failed since the last success."""

    client_id: Optional[str]
    """The app that created the webhook with an app token; null if a user or a service token created it."""


@dataclass(frozen=True)
class WebhookDelivery:
    """WebhookDelivery is the delivery of one event to a receiver."""

    id: str
    """The delivery's id: a UUID in lower case."""

    event_id: str
    """The event's id, which is also the header `webhook-id`: a UUID in lower case."""

    type: str
    """The event's type, such as `channel.ban`."""

    status: str
    """The status: `pending`, `delivered` or `failed`."""

    attempts: int
    """The total number of attempts, including redeliveries."""

    last_status: Optional[int]
    """The HTTP status of the last response; null if there was no response."""

    last_error: Optional[str]
    """The error of the last attempt; null if it succeeded or there was none."""

    next_attempt_at: Optional[datetime]
    """When the next attempt is due: UTC, milliseconds; null unless `pending`. The attempt is made then if the webhook is enabled, no earlier event of the channel is waiting and the receiver did not ask for a pause."""

    delivered_at: Optional[datetime]
    """When the event was last delivered: UTC, milliseconds; null if it was never delivered. The value is kept while the event is redelivered, and if the redelivery fails."""


#: The payload of each type of events.
EVENT_PAYLOADS: dict[str, type] = {
    "channel.ban": BanEvent,
    "channel.unban": UnbanEvent,
    "channel.mute": MuteEvent,
    "channel.mute.expire": MuteExpireEvent,
    "channel.chat.clear_user_messages": ClearUserMessagesEvent,
    "channel.moderator.add": RoleEvent,
    "channel.moderator.remove": RoleEvent,
    "channel.vip.add": RoleEvent,
    "channel.vip.remove": RoleEvent,
    "channel.og.add": RoleEvent,
    "channel.og.remove": RoleEvent,
    "channel.update": UpdateEvent,
    "channel.follow": FollowEvent,
    "channel.unfollow": FollowEvent,
    "channel.subscribe": SubscriptionEvent,
    "channel.subscription.end": SubscriptionEvent,
    "channel.subscription.gift": GiftEvent,
    "channel.thanks": ThanksEvent,
    "channel.vote": VoteEvent,
    "stream.online": StreamEvent,
    "stream.offline": StreamEvent,
    "channel.raid": RaidEvent,
    "channel.chat.message": ChatMessageEvent,
    "channel.chat.message_delete": MessageDeleteEvent,
    "channel.chat.clear": ChatClearEvent,
    "channel.unmute": UnmuteEvent,
    "channel.chat.pin": ChatPinEvent,
    "channel.chat.settings": ChatSettingsEvent,
    "channel.chat.rules": ChatRulesEvent,
    "channel.chat.flag": ChatFlagEvent,
    "channel.chat.hold": ChatHoldEvent,
    "channel.chat.hold.update": ChatHoldUpdateEvent,
    "channel.shield.preset": ShieldPresetEvent,
    "channel.shield.begin": ShieldBeginEvent,
    "channel.shield.end": ShieldEndEvent,
}
