// Package downloads serves the client libraries and the contract under /downloads: an npm
// package, a Python wheel, and the .proto files with a set of descriptors. It makes them of the
// sources that are part of the program, so that they always fit the server. The same program
// makes the same bytes.
package downloads

import (
	"net/http"
	"sync"

	"github.com/moderato-live/moderato/gateway"
	"github.com/moderato-live/moderato/gateway/static"
)

const (
	// Path is where the files are served.
	Path = "/downloads/"
	// Page is the page of the documentation that says how to install them.
	Page = "/docs/start#downloads"
)

// download is a file that is made when it is first requested.
type download struct {
	name, mediaType string
	make            func() ([]byte, error)
}

// all returns the downloads.
func all() []download {
	return []download{
		{npmName(), "application/gzip", npmPackage},
		{wheelName(), "application/zip", wheel},
		{"moderato-proto.zip", "application/zip", protoArchive},
		{descriptorsName, "application/octet-stream", descriptors},
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
			return f.ServePublic(w, r)
		}})
	}
	return endpoints
}
