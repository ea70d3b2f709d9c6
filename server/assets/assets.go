// Package assets holds the files that every server serves under /assets, such as the picture
// of whoever has none.
package assets

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"mime"
	"net/http"
	"path"
	"time"

	"github.com/moderato-live/moderato/gateway"
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
		all = append(all, gateway.Endpoint{Method: http.MethodGet, Path: Path + e.Name(), Serve: serve(e.Name(), text)})
	}
	return all
}

func serve(name string, text []byte) func(http.ResponseWriter, *http.Request) error {
	sum := sha256.Sum256(text)
	etag := `"` + hex.EncodeToString(sum[:8]) + `"`
	mediaType := mime.TypeByExtension(path.Ext(name))
	return func(w http.ResponseWriter, r *http.Request) error {
		h := w.Header()
		h.Set("Content-Type", mediaType)
		h.Set("ETag", etag)
		h.Set("Cache-Control", "public, max-age=604800")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Access-Control-Allow-Origin", "*") // whatever --cors-origins says of the API
		h.Set("Cross-Origin-Resource-Policy", "cross-origin")
		// An SVG that is opened as a page runs nothing.
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text))
		return nil
	}
}
