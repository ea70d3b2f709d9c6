package hearing_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/grpc/status"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/sessions"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestRefusalSaysWhatIsMissing asks for bans without the relation, the scope and the kind of
// token. People read the message of a first attempt, which clients do not repeat.
func TestRefusalSaysWhatIsMissing(t *testing.T) {
	s := start(t, storetest.SQLite(t))
	session := uid.New()
	if err := (sessions.Sessions{Store: s.Store, ServerID: session}).Add(t.Context(), session); err != nil {
		t.Fatal(err)
	}
	viewer := func(scopes ...string) servertest.Credentials {
		return s.Token(t, authn.NewToken{Kind: authn.User, ClientID: servertest.Dashboard, UserID: servertest.Viewer, Scopes: scopes})
	}
	for _, c := range []struct {
		as   servertest.Credentials
		kind string
		want string
	}{
		{viewer(authn.ChannelModerate), "channel.ban", "Only the owner of the channel or one of its moderators may do this."},
		{viewer(authn.UsersRead), "channel.ban", "lacks the scope channel.moderate"},
		{viewer(authn.ChannelModerate), "stream.online", "lacks the scope users.read"},
		{viewer(authn.UsersRead), "channel.follow", "Only the owner of the channel or one of its moderators may do this."},
		{s.Token(t, authn.NewToken{Kind: authn.App, ClientID: servertest.OtherDashboard, Scopes: []string{authn.UsersRead}}), "channel.follow", "has not granted the scope users.read"},
	} {
		channel := servertest.Owner.String()
		_, err := moderatov1.NewEventSubscriptionsServiceClient(s.Conn).CreateSubscription(c.as.Context(), &moderatov1.CreateSubscriptionRequest{
			Type: c.kind, SessionId: session.String(), Condition: &moderatov1.SubscriptionCondition{ChannelId: channel},
		})
		got := map[string]string{"gRPC": status.Convert(err).Message()}
		for name, request := range map[string][3]string{
			"Socket.IO": {http.MethodPost, "/v1/events/subscriptions", fmt.Sprintf(`{"type":%q,"sessionId":%q,"condition":{"channelId":%q}}`, c.kind, session, channel)},
			"SSE":       {http.MethodGet, "/v1/events?channelId=" + channel + "&type[]=" + c.kind, ""},
			"webhook":   {http.MethodPost, "/v1/webhooks", fmt.Sprintf(`{"channelId":%q,"url":"https://hooks.example.com/x","type":[%q]}`, channel, c.kind)},
		} {
			r := s.REST(t, c.as, request[0], request[1], request[2])
			if got[name] = r.Body; r.Status != http.StatusForbidden {
				t.Errorf("%s, %s: got %d, want 403", name, c.kind, r.Status)
			}
		}
		for name, text := range got {
			if !strings.Contains(text, c.want) {
				t.Errorf("%s, %s: got %s, want %q", name, c.kind, text, c.want)
			}
		}
	}
}
