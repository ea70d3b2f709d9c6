package socketio_test

import (
	"testing"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/socketio/socketiotest"
	"github.com/moderato-live/moderato/test/servertest"
)

// patience is how long a test waits for an expected message.
const patience = 20 * time.Second

// connect connects a client to a server, and waits for its session.
func connect(t *testing.T, s *servertest.Server) *socketiotest.Client {
	t.Helper()
	return socketiotest.Connect(t, s.HTTPAddr)
}

// subscribe subscribes the session of a client, through a server.
func subscribe(t *testing.T, s *servertest.Server, as servertest.Credentials, session, kind string, channel uid.ID) (*moderatov1.CreateSubscriptionResponse, servertest.Outcome) {
	t.Helper()
	got, err := moderatov1.NewEventSubscriptionsServiceClient(s.Conn).CreateSubscription(as.Context(), &moderatov1.CreateSubscriptionRequest{
		Type: kind, Version: "1", SessionId: session, Condition: &moderatov1.SubscriptionCondition{ChannelId: channel.String()},
	})
	return got, servertest.OutcomeOf(err)
}

// must fails the test if an outcome is an error.
func must(t *testing.T, o servertest.Outcome) {
	t.Helper()
	if o.Reason != "OK" {
		t.Fatalf("got %+v", o)
	}
}

// ban bans a user as the owner.
func ban(t *testing.T, s *servertest.Server, user uid.ID) {
	t.Helper()
	_, err := s.Moderation.BanUser(s.As(t, servertest.Owner).Context(), &moderatov1.BanUserRequest{ChannelId: servertest.Owner.String(), BanUserId: user.String()})
	must(t, servertest.OutcomeOf(err))
}
