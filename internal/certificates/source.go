package certificates

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Source serves TLS with the certificate in files. New connections use changed files; if
// these are broken, the earlier ones stay in use.
type Source struct {
	address   string
	files     Files
	protocols []string
	log       *slog.Logger

	current atomic.Pointer[tls.Config]
	// The fields below belong to Reload.
	read    contents // that current is made of
	expires time.Time
	failure string // that was logged last; empty after a success

	expiry   prometheus.Gauge
	failures prometheus.Counter
}

// contents holds the digests of the files, by which changes are noticed.
type contents [3][sha256.Size]byte

// Metrics holds the metrics of all Sources of a process.
type Metrics struct {
	expiry   *prometheus.GaugeVec
	failures *prometheus.CounterVec
}

// NewMetrics registers the metrics.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	labels := []string{"address"}
	m := &Metrics{
		expiry: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "moderato_tls_certificate_expiry_timestamp_seconds", Help: "Time at which the certificate in use expires, or one of its chain if that is earlier.",
		}, labels),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "moderato_tls_reload_failures_total", Help: "Attempts to use changed certificate files that failed; they are repeated until one succeeds.",
		}, labels),
	}
	registry.MustRegister(m.expiry, m.failures)
	return m
}

// NewSource reads the files of an address, such as "rest". The protocols are those of
// ALPN. A certificate that has expired is served: the process may have other work to do.
func NewSource(address string, files Files, protocols []string, log *slog.Logger, m *Metrics) (*Source, error) {
	s := &Source{
		address: address, files: files, protocols: protocols, log: log,
		expiry: m.expiry.WithLabelValues(address), failures: m.failures.WithLabelValues(address),
	}
	config, read, expires, err := s.load()
	if err != nil {
		return nil, err
	}
	s.use(config, read, expires)
	if expires.Before(time.Now()) {
		log.Error("the TLS certificate has expired", "address", address, "file", files.Cert, "expired", expires)
	}
	return s, nil
}

// Config returns the configuration of a TLS server, which always uses the latest files.
func (s *Source) Config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		NextProtos: s.protocols,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			return s.current.Load(), nil
		},
	}
}

// Reload reads the files, and uses them if they have changed. If they are broken, or the
// new certificate has expired and the one in use has not, it logs this once and counts
// each attempt.
func (s *Source) Reload(ctx context.Context) {
	config, read, expires, err := s.load()
	if err == nil && read == s.read {
		s.failure = ""
		return
	}
	if now := time.Now(); err == nil && expires.Before(now) && s.expires.After(now) {
		err = fmt.Errorf("the new certificate in %s expired at %s", s.files.Cert, expires.UTC().Format(time.RFC3339))
	}
	if err != nil {
		s.failures.Inc()
		if s.failure != err.Error() {
			s.failure = err.Error()
			s.log.ErrorContext(ctx, "the changed TLS files cannot be used; the earlier ones stay in use", "address", s.address, "error", err)
		}
		return
	}
	s.use(config, read, expires)
	s.failure = ""
	s.log.InfoContext(ctx, "changed TLS files are in use", "address", s.address, "file", s.files.Cert, "expires", expires)
}

func (s *Source) use(config *tls.Config, read contents, expires time.Time) {
	s.current.Store(config)
	s.read, s.expires = read, expires
	s.expiry.Set(float64(expires.Unix()))
}

// load reads the files and makes a configuration of them.
func (s *Source) load() (config *tls.Config, read contents, expires time.Time, err error) {
	var texts [3][]byte
	for i, file := range []string{s.files.Cert, s.files.Key, s.files.ClientCA} {
		if file == "" {
			continue
		}
		if texts[i], err = os.ReadFile(file); err != nil {
			return nil, read, expires, err
		}
		read[i] = sha256.Sum256(texts[i])
	}
	pair, err := tls.X509KeyPair(texts[0], texts[1])
	if err != nil {
		return nil, read, expires, pairError(s.files.Cert, s.files.Key, err)
	}
	if expires, err = expiryOf(pair); err != nil {
		return nil, read, expires, pairError(s.files.Cert, s.files.Key, err)
	}
	config = &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: s.protocols, Certificates: []tls.Certificate{pair}}
	if s.files.ClientCA != "" {
		if config.ClientCAs, err = parsePool(texts[2]); err != nil {
			return nil, read, expires, fmt.Errorf("%s: %w", s.files.ClientCA, err)
		}
		config.ClientAuth = tls.RequireAndVerifyClientCert
		// A resumed session would not check the client against changed authorities.
		config.SessionTicketsDisabled = true
	}
	return config, read, expires, nil
}
