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

	"github.com/moderato-live/moderato/server/auth"
	"github.com/moderato-live/moderato/server/requestid"
)

// newMux makes the mux with which the generated handlers are registered. They
// take its options from it; requests do not go through it.
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

// ignoreRouting is for a mux that is asked for a handler which it has not.
func ignoreRouting(context.Context, *runtime.ServeMux, runtime.Marshaler, http.ResponseWriter, *http.Request, int) {
}

// shown is what handlerOf has a mux answer to: it takes the handler instead of
// what that would write.
type shown struct {
	http.ResponseWriter

	handler runtime.HandlerFunc
}

// show is a middleware of the mux, which shows its handlers and does not run them.
func show(handler runtime.HandlerFunc) runtime.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request, _ map[string]string) {
		w.(*shown).handler = handler
	}
}

// handlerOf asks a mux for the generated handler that it has for a route.
func handlerOf(mux *runtime.ServeMux, method, path string) (http.HandlerFunc, error) {
	var s shown
	mux.ServeHTTP(&s, &http.Request{Method: method, URL: &url.URL{Path: path}})
	if s.handler == nil {
		return nil, fmt.Errorf("no handler was generated for %s %s", method, path)
	}
	return func(w http.ResponseWriter, r *http.Request) { s.handler(w, handedOver(w, r), nil) }, nil
}

// handedOver is a request as a generated handler is given it: with the metadata of
// its call in the context, and without the header from which the handler would make
// more of them than a call here needs.
func handedOver(w http.ResponseWriter, r *http.Request) *http.Request {
	// The call has its transport's context, which ends with the request; the handler's
	// own need not be told.
	handed := r.WithContext(context.WithoutCancel(callContext(r.Context(), w, r)))
	handed.Header, handed.Host, handed.RemoteAddr = nil, "", ""
	return handed
}

// callContext is the context of the call that a request becomes. Its metadata are
// the request's id and the credentials.
func callContext(ctx context.Context, w http.ResponseWriter, r *http.Request) context.Context {
	sent := metadata.MD{requestid.MetadataKey: w.Header()[requestid.Header]}
	for _, c := range credentials {
		if values := r.Header[c.header]; len(values) > 0 {
			sent[c.key] = printable(values)
		}
	}
	return newTransport(ctx, sent).ctx
}

// credentials are the headers that become metadata of the call.
var credentials = []struct{ header, key string }{
	{"Authorization", auth.AuthorizationKey},
	{"Client-Id", auth.ClientIDKey},
	{"Acting-User", auth.ActingUserKey},
}

// printable is values as gRPC could carry them: a credential that is not of
// printable ASCII counts as one that was sent, and is none that is good.
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
