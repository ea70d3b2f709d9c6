package gateway_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/test/servertest"
)

// with returns the response to a request for the list of moderators with changed headers.
func with(t *testing.T, s *servertest.Server, c servertest.Credentials, change func(http.Header)) servertest.Response {
	t.Helper()
	r := s.Request(t, c, "GET", listModerators(), "")
	change(r.Header)
	return s.Do(t, r)
}

func TestGRPCMetadataHeadersAreNotForwarded(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner := s.As(t, servertest.Owner)
	service := s.AsService(t)
	t.Run("do not authenticate", func(t *testing.T) {
		r := with(t, s, servertest.Credentials{}, func(h http.Header) {
			h.Set("Grpc-Metadata-Authorization", "Bearer "+owner.Token)
			h.Set("Grpc-Metadata-Client-Id", owner.ClientID)
		})
		wantRefused(t, r, 401, "TOKEN_MISSING")
	})
	t.Run("do not name the client", func(t *testing.T) {
		r := with(t, s, servertest.Credentials{Token: owner.Token}, func(h http.Header) {
			h.Set("Grpc-Metadata-Client-Id", owner.ClientID)
			h.Set("Grpcgateway-Client-Id", owner.ClientID)
		})
		wantRefused(t, r, 401, "CLIENT_ID_MISSING")
	})
	t.Run("override nothing", func(t *testing.T) {
		wantOK(t, with(t, s, owner, func(h http.Header) {
			h.Set("Grpc-Metadata-Authorization", "Bearer x")
			h.Set("Grpc-Metadata-Client-Id", servertest.OtherDashboard)
			h.Set("Grpc-Metadata-X-Request-Id", "mine")
		}))
	})
	t.Run("do not set the acting user", func(t *testing.T) {
		r := s.Request(t, service, "POST", moderatorsPath, roleArgs(servertest.Viewer))
		r.Header.Set("Grpc-Metadata-Acting-User", servertest.Owner.String())
		wantRefused(t, s.Do(t, r), 403, "TOKEN_KIND_NOT_ACCEPTED")
		// The header itself, without the prefix, has an effect:
		service.ActingUser = servertest.Owner
		wantOK(t, s.REST(t, service, "POST", moderatorsPath, roleArgs(servertest.Viewer)))
	})
	t.Run("invalid binary header is not decoded", func(t *testing.T) {
		wantOK(t, with(t, s, owner, func(h http.Header) { h.Set("Grpc-Metadata-Trace-Bin", "%%%") }))
	})
}

func TestGRPCTimeoutHeaderIsIgnored(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner := s.As(t, servertest.Owner)
	for _, timeout := range []string{"1n", "0n", "0S", "1H", "", "x", "-1S", "1", "S", "99999999999999999999H", "1n, 1n"} {
		r := exchange(t, s, head(s, owner, "GET", listModerators())+"grpc-timeout: "+timeout+"\r\nConnection: close\r\n\r\n")
		if r.Status != http.StatusOK {
			t.Errorf("timeout %q: got %d, want 200; body %s", timeout, r.Status, r.Body)
		}
	}
}

func TestResponseHasNoTrailers(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, target := range []string{listModerators(), moderatorsPath} {
		request := head(s, s.As(t, servertest.Owner), "GET", target) + "TE: trailers\r\nConnection: TE, close\r\n\r\n"
		r := exchange(t, s, request)
		wantJSON(t, r) // has a Content-Length, so it is not chunked
		for _, name := range []string{"Trailer", "Transfer-Encoding", "Grpc-Status", "Grpc-Trailer-Grpc-Status"} {
			if got := r.Header.Values(name); got != nil {
				t.Errorf("%s: got %q, want none", name, got)
			}
		}
	}
}

func TestResponseHasNoGRPCMetadataHeaders(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner := s.As(t, servertest.Owner)
	for _, target := range []string{listModerators(), moderatorsPath} {
		r := s.REST(t, owner, "GET", target, "")
		for name := range r.Header {
			if strings.HasPrefix(strings.ToLower(name), "grpc") {
				t.Errorf("the answer has the header %s", name)
			}
		}
		if got := r.Header.Values("X-Request-Id"); len(got) != 1 {
			t.Errorf("X-Request-Id: got %q, want one", got)
		}
	}
}

// sized returns a request whose head, from the first byte to the empty line, has size
// bytes: in one header, or in many.
func sized(s *servertest.Server, c servertest.Credentials, size int, many bool) string {
	request := head(s, c, "GET", listModerators()) + "Connection: close\r\n"
	if many {
		line := "X-Filler: " + strings.Repeat("y", 20) + "\r\n"
		for len(request)+2*len(line) < size {
			request += line
		}
	}
	const last = "X-Last: \r\n\r\n"
	return request + "X-Last: " + strings.Repeat("z", size-len(request)-len(last)) + "\r\n\r\n"
}

func TestRequestHeaderSizeIsLimited(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner := s.As(t, servertest.Owner)
	const kib = 1 << 10
	// Implementations may count the section differently; the largest difference is the
	// request line.
	const line = 128
	for _, c := range []struct {
		name    string
		size    int
		refused bool
	}{
		{"half of it", 8 * kib, false},
		{"just below 16 KiB", 16*kib - line, false},
		{"16 KiB with the request line", 16 * kib, false},
		{"just above 16 KiB", 16*kib + line, true},
		{"twice as much", 32 * kib, true},
		{"just below 64 KiB", 64*kib - line, true},
	} {
		for _, many := range []bool{false, true} {
			name := c.name + " in one header"
			if many {
				name = c.name + " in many headers"
			}
			t.Run(name, func(t *testing.T) {
				r := exchange(t, s, sized(s, owner, c.size, many))
				if c.refused {
					wantRefused(t, r, http.StatusRequestHeaderFieldsTooLarge, "HEADERS_TOO_LARGE")
				} else {
					wantOK(t, r)
				}
			})
		}
	}
	t.Run("far over 64 KiB", func(t *testing.T) {
		if r := exchange(t, s, sized(s, owner, 256*kib, false)); r.Status != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("got %d, want 431", r.Status)
		}
	})
	t.Run("endless header", func(t *testing.T) {
		// The server rejects the request once the limit is reached, before reading the
		// rest.
		endless := head(s, owner, "GET", listModerators()) + "X-Last: " + strings.Repeat("z", 128*kib)
		if r := exchange(t, s, endless); r.Status != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("got %d, want 431", r.Status)
		}
	})
	t.Run("on an unknown path", func(t *testing.T) {
		r := exchange(t, s, strings.Replace(sized(s, owner, 17*kib, false), "/v1/", "/v9/", 1))
		wantRefused(t, r, http.StatusRequestHeaderFieldsTooLarge, "HEADERS_TOO_LARGE")
	})
}

func TestRepeatedCredentialHeaderIsRejected(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner, other := s.As(t, servertest.Owner), s.As(t, servertest.Other)
	for _, c := range []struct{ name, extra, code string }{ // no code: any
		{"the same authorization", "Authorization: Bearer " + owner.Token, "TOKEN_MISSING"},
		{"another authorization", "Authorization: Bearer " + other.Token, "TOKEN_MISSING"},
		{"an empty authorization", "Authorization:", "TOKEN_MISSING"},
		{"non-ASCII authorization", "Authorization: Bearer \xc3\xa9", ""},
		{"the same client", "client-id: " + owner.ClientID, "CLIENT_ID_MISMATCH"},
		{"another client", "Client-ID: " + servertest.OtherDashboard, "CLIENT_ID_MISMATCH"},
		{"an empty client", "client-id:", "CLIENT_ID_MISMATCH"},
		{"non-ASCII client id", "client-id: \xc3\xa9", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := exchange(t, s, head(s, owner, "GET", listModerators())+c.extra+"\r\nConnection: close\r\n\r\n")
			if c.code != "" {
				wantRefused(t, r, http.StatusUnauthorized, c.code)
			} else if r.Status != http.StatusUnauthorized {
				t.Errorf("got %d, want 401; body %s", r.Status, r.Body)
			}
		})
	}
}

func TestAuthorizationSchemeIgnoresCase(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner := s.As(t, servertest.Owner)
	for _, scheme := range []string{"Bearer", "bearer", "BEARER", "bEaReR"} {
		wantOK(t, with(t, s, owner, func(h http.Header) { h.Set("Authorization", scheme+" "+owner.Token) }))
	}
}

func TestCallerRequestIDIsUsed(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner := s.As(t, servertest.Owner)
	long := strings.Repeat("x", 64)
	for _, c := range []struct {
		name  string
		lines []string
		kept  bool
	}{
		{"a UUID", []string{"0b6f0001-0000-4000-8000-00000000000a"}, true},
		{"one character", []string{"x"}, true},
		{"every kind of character", []string{"AZaz09_.-"}, true},
		{"64 characters", []string{long}, true},
		{"65 characters", []string{long + "x"}, false},
		{"none", []string{""}, false},
		{"a space", []string{"a b"}, false},
		{"a quote", []string{`a"b`}, false},
		{"a slash", []string{"a/b"}, false},
		{"a newline, escaped", []string{`a\nb`}, false},
		{"beyond ASCII", []string{"\xc3\xa9"}, false},
		{"two", []string{"first", "second"}, false},
		{"two that are the same", []string{"first", "first"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			lines := ""
			for _, value := range c.lines {
				lines += "x-request-id: " + value + "\r\n"
			}
			seen := map[string]bool{}
			for _, target := range []string{listModerators(), moderatorsPath, "/nowhere"} {
				r := exchange(t, s, head(s, owner, "GET", target)+lines+"Connection: close\r\n\r\n")
				id := r.Header.Get("X-Request-Id")
				if c.kept != (id == c.lines[0]) || id == "" {
					t.Errorf("X-Request-Id: got %q, kept should be %t", id, c.kept)
				}
				if r.Status != http.StatusOK && !strings.Contains(r.Body, `"requestId":"`+id+`"`) {
					t.Errorf("requestId: got %s, want %q", r.Body, id)
				}
				seen[id] = true
			}
			if !c.kept && len(seen) != 3 {
				t.Errorf("three requests have %d ids", len(seen))
			}
		})
	}
}
