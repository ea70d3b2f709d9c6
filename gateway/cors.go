package gateway

import (
	"net/http"
	"regexp"
	"strings"

	"github.com/rs/cors"

	"github.com/moderato-live/moderato/internal/requestid"
)

func crossOrigin(origins []string) *cors.Cors {
	if len(origins) == 0 {
		origins = []string{"*"}
	}
	return cors.New(cors.Options{
		AllowedOrigins:       origins,
		AllowedMethods:       []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodDelete},
		AllowedHeaders:       []string{"*"}, // see askedHeaders
		ExposedHeaders:       []string{requestid.Header, "Retry-After", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Deprecation", "Link", "ETag", replayedHeader},
		MaxAge:               3600,
		OptionsSuccessStatus: http.StatusNoContent,
	})
}

// allowedHeader matches the names of the headers that web pages may send. Libraries and
// tracing add headers of their own, and a header that the API does not know has no effect.
var allowedHeader = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)

// askedHeaders returns a handler that reduces the headers that a preflight asks for to those
// that are allowed, in lower case. next repeats them in its response.
func askedHeaders(next http.Handler) http.Handler {
	const header = "Access-Control-Request-Headers"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked := r.Header[header]; r.Method == http.MethodOptions && asked != nil {
			var allowed []string
			for name := range strings.SplitSeq(strings.ToLower(strings.Join(asked, ",")), ",") {
				if name = strings.Trim(name, " \t"); allowedHeader.MatchString(name) {
					allowed = append(allowed, name)
				}
			}
			r = r.Clone(r.Context())
			r.Header[header] = []string{strings.Join(allowed, ", ")}
		}
		next.ServeHTTP(w, r)
	})
}
