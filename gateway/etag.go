package gateway

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"time"
)

// etagOf returns the header ETag for a text. It is weak, because it is the same with and
// without compression.
func etagOf(text []byte) string {
	sum := sha256.Sum256(text)
	return `W/"` + hex.EncodeToString(sum[:8]) + `"`
}

// tagged returns a handler whose responses have the header ETag. A request whose If-None-Match
// has the same value gets 304.
func tagged(handle http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { handle(&tagger{ResponseWriter: w, request: r}, r) }
}

// tagger sets ETag and compares it when the body is written, which the generated handlers do
// with one call.
type tagger struct {
	http.ResponseWriter

	request   *http.Request
	hasStatus bool // errors have
}

// WriteHeader implements http.ResponseWriter.
func (t *tagger) WriteHeader(status int) {
	t.hasStatus = true
	t.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (t *tagger) Write(text []byte) (int, error) {
	if t.hasStatus {
		return t.ResponseWriter.Write(text)
	}
	t.Header().Set("ETag", etagOf(text))
	// The body is sent whole: there are no ranges, and no other conditions.
	r := &http.Request{Method: t.request.Method, Header: http.Header{"If-None-Match": t.request.Header["If-None-Match"]}}
	http.ServeContent(t.ResponseWriter, r, "", time.Time{}, bytes.NewReader(text))
	return len(text), nil
}
