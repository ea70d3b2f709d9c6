// Package site serves the documentation: the Markdown files of docs/ as pages, the same
// files as they are, and the reference of the REST API with a form to try it. It sends
// everything itself, so a page causes no request to another server.
package site

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"
)

// llmsPaths are the paths of the list of pages for programs.
var llmsPaths = []string{"/llms.txt", Root + "llms.txt"}

// policy allows what the pages have, and nothing from elsewhere.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

const (
	// revalidated responses are stored, and checked at each use.
	revalidated = "no-cache"
	// immutable responses have their hash in their path.
	immutable = "public, max-age=31536000, immutable"
)

// Site is the documentation. It renders the pages when the first one is requested, so that
// a server starts without them.
type Site struct {
	// prefilled is what the console of the reference sends at first.
	prefilled Credentials
	render    func() map[string]*file
}

// Credentials are what a request to the API needs.
type Credentials struct {
	// Client is the id of a client, and Token a token that it has.
	Client, Token string
	// User is the name of the user of the token.
	User string
	// Receiver is the address of a receiver of webhooks that the server may call.
	Receiver string
}

// New returns the site. openAPI returns the description of the REST API, and log receives an
// error in the pages, which a test excludes.
func New(openAPI func() []byte, log *slog.Logger) *Site {
	s := &Site{}
	s.render = sync.OnceValue(func() map[string]*file {
		files, err := renderAll(openAPI(), s.prefilled)
		if err != nil {
			log.Error("the documentation cannot be rendered", "error", err)
		}
		return files
	})
	return s
}

// Prefill has the console of the reference begin with credentials that anybody may have: a
// demo's. It is called before the first request.
func (s *Site) Prefill(c Credentials) { s.prefilled = c }

// Has reports whether a request is for the site. At / this is a request to read it without a
// token: a client of the API, which has one, has the path wrong.
func (*Site) Has(r *http.Request) bool {
	switch path := r.URL.Path; path {
	case "/":
		return (r.Method == http.MethodGet || r.Method == http.MethodHead) && r.Header.Get("Authorization") == ""
	case llmsPaths[0], strings.TrimSuffix(Root, "/"):
		return true
	default:
		return strings.HasPrefix(path, Root)
	}
}

// ServeHTTP serves a path that the site has.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Security-Policy", policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "same-origin")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		header.Set("Allow", "GET, HEAD")
		http.Error(w, "The documentation is read with GET.", http.StatusMethodNotAllowed)
		return
	}
	path := r.URL.Path
	if path+"/" == Root || path == "/" {
		http.Redirect(w, r, Root, http.StatusFound)
		return
	}
	files := s.render()
	if found := files[path]; found != nil {
		found.serve(w, r)
		return
	}
	missing := files[notFound]
	if missing == nil || strings.HasSuffix(path, ".md") {
		http.Error(w, "The documentation has no such page. "+llmsPaths[0]+" lists the pages.", http.StatusNotFound)
		return
	}
	header.Set("Cache-Control", revalidated)
	header.Set("Content-Type", missing.contentType)
	w.WriteHeader(http.StatusNotFound)
	_, _ = w.Write(missing.content)
}

// file is what the site serves at one path.
type file struct {
	contentType, cache string
	content            []byte
	tag                string
	// compressed returns the content in gzip.
	compressed func() []byte
}

func newFile(contentType, cache string, content []byte) *file {
	sum := sha256.Sum256(content)
	return &file{
		contentType: contentType, cache: cache, content: content, tag: hex.EncodeToString(sum[:8]),
		compressed: sync.OnceValue(func() []byte {
			var b bytes.Buffer
			zip := gzip.NewWriter(&b)
			_, _ = zip.Write(content)
			_ = zip.Close()
			return b.Bytes()
		}),
	}
}

func (f *file) serve(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Type", f.contentType)
	header.Set("Cache-Control", f.cache)
	header.Set("Vary", "Accept-Encoding")
	content, tag := f.content, f.tag
	if acceptsGzip(r) {
		header.Set("Content-Encoding", "gzip")
		content, tag = f.compressed(), tag+"-gzip"
	}
	header.Set("ETag", `"`+tag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// acceptsGzip reports whether a client accepts gzip.
func acceptsGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, weight, _ := strings.Cut(part, ";")
		if strings.TrimSpace(name) == "gzip" {
			weight = strings.TrimSpace(weight)
			return weight != "q=0" && weight != "q=0.0"
		}
	}
	return false
}
