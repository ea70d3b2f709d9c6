package standings_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/outbox/outboxtest"
	"github.com/moderato-live/moderato/server/servertest"
	"github.com/moderato-live/moderato/server/standings"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/storetest"
	"github.com/moderato-live/moderato/server/uid"
)

// TestDeletionsFollowFailedLook deletes a user and a channel. The observer finds them, and
// then fails before it has told the chat server.
func TestDeletionsFollowFailedLook(t *testing.T) {
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

// TestJoinEndsWithItsContext joins a stream while a look hangs.
func TestJoinEndsWithItsContext(t *testing.T) {
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
