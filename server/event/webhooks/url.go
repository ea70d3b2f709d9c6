package webhooks

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/idna"

	"github.com/moderato-live/moderato/server/rpc/validate"
)

// receiver validates the URL of a receiver, and returns its normal form.
func (s *Service) receiver(f *validate.Fields, text string) string {
	normal, problem := s.Reach.normalURL(text, f.MaxLength("url"))
	if problem != "" {
		f.Add("url", problem)
	}
	return normal
}

// normalURL returns the form of a URL in which it is requested, as browsers have it, or what is
// wrong with the URL. URLs with the same form have the same receiver.
func (r Reach) normalURL(text string, most int) (normal, problem string) {
	if text == "" {
		return "", "is required"
	}
	malformed := fmt.Sprintf("must be an https address of at most %d characters", most)
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Opaque != "" || strings.ContainsAny(text, "\r\n\t ") {
		return "", malformed
	}
	host, err := asciiHost(u.Hostname())
	if err != nil {
		return "", "must have a host name that can be looked up"
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	if u.Port() != "" && (err != nil || port == 0) {
		return "", "must have a port from 1 to 65535"
	}
	switch {
	case u.Scheme != "https" && (u.Scheme != "http" || !r.allowsPlain(host)):
		return "", "must begin with https://"
	case u.User != nil || u.Fragment != "":
		return "", "must not have a user name or a fragment"
	case !r.allowsHost(host):
		return "", "must not be in a private network"
	}
	u.Host = host
	if strings.Contains(host, ":") {
		u.Host = "[" + host + "]"
	}
	if port != 0 && port != map[string]uint64{"https": 443, "http": 80}[u.Scheme] {
		u.Host = net.JoinHostPort(host, strconv.FormatUint(port, 10))
	}
	if u.Path == "" {
		u.Path = "/"
	}
	u.RawQuery = escaped(u.RawQuery)
	if normal = u.String(); len(normal) > most {
		return "", malformed
	}
	return normal, ""
}

// asciiHost returns a host name in small letters and, if it has other letters than ASCII, in
// Punycode.
func asciiHost(host string) (string, error) {
	if net.ParseIP(host) != nil {
		return strings.ToLower(host), nil
	}
	return idna.Lookup.ToASCII(host)
}

// escaped escapes the bytes of a query that may not stand in a URL.
func escaped(query string) string {
	var b strings.Builder
	for i := range len(query) {
		if c := query[i]; c <= ' ' || c >= 0x7F || strings.IndexByte("\"<>`", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
