package signin

import (
	"encoding/json"
	"net/http"
	"strings"
)

// recorder is a response writer that remembers what the log needs, and completes the
// header of a response to a client that is not authenticated.
type recorder struct {
	http.ResponseWriter

	status int
	// failure is the beginning of the body of an error.
	failure []byte
	// outcome is the code of a response that is not JSON.
	outcome string
	// cause is the server's own mistake that a response hides.
	cause error
	// hasBasic is true if the client sent its credentials in a header.
	hasBasic bool
}

// WriteHeader implements http.ResponseWriter.
func (w *recorder) WriteHeader(status int) {
	w.status = status
	if status == http.StatusUnauthorized && w.hasBasic {
		w.Header().Set("WWW-Authenticate", `Basic realm="moderato"`)
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *recorder) Write(b []byte) (int, error) {
	if w.status >= http.StatusBadRequest && w.failure == nil {
		w.failure = append([]byte{}, b...)
	}
	return w.ResponseWriter.Write(b)
}

// code returns the code of the response for metrics and logs: OK or that of the error.
func (w *recorder) code() string {
	if w.outcome != "" {
		return w.outcome
	}
	if w.status < http.StatusBadRequest {
		return "OK"
	}
	var body struct{ Error string }
	if json.Unmarshal(w.failure, &body) == nil && body.Error != "" {
		return strings.ToUpper(body.Error)
	}
	return "REFUSED"
}
