package peer_test

import (
	"net/http"
	"testing"

	"github.com/moderato-live/moderato/server/peer"
)

func TestAddress(t *testing.T) {
	for _, c := range []struct {
		name, remote string
		forwarded    []string
		want         string
	}{
		{"no proxy", "203.0.113.9:1", nil, "203.0.113.9"},
		{"the client writes the header", "203.0.113.9:1", []string{"198.51.100.1"}, "203.0.113.9"},
		{"a private proxy", "10.0.0.1:1", []string{"198.51.100.1"}, "198.51.100.1"},
		{"a proxy on this host", "[::1]:1", []string{"198.51.100.1"}, "198.51.100.1"},
		{"a proxy in shared address space", "100.64.0.1:1", []string{"198.51.100.1"}, "198.51.100.1"},
		{"the end of shared address space", "100.127.255.255:1", []string{"198.51.100.1"}, "198.51.100.1"},
		{"a public address next to it", "100.128.0.0:1", []string{"198.51.100.1"}, "100.128.0.0"},
		{"a proxy as IPv6 has it", "[::ffff:100.64.0.1]:1", []string{"198.51.100.1"}, "198.51.100.1"},
		{"what the client wrote before", "10.0.0.1:1", []string{"1.1.1.1, 198.51.100.1"}, "198.51.100.1"},
		{"in a header of its own", "10.0.0.1:1", []string{"1.1.1.1", "198.51.100.1"}, "198.51.100.1"},
		{"a port", "10.0.0.1:1", []string{"1.1.1.1, 198.51.100.1:51234"}, "198.51.100.1"},
		{"IPv6", "10.0.0.1:1", []string{"2001:db8:1:2:3::4"}, "2001:db8:1:2::/64"},
		{"IPv6 with a port", "10.0.0.1:1", []string{"[2001:db8:1:2:3::4]:51234"}, "2001:db8:1:2::/64"},
		{"IPv6 in brackets", "10.0.0.1:1", []string{"[2001:db8:1:2:3::4]"}, "2001:db8:1:2::/64"},
		{"no address", "10.0.0.1:1", []string{"198.51.100.1, unknown"}, "10.0.0.1"},
		{"no header", "10.0.0.1:1", nil, "10.0.0.1"},
	} {
		r := &http.Request{RemoteAddr: c.remote, Header: http.Header{"X-Forwarded-For": c.forwarded}}
		if got := peer.Address(r); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}
