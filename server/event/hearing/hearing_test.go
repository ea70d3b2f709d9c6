package hearing_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server"
	"github.com/moderato-live/moderato/server/event/sessions"
	"github.com/moderato-live/moderato/server/event/watch"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// The audiences of the interface: public types, types of the channel, and types of
// moderators, which are all others.
const (
	public = iota
	channel
	moderators
)

// audienceOf returns the audience of a type as clients know it, independently of the
// contract: that of its subject, such as chat.
func audienceOf(kind string) int {
	switch kind {
	case "channel.chat.rules", "channel.chat.flag", "channel.chat.hold", "channel.chat.hold.update", "channel.shield.preset":
		return moderators
	}
	subject, _, _ := strings.Cut(strings.TrimPrefix(kind, "channel."), ".")
	switch subject {
	case "stream", "update", "raid", "chat", "shield":
		return public
	case "follow", "unfollow", "subscribe", "subscription", "thanks", "vote":
		return channel
	}
	return moderators
}

// Outcomes that have details.
const (
	noRead     = "SCOPE_MISSING users.read"
	noModerate = "SCOPE_MISSING channel.moderate"
	noGrant    = "GRANT_MISSING users.read"
	noRelation = "NOT_CHANNEL_MODERATOR"
	noApp      = "TOKEN_KIND_NOT_ACCEPTED user,service"
)

// caller is a caller that wants to hear events of Owner's channel, and what it gets for a
// type of each audience, and if it names no type.
type caller struct {
	name  string
	as    servertest.Credentials
	wants [3]string
	any   string
}

// start starts a server on which the owner granted users.read to Dashboard.
func start(t *testing.T, url store.URL) *servertest.Server {
	t.Helper()
	return startWith(t, servertest.Config(url))
}

// startWith is start with a configuration.
func startWith(t *testing.T, config server.Config) *servertest.Server {
	t.Helper()
	config.Streams = watch.StreamLimits{PerUser: 1000, PerToken: 1000}
	config.WebhookAllowPrivate = true
	s := servertest.Start(t, config)
	s.Load(t, servertest.World()...)
	s.Load(t, &platformv1.Record{Kind: &platformv1.Record_Grant{Grant: &platformv1.GrantRecord{
		ClientId: servertest.Dashboard, UserId: servertest.Owner.String(), Scopes: []string{"users.read"},
	}}})
	s.Load(t, &platformv1.Record{Kind: &platformv1.Record_Grant{Grant: &platformv1.GrantRecord{
		ClientId: servertest.OtherDashboard, UserId: servertest.Owner.String(), Scopes: []string{"channel.moderate"},
	}}})
	return s
}

func callers(t *testing.T, s *servertest.Server) []caller {
	t.Helper()
	user := func(id uid.ID, scopes ...string) servertest.Credentials {
		return s.Token(t, authn.NewToken{Kind: authn.User, ClientID: servertest.Dashboard, UserID: id, Scopes: scopes})
	}
	app := func(client string, scopes ...string) servertest.Credentials {
		return s.Token(t, authn.NewToken{Kind: authn.App, ClientID: client, Scopes: scopes})
	}
	acting := func(id uid.ID) servertest.Credentials {
		backend := s.AsService(t)
		backend.ActingUser = id
		return backend
	}
	read, moderate := authn.UsersRead, authn.ChannelModerate
	return []caller{
		{"owner", user(servertest.Owner, read, moderate), [3]string{"OK", "OK", "OK"}, "OK"},
		{"owner, read", user(servertest.Owner, read), [3]string{"OK", "OK", noModerate}, "OK"},
		{"owner, moderate", user(servertest.Owner, moderate), [3]string{noRead, noRead, "OK"}, "OK"},
		{"moderator", user(servertest.Moderator, read, moderate), [3]string{"OK", "OK", "OK"}, "OK"},
		{"moderator, read", user(servertest.Moderator, read), [3]string{"OK", "OK", noModerate}, "OK"},
		{"moderator, moderate", user(servertest.Moderator, moderate), [3]string{noRead, noRead, "OK"}, "OK"},
		{"viewer", user(servertest.Viewer, read, moderate), [3]string{"OK", noRelation, noRelation}, "OK"},
		{"viewer, read", user(servertest.Viewer, read), [3]string{"OK", noRelation, noModerate}, "OK"},
		{"viewer, moderate", user(servertest.Viewer, moderate), [3]string{noRead, noRead, noRelation}, noRelation},
		{"viewer without scopes", user(servertest.Viewer), [3]string{noRead, noRead, noModerate}, noRead},
		{"app with a grant", app(servertest.Dashboard, read, moderate), [3]string{"OK", "OK", noApp}, "OK"},
		{"app with a grant of another scope", app(servertest.OtherDashboard, read), [3]string{"OK", noGrant, noApp}, "OK"},
		{"app without users.read", app(servertest.Dashboard, moderate), [3]string{noRead, noRead, noApp}, noRead},
		{"backend", s.AsService(t), [3]string{"OK", "OK", "OK"}, "OK"},
		{"backend for a moderator", acting(servertest.Moderator), [3]string{"OK", "OK", "OK"}, "OK"},
		{"backend for a viewer", acting(servertest.Viewer), [3]string{"OK", noRelation, noRelation}, "OK"},
		{"backend for nobody", acting(servertest.Nobody), [3]string{noRelation, noRelation, noRelation}, noRelation},
	}
}

// transports are the ways to hear events. Each returns the outcome of asking for types.
var transports = map[string]func(t *testing.T, s *servertest.Server, c servertest.Credentials, types []string) string{
	"SSE": func(t *testing.T, s *servertest.Server, c servertest.Credentials, types []string) string {
		target := "/v1/events?channelId=" + servertest.Owner.String()
		for _, kind := range types {
			target += "&type[]=" + kind
		}
		// The response to HEAD is that to GET without the stream.
		r := s.REST(t, c, http.MethodHead, target, "")
		if r.Status == http.StatusOK {
			return "OK"
		}
		r = s.REST(t, c, http.MethodGet, target, "")
		var body struct {
			Data struct {
				Code, RequiredScope string
				AcceptedTokens      []string
			}
		}
		if err := json.Unmarshal([]byte(r.Body), &body); err != nil {
			t.Fatal(err)
		}
		o := servertest.Outcome{Reason: body.Data.Code, Metadata: map[string]string{"requiredScope": body.Data.RequiredScope}}
		if len(body.Data.AcceptedTokens) > 0 {
			o.Metadata["acceptedTokens"] = body.Data.AcceptedTokens[0] + "," + body.Data.AcceptedTokens[1]
		}
		return text(o)
	},
	"gRPC": func(t *testing.T, s *servertest.Server, c servertest.Credentials, types []string) string {
		ctx, cancel := context.WithCancel(c.Context())
		defer cancel()
		stream, err := moderatov1.NewEventsServiceClient(s.Conn).WatchEvents(ctx, &moderatov1.WatchEventsRequest{
			ChannelId: servertest.Owner.String(), Type: types,
		})
		if err == nil {
			_, err = stream.Recv()
		}
		return text(servertest.OutcomeOf(err))
	},
	"Socket.IO": func(t *testing.T, s *servertest.Server, c servertest.Credentials, types []string) string {
		session := uid.New()
		sessions := sessions.Sessions{Store: s.Store, ServerID: session}
		if err := sessions.Add(t.Context(), session); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = sessions.Remove(t.Context(), session) }()
		_, o := s.CallGRPC(t, c, http.MethodPost, "/v1/events/subscriptions", servertest.Args{
			"type": types[0], "version": "1", "condition": servertest.Args{"channelId": servertest.Owner.String()}, "sessionId": session.String(),
		})
		return text(o)
	},
	"webhook": func(t *testing.T, s *servertest.Server, c servertest.Credentials, types []string) string {
		args := servertest.Args{"channelId": servertest.Owner.String(), "url": "https://hooks.example.com/x", "type": types}
		created, o := s.CallGRPC(t, c, http.MethodPost, "/v1/webhooks", args)
		if o.Reason == "OK" {
			id := created.(*moderatov1.CreateWebhookResponse).GetId()
			if _, o := s.CallREST(t, c, http.MethodDelete, "/v1/webhooks", servertest.Args{"webhookId": id}); o.Reason != "OK" {
				t.Errorf("the creator deletes the webhook: got %+v", o)
			}
		}
		return text(o)
	},
}

func text(o servertest.Outcome) string {
	for _, detail := range []string{"requiredScope", "acceptedTokens"} {
		if o.Metadata[detail] != "" {
			return o.Reason + " " + o.Metadata[detail]
		}
	}
	return o.Reason
}

// TestEveryTransportAppliesTheAudiences asks for each type of the contract, as each caller.
func TestEveryTransportAppliesTheAudiences(t *testing.T) {
	s := start(t, storetest.SQLite(t))
	for _, c := range callers(t, s) {
		for name, ask := range transports {
			for _, kind := range append(eventtype.Types(), eventtype.LiveTypes()...) {
				if got, want := ask(t, s, c.as, []string{kind}), c.wants[audienceOf(kind)]; got != want {
					t.Errorf("%s, %s, %s: got %s, want %s", c.name, name, kind, got, want)
				}
			}
			if name == "Socket.IO" { // a subscription has one type
				continue
			}
			if got := ask(t, s, c.as, nil); got != c.any {
				t.Errorf("%s, %s, no type: got %s, want %s", c.name, name, got, c.any)
			}
			// One type that may not be heard is enough.
			if got := ask(t, s, c.as, []string{"channel.follow", "stream.online"}); got != c.wants[channel] {
				t.Errorf("%s, %s, two types: got %s, want %s", c.name, name, got, c.wants[channel])
			}
		}
	}
}

// TestAppsNameTheChannel asks for events of every channel with an app token.
func TestAppsNameTheChannel(t *testing.T) {
	s := start(t, storetest.SQLite(t))
	for _, request := range []struct{ method, path, body string }{
		{http.MethodGet, "/v1/events", ""}, {http.MethodPost, "/v1/webhooks", `{"url":"https://hooks.example.com/x"}`},
	} {
		r := s.REST(t, s.AsApp(t), request.method, request.path, request.body)
		var body struct {
			Data struct {
				Code       string
				Violations []struct{ Field string }
			}
		}
		if err := json.Unmarshal([]byte(r.Body), &body); err != nil {
			t.Fatal(err)
		}
		if body.Data.Code != "INVALID_ARGUMENT" || len(body.Data.Violations) != 1 || body.Data.Violations[0].Field != "channelId" {
			t.Errorf("%s: got %s", request.path, r.Body)
		}
	}
}
