package watch_test

import (
	"net/http"
	"testing"
	"time"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/test/servertest"
)

// grant sets what the owner grants to the client of apps.
func grant(t *testing.T, s *servertest.Server, scopes ...string) {
	t.Helper()
	_, err := s.Access.PutGrant(s.AsService(t).Context(), &platformv1.PutGrantRequest{Grant: &platformv1.GrantRecord{
		ClientId: servertest.Dashboard, UserId: servertest.Owner.String(), Scopes: scopes,
	}})
	if err != nil {
		t.Fatal(err)
	}
}

// follow emits channel.follow or channel.unfollow, in turns.
func follow(t *testing.T, s *servertest.Server, n int) {
	t.Helper()
	var err error
	if n%2 == 0 {
		_, err = s.Audience.Follow(s.AsService(t).Context(), &platformv1.FollowRequest{ChannelId: servertest.Owner.String(), UserId: servertest.Viewer.String()})
	} else {
		_, err = s.Audience.Unfollow(s.AsService(t).Context(), &platformv1.UnfollowRequest{ChannelId: servertest.Owner.String(), UserId: servertest.Viewer.String()})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestAStreamWithoutTypesFollowsTheRights takes and restores the right of a listener that
// named no type: it goes on with the public types, and gains the others again, within 2 s.
func TestAStreamWithoutTypesFollowsTheRights(t *testing.T) {
	t.Parallel()
	eachTransport(t, func(t *testing.T, s *servertest.Server, watch transport) {
		grant(t, s, "users.read")
		for name, c := range map[string]struct {
			caller        servertest.Credentials
			lose, restore func()
		}{
			"moderator": {
				s.As(t, servertest.Moderator),
				func() { moderators(t, s, http.MethodDelete) }, func() { moderators(t, s, http.MethodPost) },
			},
			"app": {s.AsApp(t), func() { grant(t, s, "channel.moderate") }, func() { grant(t, s, "users.read") }},
		} {
			w := watch(t, s, c.caller, &moderatov1.WatchEventsRequest{ChannelId: servertest.Owner.String()})
			turns := 0
			// hearsFollows emits a follow and then an update, which every listener hears.
			hearsFollows := func() (heard bool) {
				follow(t, s, turns)
				retitle(t, s, name+time.Now().String())
				turns++
				for {
					got := w.next(t)
					switch got.kind() {
					case "channel.update":
						return heard
					case "channel.follow", "channel.unfollow":
						heard = true
					case "channel.moderator.add", "channel.moderator.remove":
					default:
						t.Fatalf("%s: heard %s", name, got.kind())
					}
				}
			}
			if !hearsFollows() {
				t.Errorf("%s: heard no follow", name)
			}
			c.lose()
			wantSoon(t, name, false, hearsFollows)
			c.restore()
			wantSoon(t, name, true, hearsFollows)
			if turns%2 == 1 {
				follow(t, s, turns)
			}
			w.stop()
		}
	})
}

// wantSoon waits up to 2 s, and for slow machines longer, until hears returns what is wanted.
func wantSoon(t *testing.T, name string, want bool, hears func() bool) {
	t.Helper()
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		sent := time.Since(began)
		if hears() == want {
			return
		}
		if sent > 2*time.Second+servertest.Slack {
			t.Errorf("%s: %s after the change, hears is %t", name, sent, !want)
			return
		}
	}
}

// TestAnAppThatNamedATypeEndsWithTheGrant ends a grant while apps listen: one that named a
// type that needs it, and one that named a public type.
func TestAnAppThatNamedATypeEndsWithTheGrant(t *testing.T) {
	t.Parallel()
	eachTransport(t, func(t *testing.T, s *servertest.Server, watch transport) {
		grant(t, s, "users.read")
		ends := watch(t, s, s.AsApp(t), &moderatov1.WatchEventsRequest{ChannelId: servertest.Owner.String(), Type: []string{"channel.follow", "channel.update"}})
		stays := watch(t, s, s.AsApp(t), &moderatov1.WatchEventsRequest{ChannelId: servertest.Owner.String(), Type: []string{"channel.update"}})
		began := time.Now()
		grant(t, s)
		got := ends.next(t)
		if took := time.Since(began); got.reason != "GRANT_MISSING" || took > 2*time.Second+servertest.Slack {
			t.Errorf("ended with %s after %s", got.kind(), took)
		}
		retitle(t, s, "afterwards, "+time.Now().String())
		if got := stays.next(t); got.kind() != "channel.update" {
			t.Errorf("a public type: heard %s", got.kind())
		}
		ends.stop()
		stays.stop()
	})
}

// TestAViewerHearsAChannelThatNobodyModerates listens to the channel of Owner as a viewer,
// who named a public type, and of which the server has no other listener.
func TestAViewerHearsAChannelThatNobodyModerates(t *testing.T) {
	t.Parallel()
	eachTransport(t, func(t *testing.T, s *servertest.Server, watch transport) {
		moderators(t, s, http.MethodDelete)
		w := watch(t, s, s.As(t, servertest.Viewer), &moderatov1.WatchEventsRequest{ChannelId: servertest.Owner.String(), Type: []string{"channel.update"}})
		retitle(t, s, "heard, "+time.Now().String())
		if got := w.next(t); got.kind() != "channel.update" {
			t.Errorf("heard %s", got.kind())
		}
		w.stop()
	})
}
