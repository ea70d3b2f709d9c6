package rules_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"testing"

	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/test/servertest"
)

// TestRuleTellsThatMessageWaits has a rule hold messages, until no more of the sender may wait.
func TestRuleTellsThatMessageWaits(t *testing.T) {
	each(t, func(r *room, _ instant.Instant) {
		r.rules(`"put":[` + about("held", "hold", `"message":"Not now."`) + `]`)
		wantHeld := func(id uid.ID) {
			t.Helper()
			got := r.say(servertest.Viewer, "held", withID(id))
			if got.code() != "MESSAGE_HELD" || got.Data.MessageID != id.String() || got.Message != "Not now." || got.Data.Message != got.Message {
				t.Fatalf("got %+v, want MESSAGE_HELD with the message of the rule", got)
			}
		}
		for range 5 {
			id := uid.New()
			wantHeld(id)
			wantHeld(id) // a repeat
		}
		if got := r.say(servertest.Viewer, "held"); got.code() != "MESSAGE_BLOCKED" || got.Message != "Not now." {
			t.Errorf("got %+v, want the message of the rule", got)
		}
	})
}

// TestFirstMessageIsHeldWithItsFlags holds a first message that a rule flags.
func TestFirstMessageIsHeldWithItsFlags(t *testing.T) {
	each(t, func(r *room, _ instant.Instant) {
		put := r.rules(`"put":[` + about("flagged", "flag") + `]`)
		r.set(`"firstMessage":"hold"`)
		for _, text := range []string{"is it flagged?", "plain"} {
			if got := r.say(servertest.Viewer, text); got.code() != "MESSAGE_HELD" {
				t.Fatalf("got %+v", got)
			}
		}
		type row struct {
			Message string
			Rules   []string
			Spans   []struct{ Start, End int }
		}
		var got struct{ Data struct{ Rows []row } }
		response := r.REST(t, r.moderator, http.MethodGet, fmt.Sprintf("/v1/chats/held?channelId=%s", servertest.Owner), "")
		if err := json.Unmarshal([]byte(response.Body), &got); err != nil {
			t.Fatal(err, response.Body)
		}
		want := []row{
			{"is it flagged?", []string{put.id(0)}, []struct{ Start, End int }{{6, 13}}},
			{"plain", []string{}, []struct{ Start, End int }{}},
		}
		if !reflect.DeepEqual(got.Data.Rows, want) {
			t.Errorf("got %+v, want %+v", got.Data.Rows, want)
		}
	})
}
