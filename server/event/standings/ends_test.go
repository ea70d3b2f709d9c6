package standings_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/moderato-live/moderato/ent"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestStreamsAreRefused opens streams that are not permitted, and has one end with its token.
func TestStreamsAreRefused(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		service := s.AsService(t)
		for what, c := range map[string]struct {
			as    servertest.Credentials
			asked *platformv1.StandingsSubscription
			want  string
		}{
			"a user":               {s.As(t, servertest.Owner), everything(), "TOKEN_KIND_NOT_ACCEPTED"},
			"no channel":           {service, &platformv1.StandingsSubscription{}, "INVALID_ARGUMENT"},
			"channels and all":     {service, &platformv1.StandingsSubscription{AllChannels: true, ChannelIds: []string{servertest.Owner.String()}}, "INVALID_ARGUMENT"},
			"a bad id":             {service, &platformv1.StandingsSubscription{ChannelIds: []string{"x"}}, "INVALID_ARGUMENT"},
			"too many channels":    {service, &platformv1.StandingsSubscription{ChannelIds: slices.Repeat([]string{servertest.Owner.String()}, 1001)}, "INVALID_ARGUMENT"},
			"a bad name":           {service, &platformv1.StandingsSubscription{SubscriberName: "a b", AllChannels: true}, "INVALID_ARGUMENT"},
			"a damaged cursor":     {service, withCursor(everything(), "x"), "CURSOR_INVALID"},
			"a cursor of an event": {service, withCursor(everything(), eventCursor(t, s)), "CURSOR_INVALID"},
		} {
			w := watch(t, s, c.as, c.asked, nil)
			if got := w.reason(); got != c.want {
				t.Errorf("%s: got %s, want %s", what, got, c.want)
			}
		}
		w := watch(t, s, service, everything(), nil)
		w.settle(s)
		_ = w.stream.Send(&platformv1.WatchStandingsRequest{Request: &platformv1.WatchStandingsRequest_Subscribe{Subscribe: everything()}})
		if got := w.reason(); got != "INVALID_ARGUMENT" {
			t.Errorf("a second subscription: got %s", got)
		}
		w = watch(t, s, service, everything(), nil)
		w.settle(s)
		began := time.Now()
		err := s.Store.Write(t.Context(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
			return tx.Token.Update().SetRevokedAt(s.Store.Clock.Local()).Exec(ctx)
		})
		if err != nil {
			t.Fatal(err)
		}
		if got, took := w.reason(), time.Since(began); got != "TOKEN_INVALID" || took > 2*time.Second+servertest.Slack {
			t.Errorf("a revoked token: got %s after %s", got, took)
		}
	})
}

func eventCursor(t *testing.T, s *servertest.Server) string {
	t.Helper()
	cursor, err := outbox.Cursor(t.Context(), s.Store, 0)
	if err != nil {
		t.Fatal(err)
	}
	return cursor
}

// TestSlowChatServerResumes has a chat server that reads nothing while more events happen
// than a server keeps in memory.
func TestSlowChatServerResumes(t *testing.T) {
	t.Parallel()
	storetest.OneServer(t, func(t *testing.T, url store.URL) {
		s := servertest.Start(t, servertest.Config(url))
		s.Load(t, servertest.World()...)
		d := newDrive(t, s)
		conn, err := grpc.NewClient(s.GRPCAddr, grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithInitialWindowSize(64<<10), grpc.WithInitialConnWindowSize(64<<10))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		slow := *s
		slow.Chat = platformv1.NewChatServiceClient(conn)
		w := watch(t, &slow, d.service, named(servertest.Owner), nil)
		w.settle(s)
		w.mu.Lock() // the chat server reads one more message at most
		for range 24 {
			err := change.ApplyUnattended(t.Context(), s.Store, servertest.Owner, func(_ context.Context, c *change.Change) error {
				for i := range 1000 {
					if i%2 == 0 {
						c.Emit("channel.ban", servertest.Raider, &moderatov1.BanEvent{})
					} else {
						c.Emit("channel.unban", servertest.Raider, &moderatov1.UnbanEvent{})
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		sequence(t, s.Store)
		time.Sleep(200 * time.Millisecond) // the server has read them
		w.mu.Unlock()
		if got := w.reason(); got != "WATCHER_TOO_SLOW" {
			t.Fatalf("got %s, want WATCHER_TOO_SLOW", got)
		}
		d.ban(servertest.Owner, servertest.Viewer, 0)
		again := watch(t, s, d.service, withCursor(named(servertest.Owner), w.cursor), w.view)
		again.wantSame(s, d.service, channels[:1], everyone)
		if again.beginning.GetIsSnapshot() {
			t.Error("the stream does not resume")
		}
	})
}
