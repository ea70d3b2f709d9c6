// Package site serves the documentation: the Markdown files of docs/ as pages, the same
// files as they are, and the reference of the REST API with a form to try it. It sends
// everything itself, so a page causes no request to another server.
package site

import (
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/moderato-live/moderato/gateway/static"
)

// llmsPaths are the paths of the list of pages for programs.
var llmsPaths = []string{"/llms.txt", Root + "llms.txt"}

// policy allows what the pages have, and nothing from elsewhere.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// Site is the documentation. It renders the pages when the first one is requested, so that
// a server starts without them.
type Site struct {
	// prefilled is what the console of the reference sends at first.
	prefilled Credentials
	render    func() map[string]*static.File
	publicURL string
	// named is what the pages name of the latest request's server.
	named atomic.Pointer[naming]
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

// New returns the site. openAPI returns the description of the REST API, publicURL is the origin
// that the pages name, if it is not that of each request, and log receives an error in the
// pages, which a test excludes.
func New(openAPI func() []byte, publicURL string, log *slog.Logger) *Site {
	s := &Site{publicURL: publicURL}
	s.render = sync.OnceValue(func() map[string]*static.File {
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
	header.Set("Referrer-Policy", "same-origin")
	path := r.URL.Path
	if path+"/" == Root || path == "/" {
		http.Redirect(w, r, Root, http.StatusFound)
		return
	}
	files := s.render()
	if found := files[path]; found != nil {
		s.naming(r).of(path, found).ServeHTTP(w, r)
		return
	}
	missing := files[notFound]
	if missing == nil || strings.HasSuffix(path, ".md") {
		http.Error(w, "The documentation has no such page. "+llmsPaths[0]+" lists the pages.", http.StatusNotFound)
		return
	}
	missing.ServeAs(http.StatusNotFound, w, r)
}
