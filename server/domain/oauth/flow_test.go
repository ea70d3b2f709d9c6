package oauth_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

func TestSignIn(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		for _, id := range []string{web, native} {
			c := s.config(id, authn.UsersRead, authn.OfflineAccess)
			verifier := oauth2.GenerateVerifier()
			requestID := request(t, c, verifier)
			shown, err := s.platform.GetRequest(s.service.Context(), &platformv1.GetRequestRequest{RequestId: requestID})
			if err != nil || shown.GetClientId() != id || shown.GetRedirectUri() != c.RedirectURL ||
				!slices.Equal(shown.GetScopes(), []string{authn.OfflineAccess, authn.UsersRead}) || shown.GetUserCode() != "" {
				t.Errorf("%s: the page gets %v, %v", id, shown, err)
			}
			back := s.approve(t, requestID, servertest.Raider, authn.UsersRead, authn.OfflineAccess)
			if back.Get("state") != "the state" || back.Get("iss") != s.url("") {
				t.Errorf("%s: the browser returns with %v", id, back)
			}
			token, err := c.Exchange(context.Background(), back.Get("code"), oauth2.VerifierOption(verifier))
			if err != nil {
				t.Fatalf("%s: %v", id, err)
			}
			if !strings.HasPrefix(token.AccessToken, "mdu_") || !strings.HasPrefix(token.RefreshToken, "mdr_") || token.TokenType != "Bearer" ||
				token.Extra("scope") != "offline.access users.read" || token.Extra("id_token") != nil {
				t.Errorf("%s: got %+v", id, token)
			}
			// The approval is also the grant that app tokens need, and the user sees it.
			caller := servertest.Credentials{Token: token.AccessToken, ClientID: id}
			if r := s.REST(t, caller, "GET", "/v1/users/grants", ""); !strings.Contains(r.Body, `{"clientId":"`+id+`"`) {
				t.Errorf("%s: got the grants %d %s", id, r.Status, r.Body)
			}
			source := c.TokenSource(context.Background(), &oauth2.Token{RefreshToken: token.RefreshToken, Expiry: time.Unix(1, 0)})
			refreshed, err := source.Token()
			if err != nil || refreshed.AccessToken == token.AccessToken || refreshed.RefreshToken == token.RefreshToken || !s.works(t, refreshed.AccessToken) {
				t.Errorf("%s: refreshed to %+v, %v", id, refreshed, err)
			}
		}
	})
}

func TestRefreshTokenNeedsOfflineAccess(t *testing.T) {
	s := one(t)
	if token := s.signIn(t, s.config(web, authn.UsersRead), servertest.Viewer); token.RefreshToken != "" {
		t.Error("a refresh token was issued without offline.access")
	}
	if n := storetest.Must(s.Store.Read.RefreshToken.Query().Count(context.Background())); n != 0 {
		t.Errorf("%d refresh tokens are stored", n)
	}
}

func TestClientCredentials(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		c := clientcredentials.Config{ClientID: web, ClientSecret: s.secret, TokenURL: s.url("/oauth2/token"), Scopes: []string{authn.UsersRead}}
		token, err := c.Token(context.Background())
		if err != nil || !strings.HasPrefix(token.AccessToken, "mda_") || token.Extra("scope") != authn.UsersRead || token.RefreshToken != "" {
			t.Errorf("got %+v, %v", token, err)
		}
		form := url.Values{"grant_type": {"client_credentials"}}
		refused := s.post(t, "/oauth2/token", s.config(native), form)
		refused.want(t, "a public client", http.StatusUnauthorized, "invalid_client")
		if !strings.Contains(fmt.Sprint(refused.Body), "use authorization_code or the device flow") {
			t.Errorf("a public client is not told what to do: %v", refused.Body)
		}
	})
}

// TestWrongClientCredentials tries every way in which credentials can be wrong.
func TestWrongClientCredentials(t *testing.T) {
	s := one(t)
	withoutSecret := "no-secret"
	s.client(t, &platformv1.ClientRecord{Id: withoutSecret, Name: "Never had a secret", Scopes: authn.Scopes(), Public: true})
	s.Load(t, &platformv1.Record{Kind: &platformv1.Record_Client{Client: &platformv1.ClientRecord{Id: withoutSecret, Name: "Never had a secret", Scopes: authn.Scopes()}}})
	for _, c := range []struct{ name, id, secret string }{
		{"wrong secret", web, s.secret + "0"}, {"no secret", web, ""}, {"another's secret", web, s.rivalSecret},
		{"unknown client", "nobody", s.secret}, {"unknown client without a secret", "nobody", ""}, {"an id no client can have", "a b\x00", "x"},
		{"a client without a secret", withoutSecret, ""}, {"a client without a secret that sends one", withoutSecret, "x"},
		{"a public client that sends a secret", native, s.secret},
	} {
		for _, path := range []string{"/oauth2/token", "/oauth2/revoke", "/oauth2/introspect", "/oauth2/device_authorization"} {
			form := url.Values{"client_id": {c.id}, "grant_type": {"refresh_token"}, "refresh_token": {"x"}, "token": {"x"}, "scope": {authn.UsersRead}}
			if c.secret != "" {
				form.Set("client_secret", c.secret)
			}
			a := s.post(t, path, nil, form)
			a.want(t, c.name+" at "+path, http.StatusUnauthorized, "invalid_client")
		}
	}
	s.post(t, "/oauth2/introspect", nil, url.Values{"token": {"x"}}).want(t, "introspection without a client", http.StatusUnauthorized, "invalid_client")
	for _, c := range []struct{ name, path, id, secret string }{
		{"a wrong secret", "/oauth2/token", web, "wrong"},
		{"a broken percent-encoding of the id", "/oauth2/token", "%zz", "x"},
		{"a broken percent-encoding of the secret", "/oauth2/revoke", web, "50%"},
		{"a broken percent-encoding of the secret", "/oauth2/introspect", web, "%"},
		{"no secret", "/oauth2/introspect", web, ""},
		{"a public client", "/oauth2/introspect", native, ""},
		{"a public client that asks for an app token", "/oauth2/token", native, ""},
	} {
		r, _ := http.NewRequest(http.MethodPost, s.url(c.path), strings.NewReader("grant_type=client_credentials&token=x"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.SetBasicAuth(c.id, c.secret)
		a := send(t, r)
		a.want(t, "Basic with "+c.name+" at "+c.path, http.StatusUnauthorized, "invalid_client")
		if got := a.Header.Get("WWW-Authenticate"); got != `Basic realm="moderato"` {
			t.Errorf("Basic with %s at %s: WWW-Authenticate: got %q", c.name, c.path, got)
		}
	}
}
