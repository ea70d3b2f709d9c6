package server

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/moderato-live/moderato/internal/certificates"
	"github.com/moderato-live/moderato/server/store/jobs"
)

// reloadInterval is how often the files of certificates are read. Notifications of the file
// system would be faster, but miss changes of mounted secrets.
const reloadInterval = 2 * time.Second

// secured holds what the addresses need to serve TLS.
type secured struct {
	http    *certificates.Source // nil without TLS
	grpc    credentials.TransportCredentials
	sources []*certificates.Source
}

// loadCertificates reads the certificates of the addresses that serve TLS. Its errors name
// the flag of the command line.
func (s *Server) loadCertificates(registry prometheus.Registerer) (*secured, error) {
	all := &secured{grpc: insecure.NewCredentials()}
	metrics := certificates.NewMetrics(registry)
	load := func(address, flag string, files certificates.Files, protocols ...string) (*certificates.Source, error) {
		if files.IsZero() {
			return nil, nil //nolint:nilnil // an address without TLS is no error
		}
		source, err := certificates.NewSource(address, files, protocols, s.config.Log, metrics)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", flag, err)
		}
		all.sources = append(all.sources, source)
		return source, nil
	}
	var err error
	if all.http, err = load("rest", "--http-tls-cert", s.config.HTTPTLS, "h2", "http/1.1"); err != nil {
		return nil, err
	}
	core, err := load("grpc", "--grpc-tls-cert", s.config.GRPCTLS, "h2")
	if err != nil {
		return nil, err
	}
	if core != nil {
		all.grpc = credentials.NewTLS(core.Config())
	}
	return all, nil
}

// secureHTTP makes a server of REST serve TLS, if it has a certificate.
func (a *secured) secureHTTP(h *http.Server) {
	if a.http != nil {
		h.TLSConfig = a.http.Config()
		h.Protocols.SetHTTP2(true)
	}
}

// jobs returns the job that follows the files; none without TLS.
func (a *secured) jobs() []jobs.Job {
	if len(a.sources) == 0 {
		return nil
	}
	return []jobs.Job{{Name: "reload certificates", Interval: reloadInterval, Run: jobs.All(func(ctx context.Context) error {
		for _, source := range a.sources {
			source.Reload(ctx)
		}
		return nil
	})}}
}

// serveHTTP serves a listener, with TLS if the server is configured for it.
func serveHTTP(h *http.Server, l net.Listener) error {
	if h.TLSConfig != nil {
		return h.ServeTLS(l, "", "")
	}
	return h.Serve(l)
}

// newErrorLog returns the logger with which net/http reports failures of connections.
// Failed handshakes are debugging information, because every scan of ports causes them.
func newErrorLog(to *slog.Logger) *log.Logger {
	return log.New(errorLog{to}, "", 0)
}

type errorLog struct{ to *slog.Logger }

// Write logs a line.
func (l errorLog) Write(line []byte) (int, error) {
	text := string(bytes.TrimSpace(line))
	if bytes.HasPrefix(line, []byte("http: TLS handshake error")) {
		l.to.Debug(text)
	} else {
		l.to.Warn(text)
	}
	return len(line), nil
}
