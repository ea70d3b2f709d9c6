package standings_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/event/outbox/outboxtest"
	"github.com/moderato-live/moderato/server/event/standings"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestDeletionsFollowFailedLook deletes a user and a channel. The observer finds them, and
// then fails before it has told the chat server.
func TestDeletionsFollowFailedLook(t *testing.T) {
	t.Parallel()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		gate := &storetest.Gate{}
		config := servertest.Config(url)
		config.DBLayer = gate.Layer()
		s := servertest.Start(t, config)
		s.Load(t, servertest.World()...)
		d := newDrive(t, s)
		d.ban(servertest.Other, servertest.Raider, 0)
		w := watch(t, d.Server, d.service, named(append([]uid.ID{servertest.Viewer}, channels...)...), nil) // the first has no channel
		w.settle(d.Server)
		var hasFound, hasFailed atomic.Bool
		gate.Fail(func(query string) (int, error) {
			switch {
			case strings.Contains(query, "FROM erasures WHERE requested_at >= ?"):
				hasFound.Store(true)
			case hasFound.Load() && strings.HasPrefix(query, "SELECT id FROM channels WHERE id IN"):
				hasFailed.Store(true)
				return 0, errors.New("a fault")
			}
			return 0, nil
		})
		d.must(d.Directory.DeleteUser(d.service.Context(), &platformv1.DeleteUserRequest{UserId: servertest.Raider.String()}))
		d.must(d.Directory.DeleteChannel(d.service.Context(), &platformv1.DeleteChannelRequest{ChannelId: servertest.Owner.String()}))
		w.waitFor("the fault", hasFailed.Load)
		gate.Fail(nil)
		w.wantSame(d.Server, d.service, channels, everyone)
		if view, _ := w.stop(); !view.erased[servertest.Raider] || len(view.bans) > 0 {
			t.Error("the chat server still has the ban of a deleted user")
		}
	})
}

// TestEventsAfterDeletionAreDropped bans a user, who is deleted before the event of the ban
// has a position. A chat server that has heard of the deletion does not hear of the ban, and
// hears of a ban of another user who gets the same id later.
func TestEventsAfterDeletionAreDropped(t *testing.T) {
	t.Parallel()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		gate := &storetest.Gate{}
		config := servertest.Config(url)
		config.DBLayer = gate.Layer()
		here, there := servertest.Start(t, config), servertest.Start(t, config)
		here.Load(t, servertest.World()...)
		d := newDrive(t, here)
		isErased := func(w *chatServer) {
			t.Helper()
			w.waitFor("the deletion", func() bool { return w.view.erased[servertest.Raider] })
		}
		streams := map[string]*chatServer{"open": watch(t, here, d.service, named(channels...), nil)}
		away := watch(t, here, d.service, subscriber("chat-2"), nil)
		streams["open"].settle(here)
		away.settle(here)
		gate.Fail(func(query string) (int, error) {
			if after, err := withoutSequencer(query); err != nil {
				return after, err
			}
			return withoutEraser(query)
		})
		d.ban(servertest.Owner, servertest.Raider, 0)
		d.must(d.Directory.DeleteUser(d.service.Context(), &platformv1.DeleteUserRequest{UserId: servertest.Raider.String()}))
		isErased(streams["open"])
		isErased(away)
		view, cursor := away.stop()
		streams["resumed"] = watch(t, there, d.service, withCursor(subscriber("chat-2"), cursor), view)
		streams["new"] = watch(t, here, d.service, subscriber("chat-3"), nil)
		isErased(streams["new"])
		gate.Fail(withoutEraser)
		sequence(t, here.Store)
		for what, w := range streams {
			w.settle(here)
			if b := w.view.bans[pair{servertest.Owner, servertest.Raider}]; b.since != 0 {
				t.Errorf("%s: the chat server has the ban of a deleted user", what)
			}
		}
		if streams["resumed"].beginning.GetIsSnapshot() {
			t.Error("the stream does not resume")
		}

		gate.Fail(nil)
		for _, s := range []*servertest.Server{here, there} {
			s.Store.Clock.Advance(3 * time.Minute)
		}
		streams["open"].waitFor("the end of the erasure", func() bool { return storetest.Must(here.Store.Read.Erasure.Query().Count(t.Context())) == 0 })
		d.must(d.Directory.PutUser(d.service.Context(), &platformv1.PutUserRequest{User: &platformv1.UserRecord{
			Id: servertest.Raider.String(), Username: "another", DisplayName: "Another",
		}}))
		d.ban(servertest.Owner, servertest.Raider, 0)
		for what, w := range streams {
			w.waitFor(what+": the ban of another user", func() bool { return w.view.bans[pair{servertest.Owner, servertest.Raider}].since != 0 })
		}
	})
}

// TestEventsOfErasedAreDropped has events of users and channels that are being erased, as a
// server read them before.
func TestEventsOfErasedAreDropped(t *testing.T) {
	t.Parallel()
	s := outboxtest.OpenWorld(t, storetest.SQLite(t))
	now := s.Clock.Local()
	err := s.Write(t.Context(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		return tx.Erasure.CreateBulk(
			tx.Erasure.Create().SetID(servertest.Raider).SetIsUser(true).SetRequestedAt(now).SetNextAt(now),
			tx.Erasure.Create().SetID(servertest.Owner).SetIsUser(false).SetRequestedAt(now).SetNextAt(now),
		).Exec(ctx)
	})
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		channelID, targetID uid.ID
		at                  instant.Instant
		want                bool
	}{
		"an erased user":                    {servertest.Other, servertest.Raider, now - 1, true},
		"the channel of an erased user":     {servertest.Raider, servertest.Viewer, now - 1, true},
		"a deleted channel":                 {servertest.Owner, servertest.Viewer, now - 1, true},
		"a call that began before":          {servertest.Owner, servertest.Viewer, now.Add(time.Minute), true},
		"the owner of a deleted channel":    {servertest.Other, servertest.Owner, now - 1, false},
		"others":                            {servertest.Other, servertest.Viewer, now - 1, false},
		"another user who got the id later": {servertest.Other, servertest.Raider, now.Add(2 * time.Minute), false},
	} {
		got, err := standings.IsDropped(t.Context(), s, &outbox.Event{ChannelID: c.channelID, TargetID: c.targetID, OccurredAt: c.at})
		if got != c.want || err != nil {
			t.Errorf("%s: got %t, %v", what, got, err)
		}
	}
}

// withoutEraser fails the statements with which an eraser claims its work.
func withoutEraser(query string) (int, error) {
	if strings.HasPrefix(query, "UPDATE") && strings.Contains(query, "erasures") {
		return 0, errors.New("a fault")
	}
	return 0, nil
}

// TestJoinEndsWithItsContext joins a stream while a look hangs.
func TestJoinEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := outboxtest.OpenWorld(t, storetest.SQLite(t))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- standings.JoinDuringLook(ctx, s) }()
	select {
	case err := <-ended:
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the stream waits for the look after its end")
	}
}
