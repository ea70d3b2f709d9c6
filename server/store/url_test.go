package store_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/server/store"
)

func TestParseURL(t *testing.T) {
	for text, want := range map[string]store.URL{
		"sqlite:moderato.db":       {Path: "moderato.db"},
		"sqlite:/var/lib/a b/m.db": {Path: "/var/lib/a b/m.db"},
		"mysql://u:p@db:3307/name": {Host: "db:3307", User: "u", Password: "p", Name: "name", TLS: "false"},
		"mysql://u@db/name":        {Host: "db:3306", User: "u", Name: "name", TLS: "false"},
		"mysql://u:p%40ss@db/name?tls=true": {
			Host: "db:3306", User: "u", Password: "p@ss", Name: "name", TLS: "true",
		},
		"mysql://u@db/name?tls=true&tls-ca=/etc/ca.pem&tls-cert=c.pem&tls-key=k%20y.pem": {
			Host: "db:3306", User: "u", Name: "name", TLS: "true", TLSCA: "/etc/ca.pem", TLSCert: "c.pem", TLSKey: "k y.pem",
		},
		"mysql://u:p,q@a:3307,b,[::1]:3308,[fe80::2]/name?tls=true": {
			Host: "a:3307,b:3306,[::1]:3308,[fe80::2]:3306", User: "u", Password: "p,q", Name: "name", TLS: "true",
		},
		"mysql://u@[::1]/name?tls=skip-verify": {Host: "[::1]:3306", User: "u", Name: "name", TLS: "skip-verify"},
	} {
		got, err := store.ParseURL(text)
		if err != nil || got != want {
			t.Errorf("%s: got %+v (%v), want %+v", text, got, err, want)
		}
	}
}

func TestParseURLReportsErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "must be sqlite:FILE or mysql://",
		"postgres://u:secret@db/name":     "must be sqlite:FILE or mysql://",
		"sqlite:":                         "the file name after sqlite: is missing",
		"mysql://u:secret@/name":          "needs a host and a database name",
		"mysql://u:secret@db":             "needs a host and a database name",
		"mysql://u:secret@db/a/b":         "needs a host and a database name",
		"mysql://u:secret@db/n?charset=x": `unknown option "charset"`,
		"mysql://u:secret@db/n?tls=maybe": `tls="maybe"; allowed are true`,
		"mysql://u:secret@db/n?tls-ca=x":  "tls-ca and tls-cert need tls=true",
		"mysql://u:secret@db/n?tls=skip-verify&tls-ca=x":       "has tls=skip-verify; tls-ca and tls-cert need tls=true",
		"mysql://u:secret@db/n?tls=true&tls-cert=x":            "a client certificate needs both",
		"mysql://u:secret@db/n?tls=true&tls-key=x":             "a client certificate needs both",
		"mysql://u:secret/a@db/n":                              "percent-encode",
		"mysql://u:secret?a@db/n":                              "percent-encode",
		"mysql://u:secret#a@db/n":                              "percent-encode",
		"mysql://u:secret@a@db/n":                              "percent-encode",
		"mysql://u:secret%a@db/n":                              "percent-encode",
		"mysql://u:secret%zz@db/n":                             "not a well-formed URL",
		"mysql://u:secret@a,,b/n":                              "an empty host between commas",
		"mysql://u:secret@a,b,/n":                              "an empty host between commas",
		"mysql://u:secret@a,:3306/n":                           "an empty host between commas",
		"mysql://u:secret@a,b,a:3306/n":                        "names the host a:3306 twice",
		"mysql://u:secret@a,b:x/n":                             "not a well-formed URL",
		"mysql://u:secret@a,b":                                 "needs a host and a database name",
		"mysql://u:secret@" + strings.Repeat("a,", 16) + "b/n": "names 17 hosts; at most 16",
	} {
		_, err := store.ParseURL(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error reveals the password: %v", text, err)
		}
	}
}

func TestURLStringOmitsCredentials(t *testing.T) {
	url, err := store.ParseURL("mysql://root:secret@db:3306/moderato?tls=true")
	if got, want := url.String(), "mysql://db:3306/moderato"; err != nil || got != want {
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
}

func TestURLOfClusterHasEveryHost(t *testing.T) {
	url, err := store.ParseURL("mysql://root:secret@a,[::1]:3307/moderato")
	if got, want := url.String(), "mysql://a:3306,[::1]:3307/moderato"; err != nil || got != want {
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
	if got, want := url.Hosts(), []string{"a:3306", "[::1]:3307"}; !slices.Equal(got, want) {
		t.Errorf("got the hosts %q, want %q", got, want)
	}
}

func FuzzParseURL(f *testing.F) {
	f.Add("mysql://u:p@a,[::1]:3307/name")
	f.Add("sqlite:moderato.db")
	f.Add("mysql://u:p@db:3307/name?tls=true")
	f.Fuzz(func(t *testing.T, text string) {
		url, err := store.ParseURL(text)
		if err == nil && url.Path == "" && (url.Host == "" || url.Name == "") {
			t.Errorf("%q was read as %+v", text, url)
		}
	})
}
