package site

import (
	"bytes"
	"net/http"
	"regexp"
	"sync"

	"github.com/moderato-live/moderato/gateway/static"
)

// exampleOrigin is the server in the examples of the Markdown files: that of the demo.
const exampleOrigin = "http://127.0.0.1:8080"

// naming names the server in the examples of the pages by its own origin, so that a reader can
// paste them.
type naming struct {
	origin string
	lock   sync.Mutex
	files  map[string]*static.File
}

// naming returns what names the server that is asked. Only the latest is kept, because a client
// chooses the header Host.
func (s *Site) naming(r *http.Request) *naming {
	origin := s.publicURL
	if origin == "" {
		origin = originOf(r)
	}
	if n := s.named.Load(); n != nil && n.origin == origin {
		return n
	}
	n := &naming{origin: origin, files: map[string]*static.File{}}
	s.named.Store(n)
	return n
}

// hostForm is the form of a Host header that becomes part of a page.
var hostForm = regexp.MustCompile(`^[A-Za-z0-9._:\[\]-]{1,255}$`)

// originOf returns the origin that a request names. A proxy in front must pass the header Host
// on, and set X-Forwarded-Proto: see peer.Behind.
func originOf(r *http.Request) string {
	switch {
	case !hostForm.MatchString(r.Host):
		return exampleOrigin
	case r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https":
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// of returns a file of the site as this server serves it.
func (n *naming) of(path string, f *static.File) *static.File {
	if n.origin == exampleOrigin || !f.IsText() || !bytes.Contains(f.Content, []byte(exampleOrigin)) {
		return f
	}
	n.lock.Lock()
	defer n.lock.Unlock()
	if n.files[path] == nil {
		n.files[path] = f.With(bytes.ReplaceAll(f.Content, []byte(exampleOrigin), []byte(n.origin)))
	}
	return n.files[path]
}
