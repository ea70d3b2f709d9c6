package moderato_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"golang.org/x/oauth2"

	moderato "github.com/moderato-live/moderato/clients/go"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/test/servertest"
)

func TestSignOut(t *testing.T) {
	t.Parallel()
	server.Load(t, &platformv1.Record{Kind: &platformv1.Record_Client{Client: &platformv1.ClientRecord{
		Id: "native", Name: "Native", Public: true, Scopes: authn.Scopes(),
	}}})
	token := server.Token(t, authn.NewToken{
		Kind: authn.User, ClientID: "native", UserID: servertest.Moderator, Scopes: authn.Scopes(), Lifetime: time.Hour,
	}).Token
	conf := &oauth2.Config{ClientID: "native", ClientSecret: "wrong", Endpoint: moderato.Endpoint("http://" + server.HTTPAddr)}
	var refused *oauth2.RetrieveError
	if err := moderato.SignOut(t.Context(), conf, &oauth2.Token{AccessToken: token}); !errors.As(err, &refused) {
		t.Errorf("SignOut with a wrong secret returns %v, want a RetrieveError", err)
	}
	conf.ClientSecret = ""
	if err := moderato.SignOut(t.Context(), conf, &oauth2.Token{AccessToken: token}); err != nil {
		t.Fatal(err)
	}
	client, err := moderato.New(moderato.Config{
		Address: server.GRPCAddr, Plaintext: true, ClientID: conf.ClientID, Tokens: moderato.StaticToken(token),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	_, err = client.Users.GetProfile(t.Context(), &moderatov1.GetProfileRequest{})
	if reason := moderato.ReasonOf(err); reason != moderatov1.Reason_REASON_TOKEN_INVALID {
		t.Errorf("a call after SignOut fails with %v, want TOKEN_INVALID", reason)
	}
}

// TestSignOutToken checks that SignOut ends the refresh token, and with it the whole sign-in.
func TestSignOutToken(t *testing.T) {
	t.Parallel()
	var form string
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { form = r.URL.Path + "?" + r.FormValue("token") }))
	defer s.Close()
	conf := &oauth2.Config{ClientID: "bot", Endpoint: moderato.Endpoint(s.URL + "/")}
	if err := moderato.SignOut(t.Context(), conf, &oauth2.Token{AccessToken: "access", RefreshToken: "refresh"}); err != nil {
		t.Fatal(err)
	}
	if want := "/oauth2/revoke?refresh"; form != want {
		t.Errorf("SignOut sends %q, want %q", form, want)
	}
}
