package gateway

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/rs/cors"
)

// socket returns the handler of WebSockets for pages of the allowed origins. Browsers leave
// it to the server to refuse the WebSockets of other pages.
func socket(origins *cors.Cors, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Origin") != "" && !origins.OriginAllowed(r) && !isOwnOrigin(r) {
			http.Error(w, "Pages of this origin may not connect.", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isOwnOrigin reports whether a request comes from a page of this server.
func isOwnOrigin(r *http.Request) bool {
	origin, err := url.Parse(r.Header.Get("Origin"))
	return err == nil && strings.EqualFold(origin.Host, r.Host)
}
