package sessions_test

import (
	"slices"
	"testing"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/sessions"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// add adds sessions of a server that is not part of the test.
func add(t *testing.T, of sessions.Sessions, n int) []uid.ID {
	t.Helper()
	ids := make([]uid.ID, n)
	for i := range ids {
		ids[i] = uid.New()
		if err := of.Add(t.Context(), ids[i]); err != nil {
			t.Fatal(err)
		}
	}
	return ids
}

// The row of a session whose removal failed must not be kept for as long as its server runs.
func TestConfirmKeepsOnlyConnectedSessions(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		local := sessions.Sessions{Store: s.Store, ServerID: uid.New()}
		ids := add(t, local, 3)
		connected, removed, left := ids[0], ids[1], ids[2]
		if err := local.Remove(t.Context(), removed); err != nil {
			t.Fatal(err)
		}
		before := storetest.Must(s.Store.Read.EventSession.Get(t.Context(), left)).SeenAt
		s.Store.Clock.Advance(sessions.ConfirmInterval)
		gone, err := local.Confirm(t.Context(), []uid.ID{connected, removed})
		if err != nil || !slices.Equal(gone, []uid.ID{removed}) {
			t.Errorf("got %v and %v, want the removed session %v", gone, err, removed)
		}
		if at := storetest.Must(s.Store.Read.EventSession.Get(t.Context(), connected)).SeenAt; at <= before {
			t.Error("the connected session was not confirmed")
		}
		if at := storetest.Must(s.Store.Read.EventSession.Get(t.Context(), left)).SeenAt; at != before {
			t.Error("a session that is not connected was confirmed")
		}
	})
}

// most is how many sessions a user may have with one client.
const most = 20

// subscribe subscribes a session to a type that everyone may hear.
func subscribe(s *servertest.Server, as servertest.Credentials, session uid.ID) error {
	_, err := moderatov1.NewEventSubscriptionsServiceClient(s.Conn).CreateSubscription(as.Context(), &moderatov1.CreateSubscriptionRequest{
		Type: "stream.online", Version: "1", SessionId: session.String(),
		Condition: &moderatov1.SubscriptionCondition{ChannelId: servertest.Owner.String()},
	})
	return err
}

// Sessions that are claimed at the same moment must count each other.
func TestConcurrentSessionsDoNotExceedLimit(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		local := sessions.Sessions{Store: s.Store, ServerID: uid.New()}
		owner := s.As(t, servertest.Owner)
		for _, id := range add(t, local, most-1) {
			if err := subscribe(s, owner, id); err != nil {
				t.Fatal(err)
			}
		}
		const concurrent = 16
		outcomes := make(chan string, concurrent)
		for _, id := range add(t, local, concurrent) {
			go func() { outcomes <- servertest.OutcomeOf(subscribe(s, owner, id)).Reason }()
		}
		got := map[string]int{}
		for range concurrent {
			got[<-outcomes]++
		}
		if got["OK"] != 1 || got["STREAM_LIMIT_REACHED"] != concurrent-1 {
			t.Errorf("%d concurrent calls with room for one session: got %v", concurrent, got)
		}
	})
}

// A user whose server crashed must be able to subscribe again.
func TestSessionsOfCrashedServersDoNotCount(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		local := sessions.Sessions{Store: s.Store, ServerID: uid.New()}
		owner := s.As(t, servertest.Owner)
		subscribe := func(session uid.ID) error { return subscribe(s, owner, session) }
		for _, id := range add(t, local, most) {
			if err := subscribe(id); err != nil {
				t.Fatal(err)
			}
		}
		servertest.WantError(t, "one session more", subscribe(add(t, local, 1)[0]), "STREAM_LIMIT_REACHED")
		s.Store.Clock.Advance(sessions.Lifetime + time.Millisecond)
		if err := subscribe(add(t, local, 1)[0]); err != nil {
			t.Errorf("after the sessions have ended: %v", err)
		}
	})
}
