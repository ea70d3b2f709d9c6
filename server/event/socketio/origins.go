package socketio

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/rs/cors"
)

// FromOrigins returns a handler that refuses pages of other origins than the allowed ones; none
// allows any. Browsers leave it to the server to refuse the WebSockets of other pages.
func FromOrigins(origins []string, next http.Handler) http.Handler {
	allowed := cors.New(cors.Options{AllowedOrigins: origins})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Origin") != "" && !allowed.OriginAllowed(r) && !isOwnOrigin(r) {
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
