package demo

import (
	"reflect"
	"testing"
	"time"

	"github.com/moderato-live/moderato/internal/uid"
)

func acts(seed uint64, count int) (all []Act) {
	c := NewCrowd(seed)
	for range count {
		all = append(all, c.Next())
	}
	return all
}

func TestCrowdsWithOneSeedDoTheSame(t *testing.T) {
	t.Parallel()
	if !reflect.DeepEqual(acts(1, 500), acts(1, 500)) {
		t.Error("two crowds with one seed do different things")
	}
	if reflect.DeepEqual(acts(1, 10), acts(2, 10)) {
		t.Error("crowds with two seeds do the same")
	}
}

// TestCrowdActs checks that viewers do all that they can, at a gentle rate, and that nobody acts
// whom the printed commands name.
func TestCrowdActs(t *testing.T) {
	t.Parallel()
	cast := map[uid.ID]bool{}
	for _, p := range makePeople()[:crowdStart] {
		cast[p.ID] = true
	}
	posted, counts := map[uid.ID]int{}, map[string]int{}
	for i, a := range acts(1, 1000) {
		if a.Pause < time.Second || a.Pause > 3*time.Second {
			t.Errorf("a pause of %s", a.Pause)
		}
		if cast[a.User.ID] {
			t.Errorf("%s acts", a.User.Username)
		}
		if !a.ReplyTo.IsZero() {
			if at, exists := posted[a.ReplyTo]; !exists || i-at > 3*maxRecent {
				t.Errorf("a reply to the message %s, which is not a recent one", a.ReplyTo)
			}
		}
		if a.Text != "" {
			if _, exists := posted[a.MessageID]; exists || a.MessageID.IsZero() {
				t.Errorf("two messages have the id %s", a.MessageID)
			}
			posted[a.MessageID] = i
		}
		for what, does := range map[string]bool{"new": a.IsNew, "follows": a.Follows, "subscribes": a.Subscribes, "replies": !a.ReplyTo.IsZero(), "posts": a.Text != "", "watch": a.Viewers > firstViewers/2 && a.Viewers < firstViewers*2} {
			if does {
				counts[what]++
			}
		}
	}
	if counts["posts"] < 850 || len(counts) != 6 {
		t.Errorf("in 1000 acts there were %v", counts)
	}
	c := NewCrowd(1)
	for range 100 {
		a := c.Next()
		if c.Forget(a.MessageID); len(c.recent) > 0 {
			t.Fatalf("the crowd remembers %v", c.recent)
		}
	}
}
