package outbox_test

import (
	"bytes"
	"context"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/event/outbox/outboxtest"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestListenersShareOneEncoding encodes an event concurrently for several listeners.
func TestListenersShareOneEncoding(t *testing.T) {
	s := outboxtest.OpenWorld(t, storetest.SQLite(t))
	if err := outboxtest.Emit(s, servertest.Owner, 1); err != nil {
		t.Fatal(err)
	}
	outboxtest.Turn(t, outboxtest.NewSequencer(s))
	page, err := outbox.Read(context.Background(), s, 0, 1)
	if err != nil || len(page) != 1 {
		t.Fatalf("got %d events, %v, want one", len(page), err)
	}
	e := page[0]
	text := string(outbox.JSON(e.Message))
	first := make([]*byte, 4)
	var listeners sync.WaitGroup
	for i := range first {
		listeners.Go(func() {
			got := e.JSON()
			if string(got) != text {
				t.Errorf("got %s, want %s", got, text)
			}
			first[i] = &got[0]
		})
	}
	listeners.Wait()
	for _, at := range first {
		if at != first[0] {
			t.Fatal("two listeners got different copies of the encoding, want one shared copy")
		}
	}
	got, err := proto.MarshalOptions{Deterministic: true}.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	want, err := proto.MarshalOptions{Deterministic: true}.Marshal(&moderatov1.WatchEventsResponse{Cursor: e.Cursor, Event: e.Message})
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("protobuf encoding: got %x, want %x; %v", got, want, err)
	}
}
