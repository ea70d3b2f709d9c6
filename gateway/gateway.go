// Package gateway implements the REST facade. It turns JSON requests at /v1 into calls
// of the gRPC services in the same process, and their responses into an envelope of
// success, message and data.
package gateway

import (
	"compress/gzip"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"github.com/klauspost/compress/gzhttp"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/reflect/protoreflect"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/idempotency"
	"github.com/moderato-live/moderato/server/middleware"
)

// Bounds of the REST transport.
const (
	maxBodyBytes   = 64 << 10
	maxHeaderBytes = 16 << 10
	// A header section between maxHeaderBytes and refusedHeaderBytes gets an error
	// response in our form. For a larger one, net/http sends a plain response.
	refusedHeaderBytes = 64 << 10

	readHeaderTimeout = 5 * time.Second
	readTimeout       = 15 * time.Second
	writeTimeout      = 30 * time.Second
	idleTimeout       = 2 * time.Minute
	// minCompressed is the size in bytes from which responses are compressed.
	minCompressed = 1 << 10
	// maxHTTP2Streams bounds the requests that one HTTP/2 connection has in flight.
	maxHTTP2Streams = 100
	// streamWriteTimeout is how long a client may take to receive one write of an event
	// stream or of a list in chunks.
	streamWriteTimeout = 30 * time.Second
)

// Options configures the facade.
type Options struct {
	// CORSOrigins lists the origins of web pages that may call. Empty allows any origin.
	CORSOrigins []string
	// Log receives panics and refused requests.
	Log *slog.Logger
	// Endpoints are served beside the services.
	Endpoints []Endpoint
	// Socket serves the requests at SocketPaths, which are not calls.
	SocketPaths []string
	Socket      http.Handler
	// Pages are served beside the API, which has none of their paths.
	Pages Pages
	// Registerer registers the facade's metrics.
	Registerer prometheus.Registerer
}

// Pages is a handler of pages for people.
type Pages interface {
	http.Handler
	// Has reports whether the handler responds to a request.
	Has(r *http.Request) bool
}

// setQueryParser sets the query parser of the whole program. It runs once, because the
// option writes a package variable of the runtime.
var setQueryParser = sync.OnceFunc(func() { runtime.SetQueryParameterParser(queryParser{})(nil) })

// services lists the services of the facade: the files that declare and annotate them,
// and the functions that register their handlers.
var services = []struct {
	file     protoreflect.FileDescriptor
	register func(context.Context, *runtime.ServeMux, grpc.ClientConnInterface) error
}{
	{moderatov1.File_moderato_v1_moderation_proto, func(ctx context.Context, mux *runtime.ServeMux, conn grpc.ClientConnInterface) error {
		return moderatov1.RegisterModerationServiceHandlerClient(ctx, mux, moderatov1.NewModerationServiceClient(conn))
	}},
	{moderatov1.File_moderato_v1_channels_proto, func(ctx context.Context, mux *runtime.ServeMux, conn grpc.ClientConnInterface) error {
		return moderatov1.RegisterChannelsServiceHandlerClient(ctx, mux, moderatov1.NewChannelsServiceClient(conn))
	}},
	{moderatov1.File_moderato_v1_tickets_proto, func(ctx context.Context, mux *runtime.ServeMux, conn grpc.ClientConnInterface) error {
		return moderatov1.RegisterEventTicketsServiceHandlerClient(ctx, mux, moderatov1.NewEventTicketsServiceClient(conn))
	}},
	{moderatov1.File_moderato_v1_subscriptions_proto, func(ctx context.Context, mux *runtime.ServeMux, conn grpc.ClientConnInterface) error {
		return moderatov1.RegisterEventSubscriptionsServiceHandlerClient(ctx, mux, moderatov1.NewEventSubscriptionsServiceClient(conn))
	}},
	{moderatov1.File_moderato_v1_webhooks_proto, func(ctx context.Context, mux *runtime.ServeMux, conn grpc.ClientConnInterface) error {
		return moderatov1.RegisterWebhooksServiceHandlerClient(ctx, mux, moderatov1.NewWebhooksServiceClient(conn))
	}},
	{moderatov1.File_moderato_v1_users_proto, func(ctx context.Context, mux *runtime.ServeMux, conn grpc.ClientConnInterface) error {
		return moderatov1.RegisterUsersServiceHandlerClient(ctx, mux, moderatov1.NewUsersServiceClient(conn))
	}},
	{moderatov1.File_moderato_v1_chat_proto, func(ctx context.Context, mux *runtime.ServeMux, conn grpc.ClientConnInterface) error {
		return moderatov1.RegisterChatServiceHandlerClient(ctx, mux, moderatov1.NewChatServiceClient(conn))
	}},
	{moderatov1.File_moderato_v1_tokens_proto, func(ctx context.Context, mux *runtime.ServeMux, conn grpc.ClientConnInterface) error {
		return moderatov1.RegisterTokensServiceHandlerClient(ctx, mux, moderatov1.NewTokensServiceClient(conn))
	}},
}

// New returns the facade for a connection to the services.
func New(conn Connection, o Options) (http.Handler, error) {
	setQueryParser()
	f := &facade{conn: conn, log: o.Log, refused: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "moderato_rest_refused_total",
		Help: "REST requests rejected before they became a call, by code.",
	}, []string{"code"})}
	if err := o.Registerer.Register(f.refused); err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	var err error
	if f.mux, err = f.newMux(); err != nil {
		return nil, err
	}
	if f.routes, err = f.findRoutes(); err != nil {
		return nil, err
	}
	f.routes.add(eventsPath, operation{method: http.MethodGet, handle: f.streamEvents})
	pages := f.addEndpoints(o.Endpoints)
	compressing, err := compressed(http.HandlerFunc(f.serve))
	if err != nil {
		return nil, err
	}
	served, origins := compressing, crossOrigin(o.CORSOrigins)
	if o.Socket != nil {
		paths := map[string]bool{}
		for _, path := range o.SocketPaths {
			paths[path], paths[path+"/"] = true, true
		}
		served = except(paths, socket(origins, o.Socket), compressing)
	}
	crossing := except(pages, served, askedHeaders(origins.Handler(served)))
	if o.Pages != nil {
		crossing = beside(o.Pages, crossing)
	}
	return f.recovered(f.identified(crossing)), nil
}

// beside returns a handler that serves pages, and all other requests with next.
func beside(p Pages, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.Has(r) {
			p.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// compressed returns a handler that compresses responses for clients that accept it.
// Streams are not compressed, because events must not wait in a buffer.
func compressed(plain http.Handler) (http.Handler, error) {
	wrap, err := gzhttp.NewWrapper(gzhttp.MinSize(minCompressed), gzhttp.CompressionLevel(gzip.BestSpeed),
		gzhttp.ContentTypes([]string{contentType}), gzhttp.EnableZstd(false), gzhttp.SetContentType(false))
	if err != nil {
		return nil, fmt.Errorf("compression: %w", err)
	}
	compressing := wrap(plain)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == eventsPath:
			plain.ServeHTTP(w, r)
		case r.Header["Accept-Encoding"] == nil: // the wrapper would cost an allocation
			w.Header().Add("Vary", "Accept-Encoding")
			plain.ServeHTTP(w, r)
		default:
			compressing(w, r)
		}
	}), nil
}

// NewHTTPServer returns an HTTP server for the facade, with the bounds of this package. It
// serves HTTP/1.1. The caller adds HTTP/2 to its Protocols.
func NewHTTPServer(h http.Handler) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Server{
		Protocols:         protocols,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: maxHTTP2Streams},
		Handler:           h,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    refusedHeaderBytes,
	}
}

// replayedHeader is the header that marks the response of an earlier request with the same
// idempotency key.
const replayedHeader = "Idempotent-Replayed"

// setHeader sets the response headers for the metadata of a response.
func setHeader(w http.ResponseWriter, md metadata.MD) {
	for key, values := range md {
		if name, ok := outgoingHeader(key); ok {
			w.Header()[http.CanonicalHeaderKey(name)] = values
		}
	}
}

// outgoingHeader returns the response header for a metadata key, and reports whether
// there is one. The header of the request id is already set.
func outgoingHeader(key string) (string, bool) {
	switch key {
	case middleware.LimitKey:
		return "RateLimit-Limit", true
	case middleware.RemainingKey:
		return "RateLimit-Remaining", true
	case middleware.ResetKey:
		return "RateLimit-Reset", true
	case idempotency.ReplayedKey:
		return replayedHeader, true
	case "deprecation":
		return "Deprecation", true
	case "link":
		return "Link", true
	}
	return "", false
}
