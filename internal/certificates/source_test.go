package certificates_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/internal/certificates"
	"github.com/moderato-live/moderato/internal/certificates/certtest"
)

// served is a Source and a listener that serves it.
type served struct {
	*certificates.Source

	files    certificates.Files
	log      strings.Builder
	registry *prometheus.Registry
	addr     string
}

func serve(t *testing.T, files certificates.Files) *served {
	t.Helper()
	s := &served{files: files, registry: prometheus.NewRegistry()}
	var err error
	s.Source, err = certificates.NewSource("rest", files, []string{"http/1.1"}, slog.New(slog.NewTextHandler(&s.log, nil)), certificates.NewMetrics(s.registry))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.addr = listener.Addr().String()
	secured := tls.NewListener(listener, s.Config())
	t.Cleanup(func() { _ = secured.Close() })
	go func() {
		for {
			conn, err := secured.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				_, _ = conn.Write([]byte("served"))
			}()
		}
	}()
	return s
}

// get connects as a client with a certificate, if there is one, and reads.
func (s *served) get(t *testing.T, trusted *certtest.Authority, own ...tls.Certificate) error {
	t.Helper()
	dialer := tls.Dialer{Config: &tls.Config{RootCAs: trusted.Pool(), Certificates: own, MinVersion: tls.VersionTLS12}}
	conn, err := dialer.DialContext(t.Context(), "tcp", s.addr)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	_, err = conn.Read(make([]byte, 6)) // a client's certificate is refused after the handshake
	return err
}

func (s *served) metric(t *testing.T, name string) float64 {
	t.Helper()
	families, err := s.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == name {
			m := family.GetMetric()[0]
			return m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	t.Fatalf("there is no metric %s", name)
	return 0
}

const (
	expiryMetric   = "moderato_tls_certificate_expiry_timestamp_seconds"
	failuresMetric = "moderato_tls_reload_failures_total"
)

// TestChangedFilesAreUsed rotates the certificate to one of another authority, as when a
// key became known.
func TestChangedFilesAreUsed(t *testing.T) {
	before, after := certtest.NewAuthority(t), certtest.NewAuthority(t)
	dir := t.TempDir()
	cert, key := before.Files(t, dir, "127.0.0.1", time.Hour)
	s := serve(t, certificates.Files{Cert: cert, Key: key})
	if err := s.get(t, before); err != nil {
		t.Fatal(err)
	}
	after.Files(t, dir, "127.0.0.1", 12*time.Hour)
	if err := s.get(t, before); err != nil {
		t.Errorf("before the files are read again: %v", err)
	}
	s.Reload(t.Context())
	if err := s.get(t, after); err != nil {
		t.Errorf("the new certificate is not served: %v", err)
	}
	var unknown x509.UnknownAuthorityError
	if err := s.get(t, before); !errors.As(err, &unknown) {
		t.Errorf("the earlier certificate is still served: %v", err)
	}
	if left := time.Until(time.Unix(int64(s.metric(t, expiryMetric)), 0)); left < 11*time.Hour || left > 12*time.Hour {
		t.Errorf("the metric says that the new certificate expires in %v", left)
	}
}

// TestBrokenFilesKeepTheEarlierCertificate breaks the files in every way, one after the
// other.
func TestBrokenFilesKeepTheEarlierCertificate(t *testing.T) {
	authority := certtest.NewAuthority(t)
	dir := t.TempDir()
	cert, key := authority.Files(t, dir, "127.0.0.1", time.Hour)
	s := serve(t, certificates.Files{Cert: cert, Key: key, ClientCA: authority.File})
	client := authority.Pair(t, "a client", time.Hour)
	otherCert, otherKey := authority.Issue(t, "127.0.0.1", time.Hour)
	expired, expiredKey := authority.Issue(t, "127.0.0.1", -time.Hour)
	good := map[string][]byte{}
	for _, file := range []string{cert, key, authority.File} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		good[file] = text
	}
	attempts := 0.
	for name, broken := range map[string]map[string][]byte{
		"no certificate":                {cert: []byte("none")},
		"half a certificate":            {cert: good[cert][:len(good[cert])/2]},
		"certificate of another key":    {cert: otherCert},
		"key of another certificate":    {key: otherKey},
		"empty key":                     {key: nil},
		"expired certificate":           {cert: expired, key: expiredKey},
		"no client authority":           {authority.File: nil},
		"half of the client authority":  {authority.File: append(good[authority.File], "\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"...)},
		"a key among the authorities":   {authority.File: append(good[authority.File], good[key]...)},
		"a missing file of authorities": {authority.File: []byte("removed")},
	} {
		for file, text := range broken {
			if string(text) == "removed" {
				if err := os.Remove(file); err != nil {
					t.Fatal(err)
				}
				continue
			}
			certtest.Write(t, file, text)
		}
		s.log.Reset()
		s.Reload(context.Background())
		s.Reload(context.Background())
		attempts += 2
		if err := s.get(t, authority, client); err != nil {
			t.Errorf("%s: the earlier certificate is not served: %v", name, err)
		}
		if got := s.metric(t, failuresMetric); got != attempts {
			t.Errorf("%s: %v failures are counted, want %v", name, got, attempts)
		}
		if lines := strings.Count(s.log.String(), "the earlier ones stay in use"); lines != 1 {
			t.Errorf("%s: %d lines in the log, want 1:\n%s", name, lines, s.log.String())
		}
		for file, text := range good {
			certtest.Write(t, file, text)
		}
		s.Reload(context.Background())
		if got := s.metric(t, failuresMetric); got != attempts {
			t.Errorf("%s: the repaired files are not used", name)
		}
	}
}

// TestClientAuthoritiesAreReplaced replaces the authority of client certificates: those of
// the earlier one must not connect any more.
func TestClientAuthoritiesAreReplaced(t *testing.T) {
	server, before, after := certtest.NewAuthority(t), certtest.NewAuthority(t), certtest.NewAuthority(t)
	cert, key := server.Files(t, t.TempDir(), "127.0.0.1", time.Hour)
	s := serve(t, certificates.Files{Cert: cert, Key: key, ClientCA: before.File})
	check := func(when string, client *certtest.Authority, lifetime time.Duration, isAccepted bool) {
		t.Helper()
		if err := s.get(t, server, client.Pair(t, "a client", lifetime)); (err == nil) != isAccepted {
			t.Errorf("%s: got %v", when, err)
		}
	}
	check("a certificate of the authority", before, time.Hour, true)
	check("an expired certificate", before, -time.Hour, false)
	check("a certificate of another authority", after, time.Hour, false)
	if err := s.get(t, server); err == nil {
		t.Error("a client without a certificate is accepted")
	}
	text, err := os.ReadFile(after.File)
	if err != nil {
		t.Fatal(err)
	}
	certtest.Write(t, before.File, text)
	s.Reload(t.Context())
	check("the new authority", after, time.Hour, true)
	check("the earlier authority", before, time.Hour, false)
}

// TestClientsAreCheckedOnEveryConnection connects twice as a client that resumes sessions.
func TestClientsAreCheckedOnEveryConnection(t *testing.T) {
	authority := certtest.NewAuthority(t)
	cert, key := authority.Files(t, t.TempDir(), "127.0.0.1", time.Hour)
	s := serve(t, certificates.Files{Cert: cert, Key: key, ClientCA: authority.File})
	dialer := tls.Dialer{Config: &tls.Config{
		RootCAs: authority.Pool(), Certificates: []tls.Certificate{authority.Pair(t, "a client", time.Hour)},
		MinVersion: tls.VersionTLS12, ClientSessionCache: tls.NewLRUClientSessionCache(1),
	}}
	for range 2 {
		conn, err := dialer.DialContext(t.Context(), "tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Read(make([]byte, 6)); err != nil { // receives the ticket, if there is one
			t.Error(err)
		}
		if secured, ok := conn.(*tls.Conn); !ok || secured.ConnectionState().DidResume {
			t.Error("the session was resumed")
		}
		_ = conn.Close()
	}
}

// TestClientsRejectWrongCertificates checks that the certificates of the other tests are
// accepted for their names and lifetimes alone.
func TestClientsRejectWrongCertificates(t *testing.T) {
	authority := certtest.NewAuthority(t)
	for _, c := range []struct {
		name, host string
		lifetime   time.Duration
		isWrong    func(error) bool
	}{
		{"of another name", "other.example.com", time.Hour, func(err error) bool { return errors.As(err, &x509.HostnameError{}) }},
		{"of another address", "127.0.0.2", time.Hour, func(err error) bool { return errors.As(err, &x509.HostnameError{}) }},
		{"expired", "127.0.0.1", -time.Hour, func(err error) bool {
			var invalid x509.CertificateInvalidError
			return errors.As(err, &invalid) && invalid.Reason == x509.Expired
		}},
		{"right", "127.0.0.1", time.Hour, func(err error) bool { return err == nil }},
	} {
		cert, key := authority.Files(t, t.TempDir(), c.host, c.lifetime)
		s := serve(t, certificates.Files{Cert: cert, Key: key})
		if err := s.get(t, authority); !c.isWrong(err) {
			t.Errorf("%s: got %v", c.name, err)
		}
		if isLogged := strings.Contains(s.log.String(), "has expired"); isLogged != (c.lifetime < 0) {
			t.Errorf("%s: the log has: %s", c.name, s.log.String())
		}
	}
}

func TestMissingFilesAreNamed(t *testing.T) {
	authority := certtest.NewAuthority(t)
	cert, key := authority.Files(t, t.TempDir(), "127.0.0.1", time.Hour)
	for want, files := range map[string]certificates.Files{
		"/none.pem":                        {Cert: "/none.pem", Key: key},
		"/none.key":                        {Cert: cert, Key: "/none.key"},
		fmt.Sprint(cert, " with the key "): {Cert: cert, Key: authority.File},
		key + ": it has a block":           {Cert: cert, Key: key, ClientCA: key},
	} {
		_, err := certificates.NewSource("rest", files, nil, slog.New(slog.DiscardHandler), certificates.NewMetrics(prometheus.NewRegistry()))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
