package watch_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/event/outbox/outboxtest"
	"github.com/moderato-live/moderato/server/event/watch"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// emitMixed writes n events, alternating between channels and types, and returns the
// positions of those in a selection.
func emitMixed(t *testing.T, s *store.Store, selection *watch.Selection, channels []uid.ID, n int) []int64 {
	t.Helper()
	q, kinds := outboxtest.NewSequencer(s), []eventtype.Type{"channel.ban", "channel.follow", "channel.update"}
	for i := range n {
		err := change.ApplyUnattended(context.Background(), s, channels[i%len(channels)], func(_ context.Context, c *change.Change) error {
			kind := kinds[(i/len(channels))%len(kinds)]
			c.Emit(kind, servertest.Viewer, outboxtest.Payload(kind))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := q.Turn(context.Background()); err != nil {
		t.Fatal(err)
	}
	all, err := outbox.Read(context.Background(), s, 0, n)
	if err != nil || len(all) != n {
		t.Fatalf("got %d events, want %d: %v", len(all), n, err)
	}
	var want []int64
	for _, e := range all {
		if (selection.Channels == nil || slices.Contains(selection.Channels, e.ChannelID)) && slices.Contains(selection.Types, e.Type) {
			want = append(want, e.Position)
		}
	}
	return want
}

// TestCatchUpReadsOnlySelection checks that a listener gets the events of its selection, in
// order, and no others.
func TestCatchUpReadsOnlySelection(t *testing.T) {
	t.Parallel()
	types := []eventtype.Type{"channel.ban", "channel.update"}
	testCatchUp(t, &watch.Selection{Channels: []uid.ID{servertest.Owner, servertest.Nobody}, Types: types})
	testCatchUp(t, &watch.Selection{Types: types}) // every channel
}

func testCatchUp(t *testing.T, selection *watch.Selection) {
	t.Helper()
	outboxtest.EachWorld(t, func(t *testing.T, s *store.Store) {
		want := emitMixed(t, s, selection, []uid.ID{servertest.Owner, servertest.Other}, 300)
		start := int64(17)
		want = want[slices.IndexFunc(want, func(p int64) bool { return p > start }):]
		from, err := watch.NewHub(s, slog.New(slog.DiscardHandler)).Subscribe(t.Context(), &start, func() *watch.Selection { return selection })
		if err != nil {
			t.Fatal(err)
		}
		defer from.Close()
		var got []int64
		for {
			page, err := from.FromStore(t.Context(), 300)
			if err != nil {
				t.Fatal(err)
			}
			if len(page) == 0 {
				break
			}
			for _, e := range page {
				got = append(got, e.Position)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("got the positions %v, want %v", got, want)
		}
		if from.Position() != 300 {
			t.Errorf("final position: got %d, want 300", from.Position())
		}
	})
}

// TestUserWithoutChannelsReadsNoEvents checks that a listener of a user who neither owns nor
// moderates a channel does not read the events of others to catch up.
func TestUserWithoutChannelsReadsNoEvents(t *testing.T) {
	t.Parallel()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		s, recorder := storetest.OpenRecorded(t, url)
		channel, user := servertest.AddChannels(t, s, 1)[0], servertest.AddUsers(t, s, 1)[0]
		emitMixed(t, s, &watch.Selection{}, []uid.ID{channel}, 30)
		rights := &watch.Rights{Store: s, Log: slog.New(slog.DiscardHandler)}
		rights.Add(&authn.Caller{Kind: authn.Service, UserID: user})
		if err := rights.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		start := int64(0)
		from, err := watch.NewHub(s, slog.New(slog.DiscardHandler)).Subscribe(t.Context(), &start, rights.Listeners()[0].Present)
		if err != nil {
			t.Fatal(err)
		}
		defer from.Close()
		before := len(recorder.Sent())
		if page, err := from.FromStore(t.Context(), 30); err != nil || len(page) > 0 || from.Position() != 30 {
			t.Errorf("got %d events up to position %d, %v; want none up to 30", len(page), from.Position(), err)
		}
		for _, sent := range recorder.Sent()[before:] {
			if strings.Contains(sent.Text, "FROM events") {
				t.Errorf("the listener reads %s", sent.Text)
			}
		}
	})
}

// TestCatchUpAppliesSelectionChange removes a channel from the selection after the first page.
func TestCatchUpAppliesSelectionChange(t *testing.T) {
	t.Parallel()
	outboxtest.EachWorld(t, func(t *testing.T, s *store.Store) {
		both := &watch.Selection{Channels: []uid.ID{servertest.Owner, servertest.Other}, Types: []eventtype.Type{"channel.ban", "channel.follow", "channel.update"}}
		emitMixed(t, s, both, both.Channels, 1100)
		one := &watch.Selection{Channels: both.Channels[1:], Types: both.Types}
		start, selection := int64(0), both
		from, err := watch.NewHub(s, slog.New(slog.DiscardHandler)).Subscribe(t.Context(), &start, func() *watch.Selection { return selection })
		if err != nil {
			t.Fatal(err)
		}
		defer from.Close()
		page, err := from.FromStore(t.Context(), 1100)
		if err != nil || len(page) == 0 || len(page) >= 1100 {
			t.Fatalf("got %d events (%v), want a page", len(page), err)
		}
		last := page[len(page)-1].Position
		selection = one
		received := 0
		for {
			page, err := from.FromStore(t.Context(), 1100)
			if err != nil {
				t.Fatal(err)
			}
			if len(page) == 0 {
				break
			}
			for _, e := range page {
				if e.ChannelID != servertest.Other || e.Position <= last {
					t.Fatalf("got position %d of channel %s after %d", e.Position, e.ChannelID, last)
				}
				last = e.Position
				received++
			}
		}
		if received == 0 || last < 1099 {
			t.Errorf("got %d more events, the last at position %d; want the rest", received, last)
		}
	})
}

// TestCatchUpUsesChannelIndex checks the plan of the statement.
func TestCatchUpUsesChannelIndex(t *testing.T) {
	t.Parallel()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		s, recorder := storetest.OpenRecorded(t, url)
		selection := &watch.Selection{Channels: []uid.ID{servertest.Owner}, Types: []eventtype.Type{"channel.ban", "channel.update"}}
		zero := int64(0)
		from, err := watch.NewHub(s, slog.New(slog.DiscardHandler)).Subscribe(t.Context(), &zero, func() *watch.Selection { return selection })
		if err != nil {
			t.Fatal(err)
		}
		defer from.Close()
		if _, err := from.FromStore(t.Context(), 10); err != nil {
			t.Fatal(err)
		}
		for _, sent := range recorder.Sent() {
			if !strings.Contains(sent.Text, "AS part") {
				continue
			}
			plan := storetest.Explain(t, s, sent)
			if n := strings.Count(plan, "event_channel_id_type_position"); n < len(selection.Types) {
				t.Errorf("the plan uses the index %d times, want %d:\n%s", n, len(selection.Types), plan)
			}
			return
		}
		t.Error("no statement read events")
	})
}
