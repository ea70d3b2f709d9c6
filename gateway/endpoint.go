package gateway

import (
	"net/http"

	"github.com/moderato-live/moderato/server/rpc/apierr"
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
func (e Endpoint) operation() *operation {
	return &operation{isForm: e.IsForm, readsQuery: e.ReadsQuery, handle: func(w http.ResponseWriter, r *http.Request) {
		if err := e.Serve(w, r); err != nil {
			writeError(w, apierr.Of(err))
		}
	}}
}
