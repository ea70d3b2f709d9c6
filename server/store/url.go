package store

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// URL identifies the database to open, as in the --db flag.
type URL struct {
	// Path is the SQLite file; empty for a MySQL-protocol database.
	Path string
	// Host is the host:port of the MySQL-protocol server.
	Host string
	// User and Password are the account on the server.
	User, Password string
	// Name is the name of the database on the server.
	Name string
	// TLS is "true", "false", "skip-verify" or "preferred".
	TLS string
}

const urlForms = "sqlite:FILE or mysql://USER:PASSWORD@HOST:PORT/NAME?tls=true"

// ParseURL parses `sqlite:FILE` and `mysql://user:password@host:3306/name?tls=true`.
// Its errors never contain the password.
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
	u, err := url.Parse(text)
	if err != nil {
		return URL{}, errors.New("is not a well-formed URL; use " + urlForms)
	}
	parsed := URL{Host: u.Host, User: u.User.Username(), Name: strings.TrimPrefix(u.Path, "/"), TLS: "false"}
	parsed.Password, _ = u.User.Password()
	if u.Port() == "" {
		parsed.Host = net.JoinHostPort(u.Hostname(), "3306")
	}
	if u.Hostname() == "" || parsed.Name == "" || strings.Contains(parsed.Name, "/") {
		return URL{}, errors.New("needs a host and a database name; use " + urlForms)
	}
	for key, values := range u.Query() {
		if key != "tls" {
			return URL{}, fmt.Errorf("has the unknown option %q; the only one is tls", key)
		}
		parsed.TLS = values[len(values)-1]
	}
	switch parsed.TLS {
	case "true", "false", "skip-verify", "preferred":
		return parsed, nil
	}
	return URL{}, fmt.Errorf("has tls=%q; allowed are true, false, skip-verify and preferred", parsed.TLS)
}

// String returns the URL of the database without the account.
func (u URL) String() string {
	if u.Path != "" {
		return "sqlite:" + u.Path
	}
	return "mysql://" + u.Host + "/" + u.Name
}
