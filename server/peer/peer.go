// Package peer identifies the network address of a caller, for limits on requests that have
// no credentials.
package peer

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// shared is the address space behind carrier-grade NAT, which clouds and overlay networks
// use like a private one.
var shared = netip.MustParsePrefix("100.64.0.0/10")

// Address returns the address from which a request comes. If a proxy in a private network
// passed the request on, it is the address that the proxy added to X-Forwarded-For, which
// may have a port. Entries before it are not used: the client may have written them. An IPv6
// address is shortened to the network that one customer usually has.
func Address(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	if mayBeProxy(ip.Unmap()) {
		hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
		if from, ok := parse(strings.TrimSpace(hops[len(hops)-1])); ok {
			ip = from
		}
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

// mayBeProxy reports whether a proxy of the platform may have an address.
func mayBeProxy(ip netip.Addr) bool {
	return ip.IsPrivate() || ip.IsLoopback() || shared.Contains(ip)
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
