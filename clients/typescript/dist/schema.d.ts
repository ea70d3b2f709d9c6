export interface paths {
    "/v1/moderation/channels": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listModeratedChannels"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/moderation/moderators": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listModerators"];
        put?: never;
        post: operations["addModerator"];
        delete: operations["removeModerator"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/moderation/ban": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["banUser"];
        delete: operations["removeBan"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/moderation/mute": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["muteUser"];
        delete: operations["removeMute"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/moderation/bans": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listBanBatches"];
        put?: never;
        post: operations["banUsers"];
        delete: operations["undoBanBatch"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/moderation/sweeps": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["previewSweep"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/moderation/sweeps/commit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["commitSweep"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/moderation/reverts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["revertModerator"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/moderation/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getUser"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/moderation/log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listLog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/moderation/banned-users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listBans"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/moderation/muted-users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listMutes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/moderation/roles": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listRoles"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/moderation/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/moderation/propagation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getPropagation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/channels": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listChannels"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/channels/raids": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listRaids"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/categories": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listCategories"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/emotes/blaze": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listPlatformEmotes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/emotes/channels/{channelId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listEmotes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/channels/stream-info": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getStreamInfo"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/channels/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/channels/followers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listFollowers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/channels/followed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listFollowed"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/channels/banned-users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listBannedUsers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/channels/roles/vips": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listVips"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/channels/vips": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["addVip"];
        delete: operations["removeVip"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/channels/roles/mods": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listMods"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/channels/roles/ogs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listOgs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/channels/ogs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["addOg"];
        delete: operations["removeOg"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/channels/subscribers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listSubscribers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/channels/activities": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listActivities"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/channels/votes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listVotes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/channels/clips": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listClips"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/channels/vods": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listVods"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/channels/live-stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getLiveStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/channels/info": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["updateInfo"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listWebhooks"];
        put?: never;
        post: operations["createWebhook"];
        delete: operations["deleteWebhook"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["rotateWebhookSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["enableWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listWebhookDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["redeliverWebhookEvent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/profile": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getProfile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/achievement-stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getAchievementStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listUsers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/grants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listGrants"];
        put?: never;
        post?: never;
        delete: operations["revokeGrant"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events/tickets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["createEventTicket"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/chats/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listMessages"];
        put?: never;
        post: operations["postMessage"];
        delete: operations["deleteMessage"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/chats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["clearChat"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/chats/pinned": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getPinnedMessage"];
        put?: never;
        post: operations["pinMessage"];
        delete: operations["unpinMessage"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events/subscriptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listSubscriptions"];
        put?: never;
        post: operations["createSubscription"];
        delete: operations["deleteSubscription"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events/{sessionId}/subscriptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listSessionSubscriptions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tokens/self": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getSelf"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/chats/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getChatSettings"];
        put?: never;
        post: operations["updateChatSettings"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/moderation/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getModerationSettings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/chats/rules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getChatRules"];
        put?: never;
        post: operations["updateChatRules"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/chats/rules/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["previewChatRules"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/chats/rules/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listChatRuleVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/chats/rules/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["restoreChatRules"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/moderation/shield": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getShield"];
        put?: never;
        post: operations["updateShield"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/moderation/shield/preset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["updateShieldPreset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/chats/held": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listHeldMessages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/chats/held/claims": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["claimHeldMessages"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/chats/held/decisions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["decideHeldMessages"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description Activity is an event in a channel's activity feed. */
        Activity: {
            /**
             * Format: int64
             * @description The activity's number, unique in its channel: 1 or more.
             */
            id: number;
            /** @description The type: `follower`, `subscriber`, `gift`, `thanks` or `vote`. */
            type: string;
            /**
             * Format: date-time
             * @description When it happened: UTC, milliseconds.
             */
            createdAt: string;
            /** @description The details. Always contains `userId`, `displayName` and `slug`; for a subscriber also `renewCount`, for a gift `count`, for thanks `amount` and `message`, for a vote `amount` and `epoch`. An activity that a backend service put as a whole has `userId`, `displayName`, `slug` and what the service gave. */
            info: {
                [key: string]: unknown;
            };
            /** @description The action that the writer of the activity offers for it; often empty. */
            action: {
                [key: string]: unknown;
            };
        };
        /** @description AddModeratorRequest names the channel and the new moderator. */
        AddModeratorRequest: {
            /**
             * Format: uuid
             * @description Required. The channel: a UUID in upper or lower case. It must be the channel of the token's user.
             */
            channelId: string;
            /**
             * Format: uuid
             * @description Required. The user: a UUID in upper or lower case. The channel's owner is not accepted.
             */
            userId: string;
        };
        /** @description AddOgRequest names the channel and the new OG. */
        AddOgRequest: {
            /**
             * Format: uuid
             * @description Required. The channel: a UUID in upper or lower case. It must be the channel of the token's user.
             */
            channelId: string;
            /**
             * Format: uuid
             * @description Required. The user: a UUID in upper or lower case. The channel's owner is not accepted.
             */
            userId: string;
        };
        /** @description AddOgResponse is the role that the user has after the call. */
        AddOgResponse: {
            /**
             * Format: uuid
             * @description The channel: a UUID in lower case.
             */
            channelId: string;
            /**
             * Format: uuid
             * @description The user: a UUID in lower case.
             */
            userId: string;
            /** @description The role. Always `og`. */
            role: string;
        };
        /** @description AddVipRequest names the channel and the new VIP. */
        AddVipRequest: {
            /**
             * Format: uuid
             * @description Required. The channel: a UUID in upper or lower case. It must be the channel of the token's user.
             */
            channelId: string;
            /**
             * Format: uuid
             * @description Required. The user: a UUID in upper or lower case. The channel's owner is not accepted.
             */
            userId: string;
        };
        /** @description AddVipResponse is the role that the user has after the call. */
        AddVipResponse: {
            /**
             * Format: uuid
             * @description The channel: a UUID in lower case.
             */
            channelId: string;
            /**
             * Format: uuid
             * @description The user: a UUID in lower case.
             */
            userId: string;
            /** @description The role. Always `vip`. */
            role: string;
        };
        /** @description AudienceMember is a follower or subscriber of a channel. */
        AudienceMember: {
            /**
             * Format: uuid
             * @description The user's id: a UUID in lower case.
             */
            id: string;
            /** @description The display name. */
            displayName: string;
            /** @description The username in lower case. */
            slug: string;
            /** @description The URL of the avatar picture. If there is none, that of the default picture. */
            avatarUrl: string;
            /** @description Whether the user follows the channel. */
            isFollower: boolean;
            /**
             * Format: date-time
             * @description When the follow began: UTC, milliseconds; null if the user does not follow the channel.
             */
            followedAt: string | null;
            /** @description The user's subscription to the channel. */
            subscriptionInfo: components["schemas"]["SubscriptionInfo"];
        };
        /** @description BanBatch is a batch of bans. */
        BanBatch: {
            /**
             * Format: uuid
             * @description The batch's id: a UUID in lower case.
             */
            batchId: string;
            /**
             * Format: date-time
             * @description When the bans were applied: UTC, milliseconds.
             */
            createdAt: string;
            /** @description The user who applied the bans. */
            bannedBy: components["schemas"]["BannedBy"];
            /** @description Why the users are banned; null if no reason was given. */
            reason: string | null;
            /**
             * Format: date-time
             * @description When the bans that were made at created_at expire or expired: UTC, milliseconds. A sweep also makes bans later, which last as long. It is null if bans last until they are removed.
             */
            expiresAt: string | null;
            /**
             * Format: int32
             * @description How many users the batch banned, including those whose bans it extended.
             */
            bannedCount: number;
            /**
             * Format: int32
             * @description How many of its bans are in force.
             */
            stillBannedCount: number;
            /**
             * Format: date-time
             * @description When the afterglow of the sweep ends, which bans further users as part of the batch: UTC, milliseconds; null if none is running.
             */
            afterglowEndsAt: string | null;
        };
        /** @description BanElsewhere is a user's ban from another channel. */
        BanElsewhere: {
            /** @description The channel's owner, whose id is that of the channel. */
            channel: components["schemas"]["UserSummary"];
            /**
             * Format: date-time
             * @description When the ban was applied: UTC, milliseconds.
             */
            bannedAt: string;
            /** @description Why the user is banned; null if no reason was given. */
            reason: string | null;
            /**
             * Format: date-time
             * @description When the ban expires: UTC, milliseconds; null if it lasts until it is removed.
             */
            expiresAt: string | null;
        };
        /** @description BanEvent is the payload of `channel.ban`. */
        BanEvent: {
            /**
             * Format: uuid
             * @description The channel: a UUID in lower case.
             */
            channelId: string;
            /**
             * Format: uuid
             * @description The user who applied the ban, or who undid the ban that had replaced it: a UUID in lower case.
             */
            moderatorId: string;
            /** @description The id of the client through which the change was made. */
            clientId: string;
            /**
             * Format: uuid
             * @description The banned user: a UUID in lower case.
             */
            bannedUserId: string;
            /** @description The banned user's display name at that time. */
            bannedUserDisplayName: string;
            /**
             * Format: date-time
             * @description When the ban was applied: UTC, milliseconds.
             */
            bannedAt: string;
            /** @description Why the user is banned; null if no reason was given. */
            reason: string | null;
            /**
             * Format: date-time
             * @description When the ban expires or expired: UTC, milliseconds; null if it lasts until it is removed.
             */
            expiresAt: string | null;
            /**
             * Format: uuid
             * @description The batch that banned the user: a UUID in lower case; null if it was none.
             */
            batchId: string | null;
            /** @description What caused the event: `moderator` for a single ban, `batch` for a ban of a batch. If the ban is in force again because the one that had replaced it was undone: `batch` or `revert`. */
            cause: string;
            /** @description Whether the user was banned already, and this ban is in force instead of the earlier one. Such a ban deletes no messages. */
            replaces: boolean;
            /** @description The banned user, as of that time. */
            bannedUser: components["schemas"]["Person"];
        };
        /** @description BanUserRequest names the channel and, by id or by username, the user. */
        BanUserRequest: {
            /**
             * Format: uuid
             * @description Required. The channel: a UUID in upper or lower case.
             */
            channelId: string;
            /**
             * Format: uuid
             * @description The user's id: a UUID in upper or lower case. Exactly one of `banUserId` and `banUsername` is required.
             */
            banUserId?: string | null;
            /** @description The user's username, compared case-insensitively: 1 to 40 of `A-Z a-z 0-9 _ . -`. White space around the name, and one `@` before it, are ignored. */
            banUsername?: string | null;
            /** @description Why the user is banned: 1 to 500 characters, without control characters. */
            reason?: string | null;
            /**
             * Format: int64
             * @description How long the ban lasts, in seconds: 1 to 1,209,600 (14 days). If unset, the ban lasts until it is removed.
             */
            durationSeconds?: number | null;
            /** @description Whether the new ban replaces the ban in force although it does not last longer. */
            replace?: boolean | null;
        };
        /** @description BanUserResponse is the ban in force. */
        BanUserResponse: {
            /**
             * Format: uuid
             * @description The channel: a UUID in lower case.
             */
            channelId: string;
            /**
             * Format: uuid
             * @description The user who applied the ban: a UUID in lower case.
             */
            moderatorId: string;
            /**
             * Format: uuid
             * @description The banned user: a UUID in lower case.
             */
            bannedUserId: string;
            /** @description The banned user's display name at the time of the response. */
            bannedUserDisplayName: string;
            /**
             * Format: date-time
             * @description When the ban was applied: UTC, milliseconds.
             */
            bannedAt: string;
            /** @description Why; null if no reason was given. */
            reason?: string | null;
            /**
             * Format: date-time
             * @description When the ban or mute expires: UTC, milliseconds; null if it lasts until it is removed. It is in force before this instant.
             */
            expiresAt?: string | null;
            /** @description Whether the call banned the user or replaced the ban in force. */
            changed?: boolean;
        };
        /** @description BanUsersRequest names the channel, the users and the terms of their bans. */
        BanUsersRequest: {
            /**
             * Format: uuid
             * @description Required. The channel: a UUID in upper or lower case.
             */
            channelId: string;
            /** @description Required. The users: 1 to 1,000. */
            users: components["schemas"]["BatchTargetInput"][];
            /** @description Why the users are banned: 1 to 500 characters, without control characters. */
            reason?: string | null;
            /**
             * Format: int64
             * @description How long the bans last, in seconds: 1 to 1,209,600 (14 days). If unset, a ban lasts until it is removed.
             */
            durationSeconds?: number | null;
            /** @description Whether to return what would happen, and to change nothing. */
            dryRun?: boolean | null;
        };
        /** @description BanUsersResponse is what happened, or would happen, to each user. */
        BanUsersResponse: {
            /**
             * Format: uuid
             * @description The batch's id: a UUID in lower case; null if no user was banned.
             */
            batchId: string | null;
            /** @description How many users have each status. */
            counts: components["schemas"]["BatchCounts"];
            /** @description What happened to each user, in the order of the request. */
            results: components["schemas"]["BatchResult"][];
        };
        /** @description BannedBy is the moderator who applied a ban. */
        BannedBy: {
            /**
             * Format: uuid
             * @description The moderator's user id: a UUID in lower case.
             */
            id: string;
            /** @description The display name. */
            displayName: string;
            /** @description The username in lower case. */
            slug: string;
        };
        /** @description BannedUser is a user who is banned from a channel. */
        BannedUser: {
            /**
             * Format: uuid
             * @description The user's id: a UUID in lower case.
             */
            id: string;
            /** @description The display name. */
            displayName: string;
            /** @description The username in lower case. */
            slug: string;
            /**
             * Format: date-time
             * @description When the ban was applied: UTC, milliseconds.
             */
            bannedAt: string;
            /** @description The user who applied the ban. */
            bannedBy: components["schemas"]["BannedBy"];
            /** @description Why the user is banned; null if no reason was given. */
            reason: string | null;
            /**
             * Format: date-time
             * @description When the ban expires: UTC, milliseconds; null if it lasts until it is removed.
             */
            expiresAt: string | null;
        };
        /** @description BatchCounts says how many results of a batch have each status. */
        BatchCounts: {
            /**
             * Format: int32
             * @description Users with the status `BANNED`.
             */
            banned: number;
            /**
             * Format: int32
             * @description Users with the status `ALREADY_BANNED`.
             */
            alreadyBanned: number;
            /**
             * Format: int32
             * @description Users with the status `USER_NOT_FOUND`.
             */
            userNotFound: number;
            /**
             * Format: int32
             * @description Users with the status `TARGET_IS_CHANNEL`.
             */
            targetIsChannel: number;
            /**
             * Format: int32
             * @description Users with the status `DUPLICATE`.
             */
            duplicate: number;
            /**
             * Format: int32
             * @description Users with the status `EXTENDED`.
             */
            extended: number;
            /**
             * Format: int32
             * @description Users with the status `INVALID`.
             */
            invalid: number;
        };
        /** @description BatchResult is what happened to one user of a batch. */
        BatchResult: {
            /**
             * Format: uuid
             * @description The user's id: a UUID in lower case. Null if the request names the user by a username that no user has, or if the status is `INVALID`.
             */
            userId: string | null;
            /** @description The user's username. Null if the request names the user by an id that no user has, or if the status is `INVALID`. */
            username: string | null;
            /** @description For `banUsers`: `BANNED`; `EXTENDED` if the ban replaced one that would have ended earlier; `ALREADY_BANNED`, whose ban does not change; `USER_NOT_FOUND`; `TARGET_IS_CHANNEL` for the owner of the channel; `DUPLICATE` for a user whom the request names earlier as well; `INVALID` if the request has no valid `userId` or `username` there. For `undoBanBatch`: `UNBANNED`; `RESTORED` if the ban that this one replaced is in force again; `CHANGED` if another ban is in force by now; `NOT_BANNED` if the ban was removed or has expired. For `revertModerator`: `UNBANNED`; `RESTORED`; `UNMUTED`. */
            status: string;
        };
        /** @description BatchTarget names a user of a batch. Exactly one of `userId` and `username` is required. */
        BatchTargetInput: {
            /**
             * Format: uuid
             * @description The user's id: a UUID in upper or lower case.
             */
            userId?: string | null;
            /** @description The user's username, compared case-insensitively: 1 to 40 of `A-Z a-z 0-9 _ . -`. White space around the name, and one `@` before it, are ignored. */
            username?: string | null;
        };
        /** @description Category is a category of channels, streams, clips and VODs. */
        Category: {
            /**
             * Format: int64
             * @description The category's id.
             */
            id: number;
            /** @description The name, as in `name`. */
            title: string;
            /** @description The name in URLs. */
            slug: string;
            /** @description The URL of the picture. If there is none, that of the default picture. */
            imageUrl: string;
            /**
             * Format: int64
             * @description The id of the category above this one; null if there is none.
             */
            parentId: number | null;
            /** @description The name. */
            name: string;
        };
        /** @description Channel is a row of `listChannels`. */
        Channel: {
            /**
             * Format: uuid
             * @description The channel's id, which is its owner's user id: a UUID in lower case.
             */
            id: string;
            /** @description The current title: 1 to 140 characters. */
            title: string;
            /** @description The owner's display name. */
            displayName: string;
            /** @description The owner's description of the channel: up to 300 characters; may be empty. */
            bio: string;
            /** @description The owner's username in lower case, as in the channel's URL. */
            slug: string;
            /** @description The URL of the owner's avatar picture. If there is none, that of the default picture. */
            avatarUrl: string;
            /** @description The language: a BCP 47 tag in canonical form. */
            lang: string;
            /** @description Whether the channel is live. */
            isLive: boolean;
            /**
             * Format: int64
             * @description The number of followers.
             */
            followerCount: number;
            /** @description The channel's category. */
            category: components["schemas"]["ChannelCategory"];
        };
        /** @description ChannelCategory is the category of a channel. A channel without a category has category 0, "Uncategorized". */
        ChannelCategory: {
            /**
             * Format: int64
             * @description The category's id: 0 or more.
             */
            id: number;
            /** @description The display name. */
            name: string;
            /** @description The name as used in URLs. */
            slug: string;
            /** @description The URL of the picture. If there is none, that of the default picture. */
            imageUrl: string;
        };
        /** @description ChatClearEvent is the payload of `channel.chat.clear`: every message that was posted in the channel so far is deleted. */
        ChatClearEvent: {
            /**
             * Format: uuid
             * @description The channel: a UUID in lower case.
             */
            channelId: string;
            /**
             * Format: uuid
             * @description The user who deleted the messages: a UUID in lower case.
             */
            moderatorId: string;
            /** @description The id of the client through which the change was made. */
            clientId: string;
            /**
             * Format: date-time
             * @description When the messages were deleted: UTC, milliseconds.
             */
            clearedAt: string;
        };
        /** @description ChatEmote is an emote in the text of a message. */
        ChatEmote: {
            /**
             * Format: uuid
             * @description The emote's id: a UUID in lower case.
             */
            id: string;
            /** @description The name. */
            name: string;
            /** @description The URL of the picture. */
            imageUrl: string;
        };
        /** @description ChatFlagEvent is the payload of the live event `channel.chat.flag`: a message that was posted matches rules. */
        ChatFlagEvent: {
            /**
             * Format: uuid
             * @description The channel: a UUID in lower case.
             */
            channelId: string;
            /**
             * Format: uuid
             * @description The user who made the change: a UUID in lower case; null if it happened by itself.
             */
            moderatorId: string | null;
            /** @description The id of the client through which the change was made; empty if it happened by itself. */
            clientId: string;
            /**
             * Format: uuid
             * @description The message: a UUID in lower case.
             */
            messageId: string;
            /** @description The sender. */
            user: components["schemas"]["Person"];
            /** @description The text. */
            message: string;
            /** @description The ids of the rules: UUIDs in lower case. */
            rules: string[];
            /** @description Where in the text the rules match. */
            spans: components["schemas"]["Span"][];
        };
        /** @description ChatHoldEvent is the payload of the live event `channel.chat.hold`: a message waits for a decision. Beside the channel it has the fields of HeldMessage. */
        ChatHoldEvent: {
            /**
             * Format: uuid
             * @description The channel: a UUID in lower case.
             */
            channelId: string;
            /**
             * Format: uuid
             * @description The user who made the change: a UUID in lower case; null if it happened by itself.
             */
            moderatorId: string | null;
            /** @description The id of the client through which the change was made; empty if it happened by itself. */
            clientId: string;
            /**
             * Format: uuid
             * @description The id that the message will have if it is posted: a UUID in lower case.
             */
            messageId: string;
            /** @description The sender. */
            user: components["schemas"]["Person"];
            /** @description What is known about the sender. */
            facts: components["schemas"]["SenderFacts"];
            /** @description The text. */
            message: string;
            /** @description Where in the text the rules match. */
            spans: components["schemas"]["Span"][];
            /** @description The ids of the rules that hold the message: UUIDs in lower case. If the setting `firstMessage` holds it, those of the rules that flag it. */
            rules: string[];
            /**
             * Format: date-time
             * @description When the message was held: UTC, milliseconds.
             */
            heldAt: string;
            /**
             * Format: date-time
             * @description When it is decided without a moderator: UTC, milliseconds.
             */
            expiresAt: string;
            /** @description `PENDING`. */
            status: string;
            /** @description Always null: nobody claims it yet. */
            claimedBy: components["schemas"]["Person"] | null;
            /**
             * Format: date-time
             * @description Always null.
             */
            claimedUntil: string | null;
            /** @description Always null: nobody has decided yet. */
            decidedBy: components["schemas"]["Person"] | null;
            /**
             * Format: date-time
             * @description Always null.
             */
            decidedAt: string | null;
            /**
             * Format: uuid
             * @description The message that it replies to: a UUID in lower case; null if it is no reply.
             */
            replyToMessageId: string | null;
        };
        /** @description ChatHoldUpdateEvent is the payload of `channel.chat.hold.update`: a held message was decided, or, as a live event that is not kept, claimed. */
        ChatHoldUpdateEvent: {
            /**
             * Format: uuid
             * @description The channel: a UUID in lower case.
             */
            channelId: string;
            /**
             * Format: uuid
             * @description The user who made the change: a UUID in lower case; null if it happened by itself.
             */
            moderatorId: string | null;
            /** @description The id of the client through which the change was made; empty if it happened by itself. */
            clientId: string;
            /**
             * Format: uuid
             * @description The message: a UUID in lower case.
             */
            messageId: string;
            /** @description The status, as of HeldMessage. */
            status: string;
            /** @description Who decided; null if nobody did. */
            decidedBy: components["schemas"]["Person"] | null;
            /**
             * Format: date-time
             * @description When it was decided, expired or was cancelled: UTC, milliseconds; null while it is pending.
             */
            decidedAt: string | null;
            /** @description Who claims it; null unless this is a claim. */
            claimedBy: components["schemas"]["Person"] | null;
            /**
             * Format: date-time
             * @description Until when: UTC, milliseconds; null unless this is a claim.
             */
            claimedUntil: string | null;
        };
        /** @description ChatMessage is a message that is not deleted. */
        ChatMessage: {
            /**
             * Format: uuid
             * @description The message's id: a UUID in lower case.
             */
            id: string;
            /**
             * Format: uuid
             * @description The channel: a UUID in lower case.
             */
            channelId: string;
            /** @description The sender, as of the time of the call or event; `isBot` is as of the time of the post. */
            sender: components["schemas"]["ChatSender"];
            /** @description The text: 1 to 500 characters in Unicode NFC. */
            message: string;
            /**
             * Format: uuid
             * @description The message that it replies to: a UUID in lower case; null if it is no reply. That message may be deleted since.
             */
            replyToMessageId: string | null;
            /**
             * Format: date-time
             * @description When it was posted: UTC, milliseconds.
             */
            createdAt: string;
            /** @description The emotes that the text names as `[emote:<id>]`, each once, in the order of the text: those of the platform, those of the channel, and public ones of other channels, as of the time of the call. */
            emotes: components["schemas"]["ChatEmote"][];
        };
        /** @description ChatMessageEvent is the payload of `channel.chat.message`: a message was posted. The event is live. It is delivered at most once, shortly after the message was posted, and is not kept: it has no sequence and no cursor, and is not in the log. A message that is deleted before it is sent is not sent. The messages that were posted through one server are delivered in the order in which they were posted. */
        ChatMessageEvent: {
            /**
             * Format: uuid
             * @description The channel: a UUID in lower case.
             */
            channelId: string;
            /**
             * Format: uuid
             * @description The message's id: a UUID in lower case.
             */
            messageId: string;
            /** @description The text: 1 to 500 characters in Unicode NFC. */
            message: string;
            /** @description The sender, as of the time of the post. */
            sender: components["schemas"]["ChatSender"];
            /**
             * Format: date-time
             * @description When it was posted: UTC, milliseconds.
             */
            createdAt: string;
            /**
             * Format: uuid
             * @description The message that it replies to: a UUID in lower case; null if it is no reply.
             */
            replyToMessageId: string | null;
            /** @description The emotes that the text names as `[emote:<id>]`, each once, in the order of the text: those of the platform, those of the channel, and public ones of other channels. */
            emotes: components["schemas"]["ChatEmote"][];
        };
        /** @description ChatPinEvent is the payload of `channel.chat.pin`: a message is pinned, in place of the one that was pinned before, or the pin is removed. */
        ChatPinEvent: {
            /**
             * Format: uuid
             * @description The channel: a UUID in lower case.
             */
            channelId: string;
            /**
             * Format: uuid
             * @description The user who made the change: a UUID in lower case.
             */
            moderatorId: string;
            /** @description The id of the client through which the change was made. */
            clientId: string;
            /** @description The pinned message, as of the time of the event; null if the pin was removed. A message that is deleted later is pinned no more, without another event of this type. */
            message: components["schemas"]["ChatMessage"] | null;
        };
        /** @description ChatRule is a rule: what it looks for in messages, and what it does with those that have it. All enabled rules look at each message, and the strictest action of those that match is done: `mute`, `block`, `hold`, `delete`, `flag`. The owner and the moderators of the channel are exempt. The fields after `message` belong to kinds of rules, and a rule has those of its kind only. The others are null or empty. */
        ChatRule: {
            /** @description The rule's id: a UUID. Empty in a request to create a rule, which gets a new id. */
            ruleId: string;
            /** @description Required. What moderators call the rule: 1 to 60 characters. */
            name: string;
            /**
             * @description Required. What the rule looks for: `terms`, `pattern`, `links`, `caps`, `symbols`, `repetition` or `mentions`.
             * @enum {string}
             */
            kind: "terms" | "pattern" | "links" | "caps" | "symbols" | "repetition" | "mentions";
            /**
             * @description Required. What happens to a message that matches: `flag` posts it and tells the moderators, `delete` stores it as a deleted message, `hold` keeps it until a moderator decides, `block` refuses it, and `mute` refuses it and mutes the sender.
             * @enum {string}
             */
            action: "flag" | "delete" | "hold" | "block" | "mute";
            /**
             * Format: int32
             * @description How many seconds the sender is muted. Required with the action `mute`, else null.
             */
            muteSeconds: number | null;
            /**
             * Format: int32
             * @description How many strikes the sender gets. It must be 0.
             */
            strikes: number;
            /** @description Whether the rule looks at messages; true if it is not given. */
            enabled: boolean | null;
            /**
             * Format: date-time
             * @description When the rule is deleted: UTC, milliseconds; null if it stays. It is in the future when the rule is put. `updateShieldPreset` leaves out a rule that has expired since it was read.
             */
            expiresAt: string | null;
            /** @description The roles to which the rule does not apply: a list of `vip`, `og` and `subscriber`, each at most once. Empty if it applies to all of them. */
            exemptRoles: ("vip" | "og" | "subscriber")[];
            /**
             * Format: int32
             * @description The rule does not apply to users who have followed the channel for at least this many seconds; null if follows do not matter.
             */
            exemptFollowersOlderThanSeconds: number | null;
            /** @description What the sender of a refused message is told: up to 150 characters; null for nothing. */
            message: string | null;
            /** @description Of `terms`, required: words and phrases, which match as whole words, and also if letters that look alike, other cases, marks and punctuation disguise them: 1 to 1,000, each of 1 to 100 characters. */
            terms: string[];
            /** @description Of `terms`: words and phrases that are allowed. No part of them matches. Up to 1,000, each of 1 to 100 characters. */
            allow: string[];
            /** @description Of `terms`: whether disguises also match that are guesses: digits and signs for letters, letters that are repeated three times or more, and letters that are spaced, dotted or marked up; null for other kinds. */
            evasions: boolean | null;
            /** @description Of `pattern`, required: regular expressions in the syntax of RE2: 1 to 10, each of 1 to 500 bytes. They must not match the empty text. */
            patterns: string[];
            /**
             * @description Of `links`, required: `all` refuses every link except those to `allowDomains`, and `listed` those to `blockDomains`; null for other kinds.
             * @enum {string|null}
             */
            mode: "all" | "listed" | null;
            /** @description Of `links`: domains that are allowed, with their subdomains: up to 1,000. */
            allowDomains: string[];
            /** @description Of `links`: domains that are not allowed, with their subdomains: up to 1,000. */
            blockDomains: string[];
            /**
             * Format: int32
             * @description Of `caps` and `symbols`: how many characters a message has at least: 1 to 500; 10 if it is not given. Null for other kinds.
             */
            minLength: number | null;
            /**
             * Format: int32
             * @description Of `caps` and `symbols`: how many percent of the letters are capitals, or of the characters are symbols, at least: 1 to 100; 70 if it is not given. Null for other kinds.
             */
            percent: number | null;
            /**
             * Format: int32
             * @description Of `symbols`: how many combining marks one letter has at most; null if they do not matter.
             */
            maxMarks: number | null;
            /**
             * Format: int32
             * @description Of `repetition`: at which post of the same text by one user the rule matches; null if it does not matter. This or `senders` is required.
             */
            sameSender: number | null;
            /**
             * Format: int32
             * @description Of `repetition`: at which number of users who post the same text the rule matches; null if it does not matter.
             */
            senders: number | null;
            /**
             * Format: int32
             * @description Of `repetition`, required: within how many seconds the same text is posted again; null for other kinds.
             */
            withinSeconds: number | null;
            /**
             * Format: int32
             * @description Of `mentions`, required: how many users a message may mention; null for other kinds.
             */
            max: number | null;
        };
        /** @description ChatRule is a rule: what it looks for in messages, and what it does with those that have it. All enabled rules look at each message, and the strictest action of those that match is done: `mute`, `block`, `hold`, `delete`, `flag`. The owner and the moderators of the channel are exempt. The fields after `message` belong to kinds of rules, and a rule has those of its kind only. The others are null or empty. */
        ChatRuleInput: {
            /** @description The rule's id: a UUID. Empty in a request to create a rule, which gets a new id. */
            ruleId?: string | null;
            /** @description Required. What moderators call the rule: 1 to 60 characters. */
            name: string;
            /**
             * @description Required. What the rule looks for: `terms`, `pattern`, `links`, `caps`, `symbols`, `repetition` or `mentions`.
             * @enum {string}
             */
            kind: "terms" | "pattern" | "links" | "caps" | "symbols" | "repetition" | "mentions";
            /**
             * @description Required. What happens to a message that matches: `flag` posts it and tells the moderators, `delete` stores it as a deleted message, `hold` keeps it until a moderator decides, `block` refuses it, and `mute` refuses it and mutes the sender.
             * @enum {string}
             */
            action: "flag" | "delete" | "hold" | "block" | "mute";
            /**
             * Format: int32
             * @description How many seconds the sender is muted. Required with the action `mute`, else null.
             */
            muteSeconds?: number | null;
            /**
             * Format: int32
             * @description How many strikes the sender gets. It must be 0.
             */
            strikes?: number | null;
            /** @description Whether the rule looks at messages; true if it is not given. */
            enabled?: boolean | null;
            /**
             * Format: date-time
             * @description When the rule is deleted: UTC, milliseconds; null if it stays. It is in the future when the rule is put. `updateShieldPreset` leaves out a rule that has expired since it was read.
             */
            expiresAt?: string | null;
            /** @description The roles to which the rule does not apply: a list of `vip`, `og` and `subscriber`, each at most once. Empty if it applies to all of them. */
            exemptRoles?: ("vip" | "og" | "subscriber")[] | null;
            /**
             * Format: int32
             * @description The rule does not apply to users who have followed the channel for at least this many seconds; null if follows do not matter.
             */
            exemptFollowersOlderThanSeconds?: number | null;
            /** @description What the sender of a refused message is told: up to 150 characters; null for nothing. */
            message?: string | null;
            /** @description Of `terms`, required: words and phrases, which match as whole words, and also if letters that look alike, other cases, marks and punctuation disguise them: 1 to 1,000, each of 1 to 100 characters. */
            terms?: string[] | null;
            /** @description Of `terms`: words and phrases that are allowed. No part of them matches. Up to 1,000, each of 1 to 100 characters. */
            allow?: string[] | null;
            /** @description Of `terms`: whether disguises also match that are guesses: digits and signs for letters, letters that are repeated three times or more, and letters that are spaced, dotted or marked up; null for other kinds. */
            evasions?: boolean | null;
            /** @description Of `pattern`, required: regular expressions in the syntax of RE2: 1 to 10, each of 1 to 500 bytes. They must not match the empty text. */
            patterns?: string[] | null;
            /**
             * @description Of `links`, required: `all` refuses every link except those to `allowDomains`, and `listed` those to `blockDomains`; null for other kinds.
             * @enum {string|null}
             */
            mode?: "all" | "listed" | null;
            /** @description Of `links`: domains that are allowed, with their subdomains: up to 1,000. */
            allowDomains?: string[] | null;
            /** @description Of `links`: domains that are not allowed, with their subdomains: up to 1,000. */
            blockDomains?: string[] | null;
            /**
             * Format: int32
             * @description Of `caps` and `symbols`: how many characters a message has at least: 1 to 500; 10 if it is not given. Null for other kinds.
             */
            minLength?: number | null;
            /**
             * Format: int32
             * @description Of `caps` and `symbols`: how many percent of the letters are capitals, or of the characters are symbols, at least: 1 to 100; 70 if it is not given. Null for other kinds.
             */
            percent?: number | null;
            /**
             * Format: int32
             * @description Of `symbols`: how many combining marks one letter has at most; null if they do not matter.
             */
            maxMarks?: number | null;
            /**
             * Format: int32
             * @description Of `repetition`: at which post of the same text by one user the rule matches; null if it does not matter. This or `senders` is required.
             */
            sameSender?: number | null;
            /**
             * Format: int32
             * @description Of `repetition`: at which number of users who post the same text the rule matches; null if it does not matter.
             */
            senders?: number | null;
            /**
             * Format: int32
             * @description Of `repetition`, required: within how many seconds the same text is posted again; null for other kinds.
             */
            withinSeconds?: number | null;
            /**
             * Format: int32
             * @description Of `mentions`, required: how many users a message may mention; null for other kinds.
             */
            max?: number | null;
        };
        /** @description ChatRuleVersion is a change of the rules of a channel. */
        ChatRuleVersion: {
            /**
             * Format: int64
             * @description The number of the version.
             */
            version: number;
            /** @description Who made the change; null if it happened by itself. */
            moderator: components["schemas"]["Person"] | null;
            /** @description The id of the client through which the change was made; empty if it happened by itself. */
            clientId: string;
            /** @description What caused the change: `moderator`, `restore`, `expired`, or `revert` if the changes of a moderator were reverted. */
            cause: string;
            /**
             * Format: date-time
             * @description When the rules were changed: UTC, milliseconds.
             */
            changedAt: string;
            /** @description The ids of the rules that were created or replaced: UUIDs in lower case. */
            put: string[];
            /** @description The ids of the rules that were deleted: UUIDs in lower case. */
            deleted: string[];
        };
        /** @description ChatRulesEvent is the payload of `channel.chat.rules`: the rules of the channel's chat have a new version. */
        ChatRulesEvent: {
            /**
             * Format: uuid
             * @description The channel: a UUID in lower case.
             */
            channelId: string;
            /**
             * Format: uuid
             * @description The user who made the change: a UUID in lower case; null if it happened by itself.
             */
            moderatorId: string | null;
            /** @description The id of the client through which the change was made; empty if it happened by itself. */
            clientId: string;
            /**
             * Format: int64
             * @description The number of the version.
             */
            version: number;
            /** @description The ids of the rules that were created or replaced: UUIDs in lower case. */
            put: string[];
            /** @description The ids of the rules that were deleted: UUIDs in lower case. */
            deleted: string[];
            /** @description What caused the event: `moderator`, `restore`, `expired`, or `revert` if the changes of a moderator were reverted. */
            cause: string;
        };
        /** @description ChatSender is the sender of a message, and what the sender is in the channel. */
        ChatSender: {
            /**
             * Format: uuid
             * @description The user's id: a UUID in lower case.
             */
            id: string;
            /** @description The username, with the letter case that the user chose. */
            username: string;
            /** @description The display name. */
            displayName: string;
            /** @description The URL of the avatar picture. If there is none, that of the default picture. */
            avatarUrl: string;
            /** @description Whether the sender owns the channel. */
            isOwner: boolean;
            /** @description Whether the sender moderates the channel. */
            isModerator: boolean;
            /** @description Whether the sender is a VIP of the channel. */
            isVip: boolean;
            /** @description Whether the sender is an OG of the channel. */
            isOg: boolean;
            /** @description Whether the sender has an active subscription to the channel. */
            isSubscriber: boolean;
            /** @description Whether the sender follows the channel. */
            isFollower: boolean;
            /** @description The sender's roles in the channel: of `moderator`, `vip` and `og`, in this order. */
            roles: string[];
            /** @description Whether a program posted the message: with an app token, or a backend says so. */
            isBot: boolean;
        };
        /** @description ChatSettings are the settings of a channel's chat. */
        ChatSettings: {
            /**
             * Format: int64
             * @description How many seconds a sender waits between two messages: 0 to 3600. 0 if nobody waits.
             */
            slowSeconds: number;
            /**
             * Format: int64
             * @description How many seconds ago senders must have begun to follow the channel: 0 to 7776000. -1 if senders need not follow.
             */
            followersOnlySeconds: number;
            /** @description Whether only subscribers may post. */
            subscribersOnly: boolean;
            /** @description Whether messages may have only emoji and emotes. */
            emoteOnly: boolean;
            /**
             * Format: int64
             * @description How many seconds ago the account of a sender must have been created: 0 to 31536000.
             */
            minAccountAgeSeconds: number;
            /**
             * Format: int64
             * @description For how many seconds after a message no one may post the same text: 0 to 300.
             */
            uniqueSeconds: number;
            /** @description What happens to the first message of a user in the channel: `allow`, `hold` or `block`. */
            firstMessage: string;
            /** @description The roles that the settings do not restrict: `vip`, `og` and `subscriber`. The owner and moderators are never restricted. */
            exemptRoles: string[];
            /**
             * Format: int64
             * @description How many seconds a message is held for a decision: 60 to 86400.
             */
            holdSeconds: number;
            /** @description What happens to a held message without a decision: `deny` or `approve`. */
            onHoldExpiry: string;
        };
        /** @description ChatSettingsEvent is the payload of `channel.chat.settings`: the settings of the channel's chat that are in force after the change. */
        ChatSettingsEvent: {
            /**
             * Format: uuid
             * @description The channel: a UUID in lower case.
             */
            channelId: string;
            /**
             * Format: uuid
             * @description The user who made the change: a UUID in lower case; null if it happened by itself.
             */
            moderatorId: string | null;
            /** @description The id of the client through which the change was made; empty if it happened by itself. */
            clientId: string;
            /**
             * Format: int64
             * @description The number of changes of the settings, and of values that ended.
             */
            version: number;
            /** @description What caused the event: `moderator`, `expired` if a setting returned to its former value, or `shield` if the shield was raised or lowered. */
            cause: string;
            /**
             * Format: int64
             * @description How many seconds a sender waits between two messages: 0 to 3600. 0 if nobody waits.
             */
            slowSeconds: number;
            /**
             * Format: int64
             * @description How many seconds ago senders must have begun to follow the channel: 0 to 7776000. -1 if senders need not follow.
             */
            followersOnlySeconds: number;
            /** @description Whether only subscribers may post. */
            subscribersOnly: boolean;
            /** @description Whether messages may have only emoji and emotes. */
            emoteOnly: boolean;
            /**
             * Format: int64
             * @description How many seconds ago the account of a sender must have been created: 0 to 31536000.
             */
            minAccountAgeSeconds: number;
            /**
             * Format: int64
             * @description For how many seconds after a message no one may post the same text: 0 to 300.
             */
            uniqueSeconds: number;
            /** @description What happens to the first message of a user in the channel: `allow`, `hold` or `block`. */
            firstMessage: string;
            /** @description The roles that the settings do not restrict: `vip`, `og` and `subscriber`. The owner and moderators are never restricted. */
            exemptRoles: string[];
            /** @description Whether the shield is up. */
            shieldActive: boolean;
        };
        /** @description ClaimHeldMessagesRequest names the channel and the messages. */
        ClaimHeldMessagesRequest: {
            /**
             * Format: uuid
             * @description Required. The channel: a UUID in upper or lower case.
             */
            channelId: string;
            /** @description Required. The messages: 1 to 20, each a UUID in upper or lower case, without repetition. */
            messageIds: string[];
        };
        /** @description ClaimHeldMessagesResponse is what happened to each claim. */
        ClaimHeldMessagesResponse: {
            /** @description The results, in the order of the request. */
            results: components["schemas"]["HeldClaim"][];
        };
        /** @description ClearChatRequest names the channel. */
        ClearChatRequest: {
            /**
             * Format: uuid
             * @description Required. The channel: a UUID in upper or lower case.
             */
            channelId: string;
        };
        /** @description ClearUserMessagesEvent is the payload of `channel.chat.clear_user_messages`: every message that the user has posted in the channel so far is deleted. */
        ClearUserMessagesEvent: {
            /**
             * Format: uuid
             * @description The channel: a UUID in lower case.
             */
            channelId: string;
            /**
             * Format: uuid
             * @description The moderator whose ban or mute of the user deleted the messages: a UUID in lower case.
             */
            moderatorId: string;
            /** @description The id of the client through which the change was made. */
            clientId: string;
            /**
             * Format: uuid
             * @description The user whose messages are deleted: a UUID in lower case.
             */
            targetUserId: string;
            /**
             * Format: date-time
             * @description When the messages were deleted: UTC, milliseconds.
             */
            clearedAt: string;
        };
        /** @description Clip is a clip of a channel. */
        Clip: {
            /**
             * Format: uuid
             * @description The clip's id: a UUID in lower case.
             */
            clipId: string;
            /** @description The title of the clip. */
            title: string;
            /**
             * Format: int64
             * @description The number of views.
             */
            viewCount: number;
            /**
             * Format: int64
             * @description The length in seconds.
             */
            duration: number;
            /** @description The URL of a preview picture; may be empty. */
            previewImgUrl: string;
            /** @description The URL of the clip; may be empty. */
            clipUrl: string;
            /** @description The user who made the clip. */
            creator: components["schemas"]["ContentUser"];
            /** @description The owner of the channel. */
            channel: components["schemas"]["ContentUser"];
            /** @description The category of the clip. */
            category: components["schemas"]["ContentCategory"];
        };
        /** @description CommitSweepRequest names the channel, the preview and the terms of the bans. */
        CommitSweepRequest: {
            /**
             * Format: uuid
             * @description Required. The channel: a UUID in upper or lower case.
             */
            channelId: string;
            /** @description Required. The `sweepToken` of the preview. */
            sweepToken: string;
            /** @description Why the users are banned: 1 to 500 characters, without control characters. */
            reason?: string | null;
            /**
             * Format: int64
             * @description How long each ban lasts, in seconds: 1 to 1,209,600 (14 days). If unset, a ban lasts until it is removed.
             */
            durationSeconds?: number | null;
            /**
             * Format: int64
             * @description How many seconds after this call posts that match the phrase or pattern are still refused, and their senders join the batch: 0 to 600; 0 if unset. It needs a preview with a phrase or pattern.
             */
            afterglowSeconds?: number | null;
        };
        /** @description CommitSweepResponse says what a sweep did. */
        CommitSweepResponse: {
            /**
             * Format: uuid
             * @description The batch's id: a UUID in lower case.
             */
            batchId: string;
            /** @description `COMPLETE`; `IN_PROGRESS` if users remain who are being banned; `ENDED` if the sweep ended before it was complete: by an undo, by a revert, or because its author lost the right to ban. */
            status: string;
            /** @description How many users have which result so far. */
            counts: components["schemas"]["SweepCounts"];
        };
        /** @description ContentCategory is the category of a clip or VOD. */
        ContentCategory: {
            /**
             * Format: int64
             * @description The category's id: 0 or more.
             */
            id: number;
            /**
             * Format: int64
             * @description The parent category's id; null if there is none.
             */
            parentId: number | null;
            /** @description The display name. */
            name: string;
            /** @description The name as used in URLs. */
            slug: string;
            /** @description The URL of the picture. If there is none, that of the default picture. */
            imageUrl: string;
        };
        /** @description ContentUser is a user in a clip or VOD row: its creator, or the owner of its channel. */
        ContentUser: {
            /**
             * Format: uuid
             * @description The user's id: a UUID in lower case.
             */
            id: string;
            /** @description The username, with the letter case that the user chose. */
            username: string;
            /** @description The URL of the avatar picture. If there is none, that of the default picture. */
            avatarUrl: string;
        };
        /** @description CreateEventTicketRequest is empty: the stream names its channel and types. */
        CreateEventTicketRequest: Record<string, never>;
        /** @description CreateEventTicketResponse is the ticket. */
        CreateEventTicketResponse: {
            /** @description The ticket, for the query parameter `ticket`. It is returned only once, in this response. */
            ticket: string;
            /**
             * Format: date-time
             * @description Until when the ticket opens a stream: UTC, milliseconds.
             */
            expiresAt: string;
        };
        /** @description CreateSubscriptionRequest describes the subscription. */
        CreateSubscriptionRequest: {
            /** @description Required. The event type, such as `channel.chat.message`. */
            type: string;
            /**
             * @description The version of the type's payload: `1`, also if empty.
             * @enum {string|null}
             */
            version?: "1" | null;
            /** @description Required. Which events to receive. */
            condition: components["schemas"]["SubscriptionConditionInput"];
            /** @description Required. The session: the `sessionId` of its welcome message, or the id of the Socket.IO client. */
            sessionId: string;
        };
        /** @description CreateSubscriptionResponse is the subscription. */
        CreateSubscriptionResponse: {
            /**
             * Format: uuid
             * @description The subscription's id: a UUID in lower case.
             */
            id: string;
            /** @description The event type. */
            type: string;
            /** @description The version of the type's payload. */
            version: string;
            /** @description Which events the session receives. */
            condition: components["schemas"]["SubscriptionCondition"];
            /**
             * Format: uuid
             * @description The session: a UUID in lower case.
             */
            sessionId: string;
            /**
             * Format: date-time
             * @description When the subscription was created: UTC, milliseconds.
             */
            createdAt: string;
        };
        /** @description CreateWebhookRequest describes the webhook to create. Over REST a body with an unknown field is refused, as in every request of this service. */
        CreateWebhookRequest: {
            /**
             * Format: uuid
             * @description The channel: a UUID in upper or lower case. If empty, the channel of the token's user with a user token, and every channel with a service token. An app token must name it.
             */
            channelId?: string | null;
            /**
             * Format: uri
             * @description Required. The URL of the receiver: https, at most 2048 characters, without user name and fragment. It must not be in a private network. It is stored as browsers write it: the host in small letters and Punycode, without the default port, other characters than ASCII escaped.
             */
            url: string;
            /** @description The event types to send, such as `channel.ban`; at most 100. If empty, all types if the caller may hear all of them, and otherwise those that the caller may hear now, which the response lists; in both cases without live types. */
            type?: string[] | null;
        };
        /** @description CreateWebhookResponse is the created webhook. */
        CreateWebhookResponse: {
            /**
             * Format: uuid
             * @description The webhook's id: a UUID in lower case.
             */
            id: string;
            /**
             * Format: uuid
             * @description The channel: a UUID in lower case; null if the webhook covers every channel.
             */
            channelId: string | null;
            /** @description The URL of the receiver. */
            url: string;
            /** @description The event types that the webhook sends; empty for all types but live ones. */
            type: string[];
            /** @description The secret that signs deliveries: `whsec_` and the base64 of the key, which is 32 random bytes. It is returned only once, in this response. */
            secret: string;
            /**
             * Format: date-time
             * @description When the webhook was created: UTC, milliseconds.
             */
            createdAt: string;
        };
        /** @description DecideHeldMessagesRequest names the channel and has the decisions. */
        DecideHeldMessagesRequest: {
            /**
             * Format: uuid
             * @description Required. The channel: a UUID in upper or lower case.
             */
            channelId: string;
            /** @description Required. The decisions: 1 to 100, of different messages. */
            decisions: components["schemas"]["HeldDecisionInput"][];
        };
        /** @description DecideHeldMessagesResponse is what happened to each decision. */
        DecideHeldMessagesResponse: {
            /** @description The results, in the order of the request. */
            results: components["schemas"]["HeldDecisionResult"][];
        };
        /** @description DeleteMessageRequest names the message. */
        DeleteMessageRequest: {
            /**
             * Format: uuid
             * @description Required. The channel: a UUID in upper or lower case.
             */
            channelId: string;
            /**
             * Format: uuid
             * @description Required. The message: a UUID in upper or lower case.
             */
            messageId: string;
        };
        /** @description DeleteSubscriptionRequest names the subscription. */
        DeleteSubscriptionRequest: {
            /**
             * Format: uuid
             * @description Required. The subscription: a UUID in upper or lower case.
             */
            id: string;
        };
        /** @description DeleteWebhookRequest names the webhook. */
        DeleteWebhookRequest: {
            /**
             * Format: uuid
             * @description Required. The webhook: a UUID in upper or lower case.
             */
            webhookId: string;
        };
        /** @description Emote is a picture that chat messages name as `[emote:<id>]`. */
        Emote: {
            /**
             * Format: uuid
             * @description The emote's id: a UUID in lower case.
             */
            id: string;
            /** @description The name, which is unique in the channel. */
            name: string;
            /** @description The URL of the picture. */
            imageUrl: string;
            /** @description Whether the emote also shows in channels other than its own. */
            isPublic: boolean;
        };
        /** @description EnableWebhookRequest names the webhook. */
        EnableWebhookRequest: {
            /**
             * Format: uuid
             * @description Required. The webhook: a UUID in upper or lower case.
             */
            webhookId: string;
        };
        /** @description EnableWebhookResponse reports where the webhook resumes. */
        EnableWebhookResponse: {
            /** @description Whether the webhook resumes where it stopped. If false, it starts with the events from now on. */
            resumed: boolean;
        };
        /**
         * @description Why a call was refused. The codes are stable: programs may compare them.
         * @enum {string}
         */
        ErrorCode: "TOKEN_MISSING" | "TOKEN_INVALID" | "TOKEN_EXPIRED" | "CLIENT_ID_MISSING" | "CLIENT_ID_MISMATCH" | "TOKEN_KIND_NOT_ACCEPTED" | "SCOPE_MISSING" | "GRANT_MISSING" | "NOT_CHANNEL_OWNER" | "NOT_CHANNEL_MODERATOR" | "NOT_SELF" | "INVALID_ARGUMENT" | "CHANNEL_NOT_FOUND" | "USER_NOT_FOUND" | "CATEGORY_NOT_FOUND" | "CURSOR_INVALID" | "TARGET_IS_CHANNEL" | "RESULT_TOO_LARGE" | "NOT_BANNED" | "MUTE_ACTIVE" | "USER_BANNED" | "USER_MUTED" | "PATH_NOT_FOUND" | "METHOD_NOT_ALLOWED" | "BODY_TOO_LARGE" | "MEDIA_TYPE_UNSUPPORTED" | "RATE_LIMITED" | "INTERNAL" | "UNAVAILABLE" | "DEADLINE_EXCEEDED" | "HEADERS_TOO_LARGE" | "WATCHER_TOO_SLOW" | "WEBHOOK_NOT_FOUND" | "WEBHOOK_LIMIT_REACHED" | "WEBHOOK_EXISTS" | "WEBHOOK_DISABLED" | "REDELIVERY_LIMIT_REACHED" | "EVENT_NOT_FOUND" | "OVERLOADED" | "STREAM_LIMIT_REACHED" | "SESSION_NOT_FOUND" | "AUTH_CONTEXT_MISMATCH" | "SUBSCRIPTION_NOT_FOUND" | "MESSAGE_NOT_FOUND" | "TICKET_INVALID" | "CLIENT_CREDENTIALS_INVALID" | "AUTHORIZATION_INVALID" | "NOT_MUTED" | "BATCH_NOT_FOUND" | "SWEEP_NOT_FOUND" | "SWEEP_EXPIRED" | "SWEEP_TOO_LARGE" | "IDEMPOTENCY_KEY_REUSED" | "IDEMPOTENCY_KEY_IN_USE" | "CHAT_RESTRICTED" | "VERSION_CONFLICT" | "MESSAGE_BLOCKED" | "MESSAGE_HELD" | "RULES_TOO_COSTLY" | "RULE_LIMIT_REACHED" | "PREVIEW_TOO_LARGE" | "VERSION_NOT_FOUND";
        /** @description EventCategory is the category of a stream. */
        EventCategory: {
            /**
             * Format: int64
             * @description The category's id; 0 is "Uncategorized".
             */
            id: number;
            /** @description The category's name. */
            title: string;
            /** @description The same as `title`. */
            name: string;
        };
        /** @description EventMetadata identifies an event. */
        EventMetadata: {
            /**
             * Format: uuid
             * @description The event's id: a UUID in lower case. It is the same however often the event is delivered.
             */
            messageId: string;
            /** @description The message type. Always `notification`. */
            messageType: string;
            /** @description The event type, such as `channel.ban`. */
            subscriptionType: string;
            /** @description The version of the type's payload: `1`. */
            subscriptionVersion: string;
            /**
             * Format: date-time
             * @description When it happened: UTC, milliseconds.
             */
            messageTimestamp: string;
            /**
             * Format: uuid
             * @description The channel: a UUID in lower case.
             */
            channelId: string;
            /**
             * Format: int64
             * @description The event's number in its channel, which increases by one with each event, without gaps. A live event has none.
             */
            sequence: number;
        };
        /** @description EventSubscription is a subscription of a session. */
        EventSubscription: {
            /**
             * Format: uuid
             * @description The subscription's id: a UUID in lower case.
             */
            id: string;
            /** @description The event type. */
            type: string;
            /** @description The version of the type's payload. */
            version: string;
            /** @description Which events the session receives. */
            condition: components["schemas"]["SubscriptionCondition"];
            /**
             * Format: uuid
             * @description The session: a UUID in lower case.
             */
            sessionId: string;
            /**
             * Format: date-time
             * @description When the subscription was created: UTC, milliseconds.
             */
            createdAt: string;
        };
        /** @description EvidenceMessage is a message of a user who was banned or muted. */
        EvidenceMessage: {
            /**
             * Format: uuid
             * @description The message's id: a UUID in lower case.
             */
            messageId: string;
            /** @description The text. */
            text: string;
            /**
             * Format: date-time
             * @description When the message was posted: UTC, milliseconds.
             */
            sentAt: string;
        };
        /** @description FollowEvent is the payload of `channel.follow` and `channel.unfollow`. */
        FollowEvent: {
            /**
             * Format: uuid
             * @description The channel: a UUID in lower case.
             */
            channelId: string;
            /** @description The id of the client that reported the change. */
            clientId: string;
            /**
             * Format: uuid
             * @description The user who follows or followed: a UUID in lower case.
             */
            userId: string;
            /** @description The user's display name at that time. */
            userDisplayName: string;
            /** @description The user's slug at that time. */
            userSlug: string;
            /**
             * Format: date-time
             * @description When the follow began: UTC, milliseconds.
             */
            followedAt: string;
            /**
             * Format: date-time
             * @description When the follow ended: UTC, milliseconds; null in `channel.follow`.
             */
            unfollowedAt: string | null;
            /** @description The user who follows or followed, as of that time. */
            follower: components["schemas"]["Follower"];
            /**
             * Format: date-time
             * @description When the event happened: UTC, milliseconds.
             */
            createdAt: string;
        };
        /** @description FollowedChannel is a channel that the token's user follows. */
        FollowedChannel: {
            /**
             * Format: uuid
             * @description The channel's id: a UUID in lower case.
             */
            id: string;
            /** @description The display name of the channel's owner. */
            displayName: string;
            /** @description The username of the channel's owner in lower case. */
            slug: string;
            /** @description The URL of the owner's avatar picture. If there is none, that of the default picture. */
            avatarUrl: string;
            /** @description Whether the token's user follows the channel. Always true. */
            isFollower: boolean;
            /**
             * Format: date-time
             * @description When the follow began: UTC, milliseconds.
             */
            followedAt: string;
            /** @description The subscription of the token's user to the channel. */
            subscriptionInfo: components["schemas"]["SubscriptionInfo"];
            /** @description Whether the user wants a notification when the channel goes live. */
            isNotificationEnabled: boolean;
        };
        /** @description Follower is a user who follows a channel, and since when. */
        Follower: {
            /**
             * Format: uuid
             * @description The user's id: a UUID in lower case.
             */
            id: string;
            /** @description The username, with the letter case that the user chose. */
            username: string;
            /** @description The display name. */
            displayName: string;
            /** @description The URL of the avatar picture. If there is none, that of the default picture. */
            avatarUrl: string;
            /**
             * Format: date-time
             * @description When the follow began: UTC, milliseconds.
             */
            followedAt: string;
        };
        /** @description GetAchievementStatsResponse holds the numbers of a channel. */
        GetAchievementStatsResponse: {
            /**
             * Format: int64
             * @description The tier that the platform gave the channel; 0 if it gave none.
             */
            tier: number;
            /**
             * Format: int64
             * @description The number of followers.
             */
            followerCount: number;
            /**
             * Format: int64
             * @description The number of active subscribers.
             */
            subscriberCount: number;
            /**
             * Format: int64
             * @description How many whole hours the channel streamed in all, the live stream included, rounded down.
             */
            streamHours: number;
            /**
             * Format: int64
             * @description How many users posted in the channel's chat today or on one of the 29 days before, in UTC, whether their messages are still visible or not. A number above 10,000 may be a minute old.
             */
            uniqueChatters: number;
        };
        /** @description GetChatRulesResponse has all rules of a channel. */
        GetChatRulesResponse: {
            /**
             * Format: int64
             * @description The number of the version: how often the rules were changed until then.
             */
            version: number;
            /** @description All rules, in the order in which they were created. */
            rules: components["schemas"]["ChatRule"][];
        };
        /** @description GetChatSettingsResponse has the settings in force. */
        GetChatSettingsResponse: {
            /**
             * Format: uuid
             * @description The channel: a UUID in lower case.
             */
            channelId: string;
            /**
             * Format: int64
             * @description The number of changes of the settings, and of values that ended.
             */
            version: number;
            /**
             * Format: int64
             * @description How many seconds a sender waits between two messages: 0 to 3600. 0 if nobody waits.
             */
            slowSeconds: number;
            /**
             * Format: int64
             * @description How many seconds ago senders must have begun to follow the channel: 0 to 7776000. -1 if senders need not follow.
             */
            followersOnlySeconds: number;
            /** @description Whether only subscribers may post. */
            subscribersOnly: boolean;
            /** @description Whether messages may have only emoji and emotes. */
            emoteOnly: boolean;
            /**
             * Format: int64
             * @description How many seconds ago the account of a sender must have been created: 0 to 31536000.
             */
            minAccountAgeSeconds: number;
            /**
             * Format: int64
             * @description For how many seconds after a message no one may post the same text: 0 to 300.
             */
            uniqueSeconds: number;
            /** @description What happens to the first message of a user in the channel: `allow`, `hold` or `block`. */
            firstMessage: string;
            /** @description The roles that the settings do not restrict: `vip`, `og` and `subscriber`. The owner and moderators are never restricted. */
            exemptRoles: string[];
            /** @description Whether the shield is up. While it is, the values are those that are in force with it: for each setting, the stricter one of the shield's preset and of the settings. */
            shieldActive: boolean;
        };
        /** @description GetLiveStatsResponse holds the counters of a live stream. The counts are 0 if the channel is not live. */
        GetLiveStatsResponse: {
            /**
             * Format: date-time
             * @description When the stream started: UTC, milliseconds; null if the channel is not live.
             */
            startedAt: string | null;
            /** @description Whether the channel is live. */
            isLive: boolean;
            /**
             * Format: int64
             * @description The number of current followers whose follow began since the start of the stream.
             */
            newFollowerCount: number;
            /**
             * Format: int64
             * @description The number of current subscribers whose subscription began since the start of the stream.
             */
            newSubscriberCount: number;
            /**
             * Format: int64
             * @description The number of viewers.
             */
            viewerCount: number;
        };
        /** @description GetMetricsResponse has the intervals. */
        GetMetricsResponse: {
            /** @description The intervals without gaps, oldest first. The last one is the present interval, unless there are 500 before it. */
            rows: components["schemas"]["MetricsBucket"][];
        };
        /** @description GetModerationSettingsResponse has the settings in force. */
        GetModerationSettingsResponse: {
            /**
             * Format: uuid
             * @description The channel: a UUID in lower case.
             */
            channelId: string;
            /**
             * Format: int64
             * @description The number of changes of the settings, and of values that ended.
             */
            version: number;
            /**
             * Format: int64
             * @description How many seconds a sender waits between two messages: 0 to 3600. 0 if nobody waits.
             */
            slowSeconds: number;
            /**
             * Format: int64
             * @description How many seconds ago senders must have begun to follow the channel: 0 to 7776000. -1 if senders need not follow.
             */
            followersOnlySeconds: number;
            /** @description Whether only subscribers may post. */
            subscribersOnly: boolean;
            /** @description Whether messages may have only emoji and emotes. */
            emoteOnly: boolean;
            /**
             * Format: int64
             * @description How many seconds ago the account of a sender must have been created: 0 to 31536000.
             */
            minAccountAgeSeconds: number;
            /**
             * Format: int64
             * @description For how many seconds after a message no one may post the same text: 0 to 300.
             */
            uniqueSeconds: number;
            /** @description What happens to the first message of a user in the channel: `allow`, `hold` or `block`. */
            firstMessage: string;
            /** @description The roles that the settings do not restrict: `vip`, `og` and `subscriber`. The owner and moderators are never restricted. */
            exemptRoles: string[];
            /** @description The settings that are set for a time. */
            timed: components["schemas"]["TimedSetting"][];
            /**
             * Format: int64
             * @description How many seconds a message is held for a decision: 60 to 86400.
             */
            holdSeconds: number;
            /** @description What happens to a held message without a decision: `deny` or `approve`. */
            onHoldExpiry: string;
            /** @description Whether the shield is up. While it is, the values are those that are in force with it: for each setting, the stricter one of the shield's preset and of the settings. */
            shieldActive: boolean;
            /** @description The channel's own settings, as they are in force without the shield: `updateChatSettings` changes these, also while the shield is up. Always set. */
            own: components["schemas"]["ChatSettings"];
        };
        /** @description GetPinnedMessageResponse is the pinned message. */
        GetPinnedMessageResponse: {
            /**
             * Format: uuid
             * @description The channel: a UUID in lower case.
             */
            channelId: string;
            /** @description The message; null if none is pinned. */
            message: components["schemas"]["ChatMessage"] | null;
        };
        /** @description GetProfileResponse is the profile of a user. */
        GetProfileResponse: {
            /**
             * Format: uuid
             * @description The user's id: a UUID in lower case.
             */
            userId: string;
            /** @description The username, with the letter case that the user chose. */
            username: string;
            /** @description The username in lower case, as in the URL of the user's channel. */
            slug: string;
            /** @description The display name. */
            displayName: string;
            /** @description The URL of the avatar picture. If there is none, that of the default picture. */
            avatarUrl: string;
            /**
             * Format: uuid
             * @description The user's channel: a UUID in lower case, equal to `userId`; null if the user has no channel.
             */
            channelId: string | null;
        };
        /** @description GetPropagationResponse reports how far a change has come. */
        GetPropagationResponse: {
            /**
             * Format: int32
             * @description How many chat servers hold the standings of the channel. A chat server that lost its connection counts for a minute.
             */
            subscriberCount: number;
            /**
             * Format: int32
             * @description How many of them have applied the change. They refuse the messages of a user who was banned, without asking Moderato.
             */
            appliedCount: number;
            /**
             * Format: int64
             * @description The time from the change until the slowest of these chat servers had applied it, in milliseconds, as the chat servers measured it. A chat server acknowledges several changes together, and this is the slowest of them. Null if no chat server has measured it.
             */
            slowestMilliseconds: number | null;
        };
        /** @description GetSelfResponse is what a token is and what it permits. */
        GetSelfResponse: {
            /** @description The id of the client to which the token was issued. */
            clientId: string;
            /** @description The kind of the token: `user`, `app` or `service`. */
            kind: string;
            /**
             * Format: uuid
             * @description The user for whom the call acts: a UUID in lower case. It is the user of a user token, or the `acting-user` of a service token; null if the call acts for no user.
             */
            userId: string | null;
            /** @description The token's scopes, sorted; for a service token, every scope. */
            scopes: string[];
            /**
             * Format: date-time
             * @description When the token expires: UTC, milliseconds; null if it does not expire.
             */
            expiresAt: string | null;
            /** @description The operations that accept the kind and the scopes of the token. An operation with a relation can still refuse a call, because the relation depends on the channel or user that the request names and can change at any time. */
            operations: components["schemas"]["PermittedOperation"][];
        };
        /** @description GetShieldResponse is the shield of a channel. */
        GetShieldResponse: {
            /** @description Whether the shield is up. */
            active: boolean;
            /** @description Who raised it; null if it is down or was raised by itself. */
            startedBy: components["schemas"]["Person"] | null;
            /** @description Why it was raised: `moderator` or `automatic`; null if it is down. */
            cause: string | null;
            /**
             * Format: date-time
             * @description When it was raised: UTC, milliseconds; null if it is down.
             */
            startedAt: string | null;
            /**
             * Format: date-time
             * @description When it ends by itself: UTC, milliseconds; null if it is down.
             */
            endsAt: string | null;
            /** @description The reason that was given; null if none was. */
            reason: string | null;
            /** @description What it does while it is up. */
            preset: components["schemas"]["ShieldPreset"];
        };
        /** @description GetStatsResponse holds the counters of a channel. */
        GetStatsResponse: {
            /**
             * Format: int64
             * @description The number of followers.
             */
            followerCount: number;
            /**
             * Format: int64
             * @description The number of active subscriptions.
             */
            subscriberCount: number;
            /**
             * Format: int64
             * @description The number of viewers of the live stream; 0 if the channel is not live.
             */
            viewerCount: number;
        };
        /** @description GetStreamInfoResponse is the live state of a channel. */
        GetStreamInfoResponse: {
            /** @description Whether the channel is live. */
            isLive: boolean;
            /** @description The title of the stream; the title of the channel if it is not live. */
            title: string;
            /** @description The URL of a preview picture of the stream, or that of the default picture if it has none; empty if the channel is not live. */
            previewImgUrl: string;
            /**
             * Format: date-time
             * @description When the stream started: UTC, milliseconds; null if the channel is not live.
             */
            startedAt: string | null;
            /** @description The category of the stream; the category of the channel if it is not live. */
            category: components["schemas"]["StreamCategory"];
        };
        /** @description GetUserResponse is a user and their state in a channel. */
        GetUserResponse: {
            /** @description The user. */
            user: components["schemas"]["UserSummary"];
            /** @description The user's roles: `owner`, `moderator`, `vip`, `og`. A banned moderator still has the role, but no moderation right while banned. */
            roles: string[];
            /** @description The ban; null if the user is not banned. */
            ban: components["schemas"]["UserBan"] | null;
            /** @description The active mute; null if the user is not muted. */
            mute: components["schemas"]["UserMute"] | null;
            /** @description The follow; null if the user does not follow the channel. */
            follow: components["schemas"]["UserFollow"] | null;
            /** @description The subscription. */
            subscription: components["schemas"]["SubscriptionInfo"];
            /** @description The user's latest messages in the channel that are not deleted, newest first; at most 20. */
            messages: components["schemas"]["UserMessage"][];
            /** @description The user's account. */
            account?: components["schemas"]["UserAccount"];
            /** @description The latest entries of the channel's log about the user, newest first, at most 20: as `GET /v1/moderation/log` returns them with this `userId`. */
            log?: components["schemas"]["LogEntry"][];
            /** @description The user's bans from other channels that the caller owns or moderates, newest first; at most 20. Only the 1,000 channels are searched that the caller has moderated longest. Empty for a service token that acts for no user. */
            elsewhere?: components["schemas"]["BanElsewhere"][];
            /** @description The user's latest messages that are or were held in the channel, whatever their status, newest first; at most 5. Those that were decided are kept for 90 days. */
            held?: components["schemas"]["HeldMessage"][];
        };
        /** @description GiftEvent is the payload of `channel.subscription.gift`. */
        GiftEvent: {
            /**
             * Format: uuid
             * @description The channel: a UUID in lower case.
             */
            channelId: string;
            /** @description The id of the client that reported the change. */
            clientId: string;
            /**
             * Format: uuid
             * @description The user who gave the subscriptions: a UUID in lower case.
             */
            userId: string;
            /** @description The user's display name at that time. */
            userDisplayName: string;
            /** @description The user's slug at that time. */
            userSlug: string;
            /** @description The key of the gift, unique in its channel. */
            key: string;
            /**
             * Format: int64
             * @description The number of subscriptions.
             */
            count: number;
            /**
             * Format: date-time
             * @description When it happened: UTC, milliseconds.
             */
            giftedAt: string;
            /** @description The user who gave the subscriptions, as of that time. */
            sender: components["schemas"]["Person"];
            /**
             * Format: int64
             * @description The number of subscriptions.
             */
            giftCount: number;
            /**
             * Format: date-time
             * @description When it happened: UTC, milliseconds.
             */
            createdAt: string;
        };
        /** @description HeldClaim is the result of a claim. */
        HeldClaim: {
            /**
             * Format: uuid
             * @description The message: a UUID in lower case.
             */
            messageId: string;
            /** @description `CLAIMED`; `TAKEN` if another moderator claims the message; `ALREADY_DECIDED` if it waits no more; `NOT_FOUND` if the channel has no such message. */
            result: string;
            /** @description Who claims the message; null unless it is `CLAIMED` or `TAKEN`. */
            claimedBy: components["schemas"]["Person"] | null;
            /**
             * Format: date-time
             * @description Until when: UTC, milliseconds; null unless it is `CLAIMED` or `TAKEN`.
             */
            claimedUntil: string | null;
        };
        /** @description HeldDecision is a decision about a message. */
        HeldDecisionInput: {
            /**
             * Format: uuid
             * @description Required. The message: a UUID in upper or lower case.
             */
            messageId: string;
            /**
             * @description Required. `approve` or `deny`.
             * @enum {string}
             */
            decision: "approve" | "deny";
            /**
             * Format: int32
             * @description How many seconds the sender is muted for as well; null for no mute. Only with `deny`.
             */
            muteSeconds?: number | null;
        };
        /** @description HeldDecisionResult is the result of a decision. */
        HeldDecisionResult: {
            /**
             * Format: uuid
             * @description The message: a UUID in lower case.
             */
            messageId: string;
            /** @description `APPROVED`; `DENIED`; `ALREADY_DECIDED`; `EXPIRED` if the time had passed; `SENDER_REFUSED` if the sender of the message that was to be approved is banned or muted, or does not exist any more; `NOT_FOUND` if the channel has no such message. */
            result: string;
            /** @description The status of the message: `APPROVED`, `DENIED`, `EXPIRED` or `CANCELLED`; null if it is not found. */
            status: string | null;
            /** @description Who decided; null if nobody did. */
            decidedBy: components["schemas"]["Person"] | null;
            /**
             * Format: date-time
             * @description When it was decided: UTC, milliseconds; null if it is not found.
             */
            decidedAt: string | null;
        };
        /** @description HeldMessage is a message that waits for a decision, or waited for one. */
        HeldMessage: {
            /**
             * Format: uuid
             * @description The id that the message has, or would have, once it is posted: a UUID in lower case.
             */
            messageId: string;
            /** @description The sender. */
            user: components["schemas"]["Person"];
            /** @description What was known about the sender when the message was held. */
            facts: components["schemas"]["SenderFacts"];
            /** @description The text. */
            message: string;
            /** @description Where in the text the rules match. */
            spans: components["schemas"]["Span"][];
            /** @description The ids of the rules that held the message: UUIDs in lower case. If the setting `firstMessage` held it, those of the rules that flag it. */
            rules: string[];
            /**
             * Format: date-time
             * @description When the message was held: UTC, milliseconds.
             */
            heldAt: string;
            /**
             * Format: date-time
             * @description When it is decided without a moderator: UTC, milliseconds.
             */
            expiresAt: string;
            /** @description `PENDING`; `APPROVED`; `DENIED`; `EXPIRED` if nobody decided and it was denied then; `CANCELLED` if the sender was banned or muted, the messages of the sender or of the channel were cleared, or the sender was deleted. A message that nobody decided and that was posted then has the status `APPROVED`, without `decidedBy`. */
            status: string;
            /** @description Who claims it; null if nobody does. */
            claimedBy: components["schemas"]["Person"] | null;
            /**
             * Format: date-time
             * @description Until when: UTC, milliseconds; null if nobody claims it.
             */
            claimedUntil: string | null;
            /** @description Who decided; null if nobody did. */
            decidedBy: components["schemas"]["Person"] | null;
            /**
             * Format: date-time
             * @description When it was decided, expired or was cancelled: UTC, milliseconds; null while it is pending.
             */
            decidedAt: string | null;
            /**
             * Format: uuid
             * @description The message that it replies to: a UUID in lower case; null if it is no reply.
             */
            replyToMessageId: string | null;
        };
        /** @description ListActivitiesResponse is a page of activities. */
        ListActivitiesResponse: {
            /** @description The activities of the page. */
            rows: components["schemas"]["Activity"][];
            /** @description The cursor of the next page. */
            pagination: components["schemas"]["Pagination"];
        };
        /** @description ListBanBatchesResponse is a page of batches. */
        ListBanBatchesResponse: {
            /** @description The batches of the page, newest first. */
            rows: components["schemas"]["BanBatch"][];
            /** @description The cursor of the next page. */
            pagination: components["schemas"]["Pagination"];
        };
        /** @description ListBannedUsersResponse is a page of banned users. */
        ListBannedUsersResponse: {
            /** @description The banned users of the page. */
            rows: components["schemas"]["BannedUser"][];
            /** @description The cursor of the next page. */
            pagination: components["schemas"]["Pagination"];
        };
        /** @description ListBansResponse is a page of bans. */
        ListBansResponse: {
            /** @description The bans of the page, newest first. A search examines at most 2,000 bans for a page. So a page can have fewer rows than `limit`, or none, although there is a next page. */
            rows: components["schemas"]["ListedBan"][];
            /** @description The cursor of the next page; empty if this is the last page. */
            pagination: components["schemas"]["Pagination"];
        };
        /** @description ListCategoriesResponse is a page of categories. */
        ListCategoriesResponse: {
            /** @description The categories of the page. */
            rows: components["schemas"]["Category"][];
            /** @description The cursor of the next page. */
            pagination: components["schemas"]["Pagination"];
        };
        /** @description ListChannelsResponse is a page of channels. */
        ListChannelsResponse: {
            /**
             * Format: int64
             * @description The total number of channels that match the filters.
             */
            count: number;
            /** @description The channels of the page. */
            rows: components["schemas"]["Channel"][];
            /** @description The cursor of the next page. */
            pagination: components["schemas"]["Pagination"];
        };
        /** @description ListChatRuleVersionsResponse is a page of versions. */
        ListChatRuleVersionsResponse: {
            /** @description The versions of the page, newest first. */
            rows: components["schemas"]["ChatRuleVersion"][];
            /** @description The cursor of the next page. */
            pagination: components["schemas"]["Pagination"];
        };
        /** @description ListClipsResponse is a page of clips. */
        ListClipsResponse: {
            /**
             * Format: int64
             * @description The total number of clips of the channel.
             */
            count: number;
            /** @description The clips of the page. */
            rows: components["schemas"]["Clip"][];
            /** @description The cursor of the next page. */
            pagination: components["schemas"]["Pagination"];
        };
        /** @description ListFollowedResponse is a page of followed channels. */
        ListFollowedResponse: {
            /** @description The channels of the page. */
            rows: components["schemas"]["FollowedChannel"][];
            /** @description The cursor of the next page. */
            pagination: components["schemas"]["Pagination"];
        };
        /** @description ListFollowersResponse is a page of followers. */
        ListFollowersResponse: {
            /** @description The followers of the page. */
            rows: components["schemas"]["AudienceMember"][];
            /** @description The cursor of the next page. */
            pagination: components["schemas"]["Pagination"];
        };
        /** @description ListHeldMessagesResponse is a page of held messages. */
        ListHeldMessagesResponse: {
            /** @description The messages of the page. */
            rows: components["schemas"]["HeldMessage"][];
            /** @description The cursor of the next page. */
            pagination: components["schemas"]["Pagination"];
        };
        /** @description ListLogResponse is a page of the log. */
        ListLogResponse: {
            /** @description The entries of the page, newest first. A search by time, `query`, `batchId`, `ruleId` or `cause` examines at most 2,000 entries for a page. So a page can have fewer rows than `limit`, or none, although there is a next page. */
            rows: components["schemas"]["LogEntry"][];
            /** @description The cursor of the next page. */
            pagination: components["schemas"]["Pagination"];
            /**
             * Format: int64
             * @description The sequence number up to which entries may be missing from the log, because their retention time has passed; 0 if none are missing.
             */
            trimmedSequence: number;
        };
        /** @description ListMessagesResponse is a page of messages. */
        ListMessagesResponse: {
            /**
             * Format: uuid
             * @description The channel: a UUID in lower case.
             */
            channelId: string;
            /** @description The messages, newest first. There may be fewer than `limit`. */
            messages: components["schemas"]["ChatMessage"][];
            /** @description The cursor of the next page. */
            pagination: components["schemas"]["Pagination"];
        };
        /** @description ListMutesResponse is a page of mutes. */
        ListMutesResponse: {
            /** @description The mutes of the page, newest first. A search examines at most 2,000 mutes for a page. So a page can have fewer rows than `limit`, or none, although there is a next page. */
            rows: components["schemas"]["ListedMute"][];
            /** @description The cursor of the next page; empty if this is the last page. */
            pagination: components["schemas"]["Pagination"];
        };
        /** @description ListRaidsResponse is a page of raids. */
        ListRaidsResponse: {
            /** @description The raids of the page. */
            rows: components["schemas"]["Raid"][];
            /** @description The cursor of the next page. */
            pagination: components["schemas"]["Pagination"];
        };
        /** @description ListRolesResponse is a page of users with their roles. */
        ListRolesResponse: {
            /** @description The rows of the page. A search examines at most 2,000 rows for a page. So a page can have fewer rows than `limit`, or none, although there is a next page. */
            rows: components["schemas"]["RoleHolder"][];
            /** @description The cursor of the next page; empty if this is the last page. */
            pagination: components["schemas"]["Pagination"];
        };
        /** @description ListSubscribersResponse is a page of subscribers. */
        ListSubscribersResponse: {
            /** @description The active subscribers of the page. */
            rows: components["schemas"]["AudienceMember"][];
            /** @description The cursor of the next page. */
            pagination: components["schemas"]["Pagination"];
        };
        /** @description ListSubscriptionsResponse is a page of subscriptions. */
        ListSubscriptionsResponse: {
            /** @description The subscriptions of the page. */
            rows: components["schemas"]["EventSubscription"][];
            /** @description The cursor of the next page. */
            pagination: components["schemas"]["Pagination"];
        };
        /** @description ListVodsResponse is a page of VODs. */
        ListVodsResponse: {
            /**
             * Format: int64
             * @description The total number of VODs of the channel.
             */
            count: number;
            /** @description The VODs of the page. */
            rows: components["schemas"]["Vod"][];
            /** @description The cursor of the next page. */
            pagination: components["schemas"]["Pagination"];
        };
        /** @description ListWebhookDeliveriesResponse is a page of deliveries. */
        ListWebhookDeliveriesResponse: {
            /** @description The deliveries of the page. */
            rows: components["schemas"]["WebhookDelivery"][];
            /** @description The cursor of the next page. */
            pagination: components["schemas"]["Pagination"];
        };
        /** @description ListedBan is a ban that is in force. */
        ListedBan: {
            /**
             * Format: uuid
             * @description The id of the banned user: a UUID in lower case.
             */
            id: string;
            /** @description The display name. */
            displayName: string;
            /** @description The username in lower case. */
            slug: string;
            /**
             * Format: date-time
             * @description When the ban was applied: UTC, milliseconds.
             */
            bannedAt: string;
            /** @description The user who applied the ban. */
            bannedBy: components["schemas"]["BannedBy"];
            /** @description Why the user is banned; null if no reason was given. */
            reason: string | null;
            /**
             * Format: date-time
             * @description When the ban expires: UTC, milliseconds; null if it lasts until it is removed.
             */
            expiresAt: string | null;
            /**
             * Format: uuid
             * @description The batch that banned the user: a UUID in lower case; null if it was none.
             */
            batchId: string | null;
            /** @description What caused the ban: `batch` for a ban of a batch, a sweep or an afterglow, otherwise `moderator`. */
            cause: string;
        };
        /** @description ListedMute is a mute that is in force. */
        ListedMute: {
            /**
             * Format: uuid
             * @description The id of the muted user: a UUID in lower case.
             */
            id: string;
            /** @description The display name. */
            displayName: string;
            /** @description The username in lower case. */
            slug: string;
            /**
             * Format: date-time
             * @description When the mute was applied: UTC, milliseconds.
             */
            mutedAt: string;
            /** @description The user who applied the mute. Rules mute in the name of the user who edited them last. */
            mutedBy: components["schemas"]["BannedBy"];
            /** @description Why the user is muted; null if no reason was given. */
            reason: string | null;
            /**
             * Format: date-time
             * @description When the mute expires: UTC, milliseconds.
             */
            expiresAt: string;
            /** @description What caused the mute: `rule` for a mute by a chat rule, otherwise `moderator`. */
            cause: string;
            /**
             * Format: uuid
             * @description The chat rule that muted the user: a UUID in lower case; null if none did.
             */
            ruleId: string | null;
        };
        /** @description LogEntry is a change in a channel. */
        LogEntry: {
            /**
             * Format: uuid
             * @description The event's id, the same that listeners receive: a UUID in lower case.
             */
            id: string;
            /**
             * Format: int64
             * @description The event's number in its channel, which increases by one with each event.
             */
            sequence: number;
            /** @description The event type, such as `channel.ban`. */
            type: string;
            /**
             * Format: date-time
             * @description When it happened: UTC, milliseconds.
             */
            createdAt: string;
            /** @description The user who made the change, or who had applied the mute or ban that lapsed; null if there is no such user, as when a subscription lapses. */
            moderator: components["schemas"]["LogUser"] | null;
            /** @description The user whom the change is about; null if it is about no user. */
            user: components["schemas"]["LogUser"] | null;
            /** @description The id of the client through which the change was made; empty if there was none, as when a mute, a ban or a subscription lapses. */
            clientId: string;
            /** @description The id of the request that made the change; empty if there was none. */
            requestId: string;
            /** @description The event's payload: what the change did. */
            payload: {
                [key: string]: unknown;
            };
            /** @description Why; null if no reason was given. */
            reason?: string | null;
            /**
             * Format: date-time
             * @description When the ban or mute expires or expired: UTC, milliseconds; null if it lasts until it is removed.
             */
            expiresAt?: string | null;
            /**
             * Format: uuid
             * @description The batch that it belongs to: a UUID in lower case; null if it belongs to none.
             */
            batchId?: string | null;
            /** @description The user's latest messages before it, newest first: at most 10, of those that were visible and that it deleted. They are kept as long as the entry, and removed when the user is deleted. Empty if there were none, and for bans and mutes that an earlier version of Moderato applied. */
            evidence?: components["schemas"]["EvidenceMessage"][];
            /** @description Why it was removed; null if no reason was given. */
            endReason?: string | null;
        };
        /** @description LogUser is a user in the log, with the user's current names. */
        LogUser: {
            /**
             * Format: uuid
             * @description The user's id: a UUID in lower case. The id of a deleted user is 5e1f8a0c-93d7-4b6e-a4c2-d07b3e9f6185.
             */
            id: string;
            /** @description The display name. */
            displayName: string;
            /** @description The username in lower case. */
            slug: string;
        };
        /** @description MessageDeleteEvent is the payload of `channel.chat.message_delete`: one message is deleted. */
        MessageDeleteEvent: {
            /**
             * Format: uuid
             * @description The channel: a UUID in lower case.
             */
            channelId: string;
            /**
             * Format: uuid
             * @description The user who deleted the message, who may be its sender: a UUID in lower case.
             */
            moderatorId: string;
            /** @description The id of the client through which the change was made. */
            clientId: string;
            /**
             * Format: uuid
             * @description The message: a UUID in lower case.
             */
            messageId: string;
            /**
             * Format: uuid
             * @description The sender of the message: a UUID in lower case.
             */
            targetUserId: string;
            /**
             * Format: date-time
             * @description When the message was deleted: UTC, milliseconds.
             */
            deletedAt: string;
        };
        /** @description MetricsBucket is what happened in a channel in an interval, by the clock of the database. */
        MetricsBucket: {
            /**
             * Format: date-time
             * @description The start of the interval, a multiple of its length since 1970: UTC, milliseconds.
             */
            startedAt: string;
            /**
             * Format: int64
             * @description The messages that were posted, including those that were deleted since.
             */
            messages: number;
            /**
             * Format: int64
             * @description Those of them whose sender had not posted in the channel on this day or in the 30 days before.
             */
            firstMessages: number;
            /**
             * Format: int64
             * @description The follows that began.
             */
            follows: number;
            /**
             * Format: int64
             * @description The bans that were made: one for each `channel.ban`, so one for each user of a batch or sweep.
             */
            bans: number;
            /**
             * Format: int64
             * @description The mutes that were made: one for each `channel.mute`.
             */
            mutes: number;
            /**
             * Format: int64
             * @description The messages that were held for review. It is 0 on servers that hold no messages.
             */
            held: number;
            /**
             * Format: int64
             * @description The highest number of viewers that UpdateStream reported. Null if none was reported.
             */
            viewers: number | null;
        };
        /** @description ModeratedChannel is a channel in which a user is a moderator. */
        ModeratedChannel: {
            /**
             * Format: uuid
             * @description The channel's id: a UUID in lower case.
             */
            uuid: string;
            /** @description The username of the channel's owner, with the letter case that the owner chose. */
            username: string;
            /** @description The URL of the owner's avatar picture. If there is none, that of the default picture. */
            avatarUrl: string;
        };
        /** @description MuteEvent is the payload of `channel.mute`. */
        MuteEvent: {
            /**
             * Format: uuid
             * @description The channel: a UUID in lower case.
             */
            channelId: string;
            /**
             * Format: uuid
             * @description The user who applied the mute: a UUID in lower case.
             */
            moderatorId: string;
            /** @description The id of the client through which the change was made. */
            clientId: string;
            /**
             * Format: uuid
             * @description The muted user: a UUID in lower case.
             */
            mutedUserId: string;
            /** @description The muted user's display name at that time. */
            mutedUserDisplayName: string;
            /**
             * Format: date-time
             * @description When the mute expires: UTC, milliseconds.
             */
            muteExpiresAt: string;
            /** @description Why the user is muted; null if no reason was given. */
            reason: string | null;
            /**
             * Format: date-time
             * @description The same as `muteExpiresAt`.
             */
            expiresAt: string;
            /** @description Null: mutes belong to no batch. */
            batchId: string | null;
            /** @description What caused the event: `moderator`, or `rule`. */
            cause: string;
            /** @description Whether the user was muted already, and this mute is in force instead of the earlier one. Such a mute deletes no messages. */
            replaces: boolean;
            /** @description The muted user, as of that time. */
            mutedUser: components["schemas"]["Person"];
            /**
             * Format: uuid
             * @description The rule that muted the user: a UUID in lower case; null if none did. `moderatorId` is the last editor of the rule then.
             */
            ruleId: string | null;
        };
        /** @description MuteExpireEvent is the payload of `channel.mute.expire`. The event has no actor: `moderatorId` is the moderator who had applied the mute. */
        MuteExpireEvent: {
            /**
             * Format: uuid
             * @description The channel: a UUID in lower case.
             */
            channelId: string;
            /**
             * Format: uuid
             * @description The user who had applied the mute: a UUID in lower case.
             */
            moderatorId: string;
            /**
             * Format: uuid
             * @description The user who was muted: a UUID in lower case.
             */
            mutedUserId: string;
            /**
             * Format: date-time
             * @description When the mute expired: UTC, milliseconds.
             */
            muteExpiredAt: string;
        };
        /** @description MuteUserRequest names the channel and the user. */
        MuteUserRequest: {
            /**
             * Format: uuid
             * @description Required. The channel: a UUID in upper or lower case.
             */
            channelId: string;
            /**
             * Format: uuid
             * @description Required. The user: a UUID in upper or lower case.
             */
            mutedUserId: string;
            /**
             * Format: int64
             * @description How long the mute lasts, in seconds: 1 to 1,209,600 (14 days); 600 if unset.
             */
            durationSeconds?: number | null;
            /** @description Why the user is muted: 1 to 500 characters, without control characters. */
            reason?: string | null;
            /** @description Whether the mute replaces an active mute of the user. */
            replace?: boolean | null;
        };
        /** @description MuteUserResponse is the mute that was applied. */
        MuteUserResponse: {
            /**
             * Format: uuid
             * @description The channel: a UUID in lower case.
             */
            channelId: string;
            /**
             * Format: uuid
             * @description The user who applied the mute: a UUID in lower case.
             */
            moderatorId: string;
            /**
             * Format: uuid
             * @description The muted user: a UUID in lower case.
             */
            mutedUserId: string;
            /** @description The muted user's display name at the time of the response. */
            mutedUserDisplayName: string;
            /**
             * Format: date-time
             * @description When the mute expires; UTC, milliseconds. The mute is active before this instant.
             */
            muteExpiresAt: string;
            /** @description Why; null if no reason was given. */
            reason?: string | null;
            /**
             * Format: date-time
             * @description When the ban or mute expires: UTC, milliseconds; null if it lasts until it is removed. It is in force before this instant.
             */
            expiresAt?: string | null;
        };
        /** @description Pagination holds the cursor of the next page. */
        Pagination: {
            /** @description The `cursor` of the request for the next page; empty on the last page. The value is opaque. */
            cursor: string;
        };
        /** @description PermittedOperation is an operation that accepts a token. */
        PermittedOperation: {
            /** @description The full name over gRPC, such as `moderato.v1.ModerationService/BanUser`. */
            name: string;
            /** @description The HTTP method; null if the operation has no JSON request and response. Such an operation is for gRPC only, except `watchEvents`, which is also the event stream at `GET /v1/events`. */
            method: string | null;
            /** @description The path; null if `method` is null. */
            path: string | null;
            /**
             * @description What the caller must also be to the channel or user that the request names:
             *
             *     - `self`: the user, or an app to which that user granted the scope.
             *     - `authorized`: the channel's owner, or an app that names any channel.
             *     - `owner`: the channel's owner.
             *     - `moderator`: the channel's owner, or a moderator who is not banned from it.
             *     - `listener`: what each event type requires.
             *
             *     Null if no relation is required.
             */
            relation: string | null;
        };
        /** @description Person is a user as events and lists name them. */
        Person: {
            /**
             * Format: uuid
             * @description The user's id: a UUID in lower case.
             */
            id: string;
            /** @description The username, with the letter case that the user chose. */
            username: string;
            /** @description The display name. */
            displayName: string;
            /** @description The URL of the avatar picture. If there is none, that of the default picture. */
            avatarUrl: string;
        };
        /** @description PinMessageRequest names the message. */
        PinMessageRequest: {
            /**
             * Format: uuid
             * @description Required. The channel: a UUID in upper or lower case.
             */
            channelId: string;
            /**
             * Format: uuid
             * @description Required. The message: a UUID in upper or lower case.
             */
            messageId: string;
        };
        /** @description PostMessageRequest is the message to post. */
        PostMessageRequest: {
            /**
             * Format: uuid
             * @description Required. The channel: a UUID in upper or lower case.
             */
            channelId: string;
            /** @description Required. The text: 1 to 500 characters after trimming and normalization to NFC, without control characters other than tab and line feed. */
            message: string;
            /**
             * Format: uuid
             * @description The sender: a UUID in upper or lower case. Required with an app or service token that acts for no user. With a user token it may be omitted.
             */
            senderId?: string | null;
            /**
             * Format: uuid
             * @description The message's id, if the caller chooses it: a UUID in upper or lower case. If the sender already posted a message with this id in the same channel, the call stores nothing and returns that message. Errors: INVALID_ARGUMENT if the id belongs to another message.
             */
            messageId?: string | null;
            /**
             * Format: uuid
             * @description The message that this one replies to: a UUID in upper or lower case. It must be in the channel and not be deleted (otherwise INVALID_ARGUMENT); if it is deleted later, the reply stays. Empty if this is no reply.
             */
            replyToMessageId?: string | null;
            /** @description Whether a program posts the message, as `sender.isBot` says then. A service token may set it; with an app token it is always true, and with a user token it must be false. */
            isBot?: boolean | null;
        };
        /** @description PostMessageResponse is the message as it was stored. */
        PostMessageResponse: {
            /**
             * Format: uuid
             * @description The message's id: a UUID in lower case.
             */
            messageId: string;
            /**
             * Format: uuid
             * @description The channel: a UUID in lower case.
             */
            channelId: string;
            /**
             * Format: uuid
             * @description The sender: a UUID in lower case.
             */
            senderId: string;
            /** @description The text: 1 to 500 characters in Unicode NFC. */
            message: string;
            /**
             * Format: date-time
             * @description When it was posted: UTC, milliseconds.
             */
            createdAt: string;
        };
        /** @description PreviewChatRulesRequest has changes of the rules, and what they would look at: either `withinSeconds` or `texts`. */
        PreviewChatRulesRequest: {
            /**
             * Format: uuid
             * @description Required. The channel: a UUID in upper or lower case.
             */
            channelId: string;
            /** @description Rules to create, if they have no id, or else to replace: up to 100. */
            put?: components["schemas"]["ChatRuleInput"][] | null;
            /** @description The ids of rules to delete: up to 100, each a UUID in upper or lower case. */
            delete?: string[] | null;
            /**
             * Format: int64
             * @description How many seconds ago the oldest stored message was sent. Deleted messages are examined too, while they are stored.
             */
            withinSeconds?: number | null;
            /** @description Texts of messages of a user without roles, who follows nobody: up to 100, each of up to 500 characters. */
            texts?: string[] | null;
        };
        /** @description PreviewChatRulesResponse is what the rules would do. */
        PreviewChatRulesResponse: {
            /**
             * Format: int32
             * @description How many messages or texts the rules looked at.
             */
            examined: number;
            /**
             * Format: int32
             * @description How many of them match a rule.
             */
            matched: number;
            /**
             * Format: int32
             * @description How many users sent messages that match. 0 for texts.
             */
            users: number;
            /**
             * Format: int32
             * @description How many of those users have been banned or muted since, or still are: for them the rules are probably right.
             */
            sanctionedUsers: number;
            /**
             * Format: int32
             * @description How many of those users have a role or a subscription, or have followed the channel for more than 7 days, and were not banned or muted: for them the rules are probably wrong.
             */
            trustedUsers: number;
            /** @description What each enabled rule matched, in the order of the rules. */
            byRule: components["schemas"]["RulePreview"][];
            /** @description Up to 20 of the messages that match, the newest first, of as many users as possible. For texts, all that match. */
            sample: components["schemas"]["PreviewedMessage"][];
        };
        /** @description PreviewSweepRequest names the channel, the conditions and the exemptions. A user matches if all given conditions hold. */
        PreviewSweepRequest: {
            /**
             * Format: uuid
             * @description Required. The channel: a UUID in upper or lower case.
             */
            channelId: string;
            /** @description The user posted a message that contains this phrase, of which disguises are recognized: 1 to 500 characters. At most one of `phrase` and `pattern` can be given. */
            phrase?: string | null;
            /** @description The user posted a message that matches this RE2 regular expression: 1 to 500 characters. */
            pattern?: string | null;
            /**
             * Format: int64
             * @description Required. How many seconds back messages are examined: 1 to 3,600. Deleted messages are not examined.
             */
            withinSeconds: number;
            /**
             * Format: int64
             * @description The user has followed the channel for at most so many seconds: 1 to 1,209,600 (14 days).
             */
            followedWithinSeconds?: number | null;
            /**
             * Format: int64
             * @description The user posted within `withinSeconds`, and their first message in the channel was at most so many seconds ago: 1 to 1,209,600 (14 days).
             */
            firstMessageWithinSeconds?: number | null;
            /**
             * Format: int64
             * @description Exempts the users who have followed the channel for longer than so many seconds: 0 to 315,360,000 (10 years); 604,800 (7 days) if unset.
             */
            exemptFollowersOlderThanSeconds?: number | null;
            /** @description Whether to exempt the subscribers of the channel; true if unset. */
            exemptSubscribers?: boolean | null;
        };
        /** @description PreviewSweepResponse is what a sweep would do. */
        PreviewSweepResponse: {
            /** @description The token for `commitSweep`. It is valid for 5 minutes, for one use, in this channel. */
            sweepToken: string;
            /**
             * Format: date-time
             * @description When the token expires: UTC, milliseconds.
             */
            expiresAt: string;
            /**
             * Format: int32
             * @description How many users match, whom `commitSweep` bans.
             */
            matched: number;
            /** @description How many other users meet the conditions, by what exempts them. */
            exempted: components["schemas"]["SweepExemptions"];
            /** @description Some of the users who match; at most 20. */
            sample: components["schemas"]["SweepMatch"][];
        };
        /** @description PreviewedMessage is a message that a rule matched. */
        PreviewedMessage: {
            /** @description The sender; null for texts. */
            user: components["schemas"]["Person"] | null;
            /** @description The text. */
            text: string;
            /** @description Where in the text the rule matches. Empty if it is about the whole text. */
            spans: components["schemas"]["Span"][];
            /**
             * Format: uuid
             * @description The strictest rule that matches: a UUID in lower case; null if the request would create it.
             */
            ruleId: string | null;
            /** @description The name of this rule. */
            ruleName: string;
            /** @description What this rule would do. */
            action: string;
            /**
             * Format: date-time
             * @description When the message was sent: UTC, milliseconds; null for texts.
             */
            sentAt: string | null;
        };
        /** @description Raid is a raid of a channel: another user sent their viewers. */
        Raid: {
            /**
             * Format: uuid
             * @description The raid's id: a UUID in lower case.
             */
            id: string;
            /** @description The user whose viewers came. */
            raider: components["schemas"]["Person"];
            /**
             * Format: int64
             * @description The number of viewers who came.
             */
            viewerCount: number;
            /**
             * Format: date-time
             * @description When it happened: UTC, milliseconds.
             */
            createdAt: string;
        };
        /** @description RaidEvent is the payload of `channel.raid`. */
        RaidEvent: {
            /**
             * Format: uuid
             * @description The channel that was raided: a UUID in lower case.
             */
            channelId: string;
            /** @description The id of the client that reported the change. */
            clientId: string;
            /** @description The user whose viewers came, as of that time. */
            raider: components["schemas"]["Person"];
            /**
             * Format: int64
             * @description The number of viewers who came.
             */
            viewerCount: number;
            /**
             * Format: date-time
             * @description When it happened: UTC, milliseconds.
             */
            createdAt: string;
        };
        /** @description RedeliverWebhookEventRequest names the event. */
        RedeliverWebhookEventRequest: {
            /**
             * Format: uuid
             * @description Required. The webhook: a UUID in upper or lower case.
             */
            webhookId: string;
            /**
             * Format: uuid
             * @description Required. The event: a UUID in upper or lower case.
             */
            eventId: string;
        };
        /** @description RemoveBanRequest names the channel and, by id or by username, the user. */
        RemoveBanRequest: {
            /**
             * Format: uuid
             * @description Required. The channel: a UUID in upper or lower case.
             */
            channelId: string;
            /**
             * Format: uuid
             * @description The user's id: a UUID in upper or lower case. Exactly one of `banUserId` and `banUsername` is required.
             */
            banUserId?: string | null;
            /** @description The user's username, compared case-insensitively: 1 to 40 of `A-Z a-z 0-9 _ . -`. White space around the name, and one `@` before it, are ignored. */
            banUsername?: string | null;
            /** @description Why the ban is removed: 1 to 500 characters, without control characters. The event and the log have it as `endReason`. */
            reason?: string | null;
            /** @description Whether to restore the messages that the ban deleted and that nothing else deleted. It can be done for 24 hours. */
            restoreMessages?: boolean | null;
        };
        /** @description RemoveModeratorRequest names the channel and the moderator. */
        RemoveModeratorRequest: {
            /**
             * Format: uuid
             * @description Required. The channel: a UUID in upper or lower case. It must be the channel of the token's user.
             */
            channelId: string;
            /**
             * Format: uuid
             * @description Required. The user: a UUID in upper or lower case. The channel's owner is not accepted.
             */
            userId: string;
        };
        /** @description RemoveMuteRequest names the channel and the user. */
        RemoveMuteRequest: {
            /**
             * Format: uuid
             * @description Required. The channel: a UUID in upper or lower case.
             */
            channelId: string;
            /**
             * Format: uuid
             * @description Required. The user: a UUID in upper or lower case.
             */
            mutedUserId: string;
            /** @description Why the mute is removed: 1 to 500 characters, without control characters. The event and the log have it as `endReason`. */
            reason?: string | null;
            /** @description Whether to restore the messages that the mute deleted and that nothing else deleted. It can be done for 24 hours. */
            restoreMessages?: boolean | null;
        };
        /** @description RemoveOgRequest names the channel and the OG. */
        RemoveOgRequest: {
            /**
             * Format: uuid
             * @description Required. The channel: a UUID in upper or lower case. It must be the channel of the token's user.
             */
            channelId: string;
            /**
             * Format: uuid
             * @description Required. The user: a UUID in upper or lower case. The channel's owner is not accepted.
             */
            userId: string;
        };
        /** @description RemoveVipRequest names the channel and the VIP. */
        RemoveVipRequest: {
            /**
             * Format: uuid
             * @description Required. The channel: a UUID in upper or lower case. It must be the channel of the token's user.
             */
            channelId: string;
            /**
             * Format: uuid
             * @description Required. The user: a UUID in upper or lower case. The channel's owner is not accepted.
             */
            userId: string;
        };
        /** @description RestoreChatRulesRequest names the channel and the version. */
        RestoreChatRulesRequest: {
            /**
             * Format: uuid
             * @description Required. The channel: a UUID in upper or lower case.
             */
            channelId: string;
            /**
             * Format: int64
             * @description Required. The version whose rules are to be in force: 0 for none.
             */
            version: number;
            /**
             * Format: int64
             * @description The version that the rules must have; unset if any.
             */
            expectedVersion?: number | null;
        };
        /** @description RestoreChatRulesResponse has all rules of the channel after the change. */
        RestoreChatRulesResponse: {
            /**
             * Format: int64
             * @description The number of changes of the rules.
             */
            version: number;
            /** @description All rules, in the order in which they were created. */
            rules: components["schemas"]["ChatRule"][];
        };
        /** @description RevertCounts says how many results of a revert have each status. */
        RevertCounts: {
            /**
             * Format: int32
             * @description Users with the status `UNBANNED`.
             */
            unbanned: number;
            /**
             * Format: int32
             * @description Users with the status `UNMUTED`.
             */
            unmuted: number;
            /**
             * Format: int32
             * @description Users with the status `RESTORED`.
             */
            restored: number;
        };
        /** @description RevertModeratorRequest names the channel, the moderator and the time. */
        RevertModeratorRequest: {
            /**
             * Format: uuid
             * @description Required. The channel: a UUID in upper or lower case.
             */
            channelId: string;
            /**
             * Format: uuid
             * @description The user who made the bans and mutes, who need not be a moderator any more: a UUID in upper or lower case. This or `ruleId` is required, and not both.
             */
            moderatorId?: string | null;
            /**
             * Format: date-time
             * @description The bans and mutes from this time on are lifted. It is not in the future. Required with `moderatorId`; without it, all mutes of a rule are lifted.
             */
            since?: string | null;
            /** @description Whether to return what would happen, and to change nothing. */
            dryRun?: boolean | null;
            /**
             * Format: uuid
             * @description The rule that made the mutes: a UUID in upper or lower case.
             */
            ruleId?: string | null;
        };
        /** @description RevertModeratorResponse is what happened, or would happen, to each user whom the moderator had banned or muted. */
        RevertModeratorResponse: {
            /** @description How many results have each status. */
            counts: components["schemas"]["RevertCounts"];
            /** @description What happened to each user, in the order in which the bans and mutes were made. A user who was banned and muted has two results. */
            results: components["schemas"]["BatchResult"][];
            /** @description Whether bans or mutes remain that the next call lifts. */
            hasMore: boolean;
            /**
             * Format: date-time
             * @description Retention has removed the messages that were sent before this time, so they were not restored: UTC, milliseconds; null if no messages were to be restored, or none were removed.
             */
            messagesRemovedBefore: string | null;
        };
        /** @description RevokeGrantRequest names the client whose grant is revoked. */
        RevokeGrantRequest: {
            /** @description Required. The client's id. */
            clientId: string;
        };
        /** @description RoleEvent is the payload of `channel.moderator.add`, `channel.moderator.remove` and the corresponding events for VIPs and OGs. */
        RoleEvent: {
            /**
             * Format: uuid
             * @description The channel: a UUID in lower case.
             */
            channelId: string;
            /**
             * Format: uuid
             * @description The user who added or removed the role: a UUID in lower case.
             */
            moderatorId: string;
            /** @description The id of the client through which the change was made. */
            clientId: string;
            /**
             * Format: uuid
             * @description The user whose role was added or removed: a UUID in lower case.
             */
            userId: string;
            /** @description The role: `moderator`, `vip` or `og`. */
            role: string;
            /**
             * Format: date-time
             * @description When the role was added or removed: UTC, milliseconds.
             */
            changedAt: string;
            /** @description The user, if the role is `moderator`. */
            moderator?: components["schemas"]["Person"];
            /** @description The user, if the role is `vip`. */
            vip?: components["schemas"]["Person"];
            /** @description The user, if the role is `og`. */
            og?: components["schemas"]["Person"];
        };
        /** @description RoleHolder is a user who holds a role in a channel. */
        RoleHolder: {
            /**
             * Format: uuid
             * @description The user's id: a UUID in lower case.
             */
            id: string;
            /** @description The display name. */
            displayName: string;
            /** @description The username in lower case. */
            slug: string;
            /** @description The URL of the avatar picture. If there is none, that of the default picture. */
            avatarUrl: string;
            /** @description The role: `moderator`, `vip` or `og`. */
            role: string;
            /**
             * Format: date-time
             * @description When the user got the role: UTC, milliseconds.
             */
            createdAt: string;
            /** @description Whether the user is banned from the channel. A banned user keeps the role, but as a moderator has no moderation right while the ban lasts. */
            isBanned: boolean;
        };
        /** @description RotateWebhookSecretRequest names the webhook. */
        RotateWebhookSecretRequest: {
            /**
             * Format: uuid
             * @description Required. The webhook: a UUID in upper or lower case.
             */
            webhookId: string;
        };
        /** @description RotateWebhookSecretResponse is the new secret. */
        RotateWebhookSecretResponse: {
            /**
             * Format: uuid
             * @description The webhook's id: a UUID in lower case.
             */
            id: string;
            /** @description The new secret, as in CreateWebhookResponse. It is returned only once, in this response. */
            secret: string;
            /**
             * Format: date-time
             * @description Until when deliveries are also signed with the former secret: UTC, milliseconds.
             */
            formerSecretExpiresAt: string;
        };
        /** @description RulePreview is how many messages a rule matched. */
        RulePreview: {
            /**
             * Format: uuid
             * @description The rule's id: a UUID in lower case; null if the request would create it.
             */
            ruleId: string | null;
            /** @description The rule's name. */
            name: string;
            /** @description What the rule would do. */
            action: string;
            /**
             * Format: int32
             * @description How many messages match it, whether or not another rule is stricter.
             */
            matched: number;
            /**
             * Format: int32
             * @description How many users sent them. 0 for texts.
             */
            users: number;
        };
        /** @description SenderFacts are facts about the sender of a message. */
        SenderFacts: {
            /** @description The roles: of `moderator`, `vip` and `og`. */
            roles: string[];
            /** @description Whether the user has a subscription. */
            isSubscriber: boolean;
            /**
             * Format: date-time
             * @description Since when the user follows the channel: UTC, milliseconds; null if not.
             */
            followedAt: string | null;
            /**
             * Format: date-time
             * @description When the account was created: UTC, milliseconds; null if it is not known.
             */
            accountCreatedAt: string | null;
            /**
             * Format: int32
             * @description The user's strikes in the channel. Always 0.
             */
            strikes: number;
        };
        /** @description SessionSubscription is what a session receives. */
        SessionSubscription: {
            /** @description The event type. */
            type: string;
            /** @description The version of the type's payload. */
            version: string;
            /** @description Which events the session receives. */
            condition: components["schemas"]["SubscriptionCondition"];
        };
        /** @description ShieldAutoStart says when a shield is raised by itself, for 15 minutes: as soon as one of the given numbers is reached within a minute. */
        ShieldAutoStart: {
            /**
             * Format: int32
             * @description How many users begin to follow; null if it does not matter.
             */
            followsPerMinute: number | null;
            /**
             * Format: int32
             * @description How many users post for the first time; null if it does not matter.
             */
            firstMessagesPerMinute: number | null;
            /**
             * Format: int32
             * @description How many messages are held; null if it does not matter.
             */
            heldPerMinute: number | null;
        };
        /** @description ShieldAutoStart says when a shield is raised by itself, for 15 minutes: as soon as one of the given numbers is reached within a minute. */
        ShieldAutoStartInput: {
            /**
             * Format: int32
             * @description How many users begin to follow; null if it does not matter.
             */
            followsPerMinute?: number | null;
            /**
             * Format: int32
             * @description How many users post for the first time; null if it does not matter.
             */
            firstMessagesPerMinute?: number | null;
            /**
             * Format: int32
             * @description How many messages are held; null if it does not matter.
             */
            heldPerMinute?: number | null;
        };
        /** @description ShieldBeginEvent is the payload of `channel.shield.begin`: the shield was raised, or its end changed. */
        ShieldBeginEvent: {
            /**
             * Format: uuid
             * @description The channel: a UUID in lower case.
             */
            channelId: string;
            /**
             * Format: uuid
             * @description The user who made the change: a UUID in lower case; null if it happened by itself.
             */
            moderatorId: string | null;
            /** @description The id of the client through which the change was made; empty if it happened by itself. */
            clientId: string;
            /** @description What caused the event: `moderator`, or `automatic` if a number of the preset was reached. */
            cause: string;
            /**
             * Format: date-time
             * @description When it ends by itself: UTC, milliseconds.
             */
            endsAt: string;
        };
        /** @description ShieldEndEvent is the payload of `channel.shield.end`: the shield is down. */
        ShieldEndEvent: {
            /**
             * Format: uuid
             * @description The channel: a UUID in lower case.
             */
            channelId: string;
            /**
             * Format: uuid
             * @description The user who made the change: a UUID in lower case; null if it happened by itself.
             */
            moderatorId: string | null;
            /** @description The id of the client through which the change was made; empty if it happened by itself. */
            clientId: string;
            /** @description What caused the event: `moderator`, or `expired`. */
            cause: string;
            /**
             * Format: date-time
             * @description When it ended: UTC, milliseconds.
             */
            endedAt: string;
        };
        /** @description ShieldPreset is what a shield does while it is up. */
        ShieldPreset: {
            /** @description The settings that are in force, if they are stricter than those of the channel. */
            settings: components["schemas"]["ShieldSettings"];
            /** @description The rules that apply beside those of the channel. */
            rules: components["schemas"]["ChatRule"][];
            /** @description When the shield is raised by itself; null if it never is. */
            autoStart: components["schemas"]["ShieldAutoStart"] | null;
        };
        /** @description ShieldPresetEvent is the payload of `channel.shield.preset`: what the shield does was changed. */
        ShieldPresetEvent: {
            /**
             * Format: uuid
             * @description The channel: a UUID in lower case.
             */
            channelId: string;
            /**
             * Format: uuid
             * @description The user who made the change: a UUID in lower case; null if it happened by itself.
             */
            moderatorId: string | null;
            /** @description The id of the client through which the change was made; empty if it happened by itself. */
            clientId: string;
            /** @description The fields that changed: of `settings`, `rules` and `autoStart`. */
            changed: string[];
        };
        /** @description ShieldSettings are settings of a chat of which some are given. Their meaning is that of the fields of UpdateChatSettingsRequest. Of exempt roles, those remain that both the preset and the settings name. */
        ShieldSettings: {
            /**
             * Format: int64
             * @description How many seconds a sender waits between two messages; null for no change.
             */
            slowSeconds: number | null;
            /**
             * Format: int64
             * @description How many seconds ago senders must have begun to follow; null for no change.
             */
            followersOnlySeconds: number | null;
            /** @description Whether only subscribers may post; null for no change. */
            subscribersOnly: boolean | null;
            /** @description Whether messages may have only emoji and emotes; null for no change. */
            emoteOnly: boolean | null;
            /**
             * Format: int64
             * @description How many seconds ago the account of a sender must have been created; null for no change.
             */
            minAccountAgeSeconds: number | null;
            /**
             * Format: int64
             * @description For how many seconds after a message no one may post the same text; null for no change.
             */
            uniqueSeconds: number | null;
            /**
             * @description What happens to the first message of a user: `allow`, `hold` or `block`; null for no change.
             * @enum {string|null}
             */
            firstMessage: "allow" | "hold" | "block" | null;
            /** @description The roles that the settings do not restrict: a list of `vip`, `og` and `subscriber`, each at most once; null for no change. */
            exemptRoles: ("vip" | "og" | "subscriber")[] | null;
        };
        /** @description ShieldSettings are settings of a chat of which some are given. Their meaning is that of the fields of UpdateChatSettingsRequest. Of exempt roles, those remain that both the preset and the settings name. */
        ShieldSettingsInput: {
            /**
             * Format: int64
             * @description How many seconds a sender waits between two messages; null for no change.
             */
            slowSeconds?: number | null;
            /**
             * Format: int64
             * @description How many seconds ago senders must have begun to follow; null for no change.
             */
            followersOnlySeconds?: number | null;
            /** @description Whether only subscribers may post; null for no change. */
            subscribersOnly?: boolean | null;
            /** @description Whether messages may have only emoji and emotes; null for no change. */
            emoteOnly?: boolean | null;
            /**
             * Format: int64
             * @description How many seconds ago the account of a sender must have been created; null for no change.
             */
            minAccountAgeSeconds?: number | null;
            /**
             * Format: int64
             * @description For how many seconds after a message no one may post the same text; null for no change.
             */
            uniqueSeconds?: number | null;
            /**
             * @description What happens to the first message of a user: `allow`, `hold` or `block`; null for no change.
             * @enum {string|null}
             */
            firstMessage?: "allow" | "hold" | "block" | null;
            /** @description The roles that the settings do not restrict: a list of `vip`, `og` and `subscriber`, each at most once; null for no change. */
            exemptRoles?: ("vip" | "og" | "subscriber")[] | null;
        };
        /** @description Span is a part of a text. */
        Span: {
            /**
             * Format: int32
             * @description Where it begins, in code points.
             */
            start: number;
            /**
             * Format: int32
             * @description Where it ends, in code points, exclusive.
             */
            end: number;
        };
        /** @description StreamCategory is the category in a stream info. */
        StreamCategory: {
            /**
             * Format: int64
             * @description The category's id: 0 or more.
             */
            id: number;
            /** @description The category's name. */
            title: string;
        };
        /** @description StreamEvent is the payload of `stream.online` and `stream.offline`. */
        StreamEvent: {
            /**
             * Format: uuid
             * @description The channel: a UUID in lower case.
             */
            channelId: string;
            /** @description The id of the client that reported the change. */
            clientId: string;
            /**
             * Format: date-time
             * @description When the stream started: UTC, milliseconds.
             */
            startedAt: string;
            /**
             * Format: date-time
             * @description When the stream ended: UTC, milliseconds; null in `stream.online`.
             */
            endedAt: string | null;
            /** @description The title of the stream. */
            title: string;
            /** @description The language of the stream: a BCP 47 tag in canonical form. */
            lang: string;
            /**
             * Format: int64
             * @description The category's id; 0 is "Uncategorized".
             */
            categoryId: number;
            /** @description The category's name. */
            categoryTitle: string;
            /**
             * Format: date-time
             * @description When the event happened: UTC, milliseconds.
             */
            createdAt: string;
            /** @description The category of the stream. */
            category: components["schemas"]["EventCategory"];
        };
        /** @description Subscriber is a user who subscribes to a channel, and their subscription. */
        Subscriber: {
            /**
             * Format: uuid
             * @description The user's id: a UUID in lower case.
             */
            id: string;
            /** @description The username, with the letter case that the user chose. */
            username: string;
            /** @description The display name. */
            displayName: string;
            /** @description The URL of the avatar picture. If there is none, that of the default picture. */
            avatarUrl: string;
            /**
             * Format: date-time
             * @description When the period began: UTC, milliseconds.
             */
            subscribedAt: string;
            /**
             * Format: date-time
             * @description When the period ends or ended: UTC, milliseconds.
             */
            subscriptionExpiresAt: string;
        };
        /** @description SubscriptionCondition selects the events of a subscription. */
        SubscriptionCondition: {
            /**
             * Format: uuid
             * @description Required. The channel: a UUID in upper or lower case.
             */
            channelId: string;
            /**
             * Format: uuid
             * @description A user: a UUID in upper or lower case; may be empty. It selects nothing: clients send the user as whom they listen. A subscription has that of the call that created it, and no such field if it was empty.
             */
            userId?: string;
        };
        /** @description SubscriptionCondition selects the events of a subscription. */
        SubscriptionConditionInput: {
            /**
             * Format: uuid
             * @description Required. The channel: a UUID in upper or lower case.
             */
            channelId: string;
            /**
             * Format: uuid
             * @description A user: a UUID in upper or lower case; may be empty. It selects nothing: clients send the user as whom they listen. A subscription has that of the call that created it, and no such field if it was empty.
             */
            userId?: string | null;
        };
        /** @description SubscriptionEvent is the payload of `channel.subscribe` and `channel.subscription.end`. */
        SubscriptionEvent: {
            /**
             * Format: uuid
             * @description The channel: a UUID in lower case.
             */
            channelId: string;
            /** @description The id of the client that reported the change; empty if the subscription expired. */
            clientId: string;
            /**
             * Format: uuid
             * @description The user who subscribes or subscribed: a UUID in lower case.
             */
            userId: string;
            /** @description The user's display name at that time. */
            userDisplayName: string;
            /** @description The user's slug at that time. */
            userSlug: string;
            /**
             * Format: date-time
             * @description When the period began: UTC, milliseconds.
             */
            subscribedAt: string;
            /**
             * Format: date-time
             * @description When the period ends or ended: UTC, milliseconds.
             */
            expiresAt: string;
            /**
             * Format: int64
             * @description The number of renewals.
             */
            renewCount: number;
            /**
             * Format: int64
             * @description The number of consecutive periods.
             */
            streakCount: number;
            /** @description The user who subscribes or subscribed, as of that time. */
            subscriber: components["schemas"]["Subscriber"];
            /**
             * Format: int64
             * @description The number of periods: the renewals and the first one.
             */
            months: number;
            /**
             * Format: int64
             * @description The number of consecutive periods.
             */
            streakMonths: number;
            /**
             * Format: date-time
             * @description When the event happened: UTC, milliseconds.
             */
            createdAt: string;
        };
        /** @description SubscriptionInfo describes a user's subscription to a channel. */
        SubscriptionInfo: {
            /** @description Whether the user has an active subscription. */
            isSubscriber: boolean;
            /** @description Whether the user had a subscription period before the current one, or one that has ended. */
            hadSubscriptionBefore: boolean;
            /**
             * Format: int64
             * @description The number of renewals; null if the user never subscribed.
             */
            renewCount: number | null;
            /**
             * Format: int64
             * @description The number of consecutive periods; null if the user never subscribed.
             */
            streakCount: number | null;
            /**
             * Format: date-time
             * @description When the active subscription ends: UTC, milliseconds; null if no subscription is active.
             */
            expiresAt: string | null;
            /**
             * Format: date-time
             * @description When the active subscription began: UTC, milliseconds; null if no subscription is active.
             */
            subscribedAt: string | null;
        };
        /** @description SweepCounts says what happened to the users of a sweep. */
        SweepCounts: {
            /**
             * Format: int32
             * @description Users whom the sweep banned.
             */
            banned: number;
            /**
             * Format: int32
             * @description Users who had been banned since the preview.
             */
            alreadyBanned: number;
            /**
             * Format: int32
             * @description Users who were deleted since the preview.
             */
            userNotFound: number;
            /**
             * Format: int32
             * @description Users who had been banned since the preview, with bans that would have ended earlier. The sweep replaced these bans.
             */
            extended: number;
        };
        /** @description SweepExemptions says how many users a sweep exempts. A user with several causes counts for the first of them. */
        SweepExemptions: {
            /**
             * Format: int32
             * @description 1 if the channel's owner is exempted, otherwise 0.
             */
            owner: number;
            /**
             * Format: int32
             * @description Moderators of the channel.
             */
            moderators: number;
            /**
             * Format: int32
             * @description VIPs of the channel.
             */
            vips: number;
            /**
             * Format: int32
             * @description OGs of the channel.
             */
            ogs: number;
            /**
             * Format: int32
             * @description Subscribers of the channel.
             */
            subscribers: number;
            /**
             * Format: int32
             * @description Users who have followed the channel for longer than `exemptFollowersOlderThanSeconds`.
             */
            followers: number;
        };
        /** @description SweepMatch is a user who matches. */
        SweepMatch: {
            /**
             * Format: uuid
             * @description The user's id: a UUID in lower case.
             */
            userId: string;
            /** @description The user's username. */
            username: string;
            /** @description The display name. */
            displayName: string;
            /** @description The first message of the user that matches; null if no condition is about messages. */
            message: components["schemas"]["UserMessage"] | null;
        };
        /** @description ThanksEvent is the payload of `channel.thanks`. */
        ThanksEvent: {
            /**
             * Format: uuid
             * @description The channel: a UUID in lower case.
             */
            channelId: string;
            /** @description The id of the client that reported the change. */
            clientId: string;
            /**
             * Format: uuid
             * @description The user who thanked: a UUID in lower case.
             */
            userId: string;
            /** @description The user's display name at that time. */
            userDisplayName: string;
            /** @description The user's slug at that time. */
            userSlug: string;
            /** @description The key of the thanks, unique in its channel. */
            key: string;
            /** @description The amount, in the platform's smallest unit. In JSON, a text of decimal digits. */
            amount: string;
            /** @description The user's message; may be empty. */
            message: string;
            /**
             * Format: date-time
             * @description When it happened: UTC, milliseconds.
             */
            thankedAt: string;
            /** @description The user who thanked, as of that time. */
            sender: components["schemas"]["Person"];
            /** @description The id of the thanks: its key, unique in its channel. */
            thanksId: string;
            /**
             * Format: uuid
             * @description The chat message that shows the thanks: a UUID in lower case; empty if the backend named none.
             */
            messageId: string;
            /**
             * Format: date-time
             * @description When it happened: UTC, milliseconds.
             */
            createdAt: string;
        };
        /** @description TimedSetting is a setting that is set for a time. */
        TimedSetting: {
            /** @description The name of the setting, such as `slowSeconds`. */
            setting: string;
            /**
             * Format: date-time
             * @description When it returns to its former value: UTC, milliseconds.
             */
            endsAt: string;
        };
        /** @description UnbanEvent is the payload of `channel.unban`. */
        UnbanEvent: {
            /**
             * Format: uuid
             * @description The channel: a UUID in lower case.
             */
            channelId: string;
            /**
             * Format: uuid
             * @description The user who removed the ban, or who had applied it if it expired: a UUID in lower case.
             */
            moderatorId: string;
            /** @description The id of the client through which the change was made; empty if the ban expired. */
            clientId: string;
            /**
             * Format: uuid
             * @description The user who was banned: a UUID in lower case.
             */
            unbannedUserId: string;
            /** @description The user's display name at that time. */
            unbannedUserDisplayName: string;
            /**
             * Format: date-time
             * @description When the ban was removed or expired: UTC, milliseconds.
             */
            unbannedAt: string;
            /** @description Why the user was banned; null if no reason was given. */
            reason: string | null;
            /**
             * Format: date-time
             * @description When the ban expires or expired: UTC, milliseconds; null if it lasts until it is removed.
             */
            expiresAt: string | null;
            /**
             * Format: uuid
             * @description The batch that had banned the user: a UUID in lower case; null if it was none.
             */
            batchId: string | null;
            /** @description What caused the event: `moderator` for a single removal, `expired`, `batch` if the batch was undone, `revert` if all that a moderator did was reverted. */
            cause: string;
            /** @description Why the ban was removed; null if no reason was given. */
            endReason: string | null;
            /** @description The user who was banned, as of that time. */
            bannedUser: components["schemas"]["Person"];
        };
        /** @description UndoBanBatchRequest names the channel and the batch. */
        UndoBanBatchRequest: {
            /**
             * Format: uuid
             * @description Required. The channel: a UUID in upper or lower case.
             */
            channelId: string;
            /**
             * Format: uuid
             * @description Required. The batch: a UUID in upper or lower case.
             */
            batchId: string;
            /** @description Whether to restore the messages that the bans deleted. */
            restoreMessages?: boolean | null;
        };
        /** @description UndoBanBatchResponse is what happened to each user whom the batch had banned. */
        UndoBanBatchResponse: {
            /** @description How many users have each status. */
            counts: components["schemas"]["UndoCounts"];
            /** @description What happened to each user, in the order of the batch; only the first 10,000 of a sweep that banned more. */
            results: components["schemas"]["BatchResult"][];
            /**
             * Format: date-time
             * @description Retention has removed the messages that were sent before this time, so they were not restored: UTC, milliseconds; null if no messages were to be restored, or none were removed.
             */
            messagesRemovedBefore: string | null;
        };
        /** @description UndoCounts says how many results of an undo have each status. */
        UndoCounts: {
            /**
             * Format: int32
             * @description Users with the status `UNBANNED`.
             */
            unbanned: number;
            /**
             * Format: int32
             * @description Users with the status `CHANGED`.
             */
            changed: number;
            /**
             * Format: int32
             * @description Users with the status `NOT_BANNED`.
             */
            notBanned: number;
            /**
             * Format: int32
             * @description Users with the status `RESTORED`.
             */
            restored: number;
        };
        /** @description UnmuteEvent is the payload of `channel.unmute`: a mute that was ended before it expired. */
        UnmuteEvent: {
            /**
             * Format: uuid
             * @description The channel: a UUID in lower case.
             */
            channelId: string;
            /**
             * Format: uuid
             * @description The user who ended the mute: a UUID in lower case.
             */
            moderatorId: string;
            /** @description The id of the client through which the change was made. */
            clientId: string;
            /**
             * Format: uuid
             * @description The user who was muted: a UUID in lower case.
             */
            unmutedUserId: string;
            /** @description The user's display name at that time. */
            unmutedUserDisplayName: string;
            /**
             * Format: date-time
             * @description When the mute was ended: UTC, milliseconds.
             */
            unmutedAt: string;
            /** @description Why the user was muted; null if no reason was given. */
            reason: string | null;
            /**
             * Format: date-time
             * @description When the mute would have expired: UTC, milliseconds.
             */
            expiresAt: string;
            /** @description What caused the event: `moderator`, or `revert` if all that a moderator or a rule did was reverted. */
            cause: string;
            /** @description Why the mute was ended; null if no reason was given. */
            endReason: string | null;
            /** @description The user who was muted, as of that time. */
            mutedUser: components["schemas"]["Person"];
        };
        /** @description UnpinMessageRequest names the channel. */
        UnpinMessageRequest: {
            /**
             * Format: uuid
             * @description Required. The channel: a UUID in upper or lower case.
             */
            channelId: string;
        };
        /** @description UpdateChatRulesRequest has the changes: 1 to 100 in all. */
        UpdateChatRulesRequest: {
            /**
             * Format: uuid
             * @description Required. The channel: a UUID in upper or lower case.
             */
            channelId: string;
            /**
             * Format: int64
             * @description The version that the rules must have; unset if any.
             */
            expectedVersion?: number | null;
            /** @description Rules to create, if they have no id, or else to replace: up to 100. */
            put?: components["schemas"]["ChatRuleInput"][] | null;
            /** @description The ids of rules to delete: up to 100, each a UUID in upper or lower case. */
            delete?: string[] | null;
        };
        /** @description UpdateChatRulesResponse has all rules of the channel after the change. */
        UpdateChatRulesResponse: {
            /**
             * Format: int64
             * @description The number of changes of the rules.
             */
            version: number;
            /** @description All rules, in the order in which they were created. */
            rules: components["schemas"]["ChatRule"][];
        };
        /** @description UpdateChatSettingsRequest has the settings to change. */
        UpdateChatSettingsRequest: {
            /**
             * Format: uuid
             * @description Required. The channel: a UUID in upper or lower case.
             */
            channelId: string;
            /**
             * Format: int64
             * @description The version that the settings must have; unset if any.
             */
            expectedVersion?: number | null;
            /**
             * Format: int64
             * @description For how many seconds the values of this request are in force; unset if they stay.
             */
            durationSeconds?: number | null;
            /**
             * Format: int64
             * @description How many seconds a sender waits between two messages. 0 if nobody waits.
             */
            slowSeconds?: number | null;
            /**
             * Format: int64
             * @description How many seconds ago senders must have begun to follow the channel. -1 if senders need not follow.
             */
            followersOnlySeconds?: number | null;
            /** @description Whether only subscribers may post. */
            subscribersOnly?: boolean | null;
            /** @description Whether messages may have only emoji and emotes. */
            emoteOnly?: boolean | null;
            /**
             * Format: int64
             * @description How many seconds ago the account of a sender must have been created. An account of unknown age is not restricted.
             */
            minAccountAgeSeconds?: number | null;
            /**
             * Format: int64
             * @description For how many seconds after a message no one may post the same text. Texts that look alike are the same.
             */
            uniqueSeconds?: number | null;
            /**
             * @description What happens to the first message of a user in the channel, who has not posted there for 30 days: `allow`, `hold` for a decision of a moderator, or `block`.
             * @enum {string|null}
             */
            firstMessage?: "allow" | "hold" | "block" | null;
            /** @description The roles that the settings do not restrict: a list of `vip`, `og` and `subscriber`, each at most once; empty for none. The owner and moderators are never restricted. It is INVALID_ARGUMENT to name `subscriber` in a request that sets `subscribersOnly` to true: then nobody would be restricted by any other setting. */
            exemptRoles?: ("vip" | "og" | "subscriber")[] | null;
            /**
             * Format: int64
             * @description How many seconds a message is held for a decision.
             */
            holdSeconds?: number | null;
            /**
             * @description What happens to a held message without a decision: `deny` or `approve`.
             * @enum {string|null}
             */
            onHoldExpiry?: "deny" | "approve" | null;
        };
        /** @description UpdateChatSettingsResponse has the settings in force. */
        UpdateChatSettingsResponse: {
            /**
             * Format: uuid
             * @description The channel: a UUID in lower case.
             */
            channelId: string;
            /**
             * Format: int64
             * @description The number of changes of the settings, and of values that ended.
             */
            version: number;
            /**
             * Format: int64
             * @description How many seconds a sender waits between two messages: 0 to 3600. 0 if nobody waits.
             */
            slowSeconds: number;
            /**
             * Format: int64
             * @description How many seconds ago senders must have begun to follow the channel: 0 to 7776000. -1 if senders need not follow.
             */
            followersOnlySeconds: number;
            /** @description Whether only subscribers may post. */
            subscribersOnly: boolean;
            /** @description Whether messages may have only emoji and emotes. */
            emoteOnly: boolean;
            /**
             * Format: int64
             * @description How many seconds ago the account of a sender must have been created: 0 to 31536000.
             */
            minAccountAgeSeconds: number;
            /**
             * Format: int64
             * @description For how many seconds after a message no one may post the same text: 0 to 300.
             */
            uniqueSeconds: number;
            /** @description What happens to the first message of a user in the channel: `allow`, `hold` or `block`. */
            firstMessage: string;
            /** @description The roles that the settings do not restrict: `vip`, `og` and `subscriber`. The owner and moderators are never restricted. */
            exemptRoles: string[];
            /** @description The settings that are set for a time. */
            timed: components["schemas"]["TimedSetting"][];
            /**
             * Format: int64
             * @description How many seconds a message is held for a decision: 60 to 86400.
             */
            holdSeconds: number;
            /** @description What happens to a held message without a decision: `deny` or `approve`. */
            onHoldExpiry: string;
            /** @description Whether the shield is up. While it is, the values are those that are in force with it: for each setting, the stricter one of the shield's preset and of the settings. */
            shieldActive: boolean;
        };
        /** @description UpdateEvent is the payload of `channel.update`. It holds the values of the channel after the change. */
        UpdateEvent: {
            /**
             * Format: uuid
             * @description The channel: a UUID in lower case.
             */
            channelId: string;
            /**
             * Format: uuid
             * @description The user who changed the channel: a UUID in lower case.
             */
            moderatorId: string;
            /** @description The id of the client through which the change was made. */
            clientId: string;
            /** @description The title. */
            title: string;
            /** @description The language: a BCP 47 tag in canonical form. */
            lang: string;
            /**
             * Format: int64
             * @description The category's id; 0 is "Uncategorized".
             */
            categoryId: number;
            /** @description The category's name. */
            categoryTitle: string;
            /**
             * Format: date-time
             * @description When the channel was changed: UTC, milliseconds.
             */
            updatedAt: string;
        };
        /** @description UpdateInfoRequest holds the new values for the channel. */
        UpdateInfoRequest: {
            /** @description Required. The title: 1 to 140 characters after trimming. */
            title: string;
            /** @description Required. The language: a BCP 47 tag. */
            lang: string;
            /**
             * Format: int64
             * @description The category's id; the current category if unset.
             */
            categoryId?: number | null;
            /**
             * Format: uuid
             * @description The channel: a UUID in upper or lower case. Optional; if given, it must be the channel of the token's user.
             */
            channelId?: string | null;
        };
        /** @description UpdateInfoResponse holds the values of the channel after the call. */
        UpdateInfoResponse: {
            /** @description The title. */
            title: string;
            /** @description The language: a BCP 47 tag in canonical form. */
            lang: string;
            /**
             * Format: int64
             * @description The category's id; 0 is "Uncategorized".
             */
            categoryId: number;
            /** @description The category's name. */
            categoryTitle: string;
        };
        /** @description UpdateShieldPresetRequest has the preset. */
        UpdateShieldPresetRequest: {
            /**
             * Format: uuid
             * @description Required. The channel: a UUID in upper or lower case.
             */
            channelId: string;
            /** @description Required. The settings that are in force while the shield is up, if they are stricter than those of the channel; `{}` for none. */
            settings: components["schemas"]["ShieldSettingsInput"];
            /** @description Rules that apply while the shield is up: up to 20. */
            rules?: components["schemas"]["ChatRuleInput"][] | null;
            /** @description When the shield is raised by itself: at least one number; null if it never is. */
            autoStart?: components["schemas"]["ShieldAutoStartInput"] | null;
        };
        /** @description UpdateShieldPresetResponse is the preset after the change. */
        UpdateShieldPresetResponse: {
            /** @description The preset. */
            preset: components["schemas"]["ShieldPreset"];
        };
        /** @description UpdateShieldRequest raises or lowers the shield. */
        UpdateShieldRequest: {
            /**
             * Format: uuid
             * @description Required. The channel: a UUID in upper or lower case.
             */
            channelId: string;
            /** @description Required. Whether the shield is to be up. */
            active: boolean;
            /**
             * Format: int64
             * @description For how many seconds it is up from now on: 900 if it is not given. Only if it is to be up.
             */
            durationSeconds?: number | null;
            /** @description Why: 1 to 500 characters. Moderators see it while the shield is up. */
            reason?: string | null;
        };
        /** @description UpdateShieldResponse is the shield after the change. */
        UpdateShieldResponse: {
            /** @description Whether the shield is up. */
            active: boolean;
            /** @description Who raised it; null if it is down or was raised by itself. */
            startedBy: components["schemas"]["Person"] | null;
            /** @description Why it was raised: `moderator` or `automatic`; null if it is down. */
            cause: string | null;
            /**
             * Format: date-time
             * @description When it was raised: UTC, milliseconds; null if it is down.
             */
            startedAt: string | null;
            /**
             * Format: date-time
             * @description When it ends by itself: UTC, milliseconds; null if it is down.
             */
            endsAt: string | null;
            /** @description The reason that was given; null if none was. */
            reason: string | null;
            /** @description What it does while it is up. */
            preset: components["schemas"]["ShieldPreset"];
        };
        /** @description UserAccount says how long a user is known. */
        UserAccount: {
            /**
             * Format: date-time
             * @description When the user's account was created: UTC, milliseconds; null if it is not known.
             */
            createdAt: string | null;
            /**
             * Format: date-time
             * @description When the user posted the first of their messages in the channel that are stored, even if they are deleted, or that retention removed: UTC, milliseconds; null if there is none.
             */
            firstMessageAt: string | null;
        };
        /** @description UserBan is a user's ban from a channel. */
        UserBan: {
            /**
             * Format: date-time
             * @description When the ban was applied: UTC, milliseconds.
             */
            bannedAt: string;
            /** @description The user who applied the ban. */
            bannedBy: components["schemas"]["BannedBy"];
            /** @description Why; null if no reason was given. */
            reason?: string | null;
            /**
             * Format: date-time
             * @description When it expires: UTC, milliseconds; null if it lasts until it is removed.
             */
            expiresAt?: string | null;
            /**
             * Format: uuid
             * @description The batch that it belongs to: a UUID in lower case; null if it belongs to none.
             */
            batchId?: string | null;
            /** @description What caused it: `moderator` for a single ban or mute, `batch` for a ban of a batch, `rule` for a mute by a chat rule. */
            cause?: string;
            /** @description The user who applied it. Rules mute in the name of the user who edited them last. */
            moderator?: components["schemas"]["BannedBy"];
            /**
             * Format: uuid
             * @description The chat rule that muted the user: a UUID in lower case; null if none did.
             */
            ruleId?: string | null;
        };
        /** @description UserFollow is a user's follow of a channel. */
        UserFollow: {
            /**
             * Format: date-time
             * @description When the follow began: UTC, milliseconds.
             */
            followedAt: string;
        };
        /** @description UserGrant is what a user granted to a client. */
        UserGrant: {
            /** @description The client's id. */
            clientId: string;
            /** @description The client's display name. */
            clientName: string;
            /** @description The granted scopes. */
            scopes: string[];
        };
        /** @description UserMessage is a message that a user posted in a channel. */
        UserMessage: {
            /**
             * Format: uuid
             * @description The message's id: a UUID in lower case.
             */
            messageId: string;
            /** @description The text. */
            message: string;
            /**
             * Format: date-time
             * @description When it was posted: UTC, milliseconds.
             */
            createdAt: string;
        };
        /** @description UserMute is a user's active mute in a channel. */
        UserMute: {
            /**
             * Format: date-time
             * @description When the mute expires: UTC, milliseconds.
             */
            muteExpiresAt: string;
            /** @description Why; null if no reason was given. */
            reason?: string | null;
            /**
             * Format: date-time
             * @description When it expires: UTC, milliseconds; null if it lasts until it is removed.
             */
            expiresAt?: string | null;
            /**
             * Format: uuid
             * @description The batch that it belongs to: a UUID in lower case; null if it belongs to none.
             */
            batchId?: string | null;
            /** @description What caused it: `moderator` for a single ban or mute, `batch` for a ban of a batch, `rule` for a mute by a chat rule. */
            cause?: string;
            /** @description The user who applied it. Rules mute in the name of the user who edited them last. */
            moderator?: components["schemas"]["BannedBy"];
            /**
             * Format: uuid
             * @description The chat rule that muted the user: a UUID in lower case; null if none did.
             */
            ruleId?: string | null;
        };
        /** @description UserSummary is a row of a moderator or role list. */
        UserSummary: {
            /**
             * Format: uuid
             * @description The user's id: a UUID in lower case.
             */
            id: string;
            /** @description The display name. */
            displayName: string;
            /** @description The username in lower case, as in the URL of the user's channel. */
            slug: string;
            /** @description The URL of the avatar picture. If there is none, that of the default picture. */
            avatarUrl: string;
        };
        /** @description Vod is a recorded stream of a channel. */
        Vod: {
            /**
             * Format: uuid
             * @description The VOD's id: a UUID in lower case.
             */
            id: string;
            /** @description The URL of a preview picture; may be empty. */
            previewImgUrl: string;
            /** @description The title of the stream. */
            title: string;
            /**
             * Format: int64
             * @description The number of views.
             */
            viewCount: number;
            /**
             * Format: int64
             * @description The length in seconds.
             */
            duration: number;
            /**
             * Format: date-time
             * @description When the stream started: UTC, milliseconds.
             */
            startedAt: string;
            /**
             * Format: date-time
             * @description When the stream ended: UTC, milliseconds.
             */
            endedAt: string;
            /** @description The category of the stream. */
            category: components["schemas"]["ContentCategory"];
            /** @description The owner of the channel. */
            channel: components["schemas"]["ContentUser"];
        };
        /** @description Vote is a vote for a channel. */
        Vote: {
            /**
             * Format: uuid
             * @description The vote's id: a UUID in lower case.
             */
            id: string;
            /** @description The voter's username at the time of the vote. */
            username: string;
            /** @description The address from which the user voted, in the form that the voting backend uses. */
            address: string;
            /**
             * Format: int64
             * @description The number of whole votes.
             */
            amount: number;
            /**
             * Format: date-time
             * @description When it happened: UTC, milliseconds.
             */
            votedAt: string;
        };
        /** @description VoteEvent is the payload of `channel.vote`. */
        VoteEvent: {
            /**
             * Format: uuid
             * @description The channel: a UUID in lower case.
             */
            channelId: string;
            /** @description The id of the client that reported the change. */
            clientId: string;
            /**
             * Format: uuid
             * @description The vote's id: a UUID in lower case.
             */
            id: string;
            /**
             * Format: uuid
             * @description The voter: a UUID in lower case.
             */
            userId: string;
            /** @description The voter's username at that time. */
            username: string;
            /** @description The user's display name at that time. */
            userDisplayName: string;
            /** @description The address from which the user voted; may be empty. */
            address: string;
            /**
             * Format: int64
             * @description The week number.
             */
            epoch: number;
            /**
             * Format: int64
             * @description The number of whole votes.
             */
            amount: number;
            /**
             * Format: date-time
             * @description When it happened: UTC, milliseconds.
             */
            votedAt: string;
            /** @description The user who voted, as of that time. */
            voter: components["schemas"]["Voter"];
            /**
             * Format: date-time
             * @description When it happened: UTC, milliseconds.
             */
            createdAt: string;
        };
        /** @description Voter is a user who voted for a channel. */
        Voter: {
            /**
             * Format: uuid
             * @description The user's id: a UUID in lower case.
             */
            id: string;
            /** @description The username, with the letter case that the user chose. */
            username: string;
            /** @description The display name. */
            displayName: string;
            /** @description The URL of the avatar picture. If there is none, that of the default picture. */
            avatarUrl: string;
            /** @description The address from which the user voted; may be empty. */
            address: string;
        };
        /** @description Webhook is a webhook and its state. */
        Webhook: {
            /**
             * Format: uuid
             * @description The webhook's id: a UUID in lower case.
             */
            id: string;
            /**
             * Format: uuid
             * @description The channel: a UUID in lower case; null if the webhook covers every channel.
             */
            channelId: string | null;
            /**
             * Format: uuid
             * @description The user who created the webhook: a UUID in lower case; null if an app or a service token created it.
             */
            userId: string | null;
            /** @description The URL of the receiver. */
            url: string;
            /** @description The event types that the webhook sends; empty for all types but live ones. */
            type: string[];
            /** @description The status: `enabled` or `disabled`. */
            status: string;
            /** @description Why the webhook is disabled: `failing` (a delivery failed for 3 days), `gone` (the receiver responded with 410), `right_lost` (the webhook's user or app has no right to its types) or `behind` (events that were not sent yet are no longer kept). Null if the webhook is enabled. */
            disabledReason: string | null;
            /**
             * Format: date-time
             * @description When the webhook was created: UTC, milliseconds.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When an event was last delivered: UTC, milliseconds; null if none was delivered yet.
             */
            lastSuccessAt: string | null;
            /** @description The error of the last failed attempt; null if no attempt failed since the last success. */
            lastError: string | null;
            /** @description The app that created the webhook with an app token; null if a user or a service token created it. */
            clientId: string | null;
        };
        /** @description WebhookDelivery is the delivery of one event to a receiver. */
        WebhookDelivery: {
            /**
             * Format: uuid
             * @description The delivery's id: a UUID in lower case.
             */
            id: string;
            /**
             * Format: uuid
             * @description The event's id, which is also the header `webhook-id`: a UUID in lower case.
             */
            eventId: string;
            /** @description The event's type, such as `channel.ban`. */
            type: string;
            /** @description The status: `pending`, `delivered` or `failed`. */
            status: string;
            /**
             * Format: int32
             * @description The total number of attempts, including redeliveries.
             */
            attempts: number;
            /**
             * Format: int32
             * @description The HTTP status of the last response; null if there was no response.
             */
            lastStatus: number | null;
            /** @description The error of the last attempt; null if it succeeded or there was none. */
            lastError: string | null;
            /**
             * Format: date-time
             * @description When the next attempt is due: UTC, milliseconds; null unless `pending`. The attempt is made then if the webhook is enabled, no earlier event of the channel is waiting and the receiver did not ask for a pause.
             */
            nextAttemptAt: string | null;
            /**
             * Format: date-time
             * @description When the event was last delivered: UTC, milliseconds; null if it was never delivered. The value is kept while the event is redelivered, and if the redelivery fails.
             */
            deliveredAt: string | null;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listModeratedChannels: {
        parameters: {
            query: {
                /**
                 * @description Required. The user: a UUID in upper or lower case. With a user token, it must be the token's own user.
                 * @example b6dfc78a-4c2e-414d-9551-5b945537bab4
                 */
                userId: string;
                /** @description The maximum number of rows in a page: 1 to 100. If neither `limit` nor `cursor` is given, the response is the complete list; otherwise it is a page. */
                limit?: number;
                /** @description The cursor of the previous page. A page has at most 20 rows if `limit` is unset. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        /** @description The channels, oldest role first; empty if there are none. */
                        data: components["schemas"]["ModeratedChannel"][];
                    };
                };
            };
        };
    };
    listModerators: {
        parameters: {
            query: {
                /**
                 * @description Required. The channel: a UUID in upper or lower case.
                 * @example bc9a2b75-d34a-4dc1-93aa-b198ebc0888c
                 */
                channelId: string;
                /** @description The maximum number of rows in a page: 1 to 100. If neither `limit` nor `cursor` is given, the response is the complete list; otherwise it is a page. */
                limit?: number;
                /** @description The cursor of the previous page. A page has at most 20 rows if `limit` is unset. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        /** @description The moderators, oldest role first; empty if there are none. */
                        data: components["schemas"]["UserSummary"][];
                    };
                };
            };
        };
    };
    addModerator: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "channelId": "bc9a2b75-d34a-4dc1-93aa-b198ebc0888c",
                 *       "userId": "b6dfc78a-4c2e-414d-9551-5b945537bab4"
                 *     }
                 */
                "application/json": components["schemas"]["AddModeratorRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                    };
                };
            };
        };
    };
    removeModerator: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "channelId": "bc9a2b75-d34a-4dc1-93aa-b198ebc0888c",
                 *       "userId": "b6dfc78a-4c2e-414d-9551-5b945537bab4"
                 *     }
                 */
                "application/json": components["schemas"]["RemoveModeratorRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                    };
                };
            };
        };
    };
    banUser: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "channelId": "bc9a2b75-d34a-4dc1-93aa-b198ebc0888c",
                 *       "banUsername": "LootGoblin77"
                 *     }
                 */
                "application/json": components["schemas"]["BanUserRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["BanUserResponse"];
                    };
                };
            };
        };
    };
    removeBan: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "channelId": "bc9a2b75-d34a-4dc1-93aa-b198ebc0888c",
                 *       "banUsername": "LootGoblin77"
                 *     }
                 */
                "application/json": components["schemas"]["RemoveBanRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                    };
                };
            };
        };
    };
    muteUser: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "channelId": "bc9a2b75-d34a-4dc1-93aa-b198ebc0888c",
                 *       "mutedUserId": "74875a41-e1a1-482d-8dc6-37d4afe8a4b6"
                 *     }
                 */
                "application/json": components["schemas"]["MuteUserRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["MuteUserResponse"];
                    };
                };
            };
        };
    };
    removeMute: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "channelId": "bc9a2b75-d34a-4dc1-93aa-b198ebc0888c",
                 *       "mutedUserId": "74875a41-e1a1-482d-8dc6-37d4afe8a4b6"
                 *     }
                 */
                "application/json": components["schemas"]["RemoveMuteRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                    };
                };
            };
        };
    };
    listBanBatches: {
        parameters: {
            query: {
                /**
                 * @description Required. The channel: a UUID in upper or lower case.
                 * @example bc9a2b75-d34a-4dc1-93aa-b198ebc0888c
                 */
                channelId: string;
                /** @description The `pagination.cursor` of the previous page; empty for the first page. */
                cursor?: string;
                /** @description The maximum number of rows in the page: 1 to 100; 20 if unset. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["ListBanBatchesResponse"];
                    };
                };
            };
        };
    };
    banUsers: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "channelId": "bc9a2b75-d34a-4dc1-93aa-b198ebc0888c",
                 *       "users": [
                 *         {
                 *           "username": "amara.okafor"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["BanUsersRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["BanUsersResponse"];
                    };
                };
            };
        };
    };
    undoBanBatch: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "channelId": "bc9a2b75-d34a-4dc1-93aa-b198ebc0888c",
                 *       "batchId": "019aa123-4c00-7f60-8a51-3c9d0e7b2f14"
                 *     }
                 */
                "application/json": components["schemas"]["UndoBanBatchRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["UndoBanBatchResponse"];
                    };
                };
            };
        };
    };
    previewSweep: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "channelId": "bc9a2b75-d34a-4dc1-93aa-b198ebc0888c",
                 *       "phrase": "free gems",
                 *       "withinSeconds": 600
                 *     }
                 */
                "application/json": components["schemas"]["PreviewSweepRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["PreviewSweepResponse"];
                    };
                };
            };
        };
    };
    commitSweep: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "channelId": "bc9a2b75-d34a-4dc1-93aa-b198ebc0888c",
                 *       "sweepToken": "4ZQ7XKTNBWJ5RLEMYFHOV2CSGD"
                 *     }
                 */
                "application/json": components["schemas"]["CommitSweepRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["CommitSweepResponse"];
                    };
                };
            };
        };
    };
    revertModerator: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "channelId": "bc9a2b75-d34a-4dc1-93aa-b198ebc0888c",
                 *       "moderatorId": "8cef16b6-62f4-450c-b4ca-8466819aa8c9",
                 *       "since": "2026-11-20T12:10:00.000Z",
                 *       "dryRun": true
                 *     }
                 */
                "application/json": components["schemas"]["RevertModeratorRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["RevertModeratorResponse"];
                    };
                };
            };
        };
    };
    getUser: {
        parameters: {
            query: {
                /**
                 * @description Required. The channel: a UUID in upper or lower case.
                 * @example bc9a2b75-d34a-4dc1-93aa-b198ebc0888c
                 */
                channelId: string;
                /** @description The user: a UUID in upper or lower case. */
                userId?: string;
                /**
                 * @description The user's username in any letter case. White space around the name, and one `@` before it, are ignored.
                 * @example amara.okafor
                 */
                username?: string;
                /** @description What the response has in addition: `card`, the fields of UserCard and of UserSanction. If empty, nothing. */
                include?: "card";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["GetUserResponse"];
                    };
                };
            };
        };
    };
    listLog: {
        parameters: {
            query: {
                /**
                 * @description Required. The channel: a UUID in upper or lower case.
                 * @example bc9a2b75-d34a-4dc1-93aa-b198ebc0888c
                 */
                channelId: string;
                /** @description Returns only entries about this user: a UUID in upper or lower case. An unknown user has no entries. */
                userId?: string;
                /** @description Returns only entries of changes by this user, and of the lapses of mutes and bans that this user applied: a UUID in upper or lower case. An unknown user has no entries. */
                moderatorId?: string;
                /** @description Returns only entries of these types, such as `channel.ban`; at most 100. If empty, the log contains bans, mutes, deleted messages, roles and updates of the channel, without the events of its audience. */
                "type[]"?: string[];
                /** @description The `pagination.cursor` of the previous page; empty for the first page. */
                cursor?: string;
                /** @description The maximum number of rows in the page: 1 to 100; 20 if unset. */
                limit?: number;
                /** @description Returns only entries of this time or later. */
                since?: string;
                /** @description Returns only entries before this time. */
                until?: string;
                /** @description Returns only entries whose `moderator` or `user` has a username or display name that starts with this text, ignoring case: 1 to 100 characters. */
                query?: string;
                /** @description Returns only entries whose payload names this batch of bans: a UUID in upper or lower case. */
                batchId?: string;
                /** @description Returns only entries whose payload names this rule, such as mutes by it and changes of it: a UUID in upper or lower case. */
                ruleId?: string;
                /** @description Returns only entries whose payload has one of these causes: `moderator`, `expired`, `batch`, `revert`, `rule`, `restore`, `shield` or `automatic`; at most 10. */
                "cause[]"?: ("moderator" | "expired" | "batch" | "revert" | "rule" | "restore" | "shield" | "automatic")[];
                /** @description The same filter as `moderatorId`, under a name that also fits entries of other types: the actor of `channel.follow` is the viewer. If both are given, both apply. */
                actorId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["ListLogResponse"];
                    };
                };
            };
        };
    };
    listBans: {
        parameters: {
            query: {
                /**
                 * @description Required. The channel: a UUID in upper or lower case.
                 * @example bc9a2b75-d34a-4dc1-93aa-b198ebc0888c
                 */
                channelId: string;
                /** @description Returns only users whose username or display name starts with this text, ignoring case: 1 to 100 characters. */
                query?: string;
                /** @description Returns only bans that this user applied: a UUID in upper or lower case. An unknown user applied none. */
                bannedBy?: string;
                /** @description Returns only bans of this batch: a UUID in upper or lower case. An unknown batch has none. */
                batchId?: string;
                /** @description The `pagination.cursor` of the previous page; empty for the first page. */
                cursor?: string;
                /** @description The maximum number of rows in the page: 1 to 100; 20 if unset. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["ListBansResponse"];
                    };
                };
            };
        };
    };
    listMutes: {
        parameters: {
            query: {
                /**
                 * @description Required. The channel: a UUID in upper or lower case.
                 * @example bc9a2b75-d34a-4dc1-93aa-b198ebc0888c
                 */
                channelId: string;
                /** @description Returns only users whose username or display name starts with this text, ignoring case: 1 to 100 characters. */
                query?: string;
                /** @description The `pagination.cursor` of the previous page; empty for the first page. */
                cursor?: string;
                /** @description The maximum number of rows in the page: 1 to 100; 20 if unset. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["ListMutesResponse"];
                    };
                };
            };
        };
    };
    listRoles: {
        parameters: {
            query: {
                /**
                 * @description Required. The channel: a UUID in upper or lower case.
                 * @example bc9a2b75-d34a-4dc1-93aa-b198ebc0888c
                 */
                channelId: string;
                /** @description Returns only rows of this role: `moderator`, `vip` or `og`. Empty for all three. */
                role?: "moderator" | "vip" | "og";
                /** @description Returns only users whose username or display name starts with this text, ignoring case: 1 to 100 characters. */
                query?: string;
                /** @description The `pagination.cursor` of the previous page; empty for the first page. */
                cursor?: string;
                /** @description The maximum number of rows in the page: 1 to 100; 20 if unset. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["ListRolesResponse"];
                    };
                };
            };
        };
    };
    getMetrics: {
        parameters: {
            query: {
                /**
                 * @description Required. The channel: a UUID in upper or lower case.
                 * @example bc9a2b75-d34a-4dc1-93aa-b198ebc0888c
                 */
                channelId: string;
                /** @description The first interval is the one that contains this time. Counts are kept for 8 days, so an older time means 8 days ago. At most 500 intervals are returned, the oldest ones. Unset: the latest 60 intervals. */
                since?: string;
                /** @description The length of an interval in seconds: 5 to 3600; 60 if unset. Counts are exact for multiples of 5. For other lengths, what happened within 5 seconds counts in the interval in which these 5 seconds begin. Multiples of 60 are the fastest. */
                stepSeconds?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["GetMetricsResponse"];
                    };
                };
            };
        };
    };
    getPropagation: {
        parameters: {
            query: {
                /**
                 * @description Required. The channel: a UUID in upper or lower case.
                 * @example bc9a2b75-d34a-4dc1-93aa-b198ebc0888c
                 */
                channelId: string;
                /** @description The `cursor` of an event of the channel, as a listener receives it: the report is about the latest change of the channel up to this event. Empty for the latest change of all. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["GetPropagationResponse"];
                    };
                };
            };
        };
    };
    listChannels: {
        parameters: {
            query?: {
                /** @description The `pagination.cursor` of the previous page; empty for the first page. */
                cursor?: string;
                /** @description The maximum number of rows in the page: 1 to 20; 20 if unset. */
                limit?: number;
                /** @description Returns only channels with one of these slugs, compared case-insensitively: up to 100. In a query: `slug[]=a&slug[]=b`. */
                "slug[]"?: string[];
                /** @description Returns only channels in one of these categories: up to 100. In a query: `categoryId[]=1&categoryId[]=2`. */
                "categoryId[]"?: number[];
                /** @description `live` for live channels only, or `all`, which is the default. */
                type?: "live" | "all";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["ListChannelsResponse"];
                    };
                };
            };
        };
    };
    listRaids: {
        parameters: {
            query: {
                /**
                 * @description Required. The channel that was raided: a UUID in upper or lower case.
                 * @example bc9a2b75-d34a-4dc1-93aa-b198ebc0888c
                 */
                channelId: string;
                /** @description The `pagination.cursor` of the previous page; empty for the first page. */
                cursor?: string;
                /** @description The maximum number of rows in the page: 1 to 100; 20 if unset. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["ListRaidsResponse"];
                    };
                };
            };
        };
    };
    listCategories: {
        parameters: {
            query?: {
                /** @description The text that the names contain: up to 140 characters. If empty, all categories. */
                query?: string;
                /** @description The `pagination.cursor` of the previous page; empty for the first page. */
                cursor?: string;
                /** @description The maximum number of rows in the page: 1 to 200; 200 if unset. */
                limit?: number;
                /** @description Another spelling of `query`; a request may have one of the two. */
                term?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["ListCategoriesResponse"];
                    };
                };
            };
        };
    };
    listPlatformEmotes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        /** @description The emotes: at most 5000, ordered by name. */
                        data: components["schemas"]["Emote"][];
                    };
                };
            };
        };
    };
    listEmotes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        /** @description The emotes: at most 5000, ordered by name. */
                        data: components["schemas"]["Emote"][];
                    };
                };
            };
        };
    };
    getStreamInfo: {
        parameters: {
            query?: {
                /** @description The channel: a UUID in upper or lower case. Required with an app or service token. */
                channelId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["GetStreamInfoResponse"];
                    };
                };
            };
        };
    };
    getStats: {
        parameters: {
            query?: {
                /** @description The channel: a UUID in upper or lower case. Required with an app or service token. */
                channelId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["GetStatsResponse"];
                    };
                };
            };
        };
    };
    listFollowers: {
        parameters: {
            query?: {
                /** @description The `pagination.cursor` of the previous page; empty for the first page. */
                cursor?: string;
                /** @description The maximum number of rows in the page: 1 to 100; 20 if unset. */
                limit?: number;
                /** @description Returns only this user, if the user follows the channel: a UUID in upper or lower case. */
                userId?: string;
                /** @description The channel: a UUID in upper or lower case. Optional; if given, it must be the channel of the token's user. */
                channelId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["ListFollowersResponse"];
                    };
                };
            };
        };
    };
    listFollowed: {
        parameters: {
            query?: {
                /** @description The `pagination.cursor` of the previous page; empty for the first page. */
                cursor?: string;
                /** @description The maximum number of rows in the page: 1 to 100; 20 if unset. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["ListFollowedResponse"];
                    };
                };
            };
        };
    };
    listBannedUsers: {
        parameters: {
            query?: {
                /** @description The `pagination.cursor` of the previous page; empty for the first page. */
                cursor?: string;
                /** @description The maximum number of rows in the page: 1 to 100; 20 if unset. */
                limit?: number;
                /** @description The channel: a UUID in upper or lower case. Optional; if given, it must be the channel of the token's user. */
                channelId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["ListBannedUsersResponse"];
                    };
                };
            };
        };
    };
    listVips: {
        parameters: {
            query?: {
                /** @description The channel: a UUID in upper or lower case. Required with an app or service token. */
                channelId?: string;
                /** @description The maximum number of rows in a page: 1 to 100. If neither `limit` nor `cursor` is given, the response is the complete list; otherwise it is a page. */
                limit?: number;
                /** @description The cursor of the previous page. A page has at most 20 rows if `limit` is unset. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        /** @description The VIPs, oldest role first; empty if there are none. */
                        data: components["schemas"]["UserSummary"][];
                    };
                };
            };
        };
    };
    addVip: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "channelId": "bc9a2b75-d34a-4dc1-93aa-b198ebc0888c",
                 *       "userId": "b6dfc78a-4c2e-414d-9551-5b945537bab4"
                 *     }
                 */
                "application/json": components["schemas"]["AddVipRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["AddVipResponse"];
                    };
                };
            };
        };
    };
    removeVip: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "channelId": "bc9a2b75-d34a-4dc1-93aa-b198ebc0888c",
                 *       "userId": "b6dfc78a-4c2e-414d-9551-5b945537bab4"
                 *     }
                 */
                "application/json": components["schemas"]["RemoveVipRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                    };
                };
            };
        };
    };
    listMods: {
        parameters: {
            query?: {
                /** @description The channel: a UUID in upper or lower case. Required with an app or service token. */
                channelId?: string;
                /** @description The maximum number of rows in a page: 1 to 100. If neither `limit` nor `cursor` is given, the response is the complete list; otherwise it is a page. */
                limit?: number;
                /** @description The cursor of the previous page. A page has at most 20 rows if `limit` is unset. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        /** @description The moderators, oldest role first; empty if there are none. */
                        data: components["schemas"]["UserSummary"][];
                    };
                };
            };
        };
    };
    listOgs: {
        parameters: {
            query?: {
                /** @description The channel: a UUID in upper or lower case. Required with an app or service token. */
                channelId?: string;
                /** @description The maximum number of rows in a page: 1 to 100. If neither `limit` nor `cursor` is given, the response is the complete list; otherwise it is a page. */
                limit?: number;
                /** @description The cursor of the previous page. A page has at most 20 rows if `limit` is unset. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        /** @description The OGs, oldest role first; empty if there are none. */
                        data: components["schemas"]["UserSummary"][];
                    };
                };
            };
        };
    };
    addOg: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "channelId": "bc9a2b75-d34a-4dc1-93aa-b198ebc0888c",
                 *       "userId": "b6dfc78a-4c2e-414d-9551-5b945537bab4"
                 *     }
                 */
                "application/json": components["schemas"]["AddOgRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["AddOgResponse"];
                    };
                };
            };
        };
    };
    removeOg: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "channelId": "bc9a2b75-d34a-4dc1-93aa-b198ebc0888c",
                 *       "userId": "b6dfc78a-4c2e-414d-9551-5b945537bab4"
                 *     }
                 */
                "application/json": components["schemas"]["RemoveOgRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                    };
                };
            };
        };
    };
    listSubscribers: {
        parameters: {
            query?: {
                /** @description The `pagination.cursor` of the previous page; empty for the first page. */
                cursor?: string;
                /** @description The maximum number of rows in the page: 1 to 100; 20 if unset. */
                limit?: number;
                /** @description Returns only this user, if the user has an active subscription: a UUID in upper or lower case. */
                userId?: string;
                /** @description The channel: a UUID in upper or lower case. Optional; if given, it must be the channel of the token's user. */
                channelId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["ListSubscribersResponse"];
                    };
                };
            };
        };
    };
    listActivities: {
        parameters: {
            query?: {
                /** @description The `pagination.cursor` of the previous page; empty for the first page. */
                cursor?: string;
                /** @description The maximum number of rows in the page: 1 to 100; 20 if unset. */
                limit?: number;
                /** @description Returns only activities of this type: `follower`, `subscriber`, `gift`, `thanks` or `vote`. */
                type?: "follower" | "subscriber" | "gift" | "thanks" | "vote";
                /** @description The channel: a UUID in upper or lower case. Optional; if given, it must be the channel of the token's user. */
                channelId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["ListActivitiesResponse"];
                    };
                };
            };
        };
    };
    listVotes: {
        parameters: {
            query: {
                /**
                 * @description Required. The week number, 0 or more, or `all`.
                 * @example all
                 */
                epoch: string;
                /**
                 * @description Required. The channel: a UUID in upper or lower case.
                 * @example bc9a2b75-d34a-4dc1-93aa-b198ebc0888c
                 */
                channelId: string;
                /** @description The maximum number of rows in a page: 1 to 100. If neither `limit` nor `cursor` is given, the response is the complete list; otherwise it is a page. */
                limit?: number;
                /** @description The cursor of the previous page. A page has at most 20 rows if `limit` is unset. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        /** @description The votes, newest first; empty if there are none. */
                        data: components["schemas"]["Vote"][];
                    };
                };
            };
        };
    };
    listClips: {
        parameters: {
            query: {
                /**
                 * @description Required. The channel: a UUID in upper or lower case.
                 * @example bc9a2b75-d34a-4dc1-93aa-b198ebc0888c
                 */
                channelId: string;
                /** @description The `pagination.cursor` of the previous page; empty for the first page. */
                cursor?: string;
                /** @description The maximum number of rows in the page: 1 to 20; 20 if unset. */
                limit?: number;
                /** @description The order: `most_viewed`, which is the default, or `most_recent`, by time of creation. */
                orderBy?: "most_recent" | "most_viewed";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["ListClipsResponse"];
                    };
                };
            };
        };
    };
    listVods: {
        parameters: {
            query: {
                /**
                 * @description Required. The channel: a UUID in upper or lower case.
                 * @example bc9a2b75-d34a-4dc1-93aa-b198ebc0888c
                 */
                channelId: string;
                /** @description The `pagination.cursor` of the previous page; empty for the first page. */
                cursor?: string;
                /** @description The maximum number of rows in the page: 1 to 20; 20 if unset. */
                limit?: number;
                /** @description The order: `most_recent`, by start of the stream, which is the default, or `most_viewed`. */
                orderBy?: "most_recent" | "most_viewed";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["ListVodsResponse"];
                    };
                };
            };
        };
    };
    getLiveStats: {
        parameters: {
            query?: {
                /** @description The channel: a UUID in upper or lower case. Required with an app or service token. */
                channelId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["GetLiveStatsResponse"];
                    };
                };
            };
        };
    };
    updateInfo: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "title": "Any% until it works",
                 *       "lang": "en"
                 *     }
                 */
                "application/json": components["schemas"]["UpdateInfoRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["UpdateInfoResponse"];
                    };
                };
            };
        };
    };
    listWebhooks: {
        parameters: {
            query?: {
                /** @description The channel: a UUID in upper or lower case. If empty, the channel of the token's user with a user token, all webhooks of the app with an app token, and the webhooks that cover every channel with a service token. */
                channelId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        /** @description The webhooks, oldest first. */
                        data: components["schemas"]["Webhook"][];
                    };
                };
            };
        };
    };
    createWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "url": "https://hooks.example.com/moderato",
                 *       "type": [
                 *         "channel.ban"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["CreateWebhookRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["CreateWebhookResponse"];
                    };
                };
            };
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "webhookId": "019aa123-4c00-7d11-9c0e-5f2a64c1b8d7"
                 *     }
                 */
                "application/json": components["schemas"]["DeleteWebhookRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                    };
                };
            };
        };
    };
    rotateWebhookSecret: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "webhookId": "019aa123-4c00-7d11-9c0e-5f2a64c1b8d7"
                 *     }
                 */
                "application/json": components["schemas"]["RotateWebhookSecretRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["RotateWebhookSecretResponse"];
                    };
                };
            };
        };
    };
    enableWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "webhookId": "019aa123-4c00-7d11-9c0e-5f2a64c1b8d7"
                 *     }
                 */
                "application/json": components["schemas"]["EnableWebhookRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["EnableWebhookResponse"];
                    };
                };
            };
        };
    };
    listWebhookDeliveries: {
        parameters: {
            query: {
                /**
                 * @description Required. The webhook: a UUID in upper or lower case.
                 * @example 019aa123-4c00-7d11-9c0e-5f2a64c1b8d7
                 */
                webhookId: string;
                /** @description The `pagination.cursor` of the previous page. */
                cursor?: string;
                /** @description The maximum number of rows in the page: 1 to 100; 20 if unset. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["ListWebhookDeliveriesResponse"];
                    };
                };
            };
        };
    };
    redeliverWebhookEvent: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "webhookId": "019aa123-4c00-7d11-9c0e-5f2a64c1b8d7",
                 *       "eventId": "019aa123-4c00-7e5a-9b1f-2f6d3c8a7e10"
                 *     }
                 */
                "application/json": components["schemas"]["RedeliverWebhookEventRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                    };
                };
            };
        };
    };
    getProfile: {
        parameters: {
            query?: {
                /** @description The user: a UUID in upper or lower case. A request has at most one of `userId` and `username`. */
                userId?: string;
                /** @description The username, in any letter case. White space around the name, and one `@` before it, are ignored. */
                username?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["GetProfileResponse"];
                    };
                };
            };
        };
    };
    getAchievementStats: {
        parameters: {
            query?: {
                /** @description The user: a UUID in upper or lower case. */
                userId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["GetAchievementStatsResponse"];
                    };
                };
            };
        };
    };
    listUsers: {
        parameters: {
            query?: {
                /** @description The ids of users: UUIDs in upper or lower case. */
                "userId[]"?: string[];
                /**
                 * @description The usernames of users, in any letter case. White space around a name, and one `@` before it, are ignored.
                 * @example [
                 *       "amara.okafor"
                 *     ]
                 */
                "username[]"?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        /** @description The users, in the order of the request. */
                        data: components["schemas"]["UserSummary"][];
                    };
                };
            };
        };
    };
    listGrants: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        /** @description The grants, ordered by client id. */
                        data: components["schemas"]["UserGrant"][];
                    };
                };
            };
        };
    };
    revokeGrant: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "clientId": "dashboard"
                 *     }
                 */
                "application/json": components["schemas"]["RevokeGrantRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                    };
                };
            };
        };
    };
    createEventTicket: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["CreateEventTicketRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["CreateEventTicketResponse"];
                    };
                };
            };
        };
    };
    listMessages: {
        parameters: {
            query: {
                /**
                 * @description Required. The channel: a UUID in upper or lower case.
                 * @example bc9a2b75-d34a-4dc1-93aa-b198ebc0888c
                 */
                channelId: string;
                /** @description Returns only messages of this user: a UUID in upper or lower case. An unknown user has no messages. Only for the channel's owner and moderators. */
                userId?: string;
                /** @description The `pagination.cursor` of the previous page; empty for the newest messages. */
                cursor?: string;
                /** @description The maximum number of messages in the page: 1 to 100; 20 if unset. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["ListMessagesResponse"];
                    };
                };
            };
        };
    };
    postMessage: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "channelId": "bc9a2b75-d34a-4dc1-93aa-b198ebc0888c",
                 *       "message": "Welcome to the stream!"
                 *     }
                 */
                "application/json": components["schemas"]["PostMessageRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["PostMessageResponse"];
                    };
                };
            };
        };
    };
    deleteMessage: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "channelId": "bc9a2b75-d34a-4dc1-93aa-b198ebc0888c",
                 *       "messageId": "0b6f00a1-0000-4000-8000-00000000000a"
                 *     }
                 */
                "application/json": components["schemas"]["DeleteMessageRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                    };
                };
            };
        };
    };
    clearChat: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "channelId": "bc9a2b75-d34a-4dc1-93aa-b198ebc0888c"
                 *     }
                 */
                "application/json": components["schemas"]["ClearChatRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                    };
                };
            };
        };
    };
    getPinnedMessage: {
        parameters: {
            query: {
                /**
                 * @description Required. The channel: a UUID in upper or lower case.
                 * @example bc9a2b75-d34a-4dc1-93aa-b198ebc0888c
                 */
                channelId: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["GetPinnedMessageResponse"];
                    };
                };
            };
        };
    };
    pinMessage: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "channelId": "bc9a2b75-d34a-4dc1-93aa-b198ebc0888c",
                 *       "messageId": "0b6f00a1-0000-4000-8000-00000000000a"
                 *     }
                 */
                "application/json": components["schemas"]["PinMessageRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                    };
                };
            };
        };
    };
    unpinMessage: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "channelId": "bc9a2b75-d34a-4dc1-93aa-b198ebc0888c"
                 *     }
                 */
                "application/json": components["schemas"]["UnpinMessageRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                    };
                };
            };
        };
    };
    listSubscriptions: {
        parameters: {
            query?: {
                /** @description The only session to list: a UUID in upper or lower case; all sessions if empty. */
                sessionId?: string;
                /** @description The `pagination.cursor` of the previous page; empty for the first page. */
                cursor?: string;
                /** @description The maximum number of rows in the page: 1 to 100; 20 if unset. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["ListSubscriptionsResponse"];
                    };
                };
            };
        };
    };
    createSubscription: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "channel.ban",
                 *       "condition": {
                 *         "channelId": "bc9a2b75-d34a-4dc1-93aa-b198ebc0888c"
                 *       },
                 *       "sessionId": "019aa123-4c00-7b22-8e3d-71f0a9c4d6e5"
                 *     }
                 */
                "application/json": components["schemas"]["CreateSubscriptionRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["CreateSubscriptionResponse"];
                    };
                };
            };
        };
    };
    deleteSubscription: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "id": "019aa123-4c00-7d11-9c0e-5f2a64c1b8d7"
                 *     }
                 */
                "application/json": components["schemas"]["DeleteSubscriptionRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                    };
                };
            };
        };
    };
    listSessionSubscriptions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        /** @description The subscriptions, at most 100. */
                        data: components["schemas"]["SessionSubscription"][];
                    };
                };
            };
        };
    };
    getSelf: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["GetSelfResponse"];
                    };
                };
            };
        };
    };
    getChatSettings: {
        parameters: {
            query: {
                /**
                 * @description Required. The channel: a UUID in upper or lower case.
                 * @example bc9a2b75-d34a-4dc1-93aa-b198ebc0888c
                 */
                channelId: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["GetChatSettingsResponse"];
                    };
                };
            };
        };
    };
    updateChatSettings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "channelId": "bc9a2b75-d34a-4dc1-93aa-b198ebc0888c",
                 *       "durationSeconds": 600,
                 *       "slowSeconds": 30
                 *     }
                 */
                "application/json": components["schemas"]["UpdateChatSettingsRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["UpdateChatSettingsResponse"];
                    };
                };
            };
        };
    };
    getModerationSettings: {
        parameters: {
            query: {
                /**
                 * @description Required. The channel: a UUID in upper or lower case.
                 * @example bc9a2b75-d34a-4dc1-93aa-b198ebc0888c
                 */
                channelId: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["GetModerationSettingsResponse"];
                    };
                };
            };
        };
    };
    getChatRules: {
        parameters: {
            query: {
                /**
                 * @description Required. The channel: a UUID in upper or lower case.
                 * @example bc9a2b75-d34a-4dc1-93aa-b198ebc0888c
                 */
                channelId: string;
                /** @description The version; unset for the present one. */
                version?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["GetChatRulesResponse"];
                    };
                };
            };
        };
    };
    updateChatRules: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "channelId": "bc9a2b75-d34a-4dc1-93aa-b198ebc0888c",
                 *       "put": [
                 *         {
                 *           "name": "Scams",
                 *           "kind": "terms",
                 *           "action": "hold",
                 *           "terms": [
                 *             "free gems"
                 *           ]
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["UpdateChatRulesRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["UpdateChatRulesResponse"];
                    };
                };
            };
        };
    };
    previewChatRules: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "channelId": "bc9a2b75-d34a-4dc1-93aa-b198ebc0888c",
                 *       "put": [
                 *         {
                 *           "name": "Scams",
                 *           "kind": "terms",
                 *           "action": "hold",
                 *           "terms": [
                 *             "free gems"
                 *           ]
                 *         }
                 *       ],
                 *       "texts": [
                 *         "Free gems here!"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["PreviewChatRulesRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["PreviewChatRulesResponse"];
                    };
                };
            };
        };
    };
    listChatRuleVersions: {
        parameters: {
            query: {
                /**
                 * @description Required. The channel: a UUID in upper or lower case.
                 * @example bc9a2b75-d34a-4dc1-93aa-b198ebc0888c
                 */
                channelId: string;
                /** @description The `pagination.cursor` of the previous page; empty for the first page. */
                cursor?: string;
                /** @description The maximum number of rows in the page: 1 to 100; 20 if unset. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["ListChatRuleVersionsResponse"];
                    };
                };
            };
        };
    };
    restoreChatRules: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "channelId": "bc9a2b75-d34a-4dc1-93aa-b198ebc0888c",
                 *       "version": 1
                 *     }
                 */
                "application/json": components["schemas"]["RestoreChatRulesRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["RestoreChatRulesResponse"];
                    };
                };
            };
        };
    };
    getShield: {
        parameters: {
            query: {
                /**
                 * @description Required. The channel: a UUID in upper or lower case.
                 * @example bc9a2b75-d34a-4dc1-93aa-b198ebc0888c
                 */
                channelId: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["GetShieldResponse"];
                    };
                };
            };
        };
    };
    updateShield: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "channelId": "bc9a2b75-d34a-4dc1-93aa-b198ebc0888c",
                 *       "active": true
                 *     }
                 */
                "application/json": components["schemas"]["UpdateShieldRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["UpdateShieldResponse"];
                    };
                };
            };
        };
    };
    updateShieldPreset: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "channelId": "bc9a2b75-d34a-4dc1-93aa-b198ebc0888c",
                 *       "settings": {
                 *         "slowSeconds": 30
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["UpdateShieldPresetRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["UpdateShieldPresetResponse"];
                    };
                };
            };
        };
    };
    listHeldMessages: {
        parameters: {
            query: {
                /**
                 * @description Required. The channel: a UUID in upper or lower case.
                 * @example bc9a2b75-d34a-4dc1-93aa-b198ebc0888c
                 */
                channelId: string;
                /** @description Returns only messages with this status: `PENDING` if it is not given. */
                status?: "PENDING" | "APPROVED" | "DENIED" | "EXPIRED" | "CANCELLED";
                /** @description Returns only messages of this user: a UUID in upper or lower case. */
                userId?: string;
                /** @description Returns only messages that this rule held: a UUID in upper or lower case. */
                ruleId?: string;
                /** @description The `pagination.cursor` of the previous page; empty for the first page. */
                cursor?: string;
                /** @description The maximum number of rows in the page: 1 to 100; 20 if unset. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["ListHeldMessagesResponse"];
                    };
                };
            };
        };
    };
    claimHeldMessages: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "channelId": "bc9a2b75-d34a-4dc1-93aa-b198ebc0888c",
                 *       "messageIds": [
                 *         "019aa123-4c00-7c05-b7d2-4e8f6a9c1b3d"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["ClaimHeldMessagesRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["ClaimHeldMessagesResponse"];
                    };
                };
            };
        };
    };
    decideHeldMessages: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "channelId": "bc9a2b75-d34a-4dc1-93aa-b198ebc0888c",
                 *       "decisions": [
                 *         {
                 *           "messageId": "019aa123-4c00-7c05-b7d2-4e8f6a9c1b3d",
                 *           "decision": "approve"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["DecideHeldMessagesRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @constant */
                        message: "success";
                        data: components["schemas"]["DecideHeldMessagesResponse"];
                    };
                };
            };
        };
    };
}
