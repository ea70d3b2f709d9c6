// Package static serves files that are part of the program: pictures, downloads and the pages
// of the documentation. Each has an ETag, and is sent compressed to those who accept it.
package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"sync"
	"time"
)

// How long a response may be used.
const (
	// Revalidated responses are stored, and checked at each use.
	Revalidated = "no-cache"
	// Week is for files that hardly ever change.
	Week = "public, max-age=604800"
	// Immutable responses have their hash in their path.
	Immutable = "public, max-age=31536000, immutable"
)

// File is a file that is served.
type File struct {
	// Content is the file as it is.
	Content []byte
	// Tag is a hash of the content.
	Tag string

	mediaType, cache string
	// compressed returns the content in gzip; nil if the content is compressed as it is.
	compressed func() []byte
}

// New returns a file.
func New(mediaType, cache string, content []byte) *File {
	sum := sha256.Sum256(content)
	f := &File{Content: content, Tag: hex.EncodeToString(sum[:8]), mediaType: mediaType, cache: cache}
	if isText(mediaType) {
		f.compressed = sync.OnceValue(func() []byte {
			var b bytes.Buffer
			w := gzip.NewWriter(&b)
			_, _ = w.Write(content) // a buffer takes everything
			_ = w.Close()
			return b.Bytes()
		})
	}
	return f
}

func isText(mediaType string) bool {
	mediaType, _, _ = strings.Cut(mediaType, ";")
	return strings.HasPrefix(mediaType, "text/") || strings.HasSuffix(mediaType, "json") || strings.HasSuffix(mediaType, "xml")
}

// With returns the file with another content.
func (f *File) With(content []byte) *File { return New(f.mediaType, f.cache, content) }

// IsText reports whether the file is a text.
func (f *File) IsText() bool { return f.compressed != nil }

// ServeHTTP implements http.Handler.
func (f *File) ServeHTTP(w http.ResponseWriter, r *http.Request) { f.ServeAs(http.StatusOK, w, r) }

// ServeAs serves the file with a status. Files are read only.
func (f *File) ServeAs(status int, w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "This is read with GET.", http.StatusMethodNotAllowed)
		return
	}
	h.Set("Content-Type", f.mediaType)
	h.Set("Cache-Control", f.cache)
	content, tag := f.Content, f.Tag
	if f.IsText() {
		h.Set("Vary", "Accept-Encoding")
		if AcceptsGzip(r) {
			h.Set("Content-Encoding", "gzip")
			content, tag = f.compressed(), tag+"-gzip"
		}
	}
	if status != http.StatusOK {
		w.WriteHeader(status)
		if r.Method == http.MethodGet {
			_, _ = w.Write(content)
		}
		return
	}
	h.Set("ETag", `"`+tag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// Inert is a Content-Security-Policy under which a file that is opened as a page runs nothing.
const Inert = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

// ServePublic serves the file to anyone, from any page. If it is opened as a page, it runs
// nothing.
func (f *File) ServePublic(w http.ResponseWriter, r *http.Request) error {
	return f.ServeUnder(Inert, w, r)
}

// ServeUnder serves the file as ServePublic does, under another policy.
func (f *File) ServeUnder(policy string, w http.ResponseWriter, r *http.Request) error {
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "*") // whatever --cors-origins says of the API
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	h.Set("Content-Security-Policy", policy)
	f.ServeHTTP(w, r)
	return nil
}

// AcceptsGzip reports whether a client accepts gzip.
func AcceptsGzip(r *http.Request) bool {
	for coding := range strings.SplitSeq(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		name, weight, _ := strings.Cut(strings.ReplaceAll(coding, " ", ""), ";")
		if strings.EqualFold(name, "gzip") {
			return weight == "" || strings.Trim(weight, "q=0.") != "" // q=0 refuses
		}
	}
	return false
}
