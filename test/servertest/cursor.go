package servertest

import (
	"context"
	"testing"

	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/store"
)

// EventCursor returns the cursor for a position in the order of all events.
func EventCursor(t testing.TB, s *store.Store, position int64) string {
	t.Helper()
	cursor, err := outbox.Cursor(context.Background(), s, position)
	if err != nil {
		t.Fatal(err)
	}
	return cursor
}

// EventPosition returns the position that a cursor encodes. If the cursor is invalid,
// EventPosition fails the test and returns -1.
func EventPosition(t testing.TB, s *store.Store, cursor string) int64 {
	t.Helper()
	position, err := outbox.ParseCursor(context.Background(), s, cursor)
	if err != nil || position == nil {
		t.Errorf("%q is no cursor: %v", cursor, err)
		return -1
	}
	return *position
}
