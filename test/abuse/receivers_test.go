package abuse_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/test/servertest"
)

// TestSlowReceiversDoNotDelayOthers has users with many webhooks whose receivers respond
// just before the timeout. The webhook of another user must still be delivered in time.
func TestSlowReceiversDoNotDelayOthers(t *testing.T) {
	if !isSoak() {
		t.Skip("only as a soak; the rule is tested with few receivers in server/event/webhooks")
	}
	const users, perUser, answersAfter, inTime = 52, 20, 9500 * time.Millisecond, time.Second
	each(t, func(t *testing.T, s *target) {
		slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			sleep(r.Context(), answersAfter)
		}))
		defer slow.Close()
		arrived := make(chan string, 100)
		fast := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			var event struct{ Payload struct{ Title string } }
			_ = json.NewDecoder(r.Body).Decode(&event)
			arrived <- event.Payload.Title
		}))
		defer fast.Close()
		retitle := func(user uid.ID, title string) {
			status, text := s.request(t, s.as(t, user), "POST", "/v1/channels/info", `{"title":"`+title+`","lang":"en"}`)
			if status != http.StatusOK {
				t.Fatalf("got %d, %s", status, text)
			}
		}
		create := func(user uid.ID, url string) {
			if status, text := s.request(t, s.as(t, user), "POST", "/v1/webhooks", `{"url":"`+url+`"}`); status != http.StatusOK {
				t.Fatalf("got %d, %s", status, text)
			}
		}
		owners := servertest.AddChannels(t, s.store, users)
		for _, user := range owners {
			for range perUser {
				create(user, slow.URL)
			}
		}
		create(servertest.Owner, fast.URL)
		var slowest time.Duration
		const rounds = 30
		for i := range rounds {
			for _, user := range owners {
				retitle(user, fmt.Sprint("slow ", i))
			}
			title := fmt.Sprint("fast ", i)
			began := time.Now()
			retitle(servertest.Owner, title)
			select {
			case got := <-arrived:
				slowest = max(slowest, time.Since(began))
				if got != title {
					t.Errorf("got %q, want %q", got, title)
				}
			case <-time.After(time.Minute):
				t.Fatal("nothing arrived within a minute")
			}
			sleep(t.Context(), time.Second)
		}
		t.Logf("with %d webhooks that are slow, the slowest of %d deliveries to another took %s", users*perUser, rounds, slowest)
		if slowest > inTime {
			t.Errorf("a delivery took %s, want at most %s", slowest, inTime)
		}
	}, "--webhook-allow-private")
}
