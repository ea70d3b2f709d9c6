package held_test

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/domain/held"
	"github.com/moderato-live/moderato/test/servertest"
)

// TestCardHasLatestHeldMessages reads the card of a user who has a message of each status, and an
// older one. Each row is that of the list with this status.
func TestCardHasLatestHeldMessages(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		next := func() uid.ID {
			now = now.Add(time.Second)
			r.Store.Clock.Freeze(now)
			r.holdFor(servertest.Viewer, "hello", uid.New())
			return uid.MustParse(r.list("&userId=" + servertest.Viewer.String()).Rows[0].MessageID)
		}
		r.want("a denial", deny(next()), "DENIED")
		next()
		now = now.Add(10 * time.Minute)
		r.Store.Clock.Freeze(now)
		r.expire()
		r.want("an approval", approve(next()), "APPROVED")
		next()
		if err := change.ApplyUnattended(t.Context(), r.Store, servertest.Owner, held.CancelAll); err != nil {
			t.Fatal(err)
		}
		r.want("a denial", deny(next()), "DENIED")
		next()
		r.holdFor(servertest.Raider, "of another", uid.New())

		var card struct {
			Data struct{ Held []map[string]any }
		}
		r.call(r.moderator, http.MethodGet, fmt.Sprintf("/v1/moderation/users?include=card&channelId=%s&userId=%s", servertest.Owner, servertest.Viewer), "", &card)
		var got []string
		for _, row := range card.Data.Held {
			status := row["status"].(string)
			got = append(got, status)
			var list struct {
				Data struct{ Rows []map[string]any }
			}
			r.call(r.moderator, http.MethodGet, fmt.Sprintf("/v1/chats/held?channelId=%s&userId=%s&status=%s", servertest.Owner, servertest.Viewer, status), "", &list)
			if want := list.Data.Rows[0]; !reflect.DeepEqual(row, want) {
				t.Errorf("got %v, want %v", row, want)
			}
		}
		if want := "PENDING DENIED CANCELLED APPROVED EXPIRED"; strings.Join(got, " ") != want {
			t.Errorf("got %q, want %s", got, want)
		}
	})
}
