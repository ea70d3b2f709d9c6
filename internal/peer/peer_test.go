package peer_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/internal/peer"
)

func TestAddress(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/24"), netip.MustParsePrefix("2001:db8:ffff::/48")}
	for _, c := range []struct {
		name, remote string
		forwarded    []string
		want         string
		wantProto    string
	}{
		{"no proxy", "203.0.113.9:1", nil, "203.0.113.9/32", ""},
		{"the client writes the headers", "203.0.113.9:1", []string{"198.51.100.1"}, "203.0.113.9/32", ""},
		{"a private address that is no proxy", "10.0.1.1:1", []string{"198.51.100.1"}, "10.0.1.1/32", ""},
		{"a process on this host that is no proxy", "[::1]:1", []string{"198.51.100.1"}, "::/64", ""},
		{"a proxy", "10.0.0.1:1", []string{"198.51.100.1"}, "198.51.100.1/32", "https"},
		{"a proxy as IPv6 has it", "[::ffff:10.0.0.1]:1", []string{"198.51.100.1"}, "198.51.100.1/32", "https"},
		{"a proxy with IPv6", "[2001:db8:ffff::1]:1", []string{"198.51.100.1"}, "198.51.100.1/32", "https"},
		{"what the client wrote before", "10.0.0.1:1", []string{"1.1.1.1, 198.51.100.1"}, "198.51.100.1/32", "https"},
		{"in a header of its own", "10.0.0.1:1", []string{"1.1.1.1", "198.51.100.1"}, "198.51.100.1/32", "https"},
		{"two proxies in a row", "10.0.0.1:1", []string{"1.1.1.1, 198.51.100.1, 10.0.0.2"}, "198.51.100.1/32", "https"},
		{"only proxies", "10.0.0.1:1", []string{"10.0.0.2"}, "10.0.0.1/32", "https"},
		{"a port", "10.0.0.1:1", []string{"1.1.1.1, 198.51.100.1:51234"}, "198.51.100.1/32", "https"},
		{"IPv6", "10.0.0.1:1", []string{"2001:db8:1:2:3::4"}, "2001:db8:1:2::/64", "https"},
		{"IPv6 with a port", "10.0.0.1:1", []string{"[2001:db8:1:2:3::4]:51234"}, "2001:db8:1:2::/64", "https"},
		{"IPv6 in brackets", "10.0.0.1:1", []string{"[2001:db8:1:2:3::4]"}, "2001:db8:1:2::/64", "https"},
		{"no address", "10.0.0.1:1", []string{"198.51.100.1, unknown"}, "10.0.0.1/32", "https"},
		{"no list", "10.0.0.1:1", nil, "10.0.0.1/32", "https"},
	} {
		var log bytes.Buffer
		var got, proto string
		h := peer.Behind(trusted, slog.New(slog.NewTextHandler(&log, nil)), http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			got, proto = peer.Networks(r.RemoteAddr)[0].Prefix.String(), r.Header.Get("X-Forwarded-Proto")
		}))
		for range 2 {
			r := &http.Request{RemoteAddr: c.remote, Header: http.Header{"X-Forwarded-Proto": {"https"}}}
			if c.forwarded != nil {
				r.Header["X-Forwarded-For"] = c.forwarded
			}
			h.ServeHTTP(httptest.NewRecorder(), r)
		}
		if got != c.want || proto != c.wantProto {
			t.Errorf("%s: got %s and %q, want %s and %q", c.name, got, proto, c.want, c.wantProto)
		}
		if warnings := strings.Count(log.String(), "trusted-proxies"); (warnings == 1) != (c.wantProto == "") {
			t.Errorf("%s: got %d warnings: %s", c.name, warnings, log.String())
		}
	}
}
