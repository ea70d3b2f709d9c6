// Package peer identifies the network address of a caller, for limits on requests that have
// no credentials.
package peer

import (
	"net/http"
	"net/netip"
	"strings"
)

// Address returns the address from which a request comes: see Behind. An IPv6 address is
// shortened to the network that one customer usually has.
func Address(r *http.Request) string {
	ip, ok := parse(r.RemoteAddr)
	if !ok {
		return r.RemoteAddr
	}
	return network(ip)
}

// network returns an IPv4 address, or the network of an IPv6 address that one customer usually
// has.
func network(ip netip.Addr) string {
	if ip = ip.Unmap(); ip.Is6() {
		if network, err := ip.WithZone("").Prefix(64); err == nil {
			return network.String()
		}
	}
	return ip.String()
}

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
