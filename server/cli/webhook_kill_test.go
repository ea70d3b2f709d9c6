package cli_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/servertest/process"
	"github.com/moderato-live/moderato/test/storetest"
)

// arrivals records the sequences that a receiver received, in order.
type arrivals struct {
	mu  sync.Mutex
	all []int64
}

func (a *arrivals) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	var event struct{ Metadata struct{ Sequence int64 } }
	if json.NewDecoder(r.Body).Decode(&event) != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = append(a.all, event.Metadata.Sequence)
}

// reached returns the last sequence up to which all events arrived in order, and the
// number of repeated arrivals.
func (a *arrivals) reached(t *testing.T) (last int64, repeats int) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range a.all {
		switch {
		case s == last+1:
			last = s
		case s <= last:
			repeats++
		default:
			t.Fatalf("%d arrived after %d", s, last)
		}
	}
	return last, repeats
}

// TestKilledServerLosesNoDeliveries kills the process at random moments while events are
// written and delivered: every event must arrive, and none before its predecessor.
func TestKilledServerLosesNoDeliveries(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		db := prepare(t, url)
		v := &victim{id: uid.MustParse("0b6faaaa-0000-4000-8000-000000000001")}
		addUsers(t, db, []*victim{v})
		ctx := callerContext(t, db)
		got := &arrivals{}
		receiver := httptest.NewServer(got)
		defer receiver.Close()
		created := false
		for i := range kills + 1 {
			p := process.Serve(t, url, "--webhook-allow-private")
			conn := p.Dial(t)
			if !created {
				_, err := moderatov1.NewWebhooksServiceClient(conn).CreateWebhook(ctx, &moderatov1.CreateWebhookRequest{Url: receiver.URL})
				if err != nil {
					t.Fatal(err)
				}
				created = true
			}
			if i == kills {
				waitForArrivals(t, db, got)
				p.Kill()
				break
			}
			var work sync.WaitGroup
			work.Go(func() { v.banAndUnban(ctx, moderatov1.NewModerationServiceClient(conn), func() {}) })
			time.Sleep(time.Duration(100+rand.IntN(300)) * time.Millisecond)
			p.Kill()
			work.Wait()
			_ = conn.Close()
			// Expire the claims of the dead process.
			for _, statement := range []string{"UPDATE webhooks SET next_at = 0 WHERE is_claimed", "UPDATE event_sequencers SET expires_at = 0"} {
				if _, err := db.DB().Exec(statement); err != nil {
					t.Fatal(err)
				}
			}
		}
		last, repeats := got.reached(t)
		t.Logf("%d events arrived in %d processes, and %d of them again", last, kills+1, repeats)
		if repeats > kills {
			t.Errorf("%d arrived again, want at most one for each kill", repeats)
		}
	})
}

func waitForArrivals(t *testing.T, db *store.Store, got *arrivals) {
	t.Helper()
	channel, err := db.Read.Channel.Get(t.Context(), servertest.Owner)
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		last, _ := got.reached(t)
		if last == channel.EventSequence {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(fmt.Errorf("%d of %d events arrived", last, channel.EventSequence))
		}
	}
}
