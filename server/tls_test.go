package server_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/moderato-live/moderato/internal/certificates"
	"github.com/moderato-live/moderato/internal/certificates/certtest"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// getOver requests the documentation over REST, and returns the protocol and the status.
func getOver(t *testing.T, url string, config *tls.Config, tryHTTP2 bool) (protocol string, status int, err error) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: tryHTTP2, DisableKeepAlives: true}}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/openapi.json", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(r)
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = response.Body.Close() }()
	_, err = io.Copy(io.Discard, response.Body)
	return response.Proto, response.StatusCode, err
}

// checkHealth calls gRPC's health service.
func checkHealth(t *testing.T, addr string, transport credentials.TransportCredentials) error {
	t.Helper()
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(transport))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, err = healthv1.NewHealthClient(conn).Check(t.Context(), &healthv1.HealthCheckRequest{})
	return err
}

// TestServerServesTLS calls both addresses over TLS and without it.
func TestServerServesTLS(t *testing.T) {
	authority, other := certtest.NewAuthority(t), certtest.NewAuthority(t)
	cert, key := authority.Files(t, t.TempDir(), "127.0.0.1", time.Hour)
	config := servertest.Config(storetest.SQLite(t))
	config.HTTPTLS = certificates.Files{Cert: cert, Key: key}
	config.GRPCTLS = certificates.Files{Cert: cert, Key: key, ClientCA: authority.File}
	s := servertest.Start(t, config)
	trusting := func(a *certtest.Authority, own ...tls.Certificate) *tls.Config {
		return &tls.Config{RootCAs: a.Pool(), Certificates: own, MinVersion: tls.VersionTLS12}
	}
	var unknown x509.UnknownAuthorityError

	for want, tryHTTP2 := range map[string]bool{"HTTP/2.0": true, "HTTP/1.1": false} {
		if protocol, status, err := getOver(t, "https://"+s.HTTPAddr, trusting(authority), tryHTTP2); protocol != want || status != http.StatusOK {
			t.Errorf("REST: got %s %d %v, want %s", protocol, status, err, want)
		}
	}
	if _, _, err := getOver(t, "https://"+s.HTTPAddr, trusting(other), true); !errors.As(err, &unknown) {
		t.Errorf("REST with another authority: got %v", err)
	}
	if _, status, err := getOver(t, "http://"+s.HTTPAddr, nil, false); status != http.StatusBadRequest {
		t.Errorf("REST without TLS: got %d %v", status, err)
	}
	if _, _, err := getOver(t, "https://"+s.AdminAddr, trusting(authority), false); err == nil {
		t.Error("the admin address serves TLS")
	}

	for name, c := range map[string]struct {
		transport credentials.TransportCredentials
		want      codes.Code
	}{
		"with a certificate":       {credentials.NewTLS(trusting(authority, authority.Pair(t, "a backend", time.Hour))), codes.OK},
		"without a certificate":    {credentials.NewTLS(trusting(authority)), codes.Unavailable},
		"with an expired one":      {credentials.NewTLS(trusting(authority, authority.Pair(t, "a backend", -time.Hour))), codes.Unavailable},
		"with another authority's": {credentials.NewTLS(trusting(authority, other.Pair(t, "a backend", time.Hour))), codes.Unavailable},
		"trusting another":         {credentials.NewTLS(trusting(other, authority.Pair(t, "a backend", time.Hour))), codes.Unavailable},
		"without TLS":              {insecure.NewCredentials(), codes.Unavailable},
	} {
		if err := checkHealth(t, s.GRPCAddr, c.transport); status.Code(err) != c.want {
			t.Errorf("gRPC %s: got %v, want %s", name, err, c.want)
		}
	}
	if !strings.Contains(s.Metrics(t), `moderato_tls_reload_failures_total{address="grpc"} 0`) {
		t.Error("the metrics of the gRPC address are missing")
	}
}

// TestServerFollowsCertificateFiles replaces the files while the server runs.
func TestServerFollowsCertificateFiles(t *testing.T) {
	t.Parallel()
	before, after := certtest.NewAuthority(t), certtest.NewAuthority(t)
	dir := t.TempDir()
	cert, key := before.Files(t, dir, "127.0.0.1", time.Hour)
	config := servertest.Config(storetest.SQLite(t))
	config.HTTPTLS = certificates.Files{Cert: cert, Key: key}
	config.GRPCTLS = config.HTTPTLS
	s := servertest.Start(t, config)
	after.Files(t, dir, "127.0.0.1", time.Hour)
	trusting := &tls.Config{RootCAs: after.Pool(), MinVersion: tls.VersionTLS12}
	for late := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		_, _, restErr := getOver(t, "https://"+s.HTTPAddr, trusting, true)
		grpcErr := checkHealth(t, s.GRPCAddr, credentials.NewTLS(trusting))
		if restErr == nil && grpcErr == nil {
			break
		}
		if time.Now().After(late) {
			t.Fatalf("REST: %v; gRPC: %v", restErr, grpcErr)
		}
	}
}
