package signin

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"net/http"
	"strings"
)

//go:embed pages.html
var pagesText string

//go:embed style.css
var style string

// pages are the pages that people see. They use no scripts.
var pages = template.Must(template.New("pages").Funcs(template.FuncMap{
	"style": func() template.CSS { return template.CSS(style) }, //nolint:gosec // it is part of the program
}).Parse(pagesText))

// styleSource is the source of the style in a Content-Security-Policy.
var styleSource = func() string {
	sum := sha256.Sum256([]byte(style))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}()

// page writes a page. Browsers load nothing for it, show it in no frame, and send its forms
// only to this server, from where they may go on to destination if it is not empty.
func (h *handler) page(x *exchange, status int, name, destination string, data any) error {
	var body bytes.Buffer
	if err := pages.ExecuteTemplate(&body, name, data); err != nil {
		return err
	}
	targets := "'self'"
	if destination != "" {
		targets += " " + sourcesOf(destination)
	}
	header := x.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", "default-src 'none'; style-src "+styleSource+
		"; form-action "+targets+"; frame-ancestors 'none'; base-uri 'none'")
	header.Set("X-Frame-Options", "DENY")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	x.WriteHeader(status)
	_, _ = x.Write(body.Bytes())
	return nil
}

// sourcesOf returns the sources of a redirect URI in a Content-Security-Policy. Browsers
// apply form-action to all redirects that follow a form. The client may redirect in turn,
// to hosts that only it knows, so the sources are schemes. A private scheme ends in an
// application, which does not redirect.
func sourcesOf(uri string) string {
	scheme, _, _ := strings.Cut(uri, ":")
	if scheme == "http" || scheme == "https" {
		return "http: https:"
	}
	return scheme + ":"
}

// errorPage writes a page with an error.
func (h *handler) errorPage(x *exchange, status int, message string) error {
	x.outcome = "REFUSED"
	if status == http.StatusTooManyRequests {
		x.outcome = "RATE_LIMITED"
	}
	return h.page(x, status, "error", "", message)
}
