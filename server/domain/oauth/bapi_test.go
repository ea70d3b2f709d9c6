package oauth_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/test/servertest"
)

// bapi calls an endpoint in the spelling of the API's own clients.
func (s *site) bapi(t *testing.T, path string, body map[string]any) answer {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r := s.REST(t, servertest.Credentials{}, http.MethodPost, "/bapi/oauth2/"+path, string(text))
	a := answer{Status: r.Status, Header: r.Header}
	if err := json.Unmarshal([]byte(r.Body), &a.Body); err != nil {
		t.Fatalf("%v in %s", err, r.Body)
	}
	return a
}

func (s *site) generated(t *testing.T, id, secret, redirectURI string) (requestID string, a answer) {
	t.Helper()
	a = s.bapi(t, "generate-auth-url", map[string]any{
		"clientId": id, "clientSecret": secret, "redirectUri": redirectURI, "scopes": []string{authn.UsersRead, authn.OfflineAccess},
	})
	status, to := visit(t, a.text("url"))
	if status != http.StatusFound {
		t.Fatalf("%s: got %d %v, then %d %s", id, a.Status, a.Body, status, to)
	}
	return to.Query().Get("request"), a
}

func TestSignInInOwnSpelling(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		for id, c := range map[string][2]string{web: {s.secret, callback}, native: {"", "http://127.0.0.1:7000/cb"}} {
			requestID, begun := s.generated(t, id, c[0], c[1])
			back := s.approve(t, requestID, servertest.Viewer, authn.UsersRead, authn.OfflineAccess)
			if back.Get("state") != begun.text("state") || begun.text("state") == "" {
				t.Errorf("%s: got the state %q back, want %q", id, back.Get("state"), begun.text("state"))
			}
			arguments := map[string]any{
				"clientId": id, "clientSecret": c[0], "code": back.Get("code"), "codeVerifier": begun.text("codeVerifier"), "redirectUri": c[1],
			}
			got := s.bapi(t, "token", arguments)
			scopes, _ := got.Body["scopes"].([]any)
			if got.Status != http.StatusOK || !s.works(t, got.text("accessToken")) || got.text("tokenType") != "Bearer" || got.Body["expiresIn"] != 86400.0 ||
				!slices.Equal(scopes, []any{authn.OfflineAccess, authn.UsersRead}) || got.Header.Get("Cache-Control") != "no-store" ||
				got.text("type") != "user" || got.text("userId") != servertest.Viewer.String() {
				t.Errorf("%s: token: got %d %v %v", id, got.Status, got.Header, got.Body)
			}
			next := s.bapi(t, "refresh", map[string]any{"clientId": id, "clientSecret": c[0], "refreshToken": got.text("refreshToken")})
			if next.Status != http.StatusOK || !s.works(t, next.text("accessToken")) || !strings.HasPrefix(next.text("refreshToken"), "mdr_") ||
				next.text("type") != "user" || next.text("userId") != servertest.Viewer.String() {
				t.Errorf("%s: refresh: got %d %v", id, next.Status, next.Body)
			}
			wantEnvelope(t, s.bapi(t, "token", arguments), http.StatusBadRequest, "AUTHORIZATION_INVALID", "")
		}
		app := s.bapi(t, "token", map[string]any{"clientId": web, "clientSecret": s.secret, "grantType": "client_credentials"})
		scopes, _ := app.Body["scopes"].([]any)
		if !s.works(t, app.text("accessToken")) || len(scopes) != len(authn.Scopes()) || app.Body["refreshToken"] != nil || app.text("type") != "app" || app.Body["userId"] != nil {
			t.Errorf("client_credentials: got %d %v", app.Status, app.Body)
		}
	})
}

// wantEnvelope checks an error, with the fields of its violations.
func wantEnvelope(t *testing.T, a answer, status int, code, fields string) {
	t.Helper()
	data, _ := a.Body["data"].(map[string]any)
	violations, _ := data["violations"].([]any)
	var names []string
	for _, v := range violations {
		field, _ := v.(map[string]any)["field"].(string)
		names = append(names, field)
	}
	if a.Status != status || data["code"] != code || a.Body["success"] != false || a.text("message") == "" || strings.Join(names, " ") != fields {
		t.Errorf("got %d %v, want %d %s %s", a.Status, a.Body, status, code, fields)
	}
}

func TestErrorsInOwnSpelling(t *testing.T) {
	s := one(t)
	for name, c := range map[string]struct {
		path, change string // of a JSON object
		status       int
		code, fields string
	}{
		"no client":           {"generate-auth-url", `{"clientId":null}`, 400, "INVALID_ARGUMENT", "clientId"},
		"unknown client":      {"token", `{"clientId":"nobody"}`, 400, "INVALID_ARGUMENT", "clientId"},
		"wrong secret":        {"generate-auth-url", `{"clientSecret":"x"}`, 401, "CLIENT_CREDENTIALS_INVALID", ""},
		"no secret":           {"refresh", `{"clientSecret":null}`, 401, "CLIENT_CREDENTIALS_INVALID", ""},
		"unknown URI, scopes": {"generate-auth-url", `{"redirectUri":"https://evil.example","scopes":"admin"}`, 400, "INVALID_ARGUMENT", "redirectUri scopes"},
		"no URI":              {"generate-auth-url", `{}`, 400, "INVALID_ARGUMENT", "redirectUri"},
		"no grant":            {"token", `{}`, 400, "INVALID_ARGUMENT", "grantType"},
		"unknown grant":       {"token", `{"grantType":"password"}`, 400, "INVALID_ARGUMENT", "grantType"},
		"a code alone":        {"token", `{"code":"x"}`, 400, "INVALID_ARGUMENT", "codeVerifier redirectUri"},
		"unknown code":        {"token", `{"code":"x","codeVerifier":"x","redirectUri":"x"}`, 400, "AUTHORIZATION_INVALID", ""},
		"unknown scopes":      {"token", `{"grantType":"client_credentials","scopes":["admin"]}`, 400, "INVALID_ARGUMENT", "scopes"},
		"no refresh token":    {"refresh", `{}`, 400, "INVALID_ARGUMENT", "refreshToken"},
		"bad refresh token":   {"refresh", `{"refreshToken":"mdr_x"}`, 400, "AUTHORIZATION_INVALID", ""},
		"misspelt":            {"token", `{"client_id":"x","Code":"x"}`, 400, "INVALID_ARGUMENT", "Code client_id"},
		"wrong types":         {"token", `{"code":1,"scopes":{}}`, 400, "INVALID_ARGUMENT", "code scopes"},
	} {
		t.Run(name, func(t *testing.T) {
			body := map[string]any{"clientId": web, "clientSecret": s.secret}
			if err := json.Unmarshal([]byte(c.change), &body); err != nil {
				t.Fatal(err)
			}
			for field, value := range body {
				if value == nil {
					delete(body, field)
				}
			}
			wantEnvelope(t, s.bapi(t, c.path, body), c.status, c.code, c.fields)
		})
	}
	refused := s.bapi(t, "refresh", map[string]any{"clientId": web})
	if got := refused.Header.Get("WWW-Authenticate"); got != `Bearer realm="moderato"` {
		t.Errorf("WWW-Authenticate: got %q", got)
	}
	// Clients recognize by the message that the user has to sign in again.
	bad := s.bapi(t, "refresh", map[string]any{"clientId": web, "clientSecret": s.secret, "refreshToken": "mdr_x"})
	if got := bad.text("message"); !strings.HasPrefix(got, "Invalid refresh token") {
		t.Errorf("a bad refresh token: got the message %q", got)
	}
	// The client's developer reads the message, and must learn what was wrong.
	short := s.bapi(t, "token", map[string]any{"clientId": web, "clientSecret": s.secret, "code": "x", "codeVerifier": "x", "redirectUri": callback})
	if got := short.text("message"); !strings.Contains(got, "code_verifier must be 43 to 128") {
		t.Errorf("a short verifier: got the message %q", got)
	}
	for name, c := range map[string][2]string{
		"an array":        {`[]`, "must be a JSON object"},
		"a duplicate key": {`{"redirectUri":"https://a.example","redirectUri":"https://b.example"}`, "redirectUri is given more than once"},
		"invalid UTF-8":   {"{\"clientId\":\"\xff\"}", "is not valid Unicode"},
	} {
		r := s.REST(t, servertest.Credentials{}, http.MethodPost, "/bapi/oauth2/token", c[0])
		if r.Status != http.StatusBadRequest || !strings.Contains(r.Body, "INVALID_ARGUMENT") || !strings.Contains(r.Body, c[1]) {
			t.Errorf("%s: got %d %s", name, r.Status, r.Body)
		}
	}
}

func TestGeneratedURLIsComplete(t *testing.T) {
	s := one(t)
	_, a := s.generated(t, web, s.secret, callback)
	u, err := url.Parse(a.text("url"))
	if err != nil || len(a.Body) != 3 || len(a.text("codeVerifier")) < 43 {
		t.Fatalf("got %v, %v", a.Body, err)
	}
	q := u.Query()
	if q.Get("code_challenge_method") != "S256" || q.Get("scope") != "offline.access users.read" || q.Get("state") != a.text("state") || strings.Contains(u.String(), s.secret) {
		t.Errorf("got %s", u)
	}
	all := s.bapi(t, "generate-auth-url", map[string]any{"clientId": web, "clientSecret": s.secret, "redirectUri": callback})
	if u, err = url.Parse(all.text("url")); err != nil || len(strings.Fields(u.Query().Get("scope"))) != len(authn.Scopes()) {
		t.Errorf("without scopes: got %v", all.Body)
	}
}
