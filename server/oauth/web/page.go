package web

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"net/http"
	"net/url"
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
// only to this server, and to destination if it is not empty.
func (h *handler) page(x *exchange, status int, name, destination string, data any) error {
	var body bytes.Buffer
	if err := pages.ExecuteTemplate(&body, name, data); err != nil {
		return err
	}
	targets := "'self'"
	if destination != "" {
		targets += " " + sourceOf(destination)
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

// sourceOf returns the source of a redirect URI in a Content-Security-Policy. Browsers apply
// form-action to the redirects that follow a form too. A source cannot have an IPv6 address,
// and a private scheme has no host: the scheme alone is then the source.
func sourceOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil {
		return ""
	}
	if (u.Scheme == "http" || u.Scheme == "https") && !strings.Contains(u.Host, "[") {
		return u.Scheme + "://" + u.Host
	}
	return u.Scheme + ":"
}

// errorPage writes a page with an error.
func (h *handler) errorPage(x *exchange, status int, message string) error {
	x.outcome = "REFUSED"
	if status == http.StatusTooManyRequests {
		x.outcome = "RATE_LIMITED"
	}
	return h.page(x, status, "error", "", message)
}
