// Package servertest starts complete servers for tests and calls them as clients do: over
// real ports, with both transports.
package servertest

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/moderato-live/moderato/docs/openapi/openapitest"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server"
	"github.com/moderato-live/moderato/server/domain/importer"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/storetest"
)

// Server is a running server.
type Server struct {
	*server.Server

	// Clients of the server's gRPC services.
	Moderation moderatov1.ModerationServiceClient
	Chat       platformv1.ChatServiceClient
	Audience   platformv1.AudienceServiceClient
	Streams    platformv1.StreamServiceClient
	Content    platformv1.ContentServiceClient
	Directory  platformv1.DirectoryServiceClient
	Access     platformv1.AccessServiceClient
	Bulk       platformv1.ImportServiceClient
	// Conn is the connection of the clients.
	Conn *grpc.ClientConn

	stop func() error
}

// Each runs a test with a running server that has the World, on every kind of store: see
// storetest.EachKind.
func Each(t *testing.T, test func(t *testing.T, s *Server)) {
	t.Helper()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		s := Start(t, Config(url))
		s.Load(t, World()...)
		test(t, s)
	})
}

// Config returns a configuration for a test, with free ports and without a rate limit.
// The log is discarded.
func Config(url store.URL) server.Config {
	return server.Config{
		DB: url, HTTPAddr: "127.0.0.1:0", GRPCAddr: "127.0.0.1:0", AdminAddr: "127.0.0.1:0",
		Log: slog.New(slog.DiscardHandler),
	}
}

// Start migrates the database and starts a server, which stops when the test ends.
func Start(t testing.TB, config server.Config) *Server {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	storetest.Migrate(t, config.DB)
	if config.HTTPLayer == nil {
		config.HTTPLayer = openapitest.Layer(t)
	}
	srv, err := server.New(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(ctx) }()
	conn, err := grpc.NewClient(srv.GRPCAddr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{
		Server: srv, Conn: conn,
		Moderation: moderatov1.NewModerationServiceClient(conn),
		Chat:       platformv1.NewChatServiceClient(conn),
		Audience:   platformv1.NewAudienceServiceClient(conn),
		Streams:    platformv1.NewStreamServiceClient(conn),
		Content:    platformv1.NewContentServiceClient(conn),
		Directory:  platformv1.NewDirectoryServiceClient(conn),
		Access:     platformv1.NewAccessServiceClient(conn),
		Bulk:       platformv1.NewImportServiceClient(conn),
	}
	stopped := false
	s.stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		_ = conn.Close()
		cancel()
		return <-ended
	}
	t.Cleanup(func() {
		if err := s.stop(); err != nil {
			t.Errorf("the server ended with: %v", err)
		}
	})
	return s
}

// Stop drains the server and waits until it has stopped.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	if err := s.stop(); err != nil {
		t.Errorf("the server ended with: %v", err)
	}
}

// Load imports records.
func (s *Server) Load(t testing.TB, records ...*platformv1.Record) {
	t.Helper()
	Import(t, s.Store, records...)
}

// Import puts records into a store.
func Import(t testing.TB, s *store.Store, records ...*platformv1.Record) {
	t.Helper()
	importer := importer.Importer{Store: s}
	if err := importer.ImportRecords(context.Background(), records); err != nil {
		t.Fatal(err)
	}
}

// Credentials holds what a caller sends to identify itself.
type Credentials struct {
	Token, ClientID string
	// ActingUser is the user for whom a service token acts; the zero ID sends none.
	ActingUser uid.ID
}

// Token issues a token.
func (s *Server) Token(t testing.TB, n authn.NewToken) Credentials {
	t.Helper()
	issued, err := authn.Issue(context.Background(), s.Store, n)
	if err != nil {
		t.Fatal(err)
	}
	return Credentials{Token: issued.Text, ClientID: n.ClientID}
}

// As returns credentials of a user with every scope, through the client Dashboard.
func (s *Server) As(t testing.TB, user uid.ID) Credentials {
	t.Helper()
	return s.Token(t, authn.NewToken{
		Kind: authn.User, ClientID: Dashboard, UserID: user, Scopes: authn.Scopes(),
		Lifetime: 365 * 24 * time.Hour, // tests move the clock far ahead
	})
}

// AsApp returns credentials of the client Dashboard itself, with every scope.
func (s *Server) AsApp(t testing.TB) Credentials {
	t.Helper()
	return s.Token(t, authn.NewToken{Kind: authn.App, ClientID: Dashboard, Scopes: authn.Scopes()})
}

// AsService returns credentials of an internal backend.
func (s *Server) AsService(t testing.TB) Credentials {
	t.Helper()
	return s.Token(t, authn.NewToken{Kind: authn.Service, ClientID: ChatServer})
}

// Context returns a context for a gRPC call with the credentials.
func (c Credentials) Context() context.Context {
	md := metadata.MD{}
	if c.Token != "" {
		md.Set(authn.AuthorizationKey, "Bearer "+c.Token)
	}
	if c.ClientID != "" {
		md.Set(authn.ClientIDKey, c.ClientID)
	}
	if !c.ActingUser.IsZero() {
		md.Set(authn.ActingUserKey, c.ActingUser.String())
	}
	return metadata.NewOutgoingContext(context.Background(), md)
}

// Response is a response over REST.
type Response struct {
	Status int
	Header http.Header
	Body   string
}

// REST sends a request and returns its response. A body that is not empty is sent as JSON.
func (s *Server) REST(t testing.TB, c Credentials, method, path, body string) Response {
	t.Helper()
	return s.Do(t, s.Request(t, c, method, path, body))
}

// Request returns the request that REST sends. A test can change it before it calls Do.
func (s *Server) Request(t testing.TB, c Credentials, method, path, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, "http://"+s.HTTPAddr+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if c.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.Token)
	}
	if c.ClientID != "" {
		r.Header.Set("client-id", c.ClientID)
	}
	if !c.ActingUser.IsZero() {
		r.Header.Set("acting-user", c.ActingUser.String())
	}
	if body != "" {
		r.Header.Set("content-type", "application/json")
	}
	return r
}

// client does not request compression, so that tests see responses as they were sent.
var client = &http.Client{Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 16}}

// Do sends a request and returns its response.
func (s *Server) Do(t testing.TB, r *http.Request) Response {
	t.Helper()
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return Response{response.StatusCode, response.Header, string(body)}
}

// Metrics returns the server's metrics as its admin address serves them.
func (s *Server) Metrics(t testing.TB) string {
	t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://"+s.AdminAddr+"/metrics", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response := s.Do(t, r)
	if response.Status != http.StatusOK {
		t.Fatalf("metrics: got %d %s", response.Status, response.Body)
	}
	return response.Body
}
