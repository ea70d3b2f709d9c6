package webhooks

import (
	"errors"
	"net/netip"
	"syscall"
)

// errPrivate is the error for a receiver that is not in the public internet.
var errPrivate = errors.New("the receiver's address is not public")

// special holds the networks that are not public, in addition to those that net/netip
// knows. Most are from IANA's registries of special-purpose addresses.
var special = prefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24",
	"203.0.113.0/24", "240.0.0.0/4",
	"168.63.129.16/32", // Azure's platform address for virtual machines
	"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
)

var (
	nat64         = netip.MustParsePrefix("64:ff9b::/96")
	globalUnicast = netip.MustParsePrefix("2000::/3")
)

func prefixes(texts ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		all[i] = netip.MustParsePrefix(text)
	}
	return all
}

// isPublic reports whether an address is in the public internet, judged by the address
// alone.
func isPublic(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if nat64.Contains(a) { // check the IPv4 address that it is translated to
		b := a.As16()
		a = netip.AddrFrom4([4]byte(b[12:]))
	}
	if !a.IsGlobalUnicast() || a.IsPrivate() || (a.Is6() && !globalUnicast.Contains(a)) {
		return false
	}
	for _, p := range special {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

// Reach is the range of addresses that receivers may have, and so that a server may
// call.
type Reach int

// The reaches, from the narrowest to the widest.
const (
	// Public is the public internet, over https.
	Public Reach = iota
	// Loopback is Public, and also, over http too, the loopback addresses of this host.
	// It is for a demo in which every participant runs on this host.
	Loopback
	// Anywhere is every address, also over http. It is for development and tests.
	Anywhere
)

// allows reports whether an address may be called.
func (r Reach) allows(a netip.Addr) bool {
	return r == Anywhere || isPublic(a) || (r == Loopback && a.Unmap().IsLoopback())
}

// allowsHost reports whether the host of a URL may be called. A host name always
// passes: its address is checked when it is dialled.
func (r Reach) allowsHost(host string) bool {
	a, err := netip.ParseAddr(host)
	return err != nil || r.allows(a)
}

// allowsPlain reports whether a host may be called over http. Requests to this host
// itself need no TLS.
func (r Reach) allowsPlain(host string) bool {
	a, err := netip.ParseAddr(host)
	isLoopback := host == "localhost" || (err == nil && a.Unmap().IsLoopback())
	return r == Anywhere || (r == Loopback && isLoopback)
}

// control is the Control function of a net.Dialer. It checks the address that is
// actually dialled, so that a name cannot resolve to another address between check and
// use.
func (r Reach) control(_, address string, _ syscall.RawConn) error {
	a, err := netip.ParseAddrPort(address)
	if err != nil || !r.allows(a.Addr()) {
		return errPrivate
	}
	return nil
}
