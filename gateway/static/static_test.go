package static_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/gateway/static"
)

func ask(t *testing.T, f *static.File, method string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "/file", nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	return w
}

func TestFilesAreReadOnly(t *testing.T) {
	t.Parallel()
	f := static.New("text/plain; charset=utf-8", static.Week, []byte("a text"))
	for method, want := range map[string]int{"GET": 200, "HEAD": 200, "POST": 405, "PUT": 405, "DELETE": 405, "OPTIONS": 405} {
		r := ask(t, f, method)
		if r.Code != want || r.Header().Get("X-Content-Type-Options") != "nosniff" || want == 405 && r.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: got %d with %v", method, r.Code, r.Header())
		}
	}
}

func TestFilesAreSentOnce(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("a text ", 100)
	f := static.New("image/svg+xml", static.Week, []byte(text))
	plain := ask(t, f, "GET")
	if got := plain.Header(); got.Get("Cache-Control") != static.Week || got.Get("Content-Type") != "image/svg+xml" || got.Get("Vary") != "Accept-Encoding" {
		t.Errorf("got %v", got)
	}
	zipped := ask(t, f, "GET", "Accept-Encoding", "gzip")
	reader, err := gzip.NewReader(zipped.Body)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(reader); err != nil || string(got) != text {
		t.Errorf("got %q compressed: %v", got, err)
	}
	for _, r := range []*httptest.ResponseRecorder{plain, zipped} {
		again := ask(t, f, "GET", "If-None-Match", r.Header().Get("ETag"), "Accept-Encoding", r.Header().Get("Content-Encoding"))
		if again.Code != http.StatusNotModified {
			t.Errorf("again: got %d", again.Code)
		}
	}
	if plain.Header().Get("ETag") == zipped.Header().Get("ETag") {
		t.Error("the compressed file has the same ETag")
	}
	archive := static.New("application/gzip", static.Revalidated, []byte(text))
	if r := ask(t, archive, "GET", "Accept-Encoding", "gzip"); r.Header().Get("Content-Encoding") != "" {
		t.Error("an archive is compressed again")
	}
}
