// Package certtest makes certificates for tests.
package certtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Authority signs certificates.
type Authority struct {
	// File is a PEM file with the certificate of the authority.
	File string

	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// NewAuthority returns a new authority.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{File: filepath.Join(t.TempDir(), "ca.pem"), key: newKey(t)}
	template := &x509.Certificate{
		SerialNumber: serial(t), Subject: pkix.Name{CommonName: "Authority of a test"},
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(48 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	if a.certificate, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	Write(t, a.File, pemOf("CERTIFICATE", der))
	return a
}

// Pool returns a pool with the authority alone.
func (a *Authority) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return pool
}

// Issue returns a certificate for a DNS name or IP address, which serves and identifies
// clients, and its key, both as PEM. A negative lifetime makes one that has expired.
func (a *Authority) Issue(t testing.TB, name string, lifetime time.Duration) (certificate, key []byte) {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: serial(t), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-24 * time.Hour), NotAfter: time.Now().Add(lifetime),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if ip := net.ParseIP(name); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{name}
	}
	private := newKey(t)
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, private.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	text, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pemOf("CERTIFICATE", der), pemOf("PRIVATE KEY", text)
}

// Pair is Issue for a client or server in the test itself.
func (a *Authority) Pair(t testing.TB, name string, lifetime time.Duration) tls.Certificate {
	t.Helper()
	pair, err := tls.X509KeyPair(a.Issue(t, name, lifetime))
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

// Files is Issue into the files cert.pem and key.pem of a directory.
func (a *Authority) Files(t testing.TB, dir, name string, lifetime time.Duration) (certFile, keyFile string) {
	t.Helper()
	certificate, key := a.Issue(t, name, lifetime)
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	Write(t, certFile, certificate)
	Write(t, keyFile, key)
	return certFile, keyFile
}

// Write replaces a file.
func Write(t testing.TB, file string, text []byte) {
	t.Helper()
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func serial(t testing.TB) *big.Int {
	t.Helper()
	n, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func pemOf(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
