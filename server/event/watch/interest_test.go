package watch_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/event/outbox/outboxtest"
	"github.com/moderato-live/moderato/server/event/watch"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// restingListener is a listener that waits in Next.
type restingListener struct {
	*testing.T
	store     *store.Store
	hub       *watch.Hub
	sequencer *outbox.Sequencer
	from      *watch.Subscription
	timer     chan time.Time
	returned  chan page
}

// page is what Next returned, the position after that, and where the page begins.
type page struct {
	events          []*outbox.Event
	position, after int64
}

// rest lets a listener with an interest wait for the next events.
func rest(t *testing.T, s *store.Store, interest watch.Interest) *restingListener {
	t.Helper()
	l := &restingListener{
		T: t, store: s, hub: watch.NewHub(s, slog.New(slog.DiscardHandler)), sequencer: outboxtest.NewSequencer(s),
		timer: make(chan time.Time), returned: make(chan page),
	}
	l.from = subscribe(t, l.hub, nil)
	l.from.Narrow(&interest)
	go func() {
		for {
			events, err := l.from.Next(t.Context(), l.timer)
			if t.Context().Err() != nil {
				return
			}
			if err != nil {
				t.Error(err)
			}
			l.returned <- page{events, l.from.Position(), l.from.PageAfter()}
		}
	}()
	l.awaitRest()
	return l
}

func (l *restingListener) awaitRest() {
	for !l.from.IsCaughtUp() {
		time.Sleep(time.Millisecond)
	}
}

// endRest lets the listener end its rest without events.
func (l *restingListener) endRest() {
	l.Helper()
	select {
	case l.timer <- time.Time{}:
	case <-l.returned:
		l.Fatal("the listener did not rest")
	}
	<-l.returned
}

// happens lets events of a type happen, and the hub read them.
func (l *restingListener) happens(n int, kind eventtype.Type, channelID, target uid.ID) {
	l.Helper()
	err := change.ApplyUnattended(context.Background(), l.store, channelID, func(_ context.Context, c *change.Change) error {
		for range n {
			c.Emit(kind, target, outboxtest.Payload(kind))
		}
		return nil
	})
	if err != nil {
		l.Fatal(err)
	}
	outboxtest.Turn(l.T, l.sequencer)
	if err := l.hub.Read(l.Context()); err != nil {
		l.Fatal(err)
	}
}

func TestEventWakesWhomItConcerns(t *testing.T) {
	t.Parallel()
	const added, banned = "channel.moderator.add", "channel.ban"
	inChannel := watch.Interest{ChannelID: servertest.Owner, Types: []eventtype.Type{banned}, UserID: servertest.Other}
	everywhere := watch.Interest{Types: []eventtype.Type{banned}}
	onlyChat := watch.Interest{ChannelID: servertest.Owner, Types: []eventtype.Type{}}
	for name, c := range map[string]struct {
		interest        watch.Interest
		kind            eventtype.Type
		channel, target uid.ID
		wakes           bool
	}{
		"a type in the channel":                         {inChannel, banned, servertest.Owner, servertest.Viewer, true},
		"another type in the channel":                   {inChannel, "stream.online", servertest.Owner, uid.ID{}, false},
		"the type in another channel":                   {inChannel, banned, servertest.Other, servertest.Viewer, false},
		"a right of the user in another channel":        {inChannel, added, servertest.Other, servertest.Other, true},
		"a right of another user":                       {inChannel, added, servertest.Owner, servertest.Viewer, false},
		"the type in any channel":                       {everywhere, banned, servertest.Other, servertest.Viewer, true},
		"another type, for a listener to every channel": {everywhere, "stream.online", servertest.Other, uid.ID{}, false},
		"every event, for a listener without interest":  {watch.Interest{}, "stream.online", servertest.Other, uid.ID{}, true},
		"nothing, for a listener to chat alone":         {onlyChat, banned, servertest.Owner, servertest.Viewer, false},
	} {
		t.Run(name, func(t *testing.T) {
			outboxtest.EachWorld(t, func(t *testing.T, s *store.Store) {
				l := rest(t, s, c.interest)
				l.happens(1, c.kind, c.channel, c.target)
				if l.from.IsCaughtUp() == c.wakes {
					t.Fatalf("the listener was woken: %t, want %t", !c.wakes, c.wakes)
				}
				want := 1
				if !c.wakes {
					want = 0
					l.timer <- time.Time{}
				}
				if got := <-l.returned; len(got.events) != want || got.position != 1 {
					t.Errorf("got %d events and position %d, want %d events and the position of the event", len(got.events), got.position, want)
				}
			})
		})
	}
}

// TestListenerIsNotTooSlowForEventsOfOthers lets more events of others happen than the ring
// holds.
func TestListenerIsNotTooSlowForEventsOfOthers(t *testing.T) {
	t.Parallel()
	s := outboxtest.OpenWorld(t, storetest.SQLite(t))
	for name, isSending := range map[string]bool{"while it waits": false, "while it sends": true} {
		t.Run(name, func(t *testing.T) {
			l := rest(t, s, watch.Interest{ChannelID: servertest.Owner, Types: []eventtype.Type{"channel.ban"}})
			if isSending {
				l.timer <- time.Time{} // Next returns, and is called again after these events
			}
			for after := range 20 {
				l.hub.Add(int64(after*500), pageOf(500, int64(after*500), servertest.Other))
			}
			if isSending {
				<-l.returned
				l.endRest()
			}
			l.hub.Add(10_000, pageOf(2, 10_000, servertest.Owner))
			got := <-l.returned
			if all, want := fmt.Sprint(positions(got.events)), "[10001 10002]"; all != want || got.after != 10_000 {
				t.Errorf("got the positions %s after %d, want %s after 10000", all, got.after, want)
			}
		})
	}
}

// pageOf returns n bans of a channel after a position.
func pageOf(n, after int64, channelID uid.ID) (page []*outbox.Event) {
	for i := range n {
		page = append(page, &outbox.Event{Position: after + i + 1, ChannelID: channelID, Type: "channel.ban"})
	}
	return page
}

func positions(events []*outbox.Event) (all []int64) {
	for _, e := range events {
		all = append(all, e.Position)
	}
	return all
}
