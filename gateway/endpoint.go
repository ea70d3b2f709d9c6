package gateway

import (
	"net/http"

	"github.com/moderato-live/moderato/server/apierr"
)

// Endpoint is an operation that is no call of a service: it reads and writes HTTP itself,
// because another standard than the API's own defines it.
type Endpoint struct {
	// Method and Path are its place.
	Method, Path string
	// Serve handles a request. If it returns an error, it has written nothing, and the
	// facade writes the error.
	Serve func(http.ResponseWriter, *http.Request) error
	// IsForm is true if the body is no JSON. Serve then reads it, and bounds its size.
	IsForm bool
	// ReadsQuery is true if Serve parses the query, and reports that it is not well-formed.
	ReadsQuery bool
	// IsPage is true if pages of other origins may not call.
	IsPage bool
}

// operation returns the operation of an endpoint.
func (e Endpoint) operation() operation {
	return operation{method: e.Method, isForm: e.IsForm, readsQuery: e.ReadsQuery, handle: func(w http.ResponseWriter, r *http.Request) {
		if err := e.Serve(w, r); err != nil {
			writeError(w, apierr.Of(err))
		}
	}}
}

// addEndpoints adds the endpoints to the routes, and returns the paths that pages of other
// origins may not call.
func (f *facade) addEndpoints(endpoints []Endpoint) (pages map[string]bool) {
	pages = map[string]bool{}
	for _, e := range endpoints {
		f.routes.add(e.Path, e.operation())
		if e.IsPage {
			pages[e.Path] = true
		}
	}
	return pages
}

// except returns a handler that serves some paths with plain, and all others with next.
func except(paths map[string]bool, plain, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if paths[r.URL.Path] {
			plain.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}
