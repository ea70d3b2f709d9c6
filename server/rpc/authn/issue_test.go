package authn_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/server/cli"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

func TestTokenLifetimes(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store) {
		now := freeze(t, s)
		for _, c := range []struct {
			name  string
			token authn.NewToken
			want  time.Duration // 0 means no expiration
		}{
			{"a user token's own", authn.NewToken{Kind: authn.User, Lifetime: authn.DefaultLifetimes().Of(authn.User)}, 24 * time.Hour},
			{"an app token's own", authn.NewToken{Kind: authn.App, Lifetime: authn.DefaultLifetimes().Of(authn.App)}, 7 * 24 * time.Hour},
			{"a service token has no end", authn.NewToken{Kind: authn.Service, Lifetime: authn.DefaultLifetimes().Of(authn.Service)}, 0},
			{"shorter lifetime for a user", authn.NewToken{Kind: authn.User, Lifetime: time.Minute}, time.Minute},
			{"longer lifetime for an app", authn.NewToken{Kind: authn.App, Lifetime: 30 * 24 * time.Hour}, 30 * 24 * time.Hour},
			{"lifetime for a service", authn.NewToken{Kind: authn.Service, Lifetime: time.Hour}, time.Hour},
		} {
			row := storetest.Must(s.Read.Token.Get(context.Background(), digest.Of(issued(t, s, c.token))))
			if row.IssuedAt != now {
				t.Errorf("%s: issued at %s, want %s", c.name, row.IssuedAt, now)
			}
			switch {
			case c.want == 0 && row.ExpiresAt != nil:
				t.Errorf("%s: expires at %s, want never", c.name, *row.ExpiresAt)
			case c.want > 0 && (row.ExpiresAt == nil || *row.ExpiresAt != now.Add(c.want)):
				t.Errorf("%s: expires at %v, want %s", c.name, row.ExpiresAt, now.Add(c.want))
			}
		}
	})
}

func TestServiceTokenIsValidUntilRevoked(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store) {
		text := issued(t, s, authn.NewToken{Kind: authn.Service})
		s.Clock.Advance(50 * 365 * 24 * time.Hour)
		if _, err := authenticate(authn.NewAuthenticator(s), text); err != nil {
			t.Errorf("after 50 years: %v", err)
		}
		if _, err := authn.Revoke(context.Background(), s, text, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := authenticate(authn.NewAuthenticator(s), text); !errors.Is(err, errInvalid) {
			t.Errorf("after its revocation: got %v, want TOKEN_INVALID", err)
		}
	})
}

func TestIssueRejectsInvalidRequests(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store) {
		for _, c := range []struct {
			name  string
			token authn.NewToken
			names string // text that the error must contain
		}{
			{"an unknown client", authn.NewToken{Kind: authn.App, ClientID: "nobody"}, `"nobody"`},
			{"no client", authn.NewToken{Kind: authn.App}, `""`},
			{"a client in another case", authn.NewToken{Kind: authn.App, ClientID: "Dashboard"}, `"Dashboard"`},
			{"a user token for an unknown user", authn.NewToken{Kind: authn.User, ClientID: servertest.Dashboard, UserID: servertest.Nobody}, servertest.Nobody.String()},
			{"a user token for no user", authn.NewToken{Kind: authn.User, ClientID: servertest.Dashboard}, "user"},
			{"a service token for an external developer's client", authn.NewToken{Kind: authn.Service, ClientID: servertest.Dashboard}, `"dashboard"`},
			{"an unknown scope", authn.NewToken{Kind: authn.App, ClientID: servertest.Dashboard, Scopes: []string{authn.UsersRead, "users.write"}}, `"users.write"`},
			{"an empty scope", authn.NewToken{Kind: authn.App, ClientID: servertest.Dashboard, Scopes: []string{""}}, `""`},
			{"two scopes in one string", authn.NewToken{Kind: authn.App, ClientID: servertest.Dashboard, Scopes: []string{"users.read channel.moderate"}}, "channel.moderate"},
			{"a scope in another case", authn.NewToken{Kind: authn.App, ClientID: servertest.Dashboard, Scopes: []string{"Users.Read"}}, `"Users.Read"`},
		} {
			text, err := authn.Issue(context.Background(), s, c.token)
			if text.Text != "" || !isFault(err) || !strings.Contains(err.Error(), c.names) {
				t.Errorf("%s: got %q, %v, want a refusal that names %s", c.name, text, err, c.names)
			}
		}
		if n := storetest.Must(s.Read.Token.Query().Count(context.Background())); n != 0 {
			t.Errorf("refused tokens left %d rows, want none", n)
		}
	})
}

func TestOnlyTheDigestOfATokenIsStored(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		s := openWorld(t, url)
		text := issued(t, s, authn.NewToken{Kind: authn.User, Scopes: authn.Scopes()})
		want := digest.Of(text)
		found := false
		rows, err := s.DB().QueryContext(context.Background(), "SELECT * FROM tokens")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = rows.Close() }()
		names, _ := rows.Columns()
		for rows.Next() {
			values, columns := make([]any, len(names)), make([]any, len(names))
			for i := range values {
				columns[i] = &values[i]
			}
			if err := rows.Scan(columns...); err != nil {
				t.Fatal(err)
			}
			for i, v := range values {
				stored, isBytes := v.([]byte)
				if s, isString := v.(string); isString {
					stored, isBytes = []byte(s), true
				}
				if isBytes && holdsPart(stored, text) {
					t.Errorf("the column %s holds a part of the token: %q", names[i], stored)
				}
				found = found || bytes.Equal(stored, want[:])
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		if !found {
			t.Error("no column holds the SHA-256 of the token")
		}
		if url.Path == "" {
			return
		}
		for _, file := range []string{url.Path, url.Path + "-wal"} {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if holdsPart(content, text) {
				t.Errorf("the file %s holds a part of the token", file)
			}
		}
	})
}

// holdsPart reports whether stored contains eight consecutive characters of a token's
// secret.
func holdsPart(stored []byte, text string) bool {
	const part = 8
	for i := len("mdu_"); i+part <= len(text); i++ {
		if bytes.Contains(stored, []byte(text[i:i+part])) {
			return true
		}
	}
	return false
}

func TestRevoke(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store) {
		ctx := context.Background()
		now := freeze(t, s)
		text, other := issued(t, s, authn.NewToken{Kind: authn.User}), issued(t, s, authn.NewToken{Kind: authn.User})
		if _, err := authn.Revoke(ctx, s, text, nil); err != nil {
			t.Fatal(err)
		}
		s.Clock.Freeze(now.Add(time.Minute))
		if _, err := authn.Revoke(ctx, s, text, nil); err != nil {
			t.Errorf("a second time: %v", err)
		}
		if row := storetest.Must(s.Read.Token.Get(ctx, digest.Of(text))); row.RevokedAt == nil || *row.RevokedAt != now {
			t.Errorf("got revoked at %v, want %s, the first time", row.RevokedAt, now)
		}
		if row := storetest.Must(s.Read.Token.Get(ctx, digest.Of(other))); row.RevokedAt != nil {
			t.Errorf("another token of the same user was revoked at %s", *row.RevokedAt)
		}
		if _, err := authenticate(authn.NewAuthenticator(s), other); err != nil {
			t.Errorf("another token of the same user: %v", err)
		}
		for name, bad := range map[string]string{
			"a token that was never issued": knownUserToken, "a damaged token": text[:len(text)-1] + "-", "no token": "",
		} {
			if found, err := authn.Revoke(ctx, s, bad, nil); found || err != nil {
				t.Errorf("revoke %s: got %t, %v, want that there is none", name, found, err)
			}
		}
	})
}

func TestExpiredRevokedTokenIsInvalid(t *testing.T) {
	s := openWorld(t, storetest.SQLite(t))
	text := issued(t, s, authn.NewToken{Kind: authn.User, Lifetime: time.Hour})
	s.Clock.Advance(2 * time.Hour)
	if _, err := authn.Revoke(context.Background(), s, text, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := authenticate(authn.NewAuthenticator(s), text); !errors.Is(err, errInvalid) {
		t.Errorf("got %v, want TOKEN_INVALID", err)
	}
}

func TestCommandLineIssuesAndRevokesTokens(t *testing.T) {
	url := storetest.SQLite(t)
	s := openWorld(t, url)
	run := func(args ...string) (code int, out, errs string) {
		var stdout, stderr bytes.Buffer
		code = cli.Run(context.Background(), append(args, "--db", "sqlite:"+url.Path), strings.NewReader(""), &stdout, &stderr)
		return code, strings.TrimSuffix(stdout.String(), "\n"), stderr.String()
	}
	for _, c := range []struct {
		name string
		args []string
		want ent.Token
		ttl  time.Duration
	}{
		{"user", []string{"--user", servertest.Viewer.String()}, ent.Token{Kind: "user", UserID: &servertest.Viewer}, 24 * time.Hour},
		{"user, 90 minutes", []string{"--user", servertest.Viewer.String(), "--ttl", "90m"}, ent.Token{Kind: "user", UserID: &servertest.Viewer}, 90 * time.Minute},
		{"app with scopes", []string{"--app", "--scope", "users.read", "--scope", "channel.moderate"}, ent.Token{Kind: "app", Scopes: "channel.moderate users.read"}, 168 * time.Hour},
		{"app, two weeks", []string{"--app", "--ttl", "336h"}, ent.Token{Kind: "app"}, 336 * time.Hour},
		{"service", []string{"--service"}, ent.Token{Kind: "service"}, 0},
		{"service, a day", []string{"--service", "--ttl", "24h"}, ent.Token{Kind: "service"}, 24 * time.Hour},
	} {
		holder := client(authn.Kind(c.want.Kind))
		code, text, errs := run(append([]string{"token", "issue", "--client", holder}, c.args...)...)
		if code != 0 {
			t.Errorf("%s: got exit code %d: %s", c.name, code, errs)
			continue
		}
		row := storetest.Must(s.Read.Token.Get(context.Background(), digest.Of(text)))
		if row.Kind != c.want.Kind || row.ClientID != holder || row.Scopes != c.want.Scopes {
			t.Errorf("%s: got %v, want kind %q, client %q, scopes %q", c.name, row, c.want.Kind, holder, c.want.Scopes)
		}
		if (row.UserID == nil) != (c.want.UserID == nil) || (row.UserID != nil && *row.UserID != *c.want.UserID) {
			t.Errorf("%s: got user %v, want %v", c.name, row.UserID, c.want.UserID)
		}
		if (row.ExpiresAt == nil) != (c.ttl == 0) || (c.ttl > 0 && row.ExpiresAt.Sub(row.IssuedAt) != c.ttl) {
			t.Errorf("%s: got %v, want a lifetime of %s", c.name, row, c.ttl)
		}
		if code, out, errs := run("token", "revoke", text); code != 0 || out != "" || strings.Contains(errs, text) {
			t.Errorf("%s: revoke: got exit code %d, %q, %q", c.name, code, out, errs)
		}
		if _, err := authenticate(authn.NewAuthenticator(s), text); !errors.Is(err, errInvalid) {
			t.Errorf("%s: after the revocation: got %v, want TOKEN_INVALID", c.name, err)
		}
	}
	for _, args := range [][]string{
		{"--app", "--ttl", "-1h"}, {"--app", "--ttl", "a while"}, {"--app", "--service"}, {"--user", "Ines"}, {}, {"--service"},
	} {
		code, out, errs := run(append([]string{"token", "issue", "--client", servertest.Dashboard}, args...)...)
		if code == 0 || out != "" || errs == "" {
			t.Errorf("%q: got exit code %d, %q, %q, want a refusal", args, code, out, errs)
		}
	}
}

func isFault(err error) bool {
	var apiError *apierr.Error
	return errors.As(err, &apiError)
}
