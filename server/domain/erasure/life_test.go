package erasure_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/event"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/domain/moderation"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// live has a person do everything that a user can do and that others can do to a user. It
// returns a token of theirs that was in use.
func (s *scene) live(p person) servertest.Credentials {
	s.t.Helper()
	owner, other, viewer := servertest.Owner, servertest.Other, servertest.Viewer
	s.Store.Clock.Advance(2 * moderation.MuteDuration) // mutes of an earlier run have expired
	// Before a user has the name.
	s.vote(owner, p.name, 1)
	s.vote(owner, strings.ToLower(p.name), 1)
	s.must(nil, s.putUser(p.id, p.oldName))
	s.recordVote(owner, p)
	s.must(s.Directory.PutUser(s.ctx, &platformv1.PutUserRequest{User: &platformv1.UserRecord{
		Id: p.id.String(), Username: p.name, DisplayName: p.displayName, AvatarUrl: p.avatar,
	}}))
	s.recordVote(other, p)
	s.vote(other, strings.ToUpper(p.name), 2)
	s.must(nil, s.putChannel(viewer, "The viewer's"))
	as := s.As(s.t, p.id)
	s.ownChannel(p, as)
	s.elsewhere(p, as)
	s.must(nil, s.ban(withKey(as.Context()), p.id, s.newcomer()))
	s.done(p)
	for _, client := range []string{servertest.Dashboard, servertest.OtherDashboard} {
		s.must(s.Access.PutGrant(s.ctx, &platformv1.PutGrantRequest{Grant: &platformv1.GrantRecord{ClientId: client, UserId: p.id.String(), Scopes: authn.Scopes()}}))
		s.must(s.Access.IssueToken(s.ctx, &platformv1.IssueTokenRequest{
			Kind: platformv1.TokenKind_TOKEN_KIND_USER, ClientId: client, UserId: p.id.String(),
		}))
	}
	// Old texts are removed, so this comes last.
	s.unique(as, p.id, 60)
	s.must(nil, s.post(p.id, s.newcomer(), p.text(30)))
	s.unique(as, p.id, 0)
	s.rule(as, p.id)
	s.shield(as, p.id)
	return as
}

// withKey returns the context of a change with an idempotency key, whose response is stored.
func withKey(ctx context.Context) context.Context {
	return metadata.AppendToOutgoingContext(ctx, idempotency.MetadataKey, uid.New().String())
}

func (s *scene) vote(channel uid.ID, name string, amount int64) {
	s.t.Helper()
	s.Load(s.t, &platformv1.Record{Kind: &platformv1.Record_Vote{Vote: &platformv1.VoteRecord{
		Id: uid.New().String(), ChannelId: channel.String(), Username: name, Amount: amount,
	}}})
}

func (s *scene) recordVote(channel uid.ID, p person) {
	s.t.Helper()
	s.must(s.content.RecordVote(s.ctx, &platformv1.RecordVoteRequest{
		ChannelId: channel.String(), Id: uid.New().String(), UserId: p.id.String(), Address: p.address, Amount: 3,
	}))
}

// postedLongAgo records a first message that retention has removed.
func (s *scene) postedLongAgo(channel, user uid.ID) error {
	return s.Store.Write(s.t.Context(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		return tx.FirstMessage.Create().SetChannelID(channel).SetUserID(user).SetSentAt(1).Exec(ctx)
	})
}

func (s *scene) post(channel, user uid.ID, text string) error {
	_, err := s.Chat.PostMessage(s.ctx, &platformv1.PostMessageRequest{ChannelId: channel.String(), UserId: user.String(), Text: text})
	return err
}

// unique changes for how long texts must be unique in a channel.
func (s *scene) unique(as servertest.Credentials, channel uid.ID, seconds int64) {
	s.t.Helper()
	s.must(moderatov1.NewChatRulesServiceClient(s.Conn).UpdateChatSettings(as.Context(), &moderatov1.UpdateChatSettingsRequest{ChannelId: channel.String(), UniqueSeconds: &seconds}))
}

// rule creates a rule in a channel, and changes it.
func (s *scene) rule(as servertest.Credentials, channel uid.ID) {
	s.t.Helper()
	operations := moderatov1.NewChatRulesServiceClient(s.Conn)
	rule := &moderatov1.ChatRule{Name: "Links", Kind: "links", Action: "flag", Mode: new("all")}
	created, err := operations.UpdateChatRules(as.Context(), &moderatov1.UpdateChatRulesRequest{ChannelId: channel.String(), Put: []*moderatov1.ChatRule{rule}})
	s.must(created, err)
	rule.RuleId, rule.Name = created.GetRules()[len(created.GetRules())-1].GetRuleId(), "All links"
	s.must(operations.UpdateChatRules(as.Context(), &moderatov1.UpdateChatRulesRequest{ChannelId: channel.String(), Put: []*moderatov1.ChatRule{rule}}))
}

// shield raises the shield of a channel, whoever raised it before.
func (s *scene) shield(as servertest.Credentials, channel uid.ID) {
	s.t.Helper()
	for _, isActive := range []bool{true, false, true} {
		var duration *int64
		if isActive {
			duration = new(int64(86400)) // it must not end meanwhile
		}
		s.must(moderatov1.NewChatRulesServiceClient(s.Conn).UpdateShield(as.Context(), &moderatov1.UpdateShieldRequest{ChannelId: channel.String(), Active: &isActive, DurationSeconds: duration}))
	}
}

func (s *scene) follow(channel, user uid.ID) error {
	_, err := s.audience.Follow(s.ctx, &platformv1.FollowRequest{ChannelId: channel.String(), UserId: user.String()})
	return err
}

func (s *scene) subscribe(channel, user uid.ID, length time.Duration) error {
	now := s.Store.Clock.Local()
	_, err := s.audience.PutSubscription(s.ctx, &platformv1.PutSubscriptionRequest{Subscription: &platformv1.SubscriptionRecord{
		ChannelId: channel.String(), UserId: user.String(), SubscribedAt: now.Proto(), ExpiresAt: now.Add(length).Proto(),
	}})
	return err
}

func (s *scene) ban(ctx context.Context, channel, user uid.ID) error {
	_, err := s.Moderation.BanUser(ctx, &moderatov1.BanUserRequest{ChannelId: channel.String(), BanUserId: user.String()})
	return err
}

func (s *scene) mute(ctx context.Context, channel, user uid.ID) error {
	_, err := s.Moderation.MuteUser(ctx, &moderatov1.MuteUserRequest{ChannelId: channel.String(), MutedUserId: user.String()})
	return err
}

func (s *scene) clip(channel, creator uid.ID, title string) {
	s.t.Helper()
	s.must(s.content.PutClip(s.ctx, &platformv1.PutClipRequest{Clip: &platformv1.ClipRecord{
		ClipId: uid.New().String(), ChannelId: channel.String(), CreatorId: creator.String(), Title: title,
	}}))
}

// keyOf returns a new key that names a user, as a backend may choose it.
func keyOf(user uid.ID) string { return user.String() + "/" + uid.New().String()[:13] }

// thank has a user thank, gift and vote in a channel.
func (s *scene) thank(channel, user uid.ID, message string) {
	s.t.Helper()
	action, err := structpb.NewStruct(map[string]any{"reply": message})
	s.must(action, err)
	s.must(s.content.RecordThanks(s.ctx, &platformv1.RecordThanksRequest{
		ChannelId: channel.String(), UserId: user.String(), Key: keyOf(user), Amount: 5, Message: message, Action: action,
	}))
	s.must(s.content.RecordGift(s.ctx, &platformv1.RecordGiftRequest{
		ChannelId: channel.String(), UserId: user.String(), Key: "gift/" + keyOf(user), Count: 2,
	}))
	info, err := structpb.NewStruct(map[string]any{"userId": user.String(), "message": message})
	s.must(info, err)
	s.must(s.content.PutActivity(s.ctx, &platformv1.PutActivityRequest{Activity: &platformv1.ActivityRecord{
		ChannelId: channel.String(), Key: uid.New().String(), Type: "thanks", Info: info,
	}}))
}

func (s *scene) raid(channel, raider uid.ID) {
	s.t.Helper()
	s.must(s.streams.Raid(s.ctx, &platformv1.RaidRequest{ChannelId: channel.String(), Key: uid.New().String(), RaiderId: raider.String(), ViewerCount: 5}))
}

// ownChannel gives a person a live channel with all kinds of records.
func (s *scene) ownChannel(p person, as servertest.Credentials) {
	s.t.Helper()
	mine, owner, other, viewer, raider := p.id, servertest.Owner, servertest.Other, servertest.Viewer, servertest.Raider
	s.must(s.Directory.PutChannel(s.ctx, &platformv1.PutChannelRequest{Channel: &platformv1.ChannelRecord{Id: mine.String(), Title: p.text(0), Bio: p.text(1)}}))
	now := s.Store.Clock.Local()
	for _, start := range []*timestamppb.Timestamp{now.Add(-time.Hour).Proto(), now.Add(-time.Minute).Proto()} { // the second stream ends the first
		s.must(s.streams.StartStream(s.ctx, &platformv1.StartStreamRequest{ChannelId: mine.String(), StartedAt: start, Title: p.text(2), ViewerCount: 3}))
	}
	for _, user := range []uid.ID{owner, viewer, raider} {
		s.must(nil, s.follow(mine, user))
		s.must(nil, s.subscribe(mine, user, time.Hour))
	}
	s.must(s.Moderation.AddModerator(as.Context(), &moderatov1.AddModeratorRequest{ChannelId: mine.String(), UserId: servertest.Moderator.String()}))
	s.must(s.channels.AddVip(as.Context(), &moderatov1.AddVipRequest{ChannelId: mine.String(), UserId: viewer.String()}))
	s.must(s.chats.ClearChat(as.Context(), &moderatov1.ClearChatRequest{ChannelId: mine.String()}))
	for n, user := range []uid.ID{mine, other, raider, viewer} {
		s.must(nil, s.post(mine, user, p.text(3+n)))
		s.must(nil, s.postedLongAgo(mine, user))
	}
	pinned, err := s.Chat.PostMessage(s.ctx, &platformv1.PostMessageRequest{ChannelId: mine.String(), UserId: mine.String(), Text: p.text(3)})
	s.must(pinned, err)
	s.must(s.chats.PinMessage(as.Context(), &moderatov1.PinMessageRequest{ChannelId: mine.String(), MessageId: pinned.GetMessage().GetId()}))
	s.must(nil, s.ban(as.Context(), mine, raider))
	s.must(nil, s.replaceBan(as, mine, raider))
	s.must(nil, s.mute(as.Context(), mine, viewer))
	s.must(s.Moderation.BanUsers(as.Context(), &moderatov1.BanUsersRequest{
		ChannelId: mine.String(), Users: []*moderatov1.BatchTarget{{UserId: s.newcomer().String()}},
	}))
	s.must(nil, s.post(mine, s.newcomer(), "raid"))
	s.must(s.Moderation.PreviewSweep(as.Context(), &moderatov1.PreviewSweepRequest{
		ChannelId: mine.String(), Phrase: new("raid"), WithinSeconds: new(int64(3600)),
	}))
	s.pardon(as, mine, s.newcomer())
	s.clip(mine, viewer, p.text(10))
	s.clip(mine, mine, p.text(11))
	s.must(s.content.PutEmote(s.ctx, &platformv1.PutEmoteRequest{Emote: &platformv1.EmoteRecord{
		Id: uid.New().String(), ChannelId: mine.String(), Name: "GG", ImageUrl: "https://img.example.com/emote.png",
	}}))
	s.must(s.content.PutVod(s.ctx, &platformv1.PutVodRequest{Vod: &platformv1.VodRecord{
		Id: uid.New().String(), ChannelId: mine.String(), Title: p.text(12), StartedAt: now.Proto(), EndedAt: now.Proto(),
	}}))
	s.vote(mine, "Ines", 4)
	s.thank(mine, other, p.text(13))
	s.raid(mine, other)
}

// elsewhere has a person act in channels of others.
func (s *scene) elsewhere(p person, as servertest.Credentials) {
	s.t.Helper()
	owner, other, viewer := servertest.Owner, servertest.Other, servertest.Viewer
	for n, channel := range []uid.ID{owner, other, viewer} {
		s.must(nil, s.follow(channel, p.id))
		s.must(nil, s.post(channel, p.id, p.text(20+n)))
		s.must(nil, s.postedLongAgo(channel, p.id))
		s.clip(channel, p.id, fmt.Sprintf("A clip of many, %d", n))
		s.thank(channel, p.id, p.text(30+n))
		s.raid(channel, p.id)
	}
	s.must(nil, s.subscribe(owner, p.id, 24*time.Hour))
	s.must(nil, s.subscribe(viewer, p.id, 24*time.Hour))
	s.must(s.audience.EndSubscription(s.ctx, &platformv1.EndSubscriptionRequest{ChannelId: viewer.String(), UserId: p.id.String()}))
	s.must(s.audience.Unfollow(s.ctx, &platformv1.UnfollowRequest{ChannelId: viewer.String(), UserId: p.id.String()}))
	// A backend that acts for the person.
	acting := s.service
	acting.ActingUser = p.id
	s.must(s.audience.Follow(acting.Context(), &platformv1.FollowRequest{ChannelId: other.String(), UserId: servertest.Moderator.String()}))
	s.must(s.audience.Unfollow(acting.Context(), &platformv1.UnfollowRequest{ChannelId: other.String(), UserId: servertest.Moderator.String()}))

	s.must(s.Moderation.AddModerator(s.As(s.t, owner).Context(), &moderatov1.AddModeratorRequest{ChannelId: owner.String(), UserId: p.id.String()}))
	byOther := s.As(s.t, other).Context()
	s.must(s.Moderation.AddModerator(byOther, &moderatov1.AddModeratorRequest{ChannelId: other.String(), UserId: p.id.String()}))
	s.must(s.chats.ClearChat(as.Context(), &moderatov1.ClearChatRequest{ChannelId: other.String()}))
	s.must(s.Moderation.RemoveModerator(byOther, &moderatov1.RemoveModeratorRequest{ChannelId: other.String(), UserId: p.id.String()}))
	s.must(s.channels.AddOg(byOther, &moderatov1.AddOgRequest{ChannelId: other.String(), UserId: p.id.String()}))
	s.must(s.channels.RemoveOg(byOther, &moderatov1.RemoveOgRequest{ChannelId: other.String(), UserId: p.id.String()}))
	s.must(s.channels.AddOg(s.As(s.t, other).Context(), &moderatov1.AddOgRequest{ChannelId: other.String(), UserId: p.id.String()}))
	pinned, err := s.Chat.PostMessage(s.ctx, &platformv1.PostMessageRequest{ChannelId: owner.String(), UserId: p.id.String(), Text: p.text(20)})
	s.must(pinned, err)
	s.must(s.chats.PinMessage(s.As(s.t, owner).Context(), &moderatov1.PinMessageRequest{ChannelId: owner.String(), MessageId: pinned.GetMessage().GetId()}))
	s.heldMessages(p, as)
	s.unique(as, owner, 1)
	s.unique(as, owner, 0)
	s.rule(as, owner)
	s.shield(as, owner)
	said, err := s.Chat.PostMessage(s.ctx, &platformv1.PostMessageRequest{ChannelId: owner.String(), UserId: servertest.Other.String(), Text: "to be deleted"})
	s.must(said, err)
	s.must(s.chats.DeleteMessage(as.Context(), &moderatov1.DeleteMessageRequest{ChannelId: owner.String(), MessageId: said.GetMessage().GetId()}))
	s.must(nil, s.refreshToken(p.id))
	pardoned := s.newcomer()
	s.must(nil, s.ban(as.Context(), owner, pardoned))
	s.must(s.Moderation.RemoveBan(as.Context(), &moderatov1.RemoveBanRequest{ChannelId: owner.String(), BanUserId: pardoned.String()}))
	s.must(nil, s.ban(as.Context(), owner, s.newcomer()))
	replaced := s.newcomer()
	s.must(nil, s.ban(as.Context(), owner, replaced))
	s.must(nil, s.replaceBan(s.As(s.t, owner), owner, replaced))
	s.must(nil, s.mute(as.Context(), owner, viewer))
	s.Store.Clock.Advance(moderation.MuteDuration) // it expires; the event names the moderator
	s.must(nil, (&moderation.Expirer{Store: s.Store}).ExpireMutes(s.t.Context()))
	s.must(nil, s.mute(as.Context(), owner, viewer))
	s.must(s.Moderation.RemoveMute(as.Context(), &moderatov1.RemoveMuteRequest{ChannelId: owner.String(), MutedUserId: viewer.String()}))
	s.must(nil, s.mute(as.Context(), owner, viewer))
	s.must(s.Moderation.BanUser(as.Context(), &moderatov1.BanUserRequest{ // it expires; the event names the moderator
		ChannelId: owner.String(), BanUserId: s.newcomer().String(), DurationSeconds: new(int64(1)),
	}))
	s.Store.Clock.Advance(time.Second)
	s.must(nil, (&moderation.Expirer{Store: s.Store}).ExpireBans(s.t.Context()))
	s.must(s.Moderation.BanUsers(as.Context(), &moderatov1.BanUsersRequest{
		ChannelId: owner.String(), Users: []*moderatov1.BatchTarget{{UserId: s.newcomer().String()}},
	}))
	s.must(nil, s.post(owner, s.newcomer(), "raid"))
	preview, err := s.Moderation.PreviewSweep(as.Context(), &moderatov1.PreviewSweepRequest{
		ChannelId: owner.String(), Phrase: new("raid"), WithinSeconds: new(int64(3600)),
	})
	s.must(nil, err)
	s.must(s.Moderation.CommitSweep(as.Context(), &moderatov1.CommitSweepRequest{ChannelId: owner.String(), SweepToken: preview.GetSweepToken()}))
}

// replaceBan replaces the ban of a user.
func (s *scene) replaceBan(as servertest.Credentials, channel, user uid.ID) error {
	_, err := s.Moderation.BanUser(as.Context(), &moderatov1.BanUserRequest{ChannelId: channel.String(), BanUserId: user.String(), Replace: new(true)})
	return err
}

// pardon bans and unbans a user during the afterglow of a sweep.
func (s *scene) pardon(as servertest.Credentials, channel, user uid.ID) {
	s.t.Helper()
	s.must(nil, s.post(channel, s.newcomer(), "glow"))
	preview, err := s.Moderation.PreviewSweep(as.Context(), &moderatov1.PreviewSweepRequest{
		ChannelId: channel.String(), Phrase: new("glow"), WithinSeconds: new(int64(3600)),
	})
	s.must(nil, err)
	s.must(s.Moderation.CommitSweep(as.Context(), &moderatov1.CommitSweepRequest{
		ChannelId: channel.String(), SweepToken: preview.GetSweepToken(), AfterglowSeconds: new(int64(600)),
	}))
	s.must(nil, s.ban(as.Context(), channel, user))
	s.must(s.Moderation.RemoveBan(as.Context(), &moderatov1.RemoveBanRequest{ChannelId: channel.String(), BanUserId: user.String()}))
}

// refreshToken stores a refresh token of a user, as a sign-in does.
func (s *scene) refreshToken(user uid.ID) error {
	return s.Store.Write(s.t.Context(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		now, id := s.Store.Clock.Local(), uid.New()
		return tx.RefreshToken.Create().SetID(digest.Of(id.String())).SetFamilyID(id).SetClientID(servertest.Dashboard).SetUserID(user).
			SetScopes(authn.UsersRead).SetIssuedAt(now).SetExpiresAt(now.Add(24 * time.Hour)).Exec(ctx)
	})
}

// newcomer returns a new user without any records.
func (s *scene) newcomer() uid.ID {
	s.t.Helper()
	id := uid.New()
	s.must(nil, s.putUser(id, "newcomer"+id.String()[24:]))
	return id
}

// done has others act on a person.
func (s *scene) done(p person) {
	s.t.Helper()
	moderator, viewer := s.As(s.t, servertest.Moderator).Context(), s.As(s.t, servertest.Viewer).Context()
	for _, end := range []bool{true, false} { // a mute that is ended, and one that stays
		s.must(s.Moderation.MuteUser(moderator, &moderatov1.MuteUserRequest{
			ChannelId: servertest.Owner.String(), MutedUserId: p.id.String(), Reason: new(p.text(41)),
		}))
		if end {
			s.must(s.Moderation.RemoveMute(moderator, &moderatov1.RemoveMuteRequest{ChannelId: servertest.Owner.String(), MutedUserId: p.id.String()}))
		}
	}
	s.must(s.Moderation.BanUser(withKey(moderator), &moderatov1.BanUserRequest{
		ChannelId: servertest.Other.String(), BanUserId: p.id.String(), Reason: new(p.text(42)), DurationSeconds: new(int64(1209600)),
	}))
	s.must(nil, s.replaceBan(s.As(s.t, servertest.Other), servertest.Other, p.id))
	s.must(s.Moderation.BanUsers(viewer, &moderatov1.BanUsersRequest{
		ChannelId: servertest.Viewer.String(), Users: []*moderatov1.BatchTarget{{UserId: p.id.String()}}, Reason: new("spam"),
	}))
	s.must(s.Moderation.RemoveBan(viewer, &moderatov1.RemoveBanRequest{ChannelId: servertest.Viewer.String(), BanUserId: p.id.String()}))
	s.pardon(s.As(s.t, servertest.Viewer), servertest.Viewer, p.id)
	s.must(nil, s.post(servertest.Viewer, p.id, p.text(40)))
	s.must(s.Moderation.PreviewSweep(viewer, &moderatov1.PreviewSweepRequest{
		ChannelId: servertest.Viewer.String(), Pattern: new("."), WithinSeconds: new(int64(3600)),
	}))
	s.must(s.channels.AddVip(viewer, &moderatov1.AddVipRequest{ChannelId: servertest.Viewer.String(), UserId: p.id.String()}))
	s.must(s.channels.RemoveVip(viewer, &moderatov1.RemoveVipRequest{ChannelId: servertest.Viewer.String(), UserId: p.id.String()}))
}

// settle waits for the other workers, so that they change no row afterwards.
func (s *scene) settle() {
	s.t.Helper()
	s.Store.Clock.Advance(3 * time.Minute)
	for range 3 {
		s.Store.Clock.Advance(31 * time.Second)
		for _, purge := range []func(context.Context) (bool, error){(&chat.Purger{Store: s.Store}).Purge, (&chat.ChannelPurger{Store: s.Store}).Purge} {
			for more := true; more; {
				var err error
				more, err = purge(s.t.Context())
				s.must(nil, err)
			}
		}
	}
	_, err := (&moderation.Service{Store: s.Store}).MetricsJob().Run(s.t.Context())
	s.must(nil, err)
	for storetest.Must(s.Store.Read.Event.Query().Where(event.PositionIsNil()).Exist(s.t.Context())) {
		time.Sleep(time.Millisecond)
	}
}
