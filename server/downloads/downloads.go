// Package downloads serves the client libraries and the contract under /downloads: an npm
// package, a Python wheel, an overlay, and the .proto files with a set of descriptors. It makes
// them of the sources that are part of the program, so that they always fit the server. The same program
// makes the same bytes.
package downloads

import (
	"cmp"
	"net/http"
	"sync"

	"github.com/moderato-live/moderato/docs"
	"github.com/moderato-live/moderato/gateway"
	"github.com/moderato-live/moderato/gateway/static"
)

const (
	// Path is where the files are served.
	Path = "/downloads/"
	// Page is the page of the documentation that says how to install them.
	Page = "/docs/start#downloads"

	overlayName = "overlay.html"
)

// overlayPolicy lets the overlay run on the server's origin, where it calls this server alone.
// As a file, it calls the server that its address names.
const overlayPolicy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src http: https:; " +
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// download is a file that is made when it is first requested.
type download struct {
	name, mediaType string
	make            func() ([]byte, error)
	// policy is the Content-Security-Policy; static.Inert if it is empty.
	policy string
}

// all returns the downloads.
func all() []download {
	return []download{
		{name: npmName(), mediaType: "application/gzip", make: npmPackage},
		{name: wheelName(), mediaType: "application/zip", make: wheel},
		{name: overlayName, mediaType: "text/html; charset=utf-8", policy: overlayPolicy, make: func() ([]byte, error) { return docs.Overlay, nil }},
		{name: "moderato-proto.zip", mediaType: "application/zip", make: protoArchive},
		{name: descriptorsName, mediaType: "application/octet-stream", make: descriptors},
	}
}

// Names returns the names of the files.
func Names() (names []string) {
	for _, d := range all() {
		names = append(names, d.name)
	}
	return names
}

// Endpoints returns the endpoints of the files. Anyone may load them.
func Endpoints() []gateway.Endpoint {
	endpoints := []gateway.Endpoint{{Method: http.MethodGet, Path: Path[:len(Path)-1], Serve: func(w http.ResponseWriter, r *http.Request) error {
		http.Redirect(w, r, Page, http.StatusFound)
		return nil
	}}}
	for _, d := range all() {
		file := sync.OnceValues(func() (*static.File, error) {
			content, err := d.make()
			return static.New(d.mediaType, static.Revalidated, content), err
		})
		endpoints = append(endpoints, gateway.Endpoint{Method: http.MethodGet, Path: Path + d.name, Serve: func(w http.ResponseWriter, r *http.Request) error {
			f, err := file()
			if err != nil {
				return err
			}
			return f.ServeUnder(cmp.Or(d.policy, static.Inert), w, r)
		}})
	}
	return endpoints
}
