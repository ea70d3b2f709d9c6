// Package certificates reads the certificates and keys of TLS from PEM files. A Source
// serves TLS with them and follows changes of the files.
package certificates

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"time"
)

// Files names the PEM files with which an address serves TLS. The zero value means that
// it serves without TLS.
type Files struct {
	// Cert holds the certificate and its chain, and Key the private key.
	Cert, Key string
	// ClientCA holds the authorities of client certificates. If it is not empty, every
	// client must have a certificate of one of them.
	ClientCA string
}

// IsZero reports whether no file is named.
func (f Files) IsZero() bool { return f == Files{} }

// ReadPool reads a PEM file with one or more certificates of authorities. It fails if any
// part of the file is damaged: a pool without one of its authorities would reject peers
// without a visible reason.
func ReadPool(file string) (*x509.CertPool, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	pool, err := parsePool(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return pool, nil
}

func parsePool(text []byte) (*x509.CertPool, error) {
	pool, n := x509.NewCertPool(), 0
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			return nil, fmt.Errorf("it has a block %q; only certificates are allowed", block.Type)
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		pool.AddCert(certificate)
		n++
	}
	if n == 0 {
		return nil, errors.New("it has no certificate in the PEM format")
	}
	return pool, nil
}

// ReadPair reads the PEM files of a certificate and its key.
func ReadPair(certFile, keyFile string) (tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return pair, pairError(certFile, keyFile, err)
	}
	return pair, nil
}

func pairError(certFile, keyFile string, err error) error {
	var missing *os.PathError
	if errors.As(err, &missing) {
		return err
	}
	return fmt.Errorf("the certificate %s with the key %s: %w", certFile, keyFile, err)
}

// expiryOf returns the time at which the first certificate of a chain expires.
func expiryOf(pair tls.Certificate) (time.Time, error) {
	var first time.Time
	for _, der := range pair.Certificate {
		certificate, err := x509.ParseCertificate(der)
		if err != nil {
			return first, err
		}
		if first.IsZero() || certificate.NotAfter.Before(first) {
			first = certificate.NotAfter
		}
	}
	return first, nil
}
