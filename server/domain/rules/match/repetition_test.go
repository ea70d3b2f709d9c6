package match_test

import (
	"testing"
	"time"

	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/rules/match"
)

func TestRepeats(t *testing.T) {
	t.Parallel()
	start := time.UnixMilli(1_800_000_000_000)
	a, b, c := uid.New(), uid.New(), uid.New()
	r := match.NewRepeats(10*time.Second, 100)
	for i, p := range []struct {
		after         time.Duration
		text          uint64
		sender        uid.ID
		same, senders int
	}{
		{0, 1, a, 1, 1},
		{time.Second, 1, a, 2, 1},
		{2 * time.Second, 1, b, 1, 2},
		{2 * time.Second, 2, b, 1, 1},
		{time.Second, 1, c, 1, 3}, // counts as two seconds
		{10*time.Second - 1, 1, a, 3, 3},
		{10 * time.Second, 1, a, 3, 3}, // the first is over
		{12 * time.Second, 1, b, 1, 2}, // so are those of two seconds
		{time.Hour, 1, a, 1, 1},
	} {
		if same, senders := r.Add(start.Add(p.after), p.text, p.sender); same != p.same || senders != p.senders {
			t.Errorf("post %d: %d by the sender and %d senders, want %d and %d", i, same, senders, p.same, p.senders)
		}
	}
}

// TestRepeatsAreBounded posts more than is kept.
func TestRepeatsAreBounded(t *testing.T) {
	t.Parallel()
	const most = 1000
	at := time.UnixMilli(1_800_000_000_000)
	r := match.NewRepeats(time.Hour, most)
	sender, size := uid.New(), 0
	for i := range 20 * most {
		if same, senders := r.Add(at, uint64(i%(2*most)), sender); same != 1 || senders != 1 {
			t.Fatalf("post %d: %d by %d senders", i, same, senders)
		}
		if i == 2*most {
			size = r.Size()
		}
	}
	if r.Size() > size || size > 200*most {
		t.Errorf("%d bytes, and %d later", size, r.Size())
	}
}

// TestRepeatsHaveThePresentPost has no room for a post.
func TestRepeatsHaveThePresentPost(t *testing.T) {
	t.Parallel()
	r := match.NewRepeats(time.Hour, 0)
	for range 3 {
		if same, senders := r.Add(time.UnixMilli(1), 1, uid.New()); same != 1 || senders != 1 {
			t.Errorf("%d posts by %d senders", same, senders)
		}
	}
}
