package gateway

import (
	"net/http"
	"strings"
)

// Calls returns a function that returns the call that a request becomes, as METHOD PATH with
// the names of the path's variables; an empty string for other requests.
func Calls() func(*http.Request) string {
	known := http.NewServeMux()
	known.Handle(http.MethodGet+" "+eventsPath, http.NotFoundHandler())
	for rpc := range rpcs {
		known.Handle(patternOf(rpc), http.NotFoundHandler())
	}
	return func(r *http.Request) string {
		if !isPlain(r.URL.Path) {
			return ""
		}
		_, pattern := known.Handler(r)
		_, path, isKnown := strings.Cut(pattern, " ")
		if !isKnown {
			return ""
		}
		return r.Method + " " + path
	}
}
