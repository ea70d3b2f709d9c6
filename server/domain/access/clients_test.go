package access_test

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

const (
	kindUser    = platformv1.TokenKind_TOKEN_KIND_USER
	kindApp     = platformv1.TokenKind_TOKEN_KIND_APP
	kindService = platformv1.TokenKind_TOKEN_KIND_SERVICE
)

const (
	newID   = "0b6feeee-0000-4000-8000-00000000000a"
	notUUID = " must be a UUID in its 36-character form"
)

// backend calls a server like a backend of the platform.
type backend struct{ servertest.Backend }

func eachBackend(t *testing.T, test func(t *testing.T, b backend)) {
	t.Helper()
	servertest.EachBackend(t, func(t *testing.T, b servertest.Backend) { test(t, backend{b}) })
}

func (b backend) putClient(id, name string, service bool) (*platformv1.ClientRecord, error) {
	response, err := b.Access.PutClient(b.Ctx(), &platformv1.PutClientRequest{
		Client: &platformv1.ClientRecord{Id: id, Name: name, Service: service},
	})
	return response.GetClient(), err
}

func (b backend) getClient(id string) (*platformv1.ClientRecord, error) {
	response, err := b.Access.GetClient(b.Ctx(), &platformv1.GetClientRequest{ClientId: id})
	return response.GetClient(), err
}

func (b backend) deleteClient(id string) error {
	_, err := b.Access.DeleteClient(b.Ctx(), &platformv1.DeleteClientRequest{ClientId: id})
	return err
}

func (b backend) putGrant(client string, user uid.ID, scopes ...string) (*platformv1.GrantRecord, error) {
	response, err := b.Access.PutGrant(b.Ctx(), &platformv1.PutGrantRequest{
		Grant: &platformv1.GrantRecord{ClientId: client, UserId: user.String(), Scopes: scopes},
	})
	return response.GetGrant(), err
}

func (b backend) issue(r *platformv1.IssueTokenRequest) *platformv1.IssueTokenResponse {
	b.T.Helper()
	response, err := b.Access.IssueToken(b.Ctx(), r)
	if err != nil {
		b.T.Fatal(err)
	}
	return response
}

func (b backend) revoke(token string) error {
	_, err := b.Access.RevokeToken(b.Ctx(), &platformv1.RevokeTokenRequest{Token: token})
	return err
}

func (b backend) introspect(token string) *platformv1.IntrospectTokenResponse {
	b.T.Helper()
	response, err := b.Access.IntrospectToken(b.Ctx(), &platformv1.IntrospectTokenRequest{Token: token})
	if err != nil {
		b.T.Fatal(err)
	}
	return response
}

// wantInactive checks that a token is not active, and that the response reveals nothing
// else.
func (b backend) wantInactive(what, token string) {
	b.T.Helper()
	servertest.WantSame(b.T, what, b.introspect(token), &platformv1.IntrospectTokenResponse{})
}

func TestPutClientStoresReturnedRecord(t *testing.T) {
	eachBackend(t, func(t *testing.T, b backend) {
		for _, want := range []*platformv1.ClientRecord{
			{Id: "New.client-1_2", Name: "Zoë's client"},
			{Id: "New.client-1_2", Name: "renamed", Service: true},
			{Id: "new.client-1_2", Name: "another one: ids are case-sensitive"},
		} {
			put := func() error {
				got, err := b.putClient(want.GetId(), "  "+strings.ReplaceAll(want.GetName(), "ë", "e\u0308"), want.GetService())
				servertest.WantSame(t, "put", got, want)
				return err
			}
			b.Must(nil, put())
			got, err := b.getClient(want.GetId())
			b.Must(got, err)
			servertest.WantSame(t, "got", got, want)
			b.WantUnchanged("a repeated client", put)
		}
		if err := b.deleteClient("New.client-1_2"); err != nil {
			t.Fatal(err)
		}
		_, err := b.getClient("New.client-1_2")
		servertest.WantError(t, "a deleted client", err, "CLIENT_NOT_FOUND")
		_, err = b.getClient("new.client-1_2")
		b.Must(nil, err)
		b.WantUnchanged("a repeated deletion", func() error { return b.deleteClient("New.client-1_2") })
	})
}

func TestDeleteClientEndsItsTokensAndGrants(t *testing.T) {
	eachBackend(t, func(t *testing.T, b backend) {
		mine := []string{b.As(t, servertest.Owner).Token, b.AsApp(t).Token}
		other := b.Token(t, authn.NewToken{Kind: authn.App, ClientID: servertest.OtherDashboard})
		b.Must(b.putGrant(servertest.OtherDashboard, servertest.Viewer, authn.UsersRead))
		if err := b.deleteClient(servertest.Dashboard); err != nil {
			t.Fatal(err)
		}
		for i, token := range mine {
			b.wantInactive("a token of the deleted client", token)
			c := servertest.Credentials{Token: token, ClientID: servertest.Dashboard}
			if r := b.REST(t, c, "GET", "/v1/moderation/moderators?channelId="+servertest.Owner.String(), ""); r.Status != 401 {
				t.Errorf("token %d of a deleted client: %d %s", i, r.Status, r.Body)
			}
		}
		if !b.introspect(other.Token).GetActive() {
			t.Error("another client's token ended as well")
		}
		grants, err := b.Access.ListGrants(b.Ctx(), &platformv1.ListGrantsRequest{UserId: servertest.Viewer.String()})
		b.Must(grants, err)
		if len(grants.GetGrants()) != 1 || grants.GetGrants()[0].GetClientId() != servertest.OtherDashboard {
			t.Errorf("grants are %v, want that of the other client alone", grants)
		}
		// A client that is created again with the same id is a new client.
		b.Must(b.putClient(servertest.Dashboard, "Dashboard", false))
		b.wantInactive("a token of the client before", mine[0])
		grants, err = b.Access.ListGrants(b.Ctx(), &platformv1.ListGrantsRequest{UserId: servertest.Viewer.String()})
		b.Must(grants, err)
		if len(grants.GetGrants()) != 1 {
			t.Errorf("grants are %v", grants)
		}
	})
}

func TestGrantsOverLimitAreRejected(t *testing.T) {
	const limit = 1000
	eachBackend(t, func(t *testing.T, b backend) {
		var records []*platformv1.Record
		for i := range limit {
			id := fmt.Sprintf("client-%d", i)
			records = append(records,
				&platformv1.Record{Kind: &platformv1.Record_Client{Client: &platformv1.ClientRecord{Id: id, Name: id}}},
				&platformv1.Record{Kind: &platformv1.Record_Grant{Grant: &platformv1.GrantRecord{
					UserId: servertest.Viewer.String(), ClientId: id, Scopes: []string{"users.read"},
				}}})
		}
		before, err := b.Access.ListGrants(b.Ctx(), &platformv1.ListGrantsRequest{UserId: servertest.Viewer.String()})
		b.Must(before, err)
		b.Load(t, records[:2*(limit-len(before.GetGrants()))]...)
		full, err := b.Access.ListGrants(b.Ctx(), &platformv1.ListGrantsRequest{UserId: servertest.Viewer.String()})
		b.Must(full, err)
		if n := len(full.GetGrants()); n != limit {
			t.Errorf("got %d grants, want %d", n, limit)
		}
		b.Must(b.putClient("one-more", "One more", false))
		b.Load(t, &platformv1.Record{Kind: &platformv1.Record_Grant{Grant: &platformv1.GrantRecord{
			UserId: servertest.Viewer.String(), ClientId: "one-more", Scopes: []string{"users.read"},
		}}})
		_, err = b.Access.ListGrants(b.Ctx(), &platformv1.ListGrantsRequest{UserId: servertest.Viewer.String()})
		if o := servertest.OutcomeOf(err); o.Reason != "RESULT_TOO_LARGE" {
			t.Errorf("with one more: got %+v, want RESULT_TOO_LARGE", o)
		}
	})
}

func TestFormerServiceClientLosesServiceTokens(t *testing.T) {
	eachBackend(t, func(t *testing.T, b backend) {
		b.Must(b.putClient("bot", "Bot", true))
		service := b.issue(&platformv1.IssueTokenRequest{Kind: kindService, ClientId: "bot"}).GetToken()
		app := b.issue(&platformv1.IssueTokenRequest{Kind: kindApp, ClientId: "bot"}).GetToken()
		b.Must(b.putClient("bot", "Bot, renamed", true))
		if !b.introspect(service).GetActive() {
			t.Error("a client that stays a service lost its token")
		}
		b.Must(b.putClient("bot", "Bot", false))
		b.wantInactive("the service token", service)
		if !b.introspect(app).GetActive() || !b.introspect(b.AsService(t).Token).GetActive() {
			t.Error("tokens of another kind or client ended as well")
		}
		_, err := b.Access.IssueToken(b.Ctx(), &platformv1.IssueTokenRequest{Kind: kindService, ClientId: "bot"})
		servertest.WantError(t, "a service token for no service", err, "INVALID_ARGUMENT", "clientId must be a service client")
		b.WantUnchanged("a repeat", func() error { _, err := b.putClient("bot", "Bot", false); return err })
		b.Must(b.putClient("bot", "Bot", true))
		b.wantInactive("the token of before, of a client that is a service again", service)
	})
}

func TestGrants(t *testing.T) {
	eachBackend(t, func(t *testing.T, b backend) {
		const both = authn.ChannelModerate + " " + authn.UsersRead
		for _, id := range []string{"zebra", "Zebra", "a", "_", "10", "9"} {
			b.Must(b.putClient(id, id, false))
			got, err := b.putGrant(id, servertest.Raider, authn.UsersRead, authn.ChannelModerate, authn.UsersRead)
			b.Must(got, err)
			if strings.Join(got.GetScopes(), " ") != both || got.GetUserId() != servertest.Raider.String() || got.GetClientId() != id {
				t.Errorf("stored was %v", got)
			}
			b.WantUnchanged("a repeated grant", func() error {
				_, err := b.putGrant(id, servertest.Raider, authn.ChannelModerate, authn.UsersRead)
				return err
			})
		}
		list := func(user uid.ID) []string {
			r, err := b.Access.ListGrants(b.Ctx(), &platformv1.ListGrantsRequest{UserId: strings.ToUpper(user.String())})
			b.Must(r, err)
			var found []string
			for _, g := range r.GetGrants() {
				found = append(found, g.GetClientId()+": "+strings.Join(g.GetScopes(), " "))
			}
			return found
		}
		want := []string{"10: " + both, "9: " + both, "Zebra: " + both, "_: " + both, "a: " + both, "zebra: " + both}
		if got := list(servertest.Raider); !slices.Equal(got, want) {
			t.Errorf("granted is %q, want %q", got, want)
		}
		issued := b.issue(&platformv1.IssueTokenRequest{
			Kind: kindUser, ClientId: "a", UserId: servertest.Raider.String(), Scopes: []string{authn.UsersRead},
		}).GetToken()
		app := b.Token(t, authn.NewToken{Kind: authn.App, ClientID: "a", Scopes: authn.Scopes()})
		moderated := "/v1/moderation/channels?userId=" + servertest.Raider.String()
		if r := b.REST(t, app, "GET", moderated, ""); r.Status != 200 {
			t.Errorf("with the grant: %d %s", r.Status, r.Body)
		}
		b.Must(b.putGrant("zebra", servertest.Raider, authn.UsersRead))
		b.Must(b.putGrant("a", servertest.Raider))
		want = []string{"10: " + both, "9: " + both, "Zebra: " + both, "_: " + both, "zebra: " + authn.UsersRead}
		if got := list(servertest.Raider); !slices.Equal(got, want) {
			t.Errorf("granted is %q, want %q", got, want)
		}
		if r := b.REST(t, app, "GET", moderated, ""); r.Status != 403 || !strings.Contains(r.Body, "GRANT_MISSING") {
			t.Errorf("without the grant: %d %s", r.Status, r.Body)
		}
		if got := b.introspect(issued).GetScopes(); !slices.Equal(got, []string{authn.UsersRead}) {
			t.Errorf("the token that was issued before has %q", got)
		}
		if got := list(servertest.Viewer); !slices.Equal(got, []string{"dashboard: " + authn.UsersRead}) {
			t.Errorf("another user granted %q", got)
		}
		b.Must(b.putGrant("a", servertest.Other)) // revokes nothing
		if got := list(servertest.Other); len(got) != 0 {
			t.Errorf("who grants nothing granted %q", got)
		}
	})
}

func TestAccessReportsAllInvalidArguments(t *testing.T) {
	eachBackend(t, func(t *testing.T, b backend) {
		service := b.AsService(t)
		const word = " must be 1 to 64 of A-Z a-z 0-9 _ . -"
		const life = "lifetime must be more than 0 and at most 36500 days"
		viewer, nobody := servertest.Viewer.String(), servertest.Nobody.String()
		issue := func(change func(*platformv1.IssueTokenRequest)) proto.Message {
			r := &platformv1.IssueTokenRequest{Kind: kindUser, ClientId: servertest.Dashboard, UserId: viewer}
			change(r)
			return r
		}
		lifetime := func(d *durationpb.Duration) proto.Message {
			return issue(func(r *platformv1.IssueTokenRequest) { r.Lifetime = d })
		}
		grant := func(client, user string, scopes ...string) proto.Message {
			return &platformv1.PutGrantRequest{Grant: &platformv1.GrantRecord{ClientId: client, UserId: user, Scopes: scopes}}
		}
		for _, c := range []struct {
			name       string
			request    proto.Message
			reason     string
			violations []string
		}{
			{"no client", &platformv1.PutClientRequest{}, "INVALID_ARGUMENT", []string{"client.id is required", "client.name is required"}},
			{"client with only invalid fields", &platformv1.PutClientRequest{Client: &platformv1.ClientRecord{Id: strings.Repeat("x", 65), Name: strings.Repeat("x", 141)}},
				"INVALID_ARGUMENT", []string{"client.id" + word, "client.name must be 1 to 140 characters"}},
			{"no client to get", &platformv1.GetClientRequest{}, "INVALID_ARGUMENT", []string{"clientId is required"}},
			{"an unknown client", &platformv1.GetClientRequest{ClientId: "Dashboard"}, "CLIENT_NOT_FOUND", nil},
			{"a bad client to delete", &platformv1.DeleteClientRequest{ClientId: "a b"}, "INVALID_ARGUMENT", []string{"clientId" + word}},
			{"no grant", &platformv1.PutGrantRequest{}, "INVALID_ARGUMENT", []string{"grant.clientId is required", "grant.userId is required"}},
			{"unknown scopes of a grant", grant("dashboard", viewer, authn.UsersRead, "all"), "INVALID_ARGUMENT", []string{"grant.scopes[1] must be one of users.read, channel.moderate, offline.access, users.bot"}},
			{"grant to an unknown client", grant("nobody", viewer), "CLIENT_NOT_FOUND", nil},
			{"grant of an unknown user", grant("dashboard", nobody), "USER_NOT_FOUND", nil},
			{"grants of a bad user", &platformv1.ListGrantsRequest{UserId: "x"}, "INVALID_ARGUMENT", []string{"userId" + notUUID}},
			{"grants of an unknown user", &platformv1.ListGrantsRequest{UserId: nobody}, "USER_NOT_FOUND", nil},
			{"no token", &platformv1.IssueTokenRequest{}, "INVALID_ARGUMENT", []string{"clientId is required", "kind must be one of TOKEN_KIND_USER, TOKEN_KIND_APP, TOKEN_KIND_SERVICE"}},
			{"unknown token kind", issue(func(r *platformv1.IssueTokenRequest) { r.Kind, r.UserId = 9, "" }), "INVALID_ARGUMENT", []string{"kind must be one of TOKEN_KIND_USER, TOKEN_KIND_APP, TOKEN_KIND_SERVICE"}},
			{"user token without a user", issue(func(r *platformv1.IssueTokenRequest) { r.UserId = "" }), "INVALID_ARGUMENT", []string{"userId is required"}},
			{"a user token for an unknown user", issue(func(r *platformv1.IssueTokenRequest) { r.UserId = nobody }), "USER_NOT_FOUND", nil},
			{"a user token for an unknown client", issue(func(r *platformv1.IssueTokenRequest) { r.ClientId = "nobody" }), "CLIENT_NOT_FOUND", nil},
			{"an app token for a user", issue(func(r *platformv1.IssueTokenRequest) { r.Kind = kindApp }), "INVALID_ARGUMENT", []string{"userId must be empty unless the token is a user's"}},
			{"a service token for a user, with scopes", issue(func(r *platformv1.IssueTokenRequest) {
				r.Kind, r.ClientId, r.Scopes = kindService, servertest.ChatServer, []string{authn.UsersRead}
			}), "INVALID_ARGUMENT", []string{"userId must be empty unless the token is a user's", "scopes must be empty: a service token has every scope"}},
			{"a service token for no service", issue(func(r *platformv1.IssueTokenRequest) { r.Kind, r.UserId = kindService, "" }), "INVALID_ARGUMENT", []string{"clientId must be a service client"}},
			{"an unknown scope", issue(func(r *platformv1.IssueTokenRequest) { r.Scopes = []string{"users.write"} }), "INVALID_ARGUMENT", []string{"scopes[0] must be one of users.read, channel.moderate, offline.access, users.bot"}},
			{"no lifetime", lifetime(durationpb.New(0)), "INVALID_ARGUMENT", []string{life}},
			{"a negative lifetime", lifetime(durationpb.New(-time.Hour)), "INVALID_ARGUMENT", []string{life}},
			{"a lifetime beyond all bounds", lifetime(&durationpb.Duration{Seconds: 1 << 62}), "INVALID_ARGUMENT", []string{life}},
			{"a lifetime of more than 100 years", lifetime(durationpb.New(36500*24*time.Hour + time.Second)), "INVALID_ARGUMENT", []string{life}},
			{"no token to revoke", &platformv1.RevokeTokenRequest{}, "INVALID_ARGUMENT", []string{"token is required"}},
			{"no token to introspect", &platformv1.IntrospectTokenRequest{}, "INVALID_ARGUMENT", []string{"token is required"}},
		} {
			b.WantUnchanged(c.name, func() error {
				servertest.WantError(t, c.name, b.Call(service, c.request), c.reason, c.violations...)
				return nil
			})
		}
	})
}

// TestTokenTextIsNotStoredOrLogged issues and uses tokens, correctly and incorrectly, and
// searches the whole database and the server's log for their texts.
func TestTokenTextIsNotStoredOrLogged(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		var log servertest.Buffer
		config := servertest.Config(url)
		config.Log = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		s := servertest.Start(t, config)
		s.Load(t, servertest.World()...)
		b := backend{servertest.NewBackend(t, s)}
		var texts []string
		for kind, client := range map[platformv1.TokenKind]string{kindUser: servertest.Dashboard, kindApp: servertest.Dashboard, kindService: servertest.ChatServer} {
			r := &platformv1.IssueTokenRequest{Kind: kind, ClientId: client}
			if kind == kindUser {
				r.UserId = servertest.Viewer.String()
			}
			text := b.issue(r).GetToken()
			texts = append(texts, text)
			b.introspect(text)
			b.Must(nil, b.revoke(text))
			b.wantInactive("revoked", text)
			b.introspect(text[:len(text)-1] + "-")
			c := servertest.Credentials{Token: text, ClientID: client}
			s.REST(t, c, "GET", "/v1/channels", "")
			_ = b.Call(c, &platformv1.IntrospectTokenRequest{Token: text})
		}
		kept := log.String() + fmt.Sprint(servertest.Dump(t, s.Store))
		if !strings.Contains(kept, "IntrospectToken") || !strings.Contains(kept, `"code":"TOKEN_INVALID"`) {
			t.Fatal("the log has no word of the calls, so the test shows nothing")
		}
		for _, text := range texts {
			if strings.Contains(kept, text[4:34]) {
				t.Errorf("%s… is kept", text[:8])
			}
		}
	})
}
