// Package peer identifies the network address of a caller, for limits on requests that have
// no credentials.
package peer

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Address returns the address from which a request comes. If a proxy in a private network
// passed the request on, it is the address that the proxy added to X-Forwarded-For. An IPv6
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
	if ip.Unmap().IsPrivate() || ip.Unmap().IsLoopback() {
		hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
		if from, err := netip.ParseAddr(strings.TrimSpace(hops[len(hops)-1])); err == nil {
			ip = from
		}
	}
	if ip = ip.Unmap(); ip.Is6() {
		if network, err := ip.WithZone("").Prefix(64); err == nil {
			return network.String()
		}
	}
	return ip.String()
}
