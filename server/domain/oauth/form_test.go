package oauth_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	oauthweb "github.com/moderato-live/moderato/gateway/signin"
	"github.com/moderato-live/moderato/server/domain/oauth"
)

// packed returns a text in gzip.
func packed(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestBodiesOfForms sends forms in gzip, in other encodings, and of more than 64 KiB.
func TestBodiesOfForms(t *testing.T) {
	s := one(t)
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {web}, "client_secret": {s.secret}}.Encode()
	long := form + "&x=" + strings.Repeat("x", 64<<10)
	for _, c := range []struct {
		name, encoding, body string
		status               int
		code                 string
	}{
		{"gzip", "gzip", packed(t, form), http.StatusOK, ""},
		{"gzip in capitals", "GZIP", packed(t, form), http.StatusOK, ""},
		{"identity", "identity", form, http.StatusOK, ""},
		{"no gzip", "gzip", form, http.StatusBadRequest, "invalid_request"},
		{"gzip that is broken off", "gzip", packed(t, form)[:20], http.StatusBadRequest, "invalid_request"},
		{"brotli", "br", form, http.StatusUnsupportedMediaType, "invalid_request"},
		{"gzip twice", "gzip, gzip", packed(t, packed(t, form)), http.StatusUnsupportedMediaType, "invalid_request"},
		{"a large body", "", long, http.StatusRequestEntityTooLarge, "invalid_request"},
		{"a body that gzip makes small", "gzip", packed(t, long), http.StatusRequestEntityTooLarge, "invalid_request"},
	} {
		r, _ := http.NewRequest(http.MethodPost, s.url("/oauth2/token"), strings.NewReader(c.body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if c.encoding != "" {
			r.Header.Set("Content-Encoding", c.encoding)
		}
		send(t, r).want(t, c.name, c.status, c.code)
	}
}

// TestErrorsOfFormsAreThoseOfTheStandard checks that client libraries find the errors of a
// server that stops, and of a header Host that is not valid.
func TestErrorsOfFormsAreThoseOfTheStandard(t *testing.T) {
	for _, c := range []struct {
		name, host, code string
		isDraining       bool
		status           int
	}{
		{"a server that stops", "moderato.example.com", "temporarily_unavailable", true, http.StatusServiceUnavailable},
		{"an invalid Host", "a/b", "invalid_request", false, http.StatusBadRequest},
	} {
		var codes []string
		forms := 0
		for _, e := range oauthweb.Endpoints(oauthweb.Options{
			Service: &oauth.Service{}, Draining: func() bool { return c.isDraining }, Log: slog.New(slog.DiscardHandler),
			Observe: func(_, code string, _ time.Duration) { codes = append(codes, code) },
		}) {
			if !e.IsForm {
				continue
			}
			forms++
			w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, e.Path, http.NoBody)
			r.Host = c.host
			if err := e.Serve(w, r); err != nil {
				t.Errorf("%s at %s: got the error %v, want a response", c.name, e.Path, err)
				continue
			}
			var body map[string]string
			if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || w.Code != c.status || body["error"] != c.code || body["error_description"] == "" {
				t.Errorf("%s at %s: got %d %s, want %d %s", c.name, e.Path, w.Code, w.Body, c.status, c.code)
			}
			if got := w.Header().Get("Retry-After"); (got == "1") != c.isDraining {
				t.Errorf("%s at %s: Retry-After: got %q", c.name, e.Path, got)
			}
			if want := strings.ToUpper(c.code); codes[len(codes)-1] != want {
				t.Errorf("%s at %s: got the code %s in the metrics, want %s", c.name, e.Path, codes[len(codes)-1], want)
			}
		}
		if forms != 4 {
			t.Errorf("%d endpoints take a form, want 4", forms)
		}
	}
}
