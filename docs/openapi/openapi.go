// Package openapi holds the OpenAPI documents of the REST API, which `make gen` writes, and
// serves them.
package openapi

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed" // the documents
	"encoding/hex"
	"net/http"
	"strings"
	"sync"
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

	mediaType, etag string
	text            []byte
	// compressed returns the text in gzip. It is made once, because anyone may ask for it.
	compressed func() []byte
}

// Handlers returns the handlers of both documents.
func Handlers() []*Handler {
	return []*Handler{newHandler(JSONPath, JSONType, JSON), newHandler(YAMLPath, YAMLType, YAML)}
}

func newHandler(path, mediaType string, text []byte) *Handler {
	sum := sha256.Sum256(text)
	return &Handler{
		Path: path, mediaType: mediaType, text: text,
		etag:       `W/"` + hex.EncodeToString(sum[:8]) + `"`, // weak: it is the same for the compressed text
		compressed: sync.OnceValue(func() []byte { return compress(text) }),
	}
}

func compress(text []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(text) // a buffer takes everything
	_ = w.Close()
	return b.Bytes()
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", h.mediaType)
	w.Header().Set("ETag", h.etag)
	w.Header().Set("Cache-Control", "no-cache") // may be kept, but is asked for again
	text := h.text
	if acceptsGzip(r) {
		text = h.compressed()
		w.Header().Set("Content-Encoding", "gzip")
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text))
}

// acceptsGzip reports whether a client accepts gzip.
func acceptsGzip(r *http.Request) bool {
	for coding := range strings.SplitSeq(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		name, weight, _ := strings.Cut(strings.ReplaceAll(coding, " ", ""), ";")
		if strings.EqualFold(name, "gzip") {
			return weight == "" || strings.Trim(weight, "q=0.") != "" // q=0 refuses
		}
	}
	return false
}
