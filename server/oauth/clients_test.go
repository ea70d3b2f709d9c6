package oauth_test

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/authn"
	"github.com/moderato-live/moderato/server/cli"
	"github.com/moderato-live/moderato/server/servertest"
	"github.com/moderato-live/moderato/server/store/storetest"
)

// appToken asks for an app token with a client's secret.
func (s *site) appToken(t *testing.T, id, secret string) answer {
	t.Helper()
	return s.post(t, "/oauth2/token", nil, url.Values{"grant_type": {"client_credentials"}, "client_id": {id}, "client_secret": {secret}})
}

func TestCommandLineCreatesClients(t *testing.T) {
	u := storetest.SQLite(t)
	s := open(t, config(u))
	create := func(args ...string) (code int, out string) {
		var stdout, stderr bytes.Buffer
		code = cli.Run(context.Background(), append([]string{"client", "create", "--id", "cli", "--name", "CLI", "--db", "sqlite:" + u.Path}, args...),
			strings.NewReader(""), &stdout, &stderr)
		if secret := strings.TrimSpace(stdout.String()); secret != "" && strings.Contains(stderr.String(), secret) {
			t.Error("the secret is on standard error too")
		}
		return code, stdout.String()
	}
	for _, args := range [][]string{
		{"--public", "--secret"}, {"--scope", "admin"}, {"--redirect-uri", "http://app.example.com/"}, {"--redirect-uri", "javascript:alert(1)"},
		{"--redirect-uri", "https://app.example.com/#x"}, {"--redirect-uri", "app:/cb"}, {"--redirect-uri", "https:///cb"}, {"--redirect-uri", "https://a b"},
		{"--redirect-uri", "https://me@app.example.com/"}, {"--redirect-uri", "/cb"},
	} {
		if code, out := create(args...); code == 0 || out != "" {
			t.Errorf("%q: got exit code %d and %q, want a refusal", args, code, out)
		}
	}
	code, out := create("--secret", "--scope", "users.read", "--scope", "offline.access", "--redirect-uri", "https://a.example/cb", "--redirect-uri", "https://a.example/cb2")
	first := strings.TrimSuffix(out, "\n")
	if code != 0 || !strings.HasPrefix(first, "mdc_") || strings.ContainsAny(first, " \n") {
		t.Fatalf("got exit code %d and %q, want the secret alone", code, out)
	}
	s.appToken(t, "cli", first).want(t, "the secret", http.StatusOK, "")
	_, out = create("--secret", "--scope", "users.read")
	s.appToken(t, "cli", first).want(t, "the former secret", http.StatusUnauthorized, "invalid_client")
	second := strings.TrimSuffix(out, "\n")
	if code, out := create("--scope", "users.read"); code != 0 || out != "" {
		t.Errorf("a change: got exit code %d and %q", code, out)
	}
	s.appToken(t, "cli", second).want(t, "the secret after a change", http.StatusOK, "")
	create("--scope", "users.read", "--public")
	create("--scope", "users.read")
	s.appToken(t, "cli", second).want(t, "the secret of a client that was public", http.StatusUnauthorized, "invalid_client")
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
