package standings_test

import (
	"context"
	"testing"
	"time"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/servertest"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/storetest"
	"github.com/moderato-live/moderato/server/uid"
)

var (
	everyone = []uid.ID{servertest.Owner, servertest.Moderator, servertest.Viewer, servertest.Raider, servertest.Other}
	channels = []uid.ID{servertest.Owner, servertest.Other}
)

// drive makes changes as the owners of the channels.
type drive struct {
	*servertest.Server

	t        *testing.T
	service  servertest.Credentials
	owners   map[uid.ID]servertest.Credentials
	channels moderatov1.ChannelsServiceClient
}

func newDrive(t *testing.T, s *servertest.Server) *drive {
	t.Helper()
	d := &drive{Server: s, t: t, service: s.AsService(t), owners: map[uid.ID]servertest.Credentials{}, channels: moderatov1.NewChannelsServiceClient(s.Conn)}
	for _, id := range channels {
		d.owners[id] = s.As(t, id)
	}
	return d
}

func (d *drive) as(channelID uid.ID) context.Context { return d.owners[channelID].Context() }

func (d *drive) must(_ any, err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *drive) ban(channelID, userID uid.ID, seconds int64) {
	d.t.Helper()
	req := &moderatov1.BanUserRequest{ChannelId: channelID.String(), BanUserId: userID.String()}
	if seconds > 0 {
		req.DurationSeconds = &seconds
	}
	d.must(d.Moderation.BanUser(d.as(channelID), req))
}

func (d *drive) unban(channelID, userID uid.ID) {
	d.t.Helper()
	d.must(d.Moderation.RemoveBan(d.as(channelID), &moderatov1.RemoveBanRequest{ChannelId: channelID.String(), BanUserId: userID.String()}))
}

func (d *drive) mute(channelID, userID uid.ID) {
	d.t.Helper()
	d.must(d.Moderation.MuteUser(d.as(channelID), &moderatov1.MuteUserRequest{ChannelId: channelID.String(), MutedUserId: userID.String()}))
}

func (d *drive) banAll(channelID uid.ID, users ...uid.ID) *moderatov1.BanUsersResponse {
	d.t.Helper()
	req := &moderatov1.BanUsersRequest{ChannelId: channelID.String()}
	for _, id := range users {
		req.Users = append(req.Users, &moderatov1.BatchTarget{UserId: id.String()})
	}
	r, err := d.Moderation.BanUsers(d.as(channelID), req)
	d.must(r, err)
	return r
}

// eachPair runs a test with two servers on one database of each kind.
func eachPair(t *testing.T, test func(t *testing.T, here *drive, there *servertest.Server)) {
	t.Helper()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		first := servertest.Start(t, servertest.Config(url))
		first.Load(t, servertest.World()...)
		test(t, newDrive(t, first), servertest.Start(t, servertest.Config(url)))
	})
}

// TestChatServerAnswersLikeServer makes every kind of change through one server, and
// compares the answers of chat servers that follow another one with GetStanding.
func TestChatServerAnswersLikeServer(t *testing.T) {
	eachPair(t, func(t *testing.T, d *drive, there *servertest.Server) {
		crowd := servertest.AddUsers(t, d.Store, 3)
		users := append(crowd, everyone...)
		d.ban(servertest.Owner, servertest.Raider, 0)
		d.mute(servertest.Owner, servertest.Viewer)
		all := watch(t, there, d.service, everything(), nil)
		one := watch(t, there, d.service, &platformv1.StandingsSubscription{SubscriberName: "chat-2", ChannelIds: []string{servertest.Owner.String()}}, nil)
		compare := func(what string) {
			t.Helper()
			all.wantSame(d.Server, d.service, channels, users)
			one.wantSame(d.Server, d.service, channels[:1], users)
			if t.Failed() {
				t.Fatalf("after: %s", what)
			}
		}
		compare("the snapshot")
		for _, step := range []struct {
			what string
			do   func()
		}{
			{"an unban", func() { d.unban(servertest.Owner, servertest.Raider) }},
			{"a timed ban", func() { d.ban(servertest.Owner, servertest.Raider, 3600); d.ban(servertest.Other, servertest.Raider, 60) }},
			{"its lapse", func() { d.Store.Clock.Advance(2 * time.Hour); there.Store.Clock.Advance(2 * time.Hour) }},
			{"mutes and a ban", func() {
				d.mute(servertest.Other, servertest.Viewer)
				d.mute(servertest.Owner, servertest.Viewer)
				d.ban(servertest.Owner, servertest.Viewer, 0)
			}},
			{"the end of a mute", func() {
				d.must(d.Moderation.RemoveMute(d.as(servertest.Other), &moderatov1.RemoveMuteRequest{ChannelId: servertest.Other.String(), MutedUserId: servertest.Viewer.String()}))
			}},
			{"a lapsed mute", func() { d.Store.Clock.Advance(time.Hour); there.Store.Clock.Advance(time.Hour) }},
			{"a batch and a part of it that is undone", func() {
				d.must(d.Moderation.UndoBanBatch(d.as(servertest.Owner), &moderatov1.UndoBanBatchRequest{
					ChannelId: servertest.Owner.String(), BatchId: d.banAll(servertest.Owner, crowd[:2]...).GetBatchId(),
				}))
				d.banAll(servertest.Owner, crowd[1:]...)
			}},
			{"a revert", func() {
				d.must(d.Moderation.RevertModerator(d.as(servertest.Owner), &moderatov1.RevertModeratorRequest{
					ChannelId: servertest.Owner.String(), ModeratorId: servertest.Owner.String(), Since: d.Store.Clock.Local().Add(-time.Minute).Proto(),
				}))
			}},
			{"roles", func() {
				d.must(d.channels.AddVip(d.as(servertest.Owner), &moderatov1.AddVipRequest{ChannelId: servertest.Owner.String(), UserId: servertest.Viewer.String()}))
				d.must(d.channels.AddOg(d.as(servertest.Owner), &moderatov1.AddOgRequest{ChannelId: servertest.Owner.String(), UserId: servertest.Viewer.String()}))
				d.must(d.Moderation.AddModerator(d.as(servertest.Owner), &moderatov1.AddModeratorRequest{ChannelId: servertest.Owner.String(), UserId: servertest.Raider.String()}))
				d.must(d.Moderation.RemoveModerator(d.as(servertest.Owner), &moderatov1.RemoveModeratorRequest{ChannelId: servertest.Owner.String(), UserId: servertest.Moderator.String()}))
				d.must(d.channels.RemoveVip(d.as(servertest.Owner), &moderatov1.RemoveVipRequest{ChannelId: servertest.Owner.String(), UserId: servertest.Viewer.String()}))
			}},
			{"the erasure of a user", func() {
				d.ban(servertest.Owner, servertest.Raider, 0)
				d.must(d.Directory.DeleteUser(d.service.Context(), &platformv1.DeleteUserRequest{UserId: servertest.Raider.String()}))
			}},
			{"the deletion of a channel", func() {
				d.must(d.Directory.DeleteChannel(d.service.Context(), &platformv1.DeleteChannelRequest{ChannelId: servertest.Owner.String()}))
			}},
		} {
			step.do()
			compare(step.what)
		}
		for _, w := range []*chatServer{all, one} {
			view, _ := w.stop()
			for p := range view.bans {
				if p.userID == servertest.Raider || p.channelID == servertest.Owner {
					t.Errorf("a chat server still has the ban of %v", p)
				}
			}
		}
	})
}
