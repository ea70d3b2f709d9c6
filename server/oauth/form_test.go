package oauth_test

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// packed returns a text in gzip.
func packed(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestBodiesOfForms sends forms in gzip, in other encodings, and of more than 64 KiB.
func TestBodiesOfForms(t *testing.T) {
	s := one(t)
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {web}, "client_secret": {s.secret}}.Encode()
	long := form + "&x=" + strings.Repeat("x", 64<<10)
	for _, c := range []struct {
		name, encoding, body string
		status               int
		code                 string
	}{
		{"gzip", "gzip", packed(t, form), http.StatusOK, ""},
		{"gzip in capitals", "GZIP", packed(t, form), http.StatusOK, ""},
		{"identity", "identity", form, http.StatusOK, ""},
		{"no gzip", "gzip", form, http.StatusBadRequest, "invalid_request"},
		{"gzip that is broken off", "gzip", packed(t, form)[:20], http.StatusBadRequest, "invalid_request"},
		{"brotli", "br", form, http.StatusUnsupportedMediaType, "invalid_request"},
		{"gzip twice", "gzip, gzip", packed(t, packed(t, form)), http.StatusUnsupportedMediaType, "invalid_request"},
		{"a large body", "", long, http.StatusRequestEntityTooLarge, "invalid_request"},
		{"a body that gzip makes small", "gzip", packed(t, long), http.StatusRequestEntityTooLarge, "invalid_request"},
	} {
		r, _ := http.NewRequest(http.MethodPost, s.url("/oauth2/token"), strings.NewReader(c.body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if c.encoding != "" {
			r.Header.Set("Content-Encoding", c.encoding)
		}
		send(t, r).want(t, c.name, c.status, c.code)
	}
}
