package site_test

import (
	"compress/gzip"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/docs"
	"github.com/moderato-live/moderato/docs/openapi"
	"github.com/moderato-live/moderato/docs/site"
)

// documentation is the site, which is rendered once for all tests.
var documentation = site.New(openapi.JSON, slog.New(slog.DiscardHandler))

func get(t *testing.T, path string, header http.Header) *http.Response {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	for name, values := range header {
		r.Header[name] = values
	}
	w := httptest.NewRecorder()
	documentation.ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestPagesAreServedAsHTMLAndMarkdown(t *testing.T) {
	t.Parallel()
	files, err := docs.Files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name, isPage := strings.CutSuffix(file.Name(), ".md")
		if !isPage {
			continue
		}
		source, err := docs.Files.ReadFile(file.Name())
		if err != nil {
			t.Fatal(err)
		}
		if r := get(t, "/docs/"+file.Name(), nil); r.StatusCode != http.StatusOK || body(t, r) != string(source) {
			t.Errorf("/docs/%s is not the file", file.Name())
		}
		title, _, _ := strings.Cut(strings.TrimPrefix(string(source), "# "), "\n")
		r := get(t, "/docs/"+strings.TrimSuffix(name, "index"), nil)
		if page := body(t, r); r.StatusCode != http.StatusOK || !strings.Contains(page, ">"+title+"</h1>") {
			t.Errorf("the page of %s has not the heading %q: the file needs a place in the navigation", file.Name(), title)
		}
	}
}

func TestListForPrograms(t *testing.T) {
	t.Parallel()
	list := body(t, get(t, "/llms.txt", nil))
	if list != body(t, get(t, "/docs/llms.txt", nil)) {
		t.Error("the two lists differ")
	}
	var count int
	for line := range strings.Lines(list) {
		_, rest, isPage := strings.Cut(line, "](")
		if !isPage {
			continue
		}
		count++
		path, about, _ := strings.Cut(strings.TrimSpace(rest), "): ")
		if r := get(t, path, nil); r.StatusCode != http.StatusOK || r.Header.Get("Content-Type") != "text/markdown; charset=utf-8" {
			t.Errorf("%s: got %d %s", path, r.StatusCode, r.Header.Get("Content-Type"))
		}
		if about == "" {
			t.Errorf("%s has no description", path)
		}
	}
	if count < 15 {
		t.Errorf("the list has %d pages", count)
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	r := get(t, "/docs/errors", nil)
	policy := r.Header.Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none';") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") {
		t.Errorf("got the policy %q", policy)
	}
	if r.Header.Get("X-Content-Type-Options") != "nosniff" || r.Header.Get("Cache-Control") != "no-cache" || r.Header.Get("Vary") != "Accept-Encoding" {
		t.Errorf("got the header %v", r.Header)
	}
	plain := body(t, r)
	if again := get(t, "/docs/errors", http.Header{"If-None-Match": {r.Header.Get("ETag")}}); again.StatusCode != http.StatusNotModified {
		t.Errorf("with the ETag: got %d", again.StatusCode)
	}
	zipped := get(t, "/docs/errors", http.Header{"Accept-Encoding": {"br, gzip"}})
	if zipped.Header.Get("ETag") == r.Header.Get("ETag") {
		t.Error("the compressed page has the same ETag")
	}
	unzip, err := gzip.NewReader(zipped.Body)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(unzip); err != nil || string(text) != plain {
		t.Errorf("the compressed page differs: %v", err)
	}
	_, asset, _ := strings.Cut(plain, `<link rel="stylesheet" href="`)
	asset, _, _ = strings.Cut(asset, `"`)
	if r := get(t, asset, nil); r.StatusCode != http.StatusOK || !strings.Contains(r.Header.Get("Cache-Control"), "immutable") {
		t.Errorf("%s: got %d, Cache-Control %q", asset, r.StatusCode, r.Header.Get("Cache-Control"))
	}
}

func TestOtherRequests(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/", "/docs"} {
		if r := get(t, path, nil); r.StatusCode != http.StatusFound || r.Header.Get("Location") != "/docs/" {
			t.Errorf("%s: got %d to %q", path, r.StatusCode, r.Header.Get("Location"))
		}
	}
	for _, path := range []string{"/docs/nothing", "/docs/nothing" + ".md", "/docs/../secret", "/docs/404"} {
		if r := get(t, path, nil); r.StatusCode != http.StatusNotFound {
			t.Errorf("%s: got %d", path, r.StatusCode)
		}
	}
	w := httptest.NewRecorder()
	documentation.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/docs/", nil))
	if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: got %d", w.Code)
	}
	for path, want := range map[string]bool{"/": true, "/docs": true, "/docs/a/b": true, "/llms.txt": true, "/docsx": false, "/v1/channels": false, "": false} {
		if documentation.Has(path) != want {
			t.Errorf("Has(%q) is %t", path, !want)
		}
	}
}

// A server starts without the pages: they are rendered at the first request.
func TestSiteIsRenderedAtTheFirstRequest(t *testing.T) {
	start := time.Now()
	unused := site.New([]byte("no document"), slog.New(slog.DiscardHandler))
	if elapsed := time.Since(start); elapsed > 10*time.Millisecond {
		t.Errorf("New takes %v", elapsed)
	}
	w := httptest.NewRecorder()
	unused.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/docs/", nil))
	if w.Code != http.StatusNotFound {
		t.Errorf("a site that cannot be rendered: got %d", w.Code)
	}
}

func BenchmarkRender(b *testing.B) {
	for b.Loop() {
		fresh := site.New(openapi.JSON, slog.New(slog.DiscardHandler))
		fresh.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/docs/", nil))
	}
}
