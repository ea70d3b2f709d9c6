// Package peer identifies the network address of a caller, for limits on requests that have
// no credentials.
package peer

import (
	"net/netip"
	"strings"
)

// parse parses an address, which may have a port. An IPv6 address may be in brackets.
func parse(text string) (ip netip.Addr, ok bool) {
	if at, err := netip.ParseAddrPort(text); err == nil {
		return at.Addr(), true
	}
	if inner, found := strings.CutPrefix(text, "["); found {
		text = strings.TrimSuffix(inner, "]")
	}
	ip, err := netip.ParseAddr(text)
	return ip, err == nil
}
