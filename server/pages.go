package server

import (
	"context"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/console"
	"github.com/moderato-live/moderato/docs/openapi"
	"github.com/moderato-live/moderato/gateway"
	"github.com/moderato-live/moderato/internal/certificates"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/event/webhooks"
	"github.com/moderato-live/moderato/server/status"
)

// documents returns the endpoints that serve the OpenAPI documents.
func documents(publicURL string) (endpoints []gateway.Endpoint) {
	for _, h := range openapi.Handlers(publicURL) {
		endpoints = append(endpoints, gateway.Endpoint{Method: http.MethodGet, Path: h.Path, Serve: func(w http.ResponseWriter, r *http.Request) error {
			h.ServeHTTP(w, r)
			return nil
		}})
	}
	return endpoints
}

// console returns the moderation console. The pictures that a server serves have its Origin in
// their URL, which is another one for a browser that calls the server by another name.
func (s *Server) console() (*console.Console, error) {
	o := console.Options{
		PictureOrigins: append([]string{s.Origin()}, s.config.PictureOrigins...),
		HasSignIn:      s.config.consoleSignsIn(),
	}
	for _, u := range s.config.DemoUsers {
		o.DemoUsers = append(o.DemoUsers, console.DemoUser{ID: u.ID.String(), Name: u.Name, Role: u.Role})
	}
	return console.New(o)
}

// sources returns what the page of the admin address reads.
func (s *Server) sources(registry *prometheus.Registry, sequencer *outbox.Sequencer) status.Sources {
	return status.Sources{
		Version: s.config.Version, Store: s.config.DB.String(), Started: time.Now(), Metrics: registry,
		Docs:  s.Origin,
		Ready: s.ready, Primary: s.Store.Primary, Holder: sequencer.Holder, Jobs: s.jobs.Statuses,
		Failing: func(ctx context.Context, limit int) ([]webhooks.Failing, error) {
			return webhooks.ListFailing(ctx, s.Store, limit)
		},
	}
}

// defaultAvatar returns the URL of the default picture; empty if there is none.
func (s *Server) defaultAvatar() string {
	if !strings.HasPrefix(s.config.DefaultAvatarURL, "/") {
		return s.config.DefaultAvatarURL
	}
	return s.Origin() + s.config.DefaultAvatarURL
}

// Origin returns the URL of REST for clients: Config.PublicURL or, without it, the one on
// this host.
func (s *Server) Origin() string {
	if s.config.PublicURL != "" {
		return s.config.PublicURL
	}
	scheme := "http://"
	if s.config.HTTPTLS != (certificates.Files{}) {
		scheme = "https://"
	}
	host, port, _ := net.SplitHostPort(s.HTTPAddr) // the address of a listener
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return scheme + net.JoinHostPort(host, port)
}
