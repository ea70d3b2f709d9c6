// Package console serves the moderation console, a page for moderators and owners of channels.
// It calls nothing but the public API, so the server treats it like the page of any client.
package console

import (
	"embed"
	"encoding/json"
	"fmt"
	"html"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"

	"github.com/moderato-live/moderato/gateway/static"
)

// Path is where the console is served, and to which a sign-in returns.
const Path = "/console/"

const index = "index.html"

// The build fails if the built files are missing.
//
//go:embed dist/index.html dist
var dist embed.FS

// Options configures the console.
type Options struct {
	// PictureOrigins are the origins from which the page may load pictures, beside its own.
	PictureOrigins []string
	// HasSignIn is whether users can sign in to the console.
	HasSignIn bool
	// DemoUsers are the users that the sign-in of a demo offers. Without a demo, there are none.
	DemoUsers []DemoUser
}

// DemoUser is a user as whom anybody may sign in.
type DemoUser struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Role string `json:"role"`
}

// Console serves the page and its files.
type Console struct {
	files  map[string]*file // by path below Path; the page at ""
	policy string
}

// file is a file that is served, in two ways: a URL with the file's hash never changes its
// content, so browsers need not ask again.
type file struct{ revalidated, immutable *static.File }

// New returns the console.
func New(o Options) (*Console, error) {
	files, _ := fs.Sub(dist, "dist") // the path is valid
	return newConsole(files, o)
}

func newConsole(built fs.FS, o Options) (*Console, error) {
	c := &Console{files: map[string]*file{}, policy: policyOf(o.PictureOrigins)}
	var hashed []string // pairs: a file as the page names it, and with its hash
	err := fs.WalkDir(built, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || name == index {
			return err
		}
		content, err := fs.ReadFile(built, name)
		if err != nil {
			return err
		}
		mediaType := mime.TypeByExtension(path.Ext(name))
		f := &file{static.New(mediaType, static.Revalidated, content), static.New(mediaType, static.Immutable, content)}
		c.files[name] = f
		hashed = append(hashed, `"`+name+`"`, `"`+name+"?v="+f.immutable.Tag+`"`)
		return nil
	})
	if err != nil {
		return nil, err
	}
	page, err := fs.ReadFile(built, index)
	if err != nil {
		return nil, err
	}
	settings, err := o.metadata()
	if err != nil {
		return nil, err
	}
	head, body, isPage := strings.Cut(strings.NewReplacer(hashed...).Replace(string(page)), "</head>")
	if !isPage {
		return nil, fmt.Errorf("%s has no </head>", index)
	}
	c.files[""] = &file{revalidated: static.New("text/html; charset=utf-8", static.Revalidated, []byte(head+settings+"</head>"+body))}
	return c, nil
}

// metadata returns the elements by which the page knows its server.
func (o Options) metadata() (string, error) {
	elements := meta("picture-origins", strings.Join(o.PictureOrigins, " "))
	if !o.HasSignIn {
		elements += meta("sign-in", "off")
	}
	if len(o.DemoUsers) == 0 {
		return elements, nil
	}
	users, err := json.Marshal(o.DemoUsers)
	return elements + meta("demo", string(users)), err
}

func meta(name, content string) string {
	return `<meta name="` + name + `" content="` + html.EscapeString(content) + "\">\n"
}

// policyOf returns the Content-Security-Policy. A text of a user that became markup or a script
// by mistake would not run.
func policyOf(pictureOrigins []string) string {
	return strings.Join([]string{
		"default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "font-src 'self'",
		strings.TrimSpace("img-src 'self' " + strings.Join(pictureOrigins, " ")),
		"form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
		"require-trusted-types-for 'script'", "trusted-types 'none'",
	}, "; ")
}

// Has reports whether a request is for the console.
func (*Console) Has(r *http.Request) bool {
	return r.URL.Path+"/" == Path || strings.HasPrefix(r.URL.Path, Path)
}

// ServeHTTP serves a path that the console has.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Security-Policy", c.policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer") // the URL has the code of a sign-in, for a moment
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Permissions-Policy", "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()")
	name, isBelow := strings.CutPrefix(r.URL.Path, Path)
	if !isBelow {
		http.Redirect(w, r, Path, http.StatusFound)
		return
	}
	f := c.files[name]
	switch {
	case f == nil:
		http.Error(w, "The console has no such file.", http.StatusNotFound)
	case f.immutable != nil && r.URL.RawQuery == "v="+f.immutable.Tag:
		f.immutable.ServeHTTP(w, r)
	default:
		f.revalidated.ServeHTTP(w, r)
	}
}
