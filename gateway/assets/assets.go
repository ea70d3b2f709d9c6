// Package assets holds the files that every server serves under /assets, such as the picture
// of whoever has none.
package assets

import (
	"embed"
	"mime"
	"net/http"
	"path"

	"github.com/moderato-live/moderato/gateway"
	"github.com/moderato-live/moderato/gateway/static"
)

// Path is where the files are served, and Avatar is the picture of whoever has none.
const (
	Path   = "/assets/"
	Avatar = Path + "avatar.svg"
)

//go:embed files
var files embed.FS

// Endpoints returns the endpoints of the files. Anyone may load them, from any page.
func Endpoints() (all []gateway.Endpoint) {
	entries, _ := files.ReadDir("files") // embedded
	for _, e := range entries {
		text, _ := files.ReadFile("files/" + e.Name())
		f := static.New(mime.TypeByExtension(path.Ext(e.Name())), static.Week, text)
		all = append(all, gateway.Endpoint{Method: http.MethodGet, Path: Path + e.Name(), Serve: f.ServePublic})
	}
	return all
}
