package watch_test

import (
	"context"
	"errors"
	"testing"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/event/hearing"
	"github.com/moderato-live/moderato/server/event/watch"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/test/servertest"
)

// TestInterruptedDeliveryAccountsForChat interrupts a delivery of chat, posts a message, and
// continues the delivery at its place. The listener hears the message, or that it missed one.
func TestInterruptedDeliveryAccountsForChat(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		service := chatService(t, s)
		checkRights(t, s, service)
		interrupted, other := &watch.Place{}, &watch.Place{}
		defer interrupted.Close()
		defer other.Close()
		control := deliver(t, s, service, other)
		first := deliver(t, s, service, interrupted)
		first.heartbeat(t)
		control.heartbeat(t)
		first.interrupt()
		if err := <-first.ended; !errors.Is(err, context.Canceled) {
			t.Fatalf("the delivery ended with %v", err)
		}
		say(t, s, s.As(t, servertest.Owner), "in between")
		control.wantMessage(t) // the message is delivered to all that listen
		deliver(t, s, service, interrupted).wantMessage(t)
	})
}

// delivery is a running Deliver.
type delivery struct {
	received  chan *moderatov1.WatchEventsResponse
	ended     chan error
	interrupt context.CancelFunc
}

func deliver(t *testing.T, s *servertest.Server, service *watch.Service, place *watch.Place) *delivery {
	t.Helper()
	wish, err := hearing.Ask(backend(t, s), servertest.Owner, []eventtype.Type{chatMessage})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	d := &delivery{make(chan *moderatov1.WatchEventsResponse, 100), make(chan error, 1), cancel}
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.ended <- service.Deliver(ctx, wish, place, func(m any) error {
			if m, ok := m.(*moderatov1.WatchEventsResponse); ok {
				d.received <- m
			}
			return nil
		})
	}()
	t.Cleanup(func() { cancel(); <-done })
	return d
}

func (d *delivery) next(t *testing.T) *moderatov1.WatchEventsResponse {
	t.Helper()
	select {
	case m := <-d.received:
		return m
	case err := <-d.ended:
		t.Fatalf("the delivery ended with %v", err)
	case <-time.After(patience):
		t.Fatal("nothing is delivered")
	}
	return nil
}

func (d *delivery) heartbeat(t *testing.T) {
	t.Helper()
	if m := d.next(t); m.GetEvent() != nil || m.GetMissedMessages() != 0 {
		t.Fatalf("got %v, want a heartbeat", m)
	}
}

// wantMessage waits for one chat message, which may have been missed.
func (d *delivery) wantMessage(t *testing.T) {
	t.Helper()
	for {
		if m := d.next(t); m.GetMissedMessages() == 1 || m.GetEvent().GetMetadata().GetSubscriptionType() == chatMessage {
			return
		}
	}
}
