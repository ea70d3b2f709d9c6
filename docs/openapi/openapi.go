// Package openapi holds the OpenAPI documents of the REST API, which `make gen` writes, and
// serves them.
package openapi

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed" // the documents
	"encoding/hex"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/moderato-live/moderato/gateway/static"
)

// The documents are embedded in gzip, which makes the program 2 MB smaller. Clients that
// accept gzip receive these bytes.
var (
	//go:embed openapi.json.gz
	compressedJSON []byte
	//go:embed openapi.yaml.gz
	compressedYAML []byte
)

// JSON and YAML return the same document in two forms. The first call decompresses it.
var (
	JSON = sync.OnceValue(func() []byte { return decompress(compressedJSON) })
	YAML = sync.OnceValue(func() []byte { return decompress(compressedYAML) })
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
	// text and compressed return the document without and with compression.
	text, compressed func() []byte
}

// Handlers returns the handlers of both documents. publicURL is the server that they name; if
// it is empty, that is the one that serves them.
func Handlers(publicURL string) []*Handler {
	return []*Handler{
		newHandler(JSONPath, JSONType, compressedJSON, JSON, `"url": "/"`, publicURL),
		newHandler(YAMLPath, YAMLType, compressedYAML, YAML, "- url: /", publicURL),
	}
}

// newHandler returns the handler of a document, in which server names the server.
func newHandler(path, mediaType string, compressed []byte, text func() []byte, server, publicURL string) *Handler {
	sum := sha256.Sum256(append([]byte(publicURL), compressed...))
	h := &Handler{
		Path: path, mediaType: mediaType, text: text, compressed: func() []byte { return compressed },
		etag: `W/"` + hex.EncodeToString(sum[:8]) + `"`, // weak: it is the same with and without compression
	}
	if publicURL != "" {
		public := strings.Replace(server, "/", publicURL, 1)
		h.text = sync.OnceValue(func() []byte { return bytes.Replace(text(), []byte(server), []byte(public), 1) })
		h.compressed = sync.OnceValue(func() []byte { return compress(h.text()) })
	}
	return h
}

// compress returns a text in gzip.
func compress(text []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(text) // a buffer takes everything
	_ = w.Close()
	return b.Bytes()
}

// decompress returns the text of an embedded document.
func decompress(compressed []byte) []byte {
	r, err := gzip.NewReader(bytes.NewReader(compressed))
	if err == nil {
		var text []byte
		if text, err = io.ReadAll(r); err == nil {
			return text
		}
	}
	panic("openapi: an embedded document is damaged: " + err.Error())
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", h.mediaType)
	w.Header().Set("ETag", h.etag)
	w.Header().Set("Cache-Control", "no-cache") // may be kept, but is asked for again
	// The document is sent whole, and the only condition is the one that it describes.
	r = &http.Request{Method: r.Method, Header: http.Header{"If-None-Match": r.Header["If-None-Match"], "Accept-Encoding": r.Header["Accept-Encoding"]}}
	if static.AcceptsGzip(r) {
		w.Header().Set("Content-Encoding", "gzip")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(h.compressed()))
		return
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(h.text()))
}
