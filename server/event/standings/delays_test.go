package standings

import "testing"

// TestDelaysAreBounded acknowledges more changes than delays are kept. The delay of a change
// is then that of the slowest among its neighbours, never less than its own.
func TestDelaysAreBounded(t *testing.T) {
	t.Parallel()
	s := &subscriber{position: incomplete}
	const first, last = 10, 1000
	for position := int64(first); position <= last; position++ {
		s.applied(position, position%7)
		s.applied(position-1, 1000) // an earlier cursor changes nothing
	}
	if s.position != last || len(s.delays) > maxDelays {
		t.Fatalf("at %d with %d delays", s.position, len(s.delays))
	}
	encoded := encodeDelays(s.delays)
	if got := delayOf(encoded, last+1); got != unknown {
		t.Errorf("a change that was not acknowledged took %d ms", got)
	}
	for position := int64(first + 1); position <= last; position++ {
		if got := delayOf(encoded, position); got < position%7 || got > 6 {
			t.Errorf("the change at %d took %d ms, want %d to 6", position, got, position%7)
		}
	}
	if got := delayOf(encoded, last); got != last%7 {
		t.Errorf("the latest change took %d ms, want %d", got, last%7)
	}
}

// TestSnapshotHasNoDelay acknowledges a snapshot: its changes were not measured.
func TestSnapshotHasNoDelay(t *testing.T) {
	t.Parallel()
	s := &subscriber{position: incomplete}
	s.applied(10, 50)
	if got := delayOf(encodeDelays(s.delays), 10); got != unknown {
		t.Errorf("got %d ms", got)
	}
}
