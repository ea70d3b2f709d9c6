package gateway

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc/metadata"

	"github.com/moderato-live/moderato/server/authn"
	"github.com/moderato-live/moderato/server/idempotency"
	"github.com/moderato-live/moderato/server/requestid"
)

// newMux returns a mux with which the generated handlers are registered. The handlers
// take their options from the mux; requests do not go through it.
func (f *facade) newMux() (*runtime.ServeMux, error) {
	mux := runtime.NewServeMux(
		runtime.WithMarshalerOption(runtime.MIMEWildcard, newMarshaler()),
		runtime.WithErrorHandler(f.callFailed),
		runtime.WithOutgoingHeaderMatcher(outgoingHeader),
		runtime.WithIncomingHeaderMatcher(func(string) (string, bool) { return "", false }), // see handedOver
		runtime.WithOutgoingTrailerMatcher(func(string) (string, bool) { return "", false }),
		runtime.WithWriteContentLength(),
		runtime.WithMiddlewares(show),
		runtime.WithRoutingErrorHandler(ignoreRouting),
	)
	for _, s := range services {
		if err := s.register(context.Background(), mux, f.conn); err != nil {
			return nil, fmt.Errorf("register: %w", err)
		}
	}
	return mux, nil
}

// ignoreRouting does nothing if the mux has no handler for a route: handlerOf returns
// the error.
func ignoreRouting(context.Context, *runtime.ServeMux, runtime.Marshaler, http.ResponseWriter, *http.Request, int) {
}

// shown is the response writer that handlerOf passes to a mux. It receives the handler
// instead of a response.
type shown struct {
	http.ResponseWriter

	handler runtime.HandlerFunc
}

// show is a middleware of the mux that stores a handler in a shown instead of running
// it.
func show(handler runtime.HandlerFunc) runtime.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request, _ map[string]string) {
		w.(*shown).handler = handler
	}
}

// handlerOf returns the generated handler that a mux has for a route.
func handlerOf(mux *runtime.ServeMux, method, path string) (http.HandlerFunc, error) {
	var s shown
	mux.ServeHTTP(&s, &http.Request{Method: method, URL: &url.URL{Path: path}})
	if s.handler == nil {
		return nil, fmt.Errorf("no handler was generated for %s %s", method, path)
	}
	return func(w http.ResponseWriter, r *http.Request) { s.handler(w, handedOver(w, r), nil) }, nil
}

// handedOver returns a request as a generated handler receives it. The context has the
// metadata of the call. The header is removed, because the handler would make more
// metadata from it than a call here needs.
func handedOver(w http.ResponseWriter, r *http.Request) *http.Request {
	// The call uses its transport's context, which ends with the request, so the
	// handler's own context does not need the cancellation.
	handed := r.WithContext(context.WithoutCancel(callContext(r.Context(), w, r)))
	handed.Header, handed.Host, handed.RemoteAddr = nil, "", ""
	return handed
}

// callContext returns the context of the call for a request. Its metadata are the
// request's id, the credentials and the idempotency key.
func callContext(ctx context.Context, w http.ResponseWriter, r *http.Request) context.Context {
	sent := metadata.MD{requestid.MetadataKey: w.Header()[requestid.Header]}
	for _, c := range credentials {
		if values := r.Header[c.header]; len(values) > 0 {
			sent[c.key] = printable(values)
		}
	}
	if keys := r.Header["Idempotency-Key"]; len(keys) > 0 {
		sent[idempotency.MetadataKey] = keys // unchanged, because a key with other characters is refused
	}
	return newTransport(ctx, sent).ctx
}

// credentials lists the headers that become metadata of the call.
var credentials = []struct{ header, key string }{
	{"Authorization", authn.AuthorizationKey},
	{"Client-Id", authn.ClientIDKey},
	{"Acting-User", authn.ActingUserKey},
}

// printable returns values with a question mark for every character that is not
// printable ASCII, which gRPC could not carry. A credential with such a character thus
// counts as sent, but is not valid.
func printable(values []string) []string {
	wrong := func(r rune) bool { return r < ' ' || r > '~' }
	if !slices.ContainsFunc(values, func(v string) bool { return strings.ContainsFunc(v, wrong) }) {
		return values
	}
	changed := make([]string, len(values))
	for i, value := range values {
		changed[i] = strings.Map(func(r rune) rune {
			if wrong(r) {
				return '?'
			}
			return r
		}, value)
	}
	return changed
}
