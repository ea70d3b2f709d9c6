package access_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestIssuedTokenMatchesRequest issues tokens of each kind with the default lifetimes and
// with explicit ones, on servers with different configurations.
func TestIssuedTokenMatchesRequest(t *testing.T) {
	const hour, never = time.Hour, time.Duration(0)
	configured := authn.Lifetimes{User: 3 * hour, App: 5 * hour, Service: 7 * hour}
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		for _, lifetimes := range []authn.Lifetimes{{}, configured, {User: hour}} {
			config := servertest.Config(url)
			config.Lifetimes = lifetimes
			s := servertest.Start(t, config)
			s.Load(t, servertest.World()...)
			b := backend{servertest.NewBackend(t, s)}
			standard := lifetimes
			if lifetimes == (authn.Lifetimes{}) {
				standard = authn.Lifetimes{User: 24 * hour, App: 7 * 24 * hour}
			}
			now := instant.Of(s.Store.Clock.Local().Time())
			s.Store.Clock.Freeze(now)
			for _, c := range []struct {
				name     string
				request  *platformv1.IssueTokenRequest
				prefix   string
				scopes   []string
				lifetime time.Duration
			}{
				{
					"a user token",
					&platformv1.IssueTokenRequest{Kind: kindUser, ClientId: servertest.Dashboard, UserId: strings.ToUpper(servertest.Viewer.String()), Scopes: []string{authn.UsersRead}},
					"mdu_", []string{authn.UsersRead}, standard.User,
				},
				{"an app token", &platformv1.IssueTokenRequest{Kind: kindApp, ClientId: servertest.Dashboard}, "mda_", nil, standard.App},
				{
					"a service token, with every scope",
					&platformv1.IssueTokenRequest{Kind: kindService, ClientId: servertest.ChatServer},
					"mds_", slices.Sorted(slices.Values(authn.Scopes())), standard.Service,
				},
				{
					"user token with explicit lifetime and a repeated scope",
					&platformv1.IssueTokenRequest{
						Kind: kindUser, ClientId: servertest.OtherDashboard, UserId: servertest.Viewer.String(), Lifetime: durationpb.New(90 * time.Second),
						Scopes: []string{authn.UsersRead, authn.ChannelModerate, authn.UsersRead},
					},
					"mdu_", []string{authn.ChannelModerate, authn.UsersRead}, 90 * time.Second,
				},
				{
					"an app token that outlives the standard",
					&platformv1.IssueTokenRequest{Kind: kindApp, ClientId: servertest.Dashboard, Lifetime: durationpb.New(36500 * 24 * hour)},
					"mda_", nil, 36500 * 24 * hour,
				},
				{
					"a service token with an end",
					&platformv1.IssueTokenRequest{Kind: kindService, ClientId: servertest.ChatServer, Lifetime: durationpb.New(time.Millisecond)},
					"mds_", slices.Sorted(slices.Values(authn.Scopes())), time.Millisecond,
				},
			} {
				issued := b.issue(c.request)
				want := &platformv1.IntrospectTokenResponse{
					Active: true, Kind: c.request.GetKind(), ClientId: c.request.GetClientId(), UserId: strings.ToLower(c.request.GetUserId()),
					Scopes: c.scopes, IssuedAt: now.Proto(),
				}
				if c.lifetime != never {
					want.ExpiresAt = now.Add(c.lifetime).Proto()
				}
				servertest.WantSame(t, c.name, b.introspect(issued.GetToken()), want)
				servertest.WantSame(t, c.name+" as issued", issued, &platformv1.IssueTokenResponse{Token: issued.GetToken(), ExpiresAt: want.GetExpiresAt()})
				if !strings.HasPrefix(issued.GetToken(), c.prefix) {
					t.Errorf("%s begins with %q", c.name, issued.GetToken()[:4])
				}
				if again := b.issue(c.request); again.GetToken() == issued.GetToken() {
					t.Errorf("%s was issued twice", c.name)
				}
				if c.lifetime == never {
					continue
				}
				s.Store.Clock.Freeze(now.Add(c.lifetime - time.Millisecond))
				if c.lifetime < 365*24*hour && c.lifetime > time.Second && !b.introspectAs(issued.GetToken()).GetActive() {
					t.Errorf("%s is over in its last millisecond", c.name)
				}
				s.Store.Clock.Freeze(now)
			}
			s.Store.Clock.Freeze(0)
			s.Stop(t)
		}
	})
}

// introspectAs introspects a token with a caller's token that is always valid.
func (b backend) introspectAs(token string) *platformv1.IntrospectTokenResponse {
	b.Caller = b.Token(b.T, authn.NewToken{Kind: authn.Service, ClientID: servertest.ChatServer})
	return b.introspect(token)
}

func TestIntrospectRevealsNothingOfInvalidToken(t *testing.T) {
	eachBackend(t, func(t *testing.T, b backend) {
		request := &platformv1.IssueTokenRequest{
			Kind: kindUser, ClientId: servertest.Dashboard, UserId: servertest.Viewer.String(), Scopes: authn.Scopes(), Lifetime: durationpb.New(time.Hour),
		}
		good, revoked := b.issue(request).GetToken(), b.issue(request).GetToken()
		b.Must(nil, b.revoke(revoked))
		b.wantInactive("a revoked token", revoked)
		b.wantInactive("a damaged token", good[:len(good)-1]+"-")
		b.wantInactive("a cut token", good[:len(good)-1])
		b.wantInactive("a token of another kind", "mds_"+good[4:])
		b.wantInactive("no token at all", "x")
		b.wantInactive("a very long text", strings.Repeat("x", 100_000))
		unknown := b.AsApp(t).Token
		if _, err := b.Store.DB().ExecContext(t.Context(), "DELETE FROM tokens WHERE kind = 'app'"); err != nil {
			t.Fatal(err)
		}
		b.wantInactive("a token that nobody issued", unknown)
		if !b.introspect(good).GetActive() {
			t.Error("a good token is not active")
		}
		b.Store.Clock.Advance(time.Hour)
		b.wantInactive("an expired token", good)
		b.WantUnchanged("revoking what is not good", func() error { return b.revoke(revoked) },
			func() error { return b.revoke(unknown) }, func() error { return b.revoke("x") })
	})
}

// TestIntrospectBypassesCache revokes a token that the server has just read, directly in
// the database.
func TestIntrospectBypassesCache(t *testing.T) {
	eachBackend(t, func(t *testing.T, b backend) {
		c := b.As(t, servertest.Owner)
		moderators := func() error {
			_, err := b.Moderation.ListModerators(c.Context(), &moderatov1.ListModeratorsRequest{ChannelId: servertest.Owner.String()})
			return err
		}
		b.Must(nil, moderators())
		if !b.introspect(c.Token).GetActive() {
			t.Error("a good token is not active")
		}
		if _, err := authn.Revoke(t.Context(), b.Store, c.Token, nil); err != nil {
			t.Fatal(err)
		}
		b.wantInactive("a token that the server still knows as good", c.Token)
	})
}

// TestRevocationAppliesToEveryServer revokes a token on one server and calls another that
// has just read it: changes must be refused immediately, reads within 2 s.
func TestRevocationAppliesToEveryServer(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		first := servertest.Start(t, servertest.Config(url))
		first.Load(t, servertest.World()...)
		second := servertest.Start(t, servertest.Config(url))
		b := backend{servertest.NewBackend(t, first)}
		b.Must(b.putClient("bot", "Bot", true))
		for how, end := range map[string]func(token string) error{
			"RevokeToken":  b.revoke,
			"PutClient":    func(string) error { _, err := b.putClient("bot", "Bot", false); return err },
			"DeleteClient": func(string) error { return b.deleteClient("bot") },
		} {
			b.Must(b.putClient("bot", "Bot", true))
			c := servertest.Credentials{Token: b.issue(&platformv1.IssueTokenRequest{Kind: kindService, ClientId: "bot"}).GetToken(), ClientID: "bot"}
			read := func() string {
				_, err := second.Directory.GetUser(c.Context(), &platformv1.GetUserRequest{Username: "ines"})
				return servertest.OutcomeOf(err).Reason
			}
			if got := read(); got != "OK" {
				t.Fatalf("%s: before it a read got %s", how, got)
			}
			b.Must(nil, end(c.Token))
			ended := time.Now()
			_, err := second.Directory.PutUser(c.Context(), &platformv1.PutUserRequest{User: &platformv1.UserRecord{Id: newID, Username: "new"}})
			servertest.WantError(t, how+": a change on another server", err, "TOKEN_INVALID")
			for got := read(); got != "TOKEN_INVALID"; got = read() {
				if time.Since(ended) > 2*time.Second+servertest.Slack {
					t.Fatalf("%s: a read got %s after %s", how, got, time.Since(ended))
				}
			}
		}
	})
}

// TestServiceTokenIssueRacesWithClientChange races the issue of a service token with the
// end of its client's service status: no valid service token may remain.
func TestServiceTokenIssueRacesWithClientChange(t *testing.T) {
	eachBackend(t, func(t *testing.T, b backend) {
		for i := range 30 {
			b.Must(b.putClient("bot", "Bot", true))
			var all sync.WaitGroup
			var lock sync.Mutex
			var tokens []string
			for range 3 {
				all.Go(func() {
					r, err := b.Access.IssueToken(b.Ctx(), &platformv1.IssueTokenRequest{Kind: kindService, ClientId: "bot"})
					if got := servertest.OutcomeOf(err).Reason; !slices.Contains([]string{"OK", "INVALID_ARGUMENT", "CLIENT_NOT_FOUND"}, got) {
						t.Error(err)
					}
					lock.Lock()
					defer lock.Unlock()
					tokens = append(tokens, r.GetToken())
				})
			}
			all.Go(func() {
				err := error(nil)
				if i%2 == 0 {
					err = b.deleteClient("bot")
				} else {
					_, err = b.putClient("bot", "Bot", false)
				}
				if err != nil {
					t.Error(err)
				}
			})
			all.Wait()
			for _, token := range tokens {
				if token != "" {
					b.wantInactive("a service token of what is no service", token)
				}
			}
		}
	})
}
