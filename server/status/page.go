package status

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the page and its style
	"encoding/base64"
	"html/template"
	"net/http"
	"strings"
	"time"
)

var (
	//go:embed page.html
	pageText string
	//go:embed style.css
	style string

	// policy allows the page's own style, and nothing else.
	policy = "default-src 'none'; style-src 'sha256-" + hash(style) + "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(sum[:])
}

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"style": func() template.CSS { return template.CSS(style) }, //nolint:gosec // a file of the program
	"ago":   ago,
	"time":  func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
}).Parse(pageText))

// Runbook returns where the documentation says what to do.
func (r *report) Runbook(p problem) string {
	return r.Docs() + "/docs/operations#" + strings.ToLower(p.Alert)
}

// ServeHTTP serves the page.
func (s Sources) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var html bytes.Buffer
	if err := page.Execute(&html, s.read(r.Context())); err != nil {
		http.Error(w, "the page cannot be written: "+err.Error(), http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	_, _ = w.Write(html.Bytes())
}
