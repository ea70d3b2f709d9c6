package standings_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/event"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
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

// sweep bans the raider of the owner's channel by a phrase, with an afterglow, and returns the
// id of the batch.
func (d *drive) sweep() (batchID string) {
	d.t.Helper()
	d.must(d.Chat.PostMessage(d.service.Context(), &platformv1.PostMessageRequest{ChannelId: servertest.Owner.String(), UserId: servertest.Raider.String(), Text: "free sub"}))
	preview, err := d.Moderation.PreviewSweep(d.as(servertest.Owner), &moderatov1.PreviewSweepRequest{ChannelId: servertest.Owner.String(), Phrase: new("free sub"), WithinSeconds: new(int64(60))})
	d.must(preview, err)
	sweep, err := d.Moderation.CommitSweep(d.as(servertest.Owner), &moderatov1.CommitSweepRequest{ChannelId: servertest.Owner.String(), SweepToken: preview.GetSweepToken(), AfterglowSeconds: new(int64(60))})
	d.must(sweep, err)
	return sweep.GetBatchId()
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
	t.Parallel()
	eachPair(t, func(t *testing.T, d *drive, there *servertest.Server) {
		crowd := servertest.AddUsers(t, d.Store, 3)
		users := slices.Concat(crowd, everyone)
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
			{"a timed ban", func() {
				d.ban(servertest.Owner, servertest.Raider, 3600)
				d.ban(servertest.Other, servertest.Raider, 60)
			}},
			{"its lapse", func() {
				// The end is the chat server's to know: GetStanding does not return it.
				for _, w := range []*chatServer{all, one} {
					w.mu.Lock()
					if b := w.view.bans[pair{servertest.Owner, servertest.Raider}]; b.end-b.since != time.Hour.Milliseconds() {
						t.Errorf("a ban of an hour is from %d to %d", b.since, b.end)
					}
					w.mu.Unlock()
				}
				d.Store.Clock.Advance(2 * time.Hour)
				there.Store.Clock.Advance(2 * time.Hour)
			}},
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

// TestStreamResumes makes changes while a chat server is away. With its cursor it receives
// these alone, also through the other server.
func TestStreamResumes(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, d *drive, there *servertest.Server) {
		w := watch(t, there, d.service, named(channels...), nil)
		d.ban(servertest.Owner, servertest.Raider, 0)
		w.settle(d.Server)
		if !w.beginning.GetIsSnapshot() || w.beginning.GetIsCursorExpired() {
			t.Errorf("a stream without a cursor begins with %v", w.beginning)
		}
		view, cursor := w.stop()
		d.unban(servertest.Owner, servertest.Raider)
		d.ban(servertest.Other, servertest.Viewer, 0)
		again := watch(t, d.Server, d.service, withCursor(named(servertest.Other, servertest.Owner), cursor), view)
		again.wantSame(d.Server, d.service, channels, everyone)
		if again.beginning.GetIsSnapshot() || again.changes != 2 {
			t.Errorf("a resumed stream begins with %v and has %d changes, want 2", again.beginning, again.changes)
		}
		again.stop()

		for what, asked := range map[string]*platformv1.StandingsSubscription{
			"other channels": withCursor(named(servertest.Owner), cursor),
			"all channels":   withCursor(everything(), cursor),
		} {
			w := watch(t, there, d.service, asked, nil)
			w.settle(d.Server)
			if !w.beginning.GetIsSnapshot() || !w.beginning.GetIsCursorExpired() {
				t.Errorf("a cursor of %s begins with %v, want a snapshot", what, w.beginning)
			}
			w.stop()
		}
		d.must(d.Directory.DeleteUser(d.service.Context(), &platformv1.DeleteUserRequest{UserId: servertest.Viewer.String()}))
		w = watch(t, there, d.service, withCursor(named(channels...), cursor), nil)
		w.wantSame(d.Server, d.service, channels, []uid.ID{servertest.Raider, servertest.Viewer})
		if !w.beginning.GetIsSnapshot() || !w.beginning.GetIsCursorExpired() {
			t.Errorf("a cursor from before an erasure begins with %v, want a snapshot", w.beginning)
		}
		_, recent := w.stop()
		d.mute(servertest.Owner, servertest.Moderator)
		trim(t, d.Store)
		w = watch(t, there, d.service, withCursor(named(channels...), recent), nil)
		w.wantSame(d.Server, d.service, channels, []uid.ID{servertest.Moderator})
		if !w.beginning.GetIsSnapshot() || !w.beginning.GetIsCursorExpired() {
			t.Errorf("a cursor of removed events begins with %v, want a snapshot", w.beginning)
		}
	})
}

// sequence waits until all events have positions.
func sequence(t *testing.T, s *store.Store) {
	t.Helper()
	for storetest.Must(s.Read.Event.Query().Where(event.PositionIsNil()).Count(t.Context())) > 0 {
		time.Sleep(time.Millisecond)
	}
}

// trim makes all present events appear to have been removed.
func trim(t *testing.T, s *store.Store) {
	t.Helper()
	sequence(t, s)
	err := s.Write(t.Context(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		_, err := tx.ExecContext(ctx, "UPDATE event_sequencers SET trimmed_position = last_position")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestSnapshotHasEveryRow has more bans and roles than a page of a snapshot, and users with
// several roles at its end.
func TestSnapshotHasEveryRow(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, d *drive, there *servertest.Server) {
		const bans, holders = 4_800, 1_600
		users := servertest.AddUsers(t, d.Store, bans)
		for some := range slices.Chunk(users, 800) {
			d.banAll(servertest.Owner, some...)
		}
		d.ban(servertest.Other, users[0], 60)
		var roles []*platformv1.Record
		for _, id := range users[:holders] {
			for _, role := range []string{"moderator", "vip", "og"} {
				roles = append(roles, &platformv1.Record{Kind: &platformv1.Record_Role{Role: &platformv1.RoleRecord{
					ChannelId: servertest.Owner.String(), UserId: id.String(), Role: role,
				}}})
			}
		}
		d.Load(t, roles...)
		more := servertest.AddChannels(t, d.Store, 60) // several statements
		d.must(d.Moderation.BanUser(d.As(t, more[59]).Context(), &moderatov1.BanUserRequest{ChannelId: more[59].String(), BanUserId: servertest.Raider.String()}))
		for what, asked := range map[string]*platformv1.StandingsSubscription{"all": everything(), "named": named(slices.Concat(more, channels)...)} {
			w := watch(t, there, d.service, asked, nil)
			w.settle(d.Server)
			view, _ := w.stop()
			given := 0
			for p, held := range view.roles {
				if p.channelID == servertest.Owner && p.userID != servertest.Moderator {
					given += len(held)
				}
			}
			if len(view.bans) != bans+2 || given != 3*holders || view.bans[pair{servertest.Other, users[0]}].end == 0 || view.bans[pair{servertest.Owner, users[0]}].end != 0 {
				t.Errorf("%s: the snapshot has %d bans and %d roles, want %d and %d", what, len(view.bans), given, bans+2, 3*holders)
			}
		}
	})
}

// TestErasuresOfSnapshotAreSplit begins a stream while many users are being erased. Their
// deletions come in messages that a client accepts.
func TestErasuresOfSnapshotAreSplit(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, d *drive, there *servertest.Server) {
		const users = 4_500
		now := d.Store.Clock.Local()
		err := d.Store.Write(t.Context(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
			var rows []*ent.ErasureCreate
			for range users {
				rows = append(rows, tx.Erasure.Create().SetID(uid.New()).SetIsUser(true).SetRequestedAt(now).SetNextAt(now.Add(time.Hour)))
			}
			return tx.Erasure.CreateBulk(rows...).Exec(ctx)
		})
		d.must(nil, err)
		w := watch(t, there, d.service, everything(), nil)
		w.settle(d.Server)
		if view, _ := w.stop(); len(view.erased) != users || w.largest > 8_000 {
			t.Errorf("%d users are erased, and a message has %d changes, want %d and at most 8000", len(view.erased), w.largest, users)
		}
	})
}

// TestAfterglowIsTold commits a sweep with an afterglow, which no event reports, and undoes
// it.
func TestAfterglowIsTold(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, d *drive, there *servertest.Server) {
		w := watch(t, there, d.service, named(servertest.Owner), nil)
		other := watch(t, there, d.service, &platformv1.StandingsSubscription{SubscriberName: "chat-2", ChannelIds: []string{servertest.Other.String()}}, nil)
		batchID := d.sweep()
		w.wantSame(d.Server, d.service, channels[:1], everyone)
		other.settle(d.Server)
		ends := storetest.Must(d.Store.Read.Sweep.Query().Only(t.Context())).AfterglowUntil
		if got := w.view.checks[servertest.Owner]; ends == nil || got != int64(*ends) {
			t.Errorf("messages are examined until %d, want %d", got, ends)
		}
		late := watch(t, d.Server, d.service, &platformv1.StandingsSubscription{SubscriberName: "chat-3", AllChannels: true}, nil)
		late.waitFor("the afterglow", func() bool { return late.view.checks[servertest.Owner] != 0 })
		d.must(d.Moderation.UndoBanBatch(d.as(servertest.Owner), &moderatov1.UndoBanBatchRequest{ChannelId: servertest.Owner.String(), BatchId: batchID}))
		w.waitFor("the end of the afterglow", func() bool { return w.view.checks[servertest.Owner] == 0 })
		if len(other.view.checks) > 0 {
			t.Error("a chat server hears of the afterglow of a channel that is not its own")
		}
	})
}

// TestChannelsComeAndGo follows a channel that does not exist, is created, and is deleted.
func TestChannelsComeAndGo(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, d *drive, there *servertest.Server) {
		w := watch(t, there, d.service, named(servertest.Viewer), nil)
		compare := func() {
			t.Helper()
			w.wantSame(d.Server, d.service, []uid.ID{servertest.Viewer}, everyone)
		}
		compare()
		d.must(d.Directory.PutChannel(d.service.Context(), &platformv1.PutChannelRequest{Channel: &platformv1.ChannelRecord{Id: servertest.Viewer.String(), Title: "x"}}))
		compare()
		d.must(d.Directory.DeleteChannel(d.service.Context(), &platformv1.DeleteChannelRequest{ChannelId: servertest.Viewer.String()}))
		compare()
	})
}

// TestConfirmationsAreAtMostOneASecond counts the responses to a chat server while nothing
// changes.
func TestConfirmationsAreAtMostOneASecond(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t, servertest.Config(storetest.SQLite(t)))
	s.Load(t, servertest.World()...)
	w := watch(t, s, s.AsService(t), everything(), nil)
	w.settle(s)
	next := func() time.Time {
		before := w.confirmations.Load()
		w.waitFor("a confirmation", func() bool { return w.confirmations.Load() > before })
		return time.Now()
	}
	first := next()
	next()
	if took := next().Sub(first); took < 1500*time.Millisecond {
		t.Errorf("two more confirmations took %s, want one a second", took)
	}
}
