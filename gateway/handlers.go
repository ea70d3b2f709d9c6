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
	"google.golang.org/protobuf/proto"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/requestid"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/middleware/inprocess"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/paging"
)

// newMux returns a mux with the generated handlers.
func (f *facade) newMux() (*runtime.ServeMux, error) {
	mux := runtime.NewServeMux(
		runtime.WithMarshalerOption(runtime.MIMEWildcard, marshaler{}),
		runtime.WithErrorHandler(f.callFailed),
		runtime.WithForwardResponseOption(linkNext),
		runtime.WithOutgoingHeaderMatcher(outgoingHeader),
		runtime.WithIncomingHeaderMatcher(func(string) (string, bool) { return "", false }), // see handedOver
		runtime.WithOutgoingTrailerMatcher(func(string) (string, bool) { return "", false }),
		runtime.WithWriteContentLength(),
	)
	for _, s := range services {
		if err := s.register(context.Background(), mux, f.conn); err != nil {
			return nil, fmt.Errorf("register: %w", err)
		}
	}
	return mux, nil
}

// call serves a request with the generated handler. If the response is a long list, it
// counts as in memory until the client has received it.
func (f *facade) call(w http.ResponseWriter, r *http.Request) {
	var sending paging.Sending
	defer sending.Sent()
	ctx := context.WithValue(paging.WithSending(r.Context(), &sending), urlKey{}, r.URL)
	f.mux.ServeHTTP(w, handedOver(ctx, w, r))
}

// handedOver returns a request as a generated handler receives it. Its context has the
// metadata of the call. The headers are removed, because some mean something to the
// handlers, such as Grpc-Timeout and TE, and nothing to the API.
func handedOver(ctx context.Context, w http.ResponseWriter, r *http.Request) *http.Request {
	handed := r.WithContext(callContext(ctx, w, r))
	handed.Header, handed.Host, handed.RemoteAddr = nil, "", ""
	if handed.Method == http.MethodHead {
		handed.Method = http.MethodGet // net/http sends no body
	}
	return handed
}

// urlKey is the key of a request's URL in the context of its call.
type urlKey struct{}

// linkNext sets the Link header to the next page, if the data of the response is a page of
// a list. The data of other pages contains the cursor.
func linkNext(ctx context.Context, w http.ResponseWriter, response proto.Message) error {
	page, isPage := response.(interface {
		XXX_ResponseBody() any
		GetPagination() *moderatov1.Pagination
	})
	if !isPage || page.GetPagination().GetCursor() == "" {
		return nil
	}
	at, _ := ctx.Value(urlKey{}).(*url.URL)
	query := at.Query()
	query.Set("cursor", page.GetPagination().GetCursor())
	w.Header().Set("Link", fmt.Sprintf(`<%s?%s>; rel="next"`, at.Path, query.Encode()))
	return nil
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
	return inprocess.NewCall(ctx, sent, r.RemoteAddr)
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
