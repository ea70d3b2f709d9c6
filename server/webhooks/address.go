package webhooks

import (
	"errors"
	"net/netip"
	"syscall"
)

// errPrivate is for a receiver that is not in the public internet.
var errPrivate = errors.New("the receiver's address is not public")

// special are the networks that are not public, beside those that net/netip
// knows; most are from IANA's registries of special-purpose addresses.
var special = prefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24",
	"203.0.113.0/24", "240.0.0.0/4",
	"168.63.129.16/32", // what Azure tells its virtual machines
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

// isPublic tells whether an address is in the public internet, as far as its
// number says.
func isPublic(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if nat64.Contains(a) { // what a translator makes of it
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

// Reach is where receivers may be, and so what the calls of a server may lead to.
type Reach int

// The reaches, from the narrowest.
const (
	// Public is the public internet, over https.
	Public Reach = iota
	// Loopback is that, and over http too what listens on this host alone: for a
	// demo, in which everybody is on this host.
	Loopback
	// Anywhere is every address, over http too: for development and tests.
	Anywhere
)

// allows tells whether an address may be called.
func (r Reach) allows(a netip.Addr) bool {
	return r == Anywhere || isPublic(a) || (r == Loopback && a.Unmap().IsLoopback())
}

// allowsHost tells whether a host of an address may be called, as far as can be
// told now: a name is looked at when it is dialled.
func (r Reach) allowsHost(host string) bool {
	a, err := netip.ParseAddr(host)
	return err != nil || r.allows(a)
}

// allowsPlain tells whether a host may be called over http: what is said to this
// very host needs no TLS.
func (r Reach) allowsPlain(host string) bool {
	a, err := netip.ParseAddr(host)
	isLoopback := host == "localhost" || (err == nil && a.Unmap().IsLoopback())
	return r == Anywhere || (r == Loopback && isLoopback)
}

// control is the Control of a net.Dialer: it sees the very address that is
// dialled, so that no name can mean another one between check and use.
func (r Reach) control(_, address string, _ syscall.RawConn) error {
	a, err := netip.ParseAddrPort(address)
	if err != nil || !r.allows(a.Addr()) {
		return errPrivate
	}
	return nil
}
