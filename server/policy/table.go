package policy

import (
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	reflectionv1alpha "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/auth"
)

var (
	userOnly  = []auth.Kind{auth.User}
	userOrApp = []auth.Kind{auth.User, auth.App}
	// userOrBackend is for what a backend hears on its own, and apps do not.
	userOrBackend = []auth.Kind{auth.User, auth.Service}
	backends      = []auth.Kind{auth.Service}
)

// Table is who may call what, method by method: section 5 of the interface
// document. A server does not start while it serves a method without a row.
//
// A service token is taken wherever an app token is, and, when it acts for a
// user, wherever a user token is; it has every scope.
var Table = map[string]Rule{
	// GET /v1/moderation/channels
	moderatov1.ModerationService_ListModeratedChannels_FullMethodName: {Tokens: userOrApp, Scope: auth.UsersRead, Relation: Self},
	// GET /v1/moderation/moderators
	moderatov1.ModerationService_ListModerators_FullMethodName: {Tokens: userOrApp},
	// POST and DELETE /v1/moderation/moderators
	moderatov1.ModerationService_AddModerator_FullMethodName:    {Tokens: userOnly, Scope: auth.ChannelModerate, Relation: Owner},
	moderatov1.ModerationService_RemoveModerator_FullMethodName: {Tokens: userOnly, Scope: auth.ChannelModerate, Relation: Owner},
	// POST and DELETE /v1/moderation/ban, POST /v1/moderation/mute
	moderatov1.ModerationService_BanUser_FullMethodName:   {Tokens: userOnly, Scope: auth.ChannelModerate, Relation: Moderator},
	moderatov1.ModerationService_RemoveBan_FullMethodName: {Tokens: userOnly, Scope: auth.ChannelModerate, Relation: Moderator},
	moderatov1.ModerationService_MuteUser_FullMethodName:  {Tokens: userOnly, Scope: auth.ChannelModerate, Relation: Moderator},
	// GET /v1/moderation/log
	moderatov1.ModerationService_ListLog_FullMethodName: {Tokens: userOrBackend, Scope: auth.ChannelModerate, Relation: Moderator},

	// GET /v1/channels, /channels/clips, /channels/vods
	moderatov1.ChannelsService_ListChannels_FullMethodName: {Tokens: userOrApp, Scope: auth.UsersRead},
	moderatov1.ChannelsService_ListClips_FullMethodName:    {Tokens: userOrApp, Scope: auth.UsersRead},
	moderatov1.ChannelsService_ListVods_FullMethodName:     {Tokens: userOrApp, Scope: auth.UsersRead},
	// GET /v1/channels/stream-info, /stats, /roles/vips, /roles/mods, /roles/ogs, /live-stats
	moderatov1.ChannelsService_GetStreamInfo_FullMethodName: {Tokens: userOrApp, Scope: auth.UsersRead, Relation: Authorized},
	moderatov1.ChannelsService_GetStats_FullMethodName:      {Tokens: userOrApp, Scope: auth.UsersRead, Relation: Authorized},
	moderatov1.ChannelsService_ListVips_FullMethodName:      {Tokens: userOrApp, Scope: auth.UsersRead, Relation: Authorized},
	moderatov1.ChannelsService_ListMods_FullMethodName:      {Tokens: userOrApp, Scope: auth.UsersRead, Relation: Authorized},
	moderatov1.ChannelsService_ListOgs_FullMethodName:       {Tokens: userOrApp, Scope: auth.UsersRead, Relation: Authorized},
	moderatov1.ChannelsService_GetLiveStats_FullMethodName:  {Tokens: userOrApp, Scope: auth.UsersRead, Relation: Authorized},
	// GET /v1/channels/followed, which is the token user's own: it needs no channel
	moderatov1.ChannelsService_ListFollowed_FullMethodName: {Tokens: userOnly, Scope: auth.UsersRead},
	// Other GET /v1/channels/*; votes take an app token as well
	moderatov1.ChannelsService_ListFollowers_FullMethodName:   {Tokens: userOnly, Scope: auth.UsersRead, Relation: Authorized},
	moderatov1.ChannelsService_ListBannedUsers_FullMethodName: {Tokens: userOnly, Scope: auth.UsersRead, Relation: Authorized},
	moderatov1.ChannelsService_ListSubscribers_FullMethodName: {Tokens: userOnly, Scope: auth.UsersRead, Relation: Authorized},
	moderatov1.ChannelsService_ListActivities_FullMethodName:  {Tokens: userOnly, Scope: auth.UsersRead, Relation: Authorized},
	moderatov1.ChannelsService_ListVotes_FullMethodName:       {Tokens: userOrApp, Scope: auth.UsersRead, Relation: Authorized},
	// POST and DELETE /v1/channels/vips and /v1/channels/ogs
	moderatov1.ChannelsService_AddVip_FullMethodName:    {Tokens: userOnly, Scope: auth.ChannelModerate, Relation: Owner},
	moderatov1.ChannelsService_RemoveVip_FullMethodName: {Tokens: userOnly, Scope: auth.ChannelModerate, Relation: Owner},
	moderatov1.ChannelsService_AddOg_FullMethodName:     {Tokens: userOnly, Scope: auth.ChannelModerate, Relation: Owner},
	moderatov1.ChannelsService_RemoveOg_FullMethodName:  {Tokens: userOnly, Scope: auth.ChannelModerate, Relation: Owner},
	// POST /v1/channels/info
	moderatov1.ChannelsService_UpdateInfo_FullMethodName: {Tokens: userOnly, Scope: auth.ChannelModerate, Relation: Owner},

	// GET /v1/events
	moderatov1.EventsService_WatchEvents_FullMethodName: {Tokens: userOrBackend, Scope: auth.ChannelModerate, Relation: Moderator},

	// /v1/webhooks
	moderatov1.WebhooksService_CreateWebhook_FullMethodName:         {Tokens: userOrBackend, Scope: auth.ChannelModerate, Relation: Moderator},
	moderatov1.WebhooksService_ListWebhooks_FullMethodName:          {Tokens: userOrBackend, Scope: auth.ChannelModerate, Relation: Moderator},
	moderatov1.WebhooksService_DeleteWebhook_FullMethodName:         {Tokens: userOrBackend, Scope: auth.ChannelModerate, Relation: Moderator},
	moderatov1.WebhooksService_RotateWebhookSecret_FullMethodName:   {Tokens: userOrBackend, Scope: auth.ChannelModerate, Relation: Moderator},
	moderatov1.WebhooksService_EnableWebhook_FullMethodName:         {Tokens: userOrBackend, Scope: auth.ChannelModerate, Relation: Moderator},
	moderatov1.WebhooksService_ListWebhookDeliveries_FullMethodName: {Tokens: userOrBackend, Scope: auth.ChannelModerate, Relation: Moderator},
	moderatov1.WebhooksService_RedeliverWebhookEvent_FullMethodName: {Tokens: userOrBackend, Scope: auth.ChannelModerate, Relation: Moderator},

	// The platform's own backends.
	platformv1.ChatService_PostMessage_FullMethodName:  {Tokens: backends},
	platformv1.ChatService_ListMessages_FullMethodName: {Tokens: backends},
	platformv1.ChatService_GetStanding_FullMethodName:  {Tokens: backends},

	platformv1.DirectoryService_PutUser_FullMethodName:        {Tokens: backends},
	platformv1.DirectoryService_GetUser_FullMethodName:        {Tokens: backends},
	platformv1.DirectoryService_DeleteUser_FullMethodName:     {Tokens: backends},
	platformv1.DirectoryService_PutChannel_FullMethodName:     {Tokens: backends},
	platformv1.DirectoryService_GetChannel_FullMethodName:     {Tokens: backends},
	platformv1.DirectoryService_DeleteChannel_FullMethodName:  {Tokens: backends},
	platformv1.DirectoryService_PutCategory_FullMethodName:    {Tokens: backends},
	platformv1.DirectoryService_GetCategory_FullMethodName:    {Tokens: backends},
	platformv1.DirectoryService_DeleteCategory_FullMethodName: {Tokens: backends},

	platformv1.AudienceService_Follow_FullMethodName:                 {Tokens: backends},
	platformv1.AudienceService_Unfollow_FullMethodName:               {Tokens: backends},
	platformv1.AudienceService_SetFollowNotifications_FullMethodName: {Tokens: backends},
	platformv1.AudienceService_PutSubscription_FullMethodName:        {Tokens: backends},
	platformv1.AudienceService_EndSubscription_FullMethodName:        {Tokens: backends},

	platformv1.StreamService_StartStream_FullMethodName:  {Tokens: backends},
	platformv1.StreamService_UpdateStream_FullMethodName: {Tokens: backends},
	platformv1.StreamService_EndStream_FullMethodName:    {Tokens: backends},

	platformv1.ContentService_PutClip_FullMethodName:      {Tokens: backends},
	platformv1.ContentService_DeleteClip_FullMethodName:   {Tokens: backends},
	platformv1.ContentService_PutVod_FullMethodName:       {Tokens: backends},
	platformv1.ContentService_DeleteVod_FullMethodName:    {Tokens: backends},
	platformv1.ContentService_RecordVote_FullMethodName:   {Tokens: backends},
	platformv1.ContentService_RecordGift_FullMethodName:   {Tokens: backends},
	platformv1.ContentService_RecordThanks_FullMethodName: {Tokens: backends},
	platformv1.ContentService_PutActivity_FullMethodName:  {Tokens: backends},

	platformv1.AccessService_PutClient_FullMethodName:       {Tokens: backends},
	platformv1.AccessService_GetClient_FullMethodName:       {Tokens: backends},
	platformv1.AccessService_DeleteClient_FullMethodName:    {Tokens: backends},
	platformv1.AccessService_PutGrant_FullMethodName:        {Tokens: backends},
	platformv1.AccessService_ListGrants_FullMethodName:      {Tokens: backends},
	platformv1.AccessService_IssueToken_FullMethodName:      {Tokens: backends},
	platformv1.AccessService_RevokeToken_FullMethodName:     {Tokens: backends},
	platformv1.AccessService_IntrospectToken_FullMethodName: {Tokens: backends},

	platformv1.ImportService_Import_FullMethodName: {Tokens: backends},

	// For operators and load balancers, without a token.
	healthv1.Health_Check_FullMethodName:                                   {Public: true},
	healthv1.Health_List_FullMethodName:                                    {Public: true},
	healthv1.Health_Watch_FullMethodName:                                   {Public: true},
	reflectionv1.ServerReflection_ServerReflectionInfo_FullMethodName:      {Public: true},
	reflectionv1alpha.ServerReflection_ServerReflectionInfo_FullMethodName: {Public: true},
}
