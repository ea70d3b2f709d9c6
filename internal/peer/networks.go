package peer

import "net/netip"

// Network is a network to which an address belongs, and how many times as much as a single
// customer all its addresses together may do.
type Network struct {
	Prefix netip.Prefix
	Share  int
}

// prefixes are the networks of an IPv6 address for which limits apply: what one customer
// usually has, and what providers give to those who ask for more. Without the larger ones,
// somebody with many networks has as many allowances.
var prefixes = []struct{ bits, share int }{{64, 1}, {56, 4}, {48, 16}}

// Networks returns the networks of an address, which may have a port. An address that is not
// of IP has one network, which it shares with all others.
func Networks(address string) []Network {
	ip, _ := parse(address)
	if ip = ip.Unmap().WithZone(""); !ip.Is6() {
		return []Network{{netip.PrefixFrom(ip, ip.BitLen()), 1}}
	}
	networks := make([]Network, len(prefixes))
	for i, p := range prefixes {
		network, _ := ip.Prefix(p.bits) // fails only for another kind of address
		networks[i] = Network{network, p.share}
	}
	return networks
}
