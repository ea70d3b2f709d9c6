// Package openapi holds the OpenAPI documents of the REST API, which `make gen` writes, and
// serves them.
package openapi

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the documents
	"encoding/hex"
	"net/http"
	"time"
)

// JSON and YAML are the same document in two forms.
var (
	//go:embed openapi.json
	JSON []byte
	//go:embed openapi.yaml
	YAML []byte
)

// Where the documents are served, and their media types.
const (
	JSONPath = "/openapi.json"
	JSONType = "application/json"
	YAMLPath = "/openapi.yaml"
	YAMLType = "application/yaml"
)

// Handler serves the document in one form.
type Handler struct {
	// Path is where the document is served.
	Path string

	text            []byte
	mediaType, etag string
}

// Handlers returns the handlers of both documents.
func Handlers() []*Handler {
	return []*Handler{newHandler(JSONPath, JSONType, JSON), newHandler(YAMLPath, YAMLType, YAML)}
}

func newHandler(path, mediaType string, text []byte) *Handler {
	sum := sha256.Sum256(text)
	// The ETag is weak, because a compressed response has the same one.
	return &Handler{Path: path, text: text, mediaType: mediaType, etag: `W/"` + hex.EncodeToString(sum[:8]) + `"`}
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", h.mediaType)
	w.Header().Set("ETag", h.etag)
	w.Header().Set("Cache-Control", "no-cache") // may be kept, but is asked for again
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(h.text))
}
