package events_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/events"
	"github.com/moderato-live/moderato/server/servertest"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/storetest"
	"github.com/moderato-live/moderato/server/uid"
)

// mixed writes events of several channels and types in turns, and returns the
// positions of those that a selection has.
func mixed(t *testing.T, s *store.Store, selection *events.Selection, channels []uid.ID, n int) []int64 {
	t.Helper()
	q, kinds := newSequencer(s), []events.Type{events.Ban, events.Follow, events.Update}
	for i := range n {
		err := events.ApplyUnattended(context.Background(), s, channels[i%len(channels)], func(_ context.Context, c *events.Change) error {
			c.Emit(kinds[(i/len(channels))%len(kinds)], servertest.Viewer, &moderatov1.UpdateEvent{})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := q.Turn(context.Background()); err != nil {
		t.Fatal(err)
	}
	all, err := events.Read(context.Background(), s, 0, n)
	if err != nil || len(all) != n {
		t.Fatalf("there are %d events, want %d: %v", len(all), n, err)
	}
	var want []int64
	for _, e := range all {
		if (selection.Channels == nil || slices.Contains(selection.Channels, e.ChannelID)) && slices.Contains(selection.Types, e.Type) {
			want = append(want, e.Position)
		}
	}
	return want
}

// TestAListenerCatchesUpWithTheSelectionAlone reads what a selection has, in order,
// whatever else there is.
func TestAListenerCatchesUpWithTheSelectionAlone(t *testing.T) {
	types := []events.Type{events.Ban, events.Update}
	catchesUp(t, &events.Selection{Channels: []uid.ID{servertest.Owner, servertest.Nobody}, Types: types})
	catchesUp(t, &events.Selection{Types: types}) // every channel
}

func catchesUp(t *testing.T, selection *events.Selection) {
	t.Helper()
	eachWorld(t, func(t *testing.T, s *store.Store) {
		want := mixed(t, s, selection, []uid.ID{servertest.Owner, servertest.Other}, 300)
		start := int64(17)
		want = want[slices.IndexFunc(want, func(p int64) bool { return p > start }):]
		from, err := events.NewHub(s, slog.New(slog.DiscardHandler)).Subscribe(t.Context(), &start, func() *events.Selection { return selection })
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
			t.Errorf("got the position %d in the end, want 300", from.Position())
		}
	})
}

// TestTheSelectionMayChangeMeanwhile takes a channel away after the first page.
func TestTheSelectionMayChangeMeanwhile(t *testing.T) {
	eachWorld(t, func(t *testing.T, s *store.Store) {
		both := &events.Selection{Channels: []uid.ID{servertest.Owner, servertest.Other}, Types: []events.Type{events.Ban, events.Follow, events.Update}}
		mixed(t, s, both, both.Channels, 1100)
		one := &events.Selection{Channels: both.Channels[1:], Types: both.Types}
		start, selection := int64(0), both
		from, err := events.NewHub(s, slog.New(slog.DiscardHandler)).Subscribe(t.Context(), &start, func() *events.Selection { return selection })
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
		heard := 0
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
					t.Fatalf("heard position %d of %s after %d", e.Position, e.ChannelID, last)
				}
				last = e.Position
				heard++
			}
		}
		if heard == 0 || last < 1099 {
			t.Errorf("heard %d more events up to %d", heard, last)
		}
	})
}

// TestCatchingUpReadsAnIndexOfTheChannel looks at the plan of the statement.
func TestCatchingUpReadsAnIndexOfTheChannel(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
		storetest.Migrate(t, url)
		var recorder storetest.Recorder
		s, err := store.OpenThrough(t.Context(), url, recorder.Layer())
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		selection := &events.Selection{Channels: []uid.ID{servertest.Owner}, Types: []events.Type{events.Ban, events.Update}}
		zero := int64(0)
		from, err := events.NewHub(s, slog.New(slog.DiscardHandler)).Subscribe(t.Context(), &zero, func() *events.Selection { return selection })
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
			plan := explain(t, s, sent)
			if n := strings.Count(plan, "event_channel_id_type_position"); n < len(selection.Types) {
				t.Errorf("the index is used %d times, want %d:\n%s", n, len(selection.Types), plan)
			}
			return
		}
		t.Error("nothing was read")
	})
}

// explain returns how a store runs a statement.
func explain(t *testing.T, s *store.Store, sent storetest.Statement) string {
	t.Helper()
	prefix := "EXPLAIN "
	if s.IsEmbedded() {
		prefix = "EXPLAIN QUERY PLAN "
	}
	rows, err := s.Read.QueryContext(t.Context(), prefix+sent.Text, sent.Args...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var plan strings.Builder
	for rows.Next() {
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(any)
		}
		if err := rows.Scan(values...); err != nil {
			t.Fatal(err)
		}
		for _, v := range values {
			if b, ok := (*v.(*any)).([]byte); ok {
				fmt.Fprintf(&plan, "%s ", b)
			} else {
				fmt.Fprintf(&plan, "%v ", *v.(*any))
			}
		}
		plan.WriteByte('\n')
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return plan.String()
}
