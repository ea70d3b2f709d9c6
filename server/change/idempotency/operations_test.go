package idempotency_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/event"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/sessions"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// operations makes every change of the contract, each of which depends on earlier ones.
type operations struct {
	t       *testing.T
	s       *servertest.Server
	owner   servertest.Credentials
	service servertest.Credentials
	seen    map[string]bool
	// unstable lists the tables that background work changes.
	unstable []string
}

// TestEveryChangeCanBeRepeated makes every change of the contract with a key, and repeats
// it. The repeat returns the same response and changes nothing.
func TestEveryChangeCanBeRepeated(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		config := servertest.Config(url)
		config.WebhookAllowPrivate = true
		s := servertest.Start(t, config)
		s.Load(t, servertest.World()...)
		o := &operations{
			t: t, s: s, owner: s.As(t, servertest.Owner), service: s.AsService(t), seen: map[string]bool{},
			unstable: []string{"channel_counts", "channel_count_deltas", "webhooks", "webhook_deliveries", "chat_batches", "chat_servers"},
		}
		o.directory()
		o.access()
		o.signIn()
		o.audience()
		o.content()
		o.streams()
		o.chat()
		o.moderation()
		o.webhooks()
		o.events()
		o.deletions()
		for d := range authz.Methods() {
			if isWrite(d) && !o.seen[nameOf(d)] {
				t.Errorf("%s is not tested; a method that only reads declares NO_SIDE_EFFECTS", nameOf(d))
			}
		}
	})
}

// repeat makes a change and repeats it, and returns the response.
func (o *operations) repeat(caller servertest.Credentials, method string, request proto.Message) proto.Message {
	o.t.Helper()
	c := changeOf(o.t, caller, method, request)
	o.seen[method] = true
	call := c.overGRPC
	if c.path != "" {
		call = c.overREST
	}
	first := call(o.t, o.s)
	if first.reason != "OK" || first.isReplay {
		o.t.Fatalf("%s: got %s, replayed is %t; %s %v", method, first.reason, first.isReplay, first.rest.Body, first.err)
	}
	before := servertest.Dump(o.t, o.s.Store, o.unstable...)
	again := call(o.t, o.s)
	if again.reason != "OK" || !again.isReplay || again.rest.Body != first.rest.Body {
		o.t.Errorf("%s: the repeat got %s %s, replayed is %t; want %s", method, again.reason, again.rest.Body, again.isReplay, first.rest.Body)
	}
	overGRPC := c.overGRPC(o.t, o.s)
	if !overGRPC.isReplay {
		o.t.Errorf("%s: the repeat over gRPC got %s and is no replay", method, overGRPC.reason)
	}
	if first.message != nil {
		if diff := cmp.Diff(first.message, overGRPC.message, protocmp.Transform()); diff != "" {
			o.t.Errorf("%s: the repeat returned another response (-first +repeat):\n%s", method, diff)
		}
	}
	if other, hasText := c.withOtherArguments(); hasText {
		if got := other.overGRPC(o.t, o.s); got.reason != "IDEMPOTENCY_KEY_REUSED" {
			o.t.Errorf("%s with other arguments: got %s", method, got.reason)
		}
	}
	if diff := cmp.Diff(before, servertest.Dump(o.t, o.s.Store, o.unstable...)); diff != "" {
		o.t.Errorf("%s: the repeat changed rows (-before +after):\n%s", method, diff)
	}
	return overGRPC.message
}

var (
	newUser   = uid.MustParse("0b6faaaa-0000-4000-8000-000000000001")
	someID    = uid.MustParse("0b6faaaa-0000-4000-8000-000000000002")
	channelID = servertest.Owner.String()
	viewerID  = servertest.Viewer.String()
	raiderID  = servertest.Raider.String()
)

func (o *operations) directory() {
	o.repeat(o.service, platformv1.DirectoryService_PutCategory_FullMethodName, &platformv1.PutCategoryRequest{
		Category: &platformv1.CategoryRecord{Id: 7, Name: "Speedruns", Slug: "speedruns"},
	})
	o.repeat(o.service, platformv1.DirectoryService_PutUser_FullMethodName, &platformv1.PutUserRequest{
		User: &platformv1.UserRecord{Id: newUser.String(), Username: "newcomer"},
	})
	o.repeat(o.service, platformv1.DirectoryService_PutChannel_FullMethodName, &platformv1.PutChannelRequest{
		Channel: &platformv1.ChannelRecord{Id: newUser.String(), Title: "New"},
	})
	o.repeat(o.owner, moderatov1.ChannelsService_UpdateInfo_FullMethodName, &moderatov1.UpdateInfoRequest{Title: "Other", Lang: "de"})
}

func (o *operations) access() {
	o.repeat(o.service, platformv1.AccessService_PutClient_FullMethodName, &platformv1.PutClientRequest{
		Client: &platformv1.ClientRecord{Id: "bot", Name: "Bot", Scopes: []string{authn.UsersRead}}, NewSecret: true,
	})
	o.repeat(o.service, platformv1.AccessService_PutGrant_FullMethodName, &platformv1.PutGrantRequest{
		Grant: &platformv1.GrantRecord{ClientId: "bot", UserId: viewerID, Scopes: []string{authn.UsersRead}},
	})
	token := o.repeat(o.service, platformv1.AccessService_IssueToken_FullMethodName, &platformv1.IssueTokenRequest{
		Kind: platformv1.TokenKind_TOKEN_KIND_USER, ClientId: "bot", UserId: viewerID, Scopes: []string{authn.UsersRead},
	}).(*platformv1.IssueTokenResponse).GetToken()
	o.repeat(o.service, platformv1.AccessService_RevokeToken_FullMethodName, &platformv1.RevokeTokenRequest{Token: token})
}

func (o *operations) signIn() {
	err := o.s.Store.Write(o.t.Context(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		for _, id := range []string{"approved", "denied"} {
			end := o.s.Store.Clock.Local().Add(time.Minute)
			err := tx.Authorization.Create().SetID(digest.Of(id)).SetSecret(make([]byte, 32)).SetClientID("bot").SetStatus("pending").
				SetScopes(authn.UsersRead).SetRedirectURI("https://bot.example.com/").SetIssuer("https://api.example.com").SetIsDevice(false).
				SetCreatedAt(end).SetExpiresAt(end).SetKeptUntil(end).Exec(ctx)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		o.t.Fatal(err)
	}
	o.repeat(o.service, platformv1.AuthorizationService_Approve_FullMethodName, &platformv1.ApproveRequest{
		RequestId: "approved", UserId: viewerID, Scopes: []string{authn.UsersRead},
	})
	o.repeat(o.service, platformv1.AuthorizationService_Deny_FullMethodName, &platformv1.DenyRequest{RequestId: "denied"})
	o.repeat(o.s.As(o.t, servertest.Viewer), moderatov1.UsersService_RevokeGrant_FullMethodName, &moderatov1.RevokeGrantRequest{ClientId: "bot"})
}

func (o *operations) audience() {
	o.repeat(o.service, platformv1.AudienceService_Follow_FullMethodName, &platformv1.FollowRequest{ChannelId: channelID, UserId: viewerID})
	o.repeat(o.service, platformv1.AudienceService_SetFollowNotifications_FullMethodName, &platformv1.SetFollowNotificationsRequest{
		ChannelId: channelID, UserId: viewerID, IsNotificationEnabled: true,
	})
	o.repeat(o.service, platformv1.AudienceService_Unfollow_FullMethodName, &platformv1.UnfollowRequest{ChannelId: channelID, UserId: viewerID})
	o.repeat(o.service, platformv1.AudienceService_PutSubscription_FullMethodName, &platformv1.PutSubscriptionRequest{
		Subscription: &platformv1.SubscriptionRecord{ChannelId: channelID, UserId: viewerID, ExpiresAt: timestamppb.New(time.Now().Add(time.Hour))},
	})
	o.repeat(o.service, platformv1.AudienceService_EndSubscription_FullMethodName, &platformv1.EndSubscriptionRequest{ChannelId: channelID, UserId: viewerID})
}

func (o *operations) content() {
	o.repeat(o.service, platformv1.ContentService_PutClip_FullMethodName, &platformv1.PutClipRequest{
		Clip: &platformv1.ClipRecord{ClipId: someID.String(), ChannelId: channelID, CreatorId: viewerID, Title: "Clip", ClipUrl: "https://clips.example.com/1"},
	})
	o.repeat(o.service, platformv1.ContentService_DeleteClip_FullMethodName, &platformv1.DeleteClipRequest{ClipId: someID.String()})
	o.repeat(o.service, platformv1.ContentService_PutVod_FullMethodName, &platformv1.PutVodRequest{
		Vod: &platformv1.VodRecord{Id: someID.String(), ChannelId: channelID, Title: "VOD", StartedAt: timestamppb.Now(), EndedAt: timestamppb.Now()},
	})
	o.repeat(o.service, platformv1.ContentService_DeleteVod_FullMethodName, &platformv1.DeleteVodRequest{VodId: someID.String()})
	o.repeat(o.service, platformv1.ContentService_PutEmote_FullMethodName, &platformv1.PutEmoteRequest{
		Emote: &platformv1.EmoteRecord{Id: someID.String(), ChannelId: channelID, Name: "GG", ImageUrl: "https://img.example.com/gg.png"},
	})
	o.repeat(o.service, platformv1.ContentService_DeleteEmote_FullMethodName, &platformv1.DeleteEmoteRequest{EmoteId: someID.String()})
	o.repeat(o.service, platformv1.ContentService_RecordVote_FullMethodName, &platformv1.RecordVoteRequest{
		ChannelId: channelID, Id: someID.String(), UserId: viewerID, Epoch: 1, Amount: 1, Address: "a",
	})
	o.repeat(o.service, platformv1.ContentService_RecordGift_FullMethodName, &platformv1.RecordGiftRequest{
		ChannelId: channelID, Key: "gift", UserId: viewerID, Count: 1,
	})
	o.repeat(o.service, platformv1.ContentService_RecordThanks_FullMethodName, &platformv1.RecordThanksRequest{
		ChannelId: channelID, Key: "thanks", UserId: viewerID, Amount: 1, Message: "Hi",
	})
	info, err := structpb.NewStruct(map[string]any{"userId": viewerID})
	if err != nil {
		o.t.Fatal(err)
	}
	o.repeat(o.service, platformv1.ContentService_PutActivity_FullMethodName, &platformv1.PutActivityRequest{
		Activity: &platformv1.ActivityRecord{ChannelId: channelID, Key: "activity", Type: "gift", Info: info},
	})
}

func (o *operations) streams() {
	o.repeat(o.service, platformv1.StreamService_StartStream_FullMethodName, &platformv1.StartStreamRequest{ChannelId: channelID, Title: "Live"})
	o.repeat(o.service, platformv1.StreamService_UpdateStream_FullMethodName, &platformv1.UpdateStreamRequest{ChannelId: channelID, ViewerCount: proto.Int64(3)})
	o.repeat(o.service, platformv1.StreamService_EndStream_FullMethodName, &platformv1.EndStreamRequest{ChannelId: channelID})
	o.repeat(o.service, platformv1.StreamService_Raid_FullMethodName, &platformv1.RaidRequest{ChannelId: channelID, Key: "raid", RaiderId: raiderID})
}

func (o *operations) moderation() {
	o.repeat(o.owner, moderatov1.ModerationService_AddModerator_FullMethodName, &moderatov1.AddModeratorRequest{ChannelId: channelID, UserId: raiderID})
	o.repeat(o.owner, moderatov1.ModerationService_RemoveModerator_FullMethodName, &moderatov1.RemoveModeratorRequest{ChannelId: channelID, UserId: raiderID})
	o.repeat(o.owner, moderatov1.ChannelsService_AddVip_FullMethodName, &moderatov1.AddVipRequest{ChannelId: channelID, UserId: raiderID})
	o.repeat(o.owner, moderatov1.ChannelsService_RemoveVip_FullMethodName, &moderatov1.RemoveVipRequest{ChannelId: channelID, UserId: raiderID})
	o.repeat(o.owner, moderatov1.ChannelsService_AddOg_FullMethodName, &moderatov1.AddOgRequest{ChannelId: channelID, UserId: raiderID})
	o.repeat(o.owner, moderatov1.ChannelsService_RemoveOg_FullMethodName, &moderatov1.RemoveOgRequest{ChannelId: channelID, UserId: raiderID})
	o.repeat(o.owner, banMethod, &moderatov1.BanUserRequest{ChannelId: channelID, BanUserId: raiderID})
	o.repeat(o.owner, moderatov1.ModerationService_RemoveBan_FullMethodName, &moderatov1.RemoveBanRequest{ChannelId: channelID, BanUserId: raiderID})
	o.repeat(o.owner, muteMethod, &moderatov1.MuteUserRequest{ChannelId: channelID, MutedUserId: raiderID})
	o.repeat(o.owner, moderatov1.ModerationService_RemoveMute_FullMethodName, &moderatov1.RemoveMuteRequest{ChannelId: channelID, MutedUserId: raiderID})
	banned := o.repeat(o.owner, moderatov1.ModerationService_BanUsers_FullMethodName, &moderatov1.BanUsersRequest{
		ChannelId: channelID, Users: []*moderatov1.BatchTarget{{UserId: raiderID}},
	}).(*moderatov1.BanUsersResponse)
	o.repeat(o.owner, moderatov1.ModerationService_UndoBanBatch_FullMethodName, &moderatov1.UndoBanBatchRequest{ChannelId: channelID, BatchId: banned.GetBatchId()})
	preview := o.repeat(o.owner, moderatov1.ModerationService_PreviewSweep_FullMethodName, &moderatov1.PreviewSweepRequest{
		ChannelId: channelID, FollowedWithinSeconds: new(int64(60)), WithinSeconds: new(int64(60)),
	}).(*moderatov1.PreviewSweepResponse)
	o.repeat(o.owner, moderatov1.ModerationService_CommitSweep_FullMethodName, &moderatov1.CommitSweepRequest{
		ChannelId: channelID, SweepToken: preview.GetSweepToken(), Reason: new("raid"),
	})
	o.repeat(o.owner, moderatov1.ModerationService_RevertModerator_FullMethodName, &moderatov1.RevertModeratorRequest{
		ChannelId: channelID, ModeratorId: channelID, Since: timestamppb.New(time.Now().Add(-time.Hour).Truncate(time.Millisecond)),
	})
}

func (o *operations) chat() {
	o.repeat(o.service, platformv1.ChatService_PostMessage_FullMethodName, &platformv1.PostMessageRequest{ChannelId: channelID, UserId: viewerID, Text: "Hi"})
	viewer := o.s.As(o.t, servertest.Viewer)
	posted := o.repeat(viewer, moderatov1.ChatService_PostMessage_FullMethodName, &moderatov1.PostMessageRequest{ChannelId: channelID, Message: "Hello"})
	id := posted.(*moderatov1.PostMessageResponse).GetMessageId()
	o.repeat(o.owner, moderatov1.ChatService_PinMessage_FullMethodName, &moderatov1.PinMessageRequest{ChannelId: channelID, MessageId: id})
	o.repeat(o.owner, moderatov1.ChatService_UnpinMessage_FullMethodName, &moderatov1.UnpinMessageRequest{ChannelId: channelID})
	slow := int64(30)
	o.repeat(o.owner, moderatov1.ChatRulesService_UpdateChatSettings_FullMethodName, &moderatov1.UpdateChatSettingsRequest{ChannelId: channelID, SlowSeconds: &slow, DurationSeconds: new(int64(3600))})
	created := o.repeat(o.owner, moderatov1.ChatRulesService_UpdateChatRules_FullMethodName, &moderatov1.UpdateChatRulesRequest{
		ChannelId: channelID, Put: []*moderatov1.ChatRule{{Name: "Links", Kind: "links", Action: "flag", Mode: new("all")}},
	}).(*moderatov1.UpdateChatRulesResponse)
	o.repeat(o.owner, moderatov1.ChatRulesService_RestoreChatRules_FullMethodName, &moderatov1.RestoreChatRulesRequest{
		ChannelId: channelID, Version: new(int64(0)), ExpectedVersion: new(created.GetVersion()),
	})
	o.held()
	o.repeat(o.owner, moderatov1.ChatRulesService_UpdateShieldPreset_FullMethodName, &moderatov1.UpdateShieldPresetRequest{
		ChannelId: channelID, Settings: &moderatov1.ShieldSettings{}, Rules: []*moderatov1.ChatRule{{Name: "mentions", Kind: "mentions", Action: "block", Max: new(int32(50))}},
	})
	o.repeat(o.owner, moderatov1.ChatRulesService_UpdateShield_FullMethodName, &moderatov1.UpdateShieldRequest{ChannelId: channelID, Active: new(true)})
	// The repeat of a sender finds no message any more.
	asSender := o.s.Token(o.t, authn.NewToken{Kind: authn.User, ClientID: servertest.Dashboard, UserID: servertest.Viewer, Scopes: []string{authn.UsersBot}})
	o.repeat(asSender, moderatov1.ChatService_DeleteMessage_FullMethodName, &moderatov1.DeleteMessageRequest{ChannelId: channelID, MessageId: id})
	o.unstable = append(o.unstable, "messages", "message_generations", "chat_generations") // from here on, the purger changes them
	o.repeat(o.owner, moderatov1.ChatService_ClearChat_FullMethodName, &moderatov1.ClearChatRequest{ChannelId: channelID})
}

// held decides about a message of a newcomer.
func (o *operations) held() {
	hold, allow := "hold", "allow"
	settings := moderatov1.NewChatRulesServiceClient(o.s.Conn)
	_, err := settings.UpdateChatSettings(o.owner.Context(), &moderatov1.UpdateChatSettingsRequest{ChannelId: channelID, FirstMessage: &hold})
	if err == nil {
		_, err = o.s.Chat.PostMessage(o.service.Context(), &platformv1.PostMessageRequest{ChannelId: channelID, UserId: raiderID, Text: "hello", MessageId: someID.String()})
	}
	if outcome := servertest.OutcomeOf(err); outcome.Reason != "MESSAGE_HELD" {
		o.t.Fatal(err)
	}
	o.repeat(o.owner, moderatov1.HeldMessagesService_ClaimHeldMessages_FullMethodName, &moderatov1.ClaimHeldMessagesRequest{ChannelId: channelID, MessageIds: []string{someID.String()}})
	o.repeat(o.owner, moderatov1.HeldMessagesService_DecideHeldMessages_FullMethodName, &moderatov1.DecideHeldMessagesRequest{
		ChannelId: channelID, Decisions: []*moderatov1.HeldDecision{{MessageId: someID.String(), Decision: "approve"}},
	})
	if _, err := settings.UpdateChatSettings(o.owner.Context(), &moderatov1.UpdateChatSettingsRequest{ChannelId: channelID, FirstMessage: &allow}); err != nil {
		o.t.Fatal(err)
	}
}

func (o *operations) webhooks() {
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	o.t.Cleanup(receiver.Close)
	created := o.repeat(o.owner, moderatov1.WebhooksService_CreateWebhook_FullMethodName, &moderatov1.CreateWebhookRequest{
		Url: receiver.URL, Type: []string{"channel.ban"},
	}).(*moderatov1.CreateWebhookResponse)
	id := created.GetId()
	if !strings.HasPrefix(created.GetSecret(), "whsec_") {
		o.t.Errorf("the repeat has the secret %q", created.GetSecret())
	}
	o.repeat(o.owner, moderatov1.WebhooksService_RotateWebhookSecret_FullMethodName, &moderatov1.RotateWebhookSecretRequest{WebhookId: id})
	o.repeat(o.owner, moderatov1.WebhooksService_EnableWebhook_FullMethodName, &moderatov1.EnableWebhookRequest{WebhookId: id})
	o.repeat(o.owner, banMethod, &moderatov1.BanUserRequest{ChannelId: channelID, BanUserId: viewerID})
	for deadline := time.Now().Add(10 * time.Second); count(o.t, o.s, "webhook_deliveries WHERE delivered_at IS NOT NULL") == 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			o.t.Fatal("the event is not delivered")
		}
	}
	banned := storetest.Must(o.s.Store.Read.Event.Query().Where(event.Type("channel.ban"), event.TargetID(servertest.Viewer)).Only(o.t.Context()))
	o.repeat(o.owner, moderatov1.WebhooksService_RedeliverWebhookEvent_FullMethodName, &moderatov1.RedeliverWebhookEventRequest{
		WebhookId: id, EventId: banned.ID.String(),
	})
	o.repeat(o.owner, moderatov1.WebhooksService_DeleteWebhook_FullMethodName, &moderatov1.DeleteWebhookRequest{WebhookId: id})
}

func (o *operations) events() {
	o.repeat(o.owner, moderatov1.EventTicketsService_CreateEventTicket_FullMethodName, &moderatov1.CreateEventTicketRequest{})
	session := uid.New()
	if err := (sessions.Sessions{Store: o.s.Store, ServerID: uid.New()}).Add(o.t.Context(), session); err != nil {
		o.t.Fatal(err)
	}
	created := o.repeat(o.owner, moderatov1.EventSubscriptionsService_CreateSubscription_FullMethodName, &moderatov1.CreateSubscriptionRequest{
		Type: "channel.ban", Version: "1", SessionId: session.String(), Condition: &moderatov1.SubscriptionCondition{ChannelId: channelID},
	})
	o.repeat(o.owner, moderatov1.EventSubscriptionsService_DeleteSubscription_FullMethodName, &moderatov1.DeleteSubscriptionRequest{
		Id: created.(*moderatov1.CreateSubscriptionResponse).GetId(),
	})
}

func (o *operations) deletions() {
	o.repeat(o.service, platformv1.DirectoryService_DeleteCategory_FullMethodName, &platformv1.DeleteCategoryRequest{CategoryId: 7})
	o.repeat(o.service, platformv1.AccessService_DeleteClient_FullMethodName, &platformv1.DeleteClientRequest{ClientId: "bot"})
	// From here on, the eraser changes everything but the events of other channels.
	for _, row := range servertest.Rows(o.t, o.s.Store) {
		if row.Table != "events" && row.Table != "idempotency_keys" {
			o.unstable = append(o.unstable, row.Table)
		}
	}
	o.unstable = append(o.unstable, "erasures")
	o.repeat(o.service, platformv1.DirectoryService_DeleteChannel_FullMethodName, &platformv1.DeleteChannelRequest{ChannelId: newUser.String()})
	o.repeat(o.service, platformv1.DirectoryService_DeleteUser_FullMethodName, &platformv1.DeleteUserRequest{UserId: newUser.String()})
}
