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

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"github.com/klauspost/compress/gzhttp"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/reflect/protoreflect"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/middleware"
	"github.com/moderato-live/moderato/server/rpc/apierr"
)

// Bounds of the REST transport.
const (
	maxBodyBytes   = 64 << 10
	maxHeaderBytes = 16 << 10
	// minCompressed is the size in bytes from which responses are compressed.
	minCompressed = 1 << 10
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
	Pages []Pages
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

// services lists the services of the facade.
var services = []service{
	serviceOf(moderatov1.File_moderato_v1_moderation_proto, moderatov1.NewModerationServiceClient, moderatov1.RegisterModerationServiceHandlerClient),
	serviceOf(moderatov1.File_moderato_v1_channels_proto, moderatov1.NewChannelsServiceClient, moderatov1.RegisterChannelsServiceHandlerClient),
	serviceOf(moderatov1.File_moderato_v1_tickets_proto, moderatov1.NewEventTicketsServiceClient, moderatov1.RegisterEventTicketsServiceHandlerClient),
	serviceOf(moderatov1.File_moderato_v1_subscriptions_proto, moderatov1.NewEventSubscriptionsServiceClient, moderatov1.RegisterEventSubscriptionsServiceHandlerClient),
	serviceOf(moderatov1.File_moderato_v1_webhooks_proto, moderatov1.NewWebhooksServiceClient, moderatov1.RegisterWebhooksServiceHandlerClient),
	serviceOf(moderatov1.File_moderato_v1_users_proto, moderatov1.NewUsersServiceClient, moderatov1.RegisterUsersServiceHandlerClient),
	serviceOf(moderatov1.File_moderato_v1_chat_proto, moderatov1.NewChatServiceClient, moderatov1.RegisterChatServiceHandlerClient),
	serviceOf(moderatov1.File_moderato_v1_rules_proto, moderatov1.NewChatRulesServiceClient, moderatov1.RegisterChatRulesServiceHandlerClient),
	serviceOf(moderatov1.File_moderato_v1_held_proto, moderatov1.NewHeldMessagesServiceClient, moderatov1.RegisterHeldMessagesServiceHandlerClient),
	serviceOf(moderatov1.File_moderato_v1_tokens_proto, moderatov1.NewTokensServiceClient, moderatov1.RegisterTokensServiceHandlerClient),
}

// service is a service of the facade: the file that declares and annotates it, and the function
// that registers its handlers.
type service struct {
	file     protoreflect.FileDescriptor
	register func(context.Context, *runtime.ServeMux, grpc.ClientConnInterface) error
}

func serviceOf[Client any](
	file protoreflect.FileDescriptor, connect func(grpc.ClientConnInterface) Client, register func(context.Context, *runtime.ServeMux, Client) error,
) service {
	return service{file, func(ctx context.Context, mux *runtime.ServeMux, conn grpc.ClientConnInterface) error {
		return register(ctx, mux, connect(conn))
	}}
}

// Connection is the connection that the facade calls: an inprocess.Conn, or a substitute for one.
type Connection interface {
	grpc.ClientConnInterface
	Watch(ctx context.Context, name string, request any, send func(header metadata.MD, message any) error) (metadata.MD, error)
}

// New returns the facade for a connection to the services.
func New(conn Connection, o Options) (http.Handler, error) {
	setQueryParser()
	f := &facade{conn: conn, routes: http.NewServeMux(), log: o.Log, refused: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "moderato_rest_refused_total",
		Help: "REST requests rejected before they became a call, by code.",
	}, []string{"code"})}
	for _, r := range refusals {
		f.refused.WithLabelValues(apierr.Code(r)) // 0 until the first
	}
	if err := o.Registerer.Register(f.refused); err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	var err error
	if f.mux, err = f.newMux(); err != nil {
		return nil, err
	}
	f.addRoutes(o.Endpoints)
	calls, err := compressed(http.HandlerFunc(f.serve))
	if err != nil {
		return nil, err
	}
	origins := crossOrigin(o.CORSOrigins)
	crossing := askedHeaders(origins.Handler(calls))
	others := map[string]http.Handler{} // by path
	for _, e := range o.Endpoints {
		if e.IsPage {
			others[e.Path] = calls
		}
	}
	for _, path := range o.SocketPaths {
		sockets := askedHeaders(origins.Handler(o.Socket))
		others[path], others[path+"/"] = sockets, sockets
	}
	return f.recovered(f.identified(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next := crossing
		if other := others[r.URL.Path]; other != nil {
			next = other
		}
		for _, pages := range o.Pages {
			if pages.Has(r) {
				next = pages
			}
		}
		next.ServeHTTP(w, r)
	}))), nil
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

// outgoingHeaders holds the response header of each metadata key that has one. The header of the
// request id is already set.
var outgoingHeaders = map[string]string{
	middleware.LimitKey:     "RateLimit-Limit",
	middleware.RemainingKey: "RateLimit-Remaining",
	middleware.ResetKey:     "RateLimit-Reset",
	idempotency.ReplayedKey: replayedHeader,
	"deprecation":           "Deprecation",
	"link":                  "Link",
}

// outgoingHeader returns the response header for a metadata key, and reports whether there is
// one.
func outgoingHeader(key string) (name string, ok bool) {
	name, ok = outgoingHeaders[key]
	return name, ok
}
