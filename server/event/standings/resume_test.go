package standings_test

import (
	"context"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
)

// TestChannelIsCreatedWhileAway creates a channel that did not exist when a chat server last
// heard of it. No event says so, so the chat server receives a snapshot.
func TestChannelIsCreatedWhileAway(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, d *drive, there *servertest.Server) {
		asked := func(cursor string) *platformv1.StandingsSubscription {
			return withCursor(named(servertest.Viewer, servertest.Owner), cursor)
		}
		compare := func(w *chatServer) {
			t.Helper()
			w.wantSame(d.Server, d.service, []uid.ID{servertest.Viewer, servertest.Owner}, everyone)
		}
		w := watch(t, there, d.service, asked(""), nil)
		compare(w)
		view, cursor := w.stop()
		w = watch(t, there, d.service, asked(cursor), view)
		compare(w)
		if w.beginning.GetIsSnapshot() || w.changes > 0 {
			t.Errorf("nothing changed, and the stream begins with %v and has %d changes", w.beginning, w.changes)
		}
		view, cursor = w.stop()
		d.must(d.Directory.PutChannel(d.service.Context(), &platformv1.PutChannelRequest{Channel: &platformv1.ChannelRecord{Id: servertest.Viewer.String(), Title: "x"}}))
		w = watch(t, d.Server, d.service, asked(cursor), view)
		compare(w)
		if !w.beginning.GetIsSnapshot() || !w.beginning.GetIsCursorExpired() {
			t.Errorf("a cursor from before the channel was created begins with %v, want a snapshot", w.beginning)
		}
		_, cursor = w.stop()

		// A server of an earlier version says nothing about channels that do not exist.
		var place map[string]any
		d.must(nil, d.Store.Cursors.Open(t.Context(), "standings", cursor, &place))
		delete(place, "m")
		earlier, err := d.Store.Cursors.Seal(t.Context(), "standings", place)
		d.must(earlier, err)
		w = watch(t, there, d.service, asked(earlier), nil)
		compare(w)
	})
}

// TestAfterglowEndsWhileAway undoes a sweep with an afterglow that a chat server knows. The
// chat server resumes, and hears that messages are not examined any more.
func TestAfterglowEndsWhileAway(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, d *drive, there *servertest.Server) {
		batchID := d.sweep()
		var away []*chatServer
		asked := []*platformv1.StandingsSubscription{subscriber("chat-1"), subscriber("chat-2", channels...)}
		for i, asked := range asked {
			away = append(away, watch(t, there, d.service, asked, nil))
			away[i].waitFor("the afterglow", func() bool { return away[i].view.checks[servertest.Owner] != 0 && away[i].cursor != "" })
			away[i].stop()
		}
		d.must(d.Moderation.UndoBanBatch(d.as(servertest.Owner), &moderatov1.UndoBanBatchRequest{ChannelId: servertest.Owner.String(), BatchId: batchID}))
		for i, asked := range asked {
			w := watch(t, d.Server, d.service, withCursor(asked, away[i].cursor), away[i].view)
			w.wantSame(d.Server, d.service, channels, everyone)
			if w.view.checks[servertest.Owner] != 0 || w.beginning.GetIsSnapshot() {
				t.Errorf("%s: messages are examined until %d after %v", asked.GetSubscriberName(), w.view.checks[servertest.Owner], w.beginning)
			}
		}
	})
}

// TestCursorOfManyAfterglows resumes at a cursor with more afterglows than it can name, which
// all ended meanwhile. Those that would have lasted longest are told.
func TestCursorOfManyAfterglows(t *testing.T) {
	t.Parallel()
	const bound = 16
	eachPair(t, func(t *testing.T, d *drive, there *servertest.Server) {
		all := servertest.AddChannels(t, d.Store, 2*bound)
		until := d.Store.Clock.Local().Add(time.Minute)
		d.must(nil, d.Store.Write(t.Context(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
			for i, id := range all {
				err := tx.Sweep.Create().SetID(digest.Of(id.String())).SetChannelID(id).SetUserID(id).SetPhrase("free sub").
					SetExemptFollowAge(0).SetExemptSubscribers(false).SetExpiresAt(until).SetAfterglowUntil(until.Add(time.Duration(i) * time.Second)).Exec(ctx)
				if err != nil {
					return err
				}
			}
			return nil
		}))
		w := watch(t, there, d.service, everything(), nil)
		w.waitFor("the afterglows", func() bool { return len(w.view.checks) == len(all) && w.cursor != "" })
		view, cursor := w.stop()
		d.must(nil, d.Store.Write(t.Context(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
			return tx.Sweep.Update().ClearAfterglowUntil().Exec(ctx)
		}))
		w = watch(t, there, d.service, withCursor(everything(), cursor), view)
		w.settle(d.Server)
		if w.beginning.GetIsSnapshot() || w.changes != bound {
			t.Errorf("the stream begins with %v and has %d changes, want %d", w.beginning, w.changes, bound)
		}
		for _, id := range all[bound:] {
			if w.view.checks[id] != 0 {
				t.Errorf("messages of %s are examined until %d", id, w.view.checks[id])
			}
		}
	})
}
