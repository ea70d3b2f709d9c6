package gateway_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/server"
	"github.com/moderato-live/moderato/test/servertest"
)

// preflight sends the preflight request that a browser sends before a cross-origin
// request.
func preflight(t *testing.T, s *servertest.Server, origin, method, headers string) servertest.Response {
	t.Helper()
	r := s.Request(t, servertest.Credentials{}, "OPTIONS", moderatorsPath, "")
	r.Header.Set("Origin", origin)
	r.Header.Set("Access-Control-Request-Method", method)
	if headers != "" {
		r.Header.Set("Access-Control-Request-Headers", headers)
	}
	return s.Do(t, r)
}

func listed(h http.Header, name string) []string {
	return strings.FieldsFunc(strings.ToLower(strings.Join(h.Values(name), ",")), func(r rune) bool { return r == ',' || r == ' ' })
}

func TestCORSPreflight(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, c := range []struct {
		name, origin, method, headers string
		allowed                       bool
	}{
		{"headers in another order", "https://dev.example.com", "GET", "client-id,authorization", true},
		{"headers in capitals", "https://dev.example.com", "GET", "Authorization, Client-Id", true},
		{"a header that is always allowed", "https://dev.example.com", "GET", "accept,authorization,client-id", true},
		{"headers of tracing", "https://dev.example.com", "GET", "authorization,baggage,client-id,sentry-trace", true},
		{"a compressed body", "https://dev.example.com", "POST", "content-type,content-encoding", true},
		{"spaces", "https://dev.example.com", "GET", " authorization ,\tclient-id", true},
		{"an unknown header", "https://dev.example.com", "GET", "authorization,x-unknown", true},
		{"a long header", "https://dev.example.com", "GET", strings.Repeat("x", 64), true},
		{"a read", "https://dev.example.com", "GET", "authorization,client-id", true},
		{"a change", "https://dev.example.com", "POST", "authorization,client-id,content-type", true},
		{"a removal", "http://localhost:3000", "DELETE", "authorization,client-id,content-type", true},
		{"all headers", "https://dev.example.com", "POST", "authorization,client-id,content-type,idempotency-key,last-event-id", true},
		{"headers that libraries add", "https://dev.example.com", "GET", "authorization,cache-control,traceparent,tracestate,x-requested-with", true},
		{"a page without an origin", "null", "GET", "authorization,client-id", true},
		{"no headers", "https://dev.example.com", "GET", "", true},
		{"another method", "https://dev.example.com", "PATCH", "authorization", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := preflight(t, s, c.origin, c.method, c.headers)
			if r.Status != http.StatusNoContent || r.Body != "" {
				t.Errorf("got %d with the body %q, want 204 without", r.Status, r.Body)
			}
			if got := r.Header.Values("Access-Control-Allow-Credentials"); got != nil {
				t.Errorf("Access-Control-Allow-Credentials: got %q, want none", got)
			}
			origin := r.Header.Get("Access-Control-Allow-Origin")
			if !c.allowed {
				if origin != "" {
					t.Errorf("Access-Control-Allow-Origin: got %q, want none", origin)
				}
				return
			}
			if origin != "*" {
				t.Errorf("Access-Control-Allow-Origin: got %q, want *", origin)
			}
			if got := listed(r.Header, "Access-Control-Allow-Methods"); !slices.Contains(got, strings.ToLower(c.method)) {
				t.Errorf("Access-Control-Allow-Methods: got %q, want %s in it", got, c.method)
			}
			got := listed(r.Header, "Access-Control-Allow-Headers")
			for _, name := range strings.FieldsFunc(c.headers, func(r rune) bool { return r == ',' }) {
				if name = strings.ToLower(strings.TrimSpace(name)); !slices.Contains(got, name) {
					t.Errorf("Access-Control-Allow-Headers: got %q, want %s in it", got, name)
				}
			}
		})
	}
}

// TestCORSPreflightNamesAllowedHeaders asks for headers of which some are not allowed. The
// browser compares the response with the names for which it asked.
func TestCORSPreflightNamesAllowedHeaders(t *testing.T) {
	t.Parallel()
	s := start(t)
	r := preflight(t, s, "https://dev.example.com", "GET", "authorization,x_evil,<x>,,x y,*,"+strings.Repeat("x", 65)+",client-id")
	if got, want := listed(r.Header, "Access-Control-Allow-Headers"), []string{"authorization", "client-id"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if r := preflight(t, s, "https://dev.example.com", "GET", "x_evil"); r.Header.Values("Access-Control-Allow-Headers") != nil {
		t.Errorf("got %q, want none", r.Header.Values("Access-Control-Allow-Headers"))
	}
}

func TestCORSResponseIsReadableByOtherOrigins(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner := s.As(t, servertest.Owner)
	for _, path := range []string{listModerators(), moderatorsPath, "/nowhere"} {
		r := s.Request(t, owner, "GET", path, "")
		r.Header.Set("Origin", "https://dev.example.com")
		answer := s.Do(t, r)
		if got := answer.Header.Get("Access-Control-Allow-Origin"); got != "*" {
			t.Errorf("%s: got Access-Control-Allow-Origin %q, want *", path, got)
		}
		if got := answer.Header.Values("Access-Control-Allow-Credentials"); got != nil {
			t.Errorf("%s: got Access-Control-Allow-Credentials %q, want none", path, got)
		}
		exposed := listed(answer.Header, "Access-Control-Expose-Headers")
		for _, name := range []string{"x-request-id", "retry-after", "ratelimit-remaining", "idempotent-replayed"} {
			if !slices.Contains(exposed, name) {
				t.Errorf("%s: got Access-Control-Expose-Headers %q, want %s in it", path, exposed, name)
			}
		}
	}
	if r := s.REST(t, owner, "GET", listModerators(), ""); r.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("without an origin: got Access-Control-Allow-Origin %q, want none", r.Header.Get("Access-Control-Allow-Origin"))
	}
}

func TestCORSAllowsOnlyConfiguredOrigins(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *server.Config) {
		c.CORSOrigins = []string{"https://dash.example.com", "https://tools.example.com:8443"}
	})
	owner := s.As(t, servertest.Owner)
	for _, c := range []struct {
		origin  string
		allowed bool
	}{
		{"https://dash.example.com", true},
		{"https://tools.example.com:8443", true},
		{"http://dash.example.com", false},
		{"https://dash.example.com:8443", false},
		{"https://dash.example.com.evil.example", false},
		{"https://evil.example", false},
		{"null", false},
	} {
		want := ""
		if c.allowed {
			want = c.origin
		}
		r := s.Request(t, owner, "GET", listModerators(), "")
		r.Header.Set("Origin", c.origin)
		simple := s.Do(t, r)
		wantOK(t, simple) // browsers hide the response from the page; other clients may read it
		for what, answer := range map[string]servertest.Response{
			"request": simple, "preflight": preflight(t, s, c.origin, "GET", "authorization"),
		} {
			if got := answer.Header.Get("Access-Control-Allow-Origin"); got != want {
				t.Errorf("%s from %s: got Access-Control-Allow-Origin %q, want %q", what, c.origin, got, want)
			}
			if !slices.Contains(listed(answer.Header, "Vary"), "origin") {
				t.Errorf("%s from %s: got Vary %q, want Origin in it", what, c.origin, answer.Header.Values("Vary"))
			}
		}
	}
}

// TestWebSocketOrigins connects from pages. Browsers send no preflight before a WebSocket,
// and show its messages to every page: the server itself must refuse.
func TestWebSocketOrigins(t *testing.T) {
	t.Parallel()
	open := start(t)
	restricted := start(t, func(c *server.Config) { c.CORSOrigins = []string{"https://dash.example.com"} })
	for _, c := range []struct {
		name, origin string
		server       *servertest.Server
		status       int
	}{
		{"any origin", "https://dev.example.com", open, http.StatusSwitchingProtocols},
		{"no page", "", restricted, http.StatusSwitchingProtocols},
		{"an allowed origin", "https://dash.example.com", restricted, http.StatusSwitchingProtocols},
		{"the server's own origin", "http://" + restricted.HTTPAddr, restricted, http.StatusSwitchingProtocols},
		{"another origin", "https://evil.example", restricted, http.StatusForbidden},
		{"a page without an origin", "null", restricted, http.StatusForbidden},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := c.server.Request(t, servertest.Credentials{}, "GET", "/ws/?EIO=4&transport=websocket", "")
			for name, value := range map[string]string{
				"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
			} {
				r.Header.Set(name, value)
			}
			if c.origin != "" {
				r.Header.Set("Origin", c.origin)
			}
			response, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			if response.StatusCode != c.status {
				t.Errorf("got %d, want %d", response.StatusCode, c.status)
			}
		})
	}
}
