package validate

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// maxRedirectURI is the maximum length of a redirect URI.
const maxRedirectURI = 2000

// RedirectURI validates the required URI of a client to which browsers return from a
// sign-in. It is an https URI, a URI with a private scheme as in RFC 8252, or an http URI
// on a loopback address.
func (f *Fields) RedirectURI(field, value string) {
	if value == "" {
		f.Add(field, required)
		return
	}
	u, err := url.Parse(value)
	switch {
	case err != nil, len(value) > maxRedirectURI, !isVisible(value), u.Scheme == "":
		f.Add(field, fmt.Sprintf("must be an absolute URI of at most %d visible ASCII characters", maxRedirectURI))
	case u.Fragment != "" || strings.Contains(value, "#") || u.User != nil:
		f.Add(field, "must not have a fragment or a user name")
	case strings.Contains(u.Scheme, "."): // a private scheme is a reversed domain
	case u.Scheme == "https" && u.Hostname() != "":
	case u.Scheme == "http" && isLoopback(u.Hostname()):
	default:
		f.Add(field, "must begin with https://, a private scheme with a period, or http:// and a loopback address")
	}
}

func isVisible(value string) bool {
	return !strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r > '~' })
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || (err == nil && ip.IsLoopback())
}
