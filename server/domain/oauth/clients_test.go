package oauth_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/server/cli"
	"github.com/moderato-live/moderato/server/domain/access"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// workers are the tables that background work changes at any time.
var workers = []string{"leases", "channel_counts", "channel_count_deltas"}

// appToken asks for an app token with a client's secret.
func (s *site) appToken(t *testing.T, id, secret string) answer {
	t.Helper()
	return s.post(t, "/oauth2/token", nil, url.Values{"grant_type": {"client_credentials"}, "client_id": {id}, "client_secret": {secret}})
}

// commandLine runs a command on the database of a server.
func (s *site) commandLine(t *testing.T, path string, args ...string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = cli.Run(context.Background(), append(args, "--db", "sqlite:"+path), strings.NewReader(""), &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

func TestCommandLineCreatesClients(t *testing.T) {
	u := storetest.SQLite(t)
	s := open(t, config(u))
	create := func(args ...string) (code int, out, errs string) {
		return s.commandLine(t, u.Path, append([]string{"client", "create", "--id", "cli", "--name", "CLI"}, args...)...)
	}
	for _, args := range [][]string{
		{"--public", "--secret"}, {"--scope", "admin"}, {"--redirect-uri", "http://app.example.com/"}, {"--redirect-uri", "javascript:alert(1)"},
		{"--redirect-uri", "https://app.example.com/#x"}, {"--redirect-uri", "app:/cb"}, {"--redirect-uri", "https:///cb"}, {"--redirect-uri", "https://a b"},
		{"--redirect-uri", "https://me@app.example.com/"}, {"--redirect-uri", "/cb"},
	} {
		if code, out, _ := create(args...); code == 0 || out != "" {
			t.Errorf("%q: got exit code %d and %q, want a refusal", args, code, out)
		}
	}
	code, out, errs := create("--secret", "--scope", "users.read", "--scope", "offline.access", "--redirect-uri", "https://a.example/cb", "--redirect-uri", "https://a.example/cb2")
	secret := strings.TrimSuffix(out, "\n")
	if code != 0 || !strings.HasPrefix(secret, "mdc_") || strings.ContainsAny(secret, " \n") || strings.Contains(errs, secret) {
		t.Fatalf("got exit code %d and %q, want the secret alone", code, out)
	}
	s.appToken(t, "cli", secret).want(t, "the secret", http.StatusOK, "")
	before := servertest.Dump(t, s.Store, workers...)
	for _, args := range [][]string{nil, {"--secret"}, {"--public"}, {"--service"}} {
		if code, out, errs := create(args...); code != 1 || out != "" || !strings.Contains(errs, "client cli exists; 'moderato client update'") {
			t.Errorf("an existing id, %q: got exit code %d, %q and %s", args, code, out, errs)
		}
	}
	if after := servertest.Dump(t, s.Store, workers...); !slices.Equal(after, before) {
		t.Errorf("a refused client changed rows: %v, before %v", after, before)
	}
}

func TestCommandLineChangesClients(t *testing.T) {
	u := storetest.SQLite(t)
	s := open(t, config(u))
	client := func(args ...string) (code int, out, errs string) {
		return s.commandLine(t, u.Path, append([]string{"client"}, args...)...)
	}
	show := func() (row map[string]any) {
		t.Helper()
		if code, out, errs := client("show", web, "--json"); code != 0 || json.Unmarshal([]byte(out), &row) != nil {
			t.Fatalf("show: exit code %d, %s%s", code, out, errs)
		}
		return row
	}
	want := show()
	for _, c := range []struct {
		field string
		value any
		args  []string
	}{
		{"name", "Renamed", []string{"--name", "Renamed"}},
		{"service", true, []string{"--service"}},
		{"service", false, []string{"--no-service"}},
		{"scopes", []any{"users.bot", "users.read"}, []string{"--scope", "users.read", "--scope", "users.bot"}},
		{"redirectUris", []any{"https://b.example/cb"}, []string{"--redirect-uri", "https://b.example/cb"}},
		{"redirectUris", []any{}, []string{"--redirect-uri", ""}},
		{"scopes", []any{}, []string{"--scope", ""}},
		{"scopes", []any{"users.read"}, []string{"--scope", "users.read"}},
	} {
		code, _, errs := client(append([]string{"update", web}, c.args...)...)
		want[c.field] = c.value
		if got := show(); code != 0 || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: exit code %d, got %v, want %v\n%s", c.args, code, got, want, errs)
		}
	}
	s.appToken(t, web, s.secret).want(t, "the secret after the changes", http.StatusOK, "")
	if code, _, errs := client("update", web); code != 2 || !strings.Contains(errs, "nothing to change") {
		t.Errorf("an empty update: exit code %d, %s", code, errs)
	}
	if code, _, errs := client("update", "nobody", "--name=x"); code != 1 || !strings.Contains(errs, "moderato client list") {
		t.Errorf("an unknown client: exit code %d, %s", code, errs)
	}
	client("update", web, "--public")
	if code, out, errs := client("rotate-secret", web); code != 1 || out != "" || !strings.Contains(errs, "is public and has no secret") {
		t.Errorf("a secret for a public client: exit code %d, %s%s", code, out, errs)
	}
	client("update", web, "--no-public")
	s.appToken(t, web, s.secret).want(t, "the secret of a client that was public", http.StatusUnauthorized, "invalid_client")
}

func TestCommandLineDeletesClients(t *testing.T) {
	u := storetest.SQLite(t)
	s := open(t, config(u))
	token := s.appToken(t, web, s.secret).text("access_token")
	if code, _, errs := s.commandLine(t, u.Path, "client", "delete", web); code != 1 || !strings.Contains(errs, "--yes") {
		t.Errorf("without a terminal: exit code %d, %s", code, errs)
	}
	s.appToken(t, web, s.secret).want(t, "the client that was not deleted", http.StatusOK, "")
	if code, _, errs := s.commandLine(t, u.Path, "client", "delete", web, "--yes"); code != 0 {
		t.Errorf("exit code %d, %s", code, errs)
	}
	s.appToken(t, web, s.secret).want(t, "the deleted client", http.StatusUnauthorized, "invalid_client")
	if row, err := authn.Introspect(t.Context(), s.Store, token); row != nil || err != nil {
		t.Errorf("a token of the deleted client is valid: %v", err)
	}
	code, out, _ := s.commandLine(t, u.Path, "client", "list", "--json")
	if code != 0 || strings.Contains(out, `"`+web+`"`) || !strings.Contains(out, `{"id":"`+native+`",`) {
		t.Errorf("exit code %d, the clients are\n%s", code, out)
	}
}

// TestRotatedSecretsOverlap rotates the secret of a client, and authenticates the client
// everywhere with each of its secrets.
func TestRotatedSecretsOverlap(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		token := s.appToken(t, web, s.secret).text("access_token")
		accepts := func(what, secret string, isAccepted bool) {
			t.Helper()
			status, reason := http.StatusOK, ""
			if !isAccepted {
				status, reason = http.StatusUnauthorized, "invalid_client"
			}
			s.appToken(t, web, secret).want(t, what, status, reason)
			form := url.Values{"token": {token}, "client_id": {web}, "client_secret": {secret}}
			s.post(t, "/oauth2/introspect", nil, form).want(t, what+", introspection", status, reason)
			form.Set("token", "none")
			s.post(t, "/oauth2/revoke", nil, form).want(t, what+", revocation", status, reason)
			bapi := s.bapi(t, "token", map[string]any{"clientId": web, "clientSecret": secret, "grantType": "client_credentials"})
			if bapi.Status != status {
				t.Errorf("%s, bapi: got %d, want %d", what, bapi.Status, status)
			}
		}
		rotate := func(overlap time.Duration) string {
			t.Helper()
			secret, err := access.RotateSecret(t.Context(), s.Store, web, overlap)
			if err != nil {
				t.Fatal(err)
			}
			return secret
		}
		at := instant.Of(time.Now())
		s.Store.Clock.Freeze(at)
		first, second := s.secret, rotate(time.Hour)
		accepts("the previous secret", first, true)
		accepts("the new secret", second, true)
		accepts("no secret", "", false)
		third := rotate(time.Hour)
		accepts("the oldest secret", first, false)
		accepts("the previous secret", second, true)
		accepts("the newest secret", third, true)
		s.Store.Clock.Freeze(at.Add(time.Hour) - 1)
		accepts("the previous secret at its end", second, true)
		s.Store.Clock.Freeze(at.Add(time.Hour))
		accepts("the previous secret after its end", second, false)
		accepts("the newest secret after the overlap", third, true)
		fourth := rotate(0)
		accepts("the secret before a rotation without overlap", third, false)
		accepts("the secret after it", fourth, true)
		rotate(time.Hour)
		put := &platformv1.PutClientRequest{Client: &platformv1.ClientRecord{Id: web, Name: "Web", Scopes: authn.Scopes()}, NewSecret: true}
		if _, err := s.Access.PutClient(s.service.Context(), put); err != nil {
			t.Fatal(err)
		}
		accepts("a previous secret after PutClient with new_secret", fourth, false)
	})
}

func TestBackendCreatesClients(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		client := &platformv1.ClientRecord{Id: "new", Name: "New", RedirectUris: []string{callback}, Scopes: []string{authn.UsersRead}}
		r, err := s.Access.PutClient(s.service.Context(), &platformv1.PutClientRequest{Client: client, NewSecret: true})
		if err != nil || len(r.GetClient().GetRedirectUris()) != 1 || len(r.GetClient().GetScopes()) != 1 {
			t.Fatalf("got %v, %v", r, err)
		}
		s.appToken(t, "new", r.GetClientSecret()).want(t, "the secret", http.StatusOK, "")
		if again, err := s.Access.PutClient(s.service.Context(), &platformv1.PutClientRequest{Client: client}); err != nil || again.GetClientSecret() != "" {
			t.Errorf("without a new secret: got %v, %v", again, err)
		}
		client.Public = true
		_, err = s.Access.PutClient(s.service.Context(), &platformv1.PutClientRequest{Client: client, NewSecret: true})
		if o := servertest.OutcomeOf(err); o.Reason != "INVALID_ARGUMENT" || len(o.Violations) != 1 {
			t.Errorf("a secret for a public client: got %+v", o)
		}
		// Deleting the client ends its sign-ins.
		c := s.config(web, authn.UsersRead, authn.OfflineAccess)
		token := s.signIn(t, c, servertest.Viewer)
		if _, err := s.Access.DeleteClient(s.service.Context(), &platformv1.DeleteClientRequest{ClientId: web}); err != nil {
			t.Fatal(err)
		}
		s.client(t, &platformv1.ClientRecord{Id: web, Name: "Another", Scopes: authn.Scopes(), Public: true})
		c.ClientSecret = ""
		s.refresh(t, c, token.RefreshToken).want(t, "a refresh token of a deleted client", http.StatusBadRequest, "invalid_grant")
	})
}
