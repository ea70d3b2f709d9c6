package store

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
)

// URL identifies the database to open, as in the --db flag.
type URL struct {
	// Path is the SQLite file; empty for a MySQL-protocol database.
	Path string
	// Host is the host:port of the MySQL-protocol server, or of each member of a cluster,
	// separated by commas.
	Host string
	// User and Password are the account on the server.
	User, Password string
	// Name is the name of the database on the server.
	Name string
	// TLS is "true", "false", "skip-verify" or "preferred".
	TLS string
	// TLSCA is a PEM file with the authorities that sign the server's certificate; empty
	// for those that the system trusts.
	TLSCA string
	// TLSCert and TLSKey are the PEM files of a client certificate and its key; empty for
	// none.
	TLSCert, TLSKey string
}

const (
	urlForms = "sqlite:FILE or mysql://USER:PASSWORD@HOST:PORT/NAME?tls=true"
	// maxHosts is the maximum number of members of a cluster.
	maxHosts = 16
)

// ParseURL parses `sqlite:FILE` and `mysql://user:password@host:3306/name?tls=true`. Several
// hosts, separated by commas, are the members of a cluster. Its errors never contain the
// password.
func ParseURL(text string) (URL, error) {
	if path, ok := strings.CutPrefix(text, "sqlite:"); ok {
		if path == "" {
			return URL{}, errors.New("the file name after sqlite: is missing; use " + urlForms)
		}
		if strings.Contains(path, ":memory:") || strings.Contains(path, "?") {
			return URL{}, errors.New("must name a file after sqlite:, without options and not :memory:; use " + urlForms)
		}
		return URL{Path: path}, nil
	}
	if !strings.HasPrefix(text, "mysql://") {
		return URL{}, errors.New("must be " + urlForms)
	}
	hosts, texts := splitHosts(text)
	if len(texts) > maxHosts {
		return URL{}, fmt.Errorf("names %d hosts; at most %d are allowed", len(texts), maxHosts)
	}
	var u *url.URL
	for i, text := range texts {
		var err error
		if u, err = url.Parse(text); err != nil {
			return URL{}, errors.New("is not a well-formed URL; use " + urlForms + encodeHint)
		}
		if u.Hostname() == "" && len(texts) > 1 {
			return URL{}, errors.New("has an empty host between commas; use mysql://USER:PASSWORD@HOST:PORT,HOST:PORT/NAME")
		}
		hosts[i] = u.Host
		if u.Port() == "" {
			hosts[i] = net.JoinHostPort(u.Hostname(), "3306")
		}
		if slices.Contains(hosts[:i], hosts[i]) {
			return URL{}, fmt.Errorf("names the host %s twice", hosts[i])
		}
	}
	parsed := URL{Host: strings.Join(hosts, ","), User: u.User.Username(), Name: strings.TrimPrefix(u.Path, "/"), TLS: "false"}
	parsed.Password, _ = u.User.Password()
	if hasUnencoded(text) {
		return URL{}, errors.New("has a special character in the user or the password" + encodeHint)
	}
	if u.Hostname() == "" || parsed.Name == "" || strings.Contains(parsed.Name, "/") {
		return URL{}, errors.New("needs a host and a database name; use " + urlForms)
	}
	if err := parsed.setOptions(u.Query()); err != nil {
		return URL{}, err
	}
	return parsed, nil
}

// splitHosts returns the URL of each host in a URL with hosts that are separated by commas,
// and room for the hosts.
func splitHosts(text string) (hosts, texts []string) {
	const scheme = "mysql://"
	end := len(text)
	if i := strings.IndexAny(text[len(scheme):], "/?#"); i >= 0 {
		end = len(scheme) + i
	}
	start := len(scheme)
	if i := strings.LastIndex(text[start:end], "@"); i >= 0 {
		start += i + 1
	}
	for host := range strings.SplitSeq(text[start:end], ",") {
		texts = append(texts, text[:start]+host+text[end:])
	}
	return make([]string, len(texts)), texts
}

// Hosts returns the members of the cluster as host:port; one for a single server.
func (u URL) Hosts() []string { return strings.Split(u.Host, ",") }

// setOptions sets the fields for the options in a query.
func (u *URL) setOptions(query url.Values) error {
	for key, values := range query {
		value := values[len(values)-1]
		switch key {
		case "tls":
			u.TLS = value
		case "tls-ca":
			u.TLSCA = value
		case "tls-cert":
			u.TLSCert = value
		case "tls-key":
			u.TLSKey = value
		default:
			return fmt.Errorf("has the unknown option %q; there are tls, tls-ca, tls-cert and tls-key", key)
		}
	}
	switch u.TLS {
	case "true", "false", "skip-verify", "preferred":
	default:
		return fmt.Errorf("has tls=%q; allowed are true, false, skip-verify and preferred", u.TLS)
	}
	switch {
	case (u.TLSCA != "" || u.TLSCert != "") && u.TLS != "true":
		return fmt.Errorf("has tls=%s; tls-ca and tls-cert need tls=true", u.TLS)
	case (u.TLSCert == "") != (u.TLSKey == ""):
		return errors.New("has one of tls-cert and tls-key; a client certificate needs both")
	}
	return nil
}

// String returns the URL of the database without the account.
func (u URL) String() string {
	if u.Path != "" {
		return "sqlite:" + u.Path
	}
	return "mysql://" + u.Host + "/" + u.Name
}

// encodeHint says what passwords need.
const encodeHint = "; percent-encode special characters of the password, such as %40 for @, %2F for / and %23 for #"

// hasUnencoded reports whether the user or the password of a URL has a character that ends
// them too early: then an @ follows the path, the query or the fragment.
func hasUnencoded(text string) bool {
	rest := strings.TrimPrefix(text, "mysql://")
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	return strings.Count(rest[:end], "@") > 1 || (!strings.Contains(rest[:end], "@") && strings.Contains(rest[end:], "@"))
}
