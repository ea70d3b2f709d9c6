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

// isPrivateHost tells whether a host is an address that is not public. A name is
// looked at when it is dialled.
func isPrivateHost(host string) bool {
	a, err := netip.ParseAddr(host)
	return err == nil && !isPublic(a)
}

// refusePrivate is the Control of a net.Dialer: it sees the very address that is
// dialled, so that no name can mean another one between check and use.
func refusePrivate(_, address string, _ syscall.RawConn) error {
	a, err := netip.ParseAddrPort(address)
	if err != nil || !isPublic(a.Addr()) {
		return errPrivate
	}
	return nil
}
