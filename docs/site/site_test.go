package site_test

import (
	"compress/gzip"
	"html"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/clients"
	"github.com/moderato-live/moderato/docs"
	"github.com/moderato-live/moderato/docs/openapi"
	"github.com/moderato-live/moderato/docs/site"
)

// documentation is the site, which is rendered once for all tests.
var documentation = site.New(openapi.JSON, "", slog.New(slog.DiscardHandler))

// answer is a response of the site.
type answer struct {
	status int
	header http.Header
	body   string
}

func get(t *testing.T, path string, header http.Header) answer {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	r.Host = "127.0.0.1:8080" // as in the Markdown files
	for name, values := range header {
		r.Header[name] = values
	}
	w := httptest.NewRecorder()
	documentation.ServeHTTP(w, r)
	return answer{w.Code, w.Header(), w.Body.String()}
}

func TestPagesAreServedAsHTMLAndMarkdown(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(docs.Files, "*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		wantPage(t, docs.Files, file, strings.TrimSuffix(file, ".md"))
	}
	libraries, err := fs.Glob(clients.Files, "*/README.md")
	if err != nil || len(libraries) != 3 {
		t.Fatalf("found the READMEs %q: %v", libraries, err)
	}
	for _, file := range libraries {
		wantPage(t, clients.Files, file, "clients/"+path.Dir(file))
	}
}

// wantPage checks that a Markdown file is the page with a name, as it is and in HTML.
func wantPage(t *testing.T, files fs.FS, file, name string) {
	t.Helper()
	source, err := fs.ReadFile(files, file)
	if err != nil {
		t.Fatal(err)
	}
	markdown := get(t, "/docs/"+name+".md", nil)
	if markdown.status != http.StatusOK || linkPattern.ReplaceAllString(markdown.body, "]()") != linkPattern.ReplaceAllString(string(source), "]()") {
		t.Errorf("/docs/%s.md is not the file", name)
	}
	for _, link := range linkPattern.FindAllStringSubmatch(markdown.body, -1) {
		if to, _, _ := strings.Cut(link[1], "#"); isServed(to) && get(t, to, nil).status != http.StatusOK || strings.HasPrefix(to, ".") {
			t.Errorf("/docs/%s.md links to %s, which is not served", name, to)
		}
	}
	title, _, _ := strings.Cut(strings.TrimPrefix(string(source), "# "), "\n")
	r := get(t, "/docs/"+strings.TrimSuffix(name, "index"), nil)
	if page := r.body; r.status != http.StatusOK || !strings.Contains(page, ">"+title+"</h1>") {
		t.Errorf("the page of %s has not the heading %q: the file needs a place in the navigation", file, title)
	}
}

// TestPagesAreShort keeps the pages of operators and developers at a length that is read to
// the end.
func TestPagesAreShort(t *testing.T) {
	t.Parallel()
	for page, limit := range map[string]int{
		"architecture": 3500, "operations": 6000,
		"changes": 2500, "delivery": 2500,
		"chat-exchange": 1000, "command-line": 2500, "flags": 2500, "metrics": 2500, "replication": 2500, "retention": 1500, "tracing": 2500,
	} {
		text, err := docs.Files.ReadFile(page + ".md")
		if n := len(strings.Fields(string(text))); err != nil || n > limit {
			t.Errorf("docs/%s.md has %d words, more than %d (%v): move a subject to a page of its own", page, n, limit, err)
		}
	}
}

func TestListForPrograms(t *testing.T) {
	t.Parallel()
	list := get(t, "/llms.txt", nil).body
	if list != get(t, "/docs/llms.txt", nil).body {
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
		if r := get(t, path, nil); r.status != http.StatusOK || r.header.Get("Content-Type") != "text/markdown; charset=utf-8" {
			t.Errorf("%s: got %d %s", path, r.status, r.header.Get("Content-Type"))
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
	policy := r.header.Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none';") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") {
		t.Errorf("got the policy %q", policy)
	}
	if r.header.Get("X-Content-Type-Options") != "nosniff" || r.header.Get("Cache-Control") != "no-cache" || r.header.Get("Vary") != "Accept-Encoding" {
		t.Errorf("got the header %v", r.header)
	}
	plain := r.body
	if again := get(t, "/docs/errors", http.Header{"If-None-Match": {r.header.Get("ETag")}}); again.status != http.StatusNotModified {
		t.Errorf("with the ETag: got %d", again.status)
	}
	zipped := get(t, "/docs/errors", http.Header{"Accept-Encoding": {"br, gzip"}})
	if zipped.header.Get("ETag") == r.header.Get("ETag") {
		t.Error("the compressed page has the same ETag")
	}
	unzip, err := gzip.NewReader(strings.NewReader(zipped.body))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(unzip); err != nil || string(text) != plain {
		t.Errorf("the compressed page differs: %v", err)
	}
	_, asset, _ := strings.Cut(plain, `<link rel="stylesheet" href="`)
	asset, _, _ = strings.Cut(asset, `"`)
	if r := get(t, asset, nil); r.status != http.StatusOK || !strings.Contains(r.header.Get("Cache-Control"), "immutable") {
		t.Errorf("%s: got %d, Cache-Control %q", asset, r.status, r.header.Get("Cache-Control"))
	}
}

// TestPagesNameTheirServer reads a page at several addresses: its examples call the server that
// sent it.
func TestPagesNameTheirServer(t *testing.T) {
	t.Parallel()
	public := site.New(openapi.JSON, "https://api.example.com", slog.New(slog.DiscardHandler))
	for _, c := range []struct {
		site                    *site.Site
		host, proto, want, none string
	}{
		{documentation, "mod.example.com:8443", "https", "https://mod.example.com:8443/downloads/moderato", "127.0.0.1"},
		{documentation, "10.1.2.3", "", "http://10.1.2.3/downloads/moderato", "127.0.0.1"},
		{documentation, "127.0.0.1:8080", "", "http://127.0.0.1:8080/downloads/moderato", "example.com"},
		{documentation, `"><script>`, "", "http://127.0.0.1:8080/downloads/moderato", "<script>"},
		{public, "10.1.2.3", "", "https://api.example.com/downloads/moderato", "127.0.0.1"},
	} {
		for _, path := range []string{"/docs/start", "/docs/start.md", "/docs/search.json"} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
			r.Host = c.host
			r.Header.Set("X-Forwarded-Proto", c.proto)
			w := httptest.NewRecorder()
			c.site.ServeHTTP(w, r)
			if body := w.Body.String(); !strings.Contains(body, c.want) || path != "/docs/search.json" && strings.Contains(body, c.none) {
				t.Errorf("%s at %s names not %s, or %s", path, c.host, c.want, c.none)
			}
		}
	}
}

// TestReferenceStatesTokensOnce checks that each operation names the kinds of token that it
// accepts, either in its description or below it.
func TestReferenceStatesTokensOnce(t *testing.T) {
	t.Parallel()
	var page string
	for _, link := range regexp.MustCompile(`href="(/docs/reference/[a-z-]+)"`).FindAllStringSubmatch(get(t, "/docs/reference", nil).body, -1) {
		page += get(t, link[1], nil).body
	}
	if n := strings.Count(page, `<section class="operation"`); n < 60 {
		t.Errorf("the pages have %d operations", n)
	}
	for _, operation := range strings.Split(page, `<section class="operation"`)[1:] {
		if strings.Contains(operation, "<code>/v1/") && strings.Count(operation, "Tokens:") != 1 {
			t.Errorf("not one line about tokens: %.300s", operation)
		}
	}
	_, removeMute, _ := strings.Cut(page, `id="removeMute"`)
	if removeMute, _, _ = strings.Cut(removeMute, "</section>"); !strings.Contains(removeMute, "</strong> user, service with acting-user. <strong>Scope:</strong>") {
		t.Errorf("removeMute states that a service token is enough: %s", removeMute)
	}
}

// TestConsoleOfDemo checks that the console has the credentials of a demo, and that no other
// server's has any.
func TestConsoleOfDemo(t *testing.T) {
	t.Parallel()
	demo := site.New(openapi.JSON, "", slog.New(slog.DiscardHandler))
	demo.Prefill(site.Credentials{Client: "the-client", Token: "mdu_token", User: "Ines", Receiver: "http://127.0.0.1:1/"})
	w := httptest.NewRecorder()
	demo.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/docs/reference/webhooks", nil))
	page := w.Body.String()
	for _, want := range []string{`value="the-client"`, `value="mdu_token"`, "token of Ines", "&#34;url&#34;: &#34;http://127.0.0.1:1/&#34;"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page of the demo has no %s", want)
		}
	}
	if page := get(t, "/docs/reference/webhooks", nil).body; strings.Count(page, `value=""`) != 2 || !strings.Contains(page, `<a href="/docs/oauth">signing in</a>`) {
		t.Error("the page does not say where the credentials come from")
	}
}

func TestOtherRequests(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/", "/docs"} {
		if r := get(t, path, nil); r.status != http.StatusFound || r.header.Get("Location") != "/docs/" {
			t.Errorf("%s: got %d to %q", path, r.status, r.header.Get("Location"))
		}
	}
	for _, path := range []string{"/docs/nothing", "/docs/nothing" + ".md", "/docs/../secret", "/docs/404"} {
		if r := get(t, path, nil); r.status != http.StatusNotFound {
			t.Errorf("%s: got %d", path, r.status)
		}
	}
	w := httptest.NewRecorder()
	documentation.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/docs/", nil))
	if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: got %d", w.Code)
	}
	for path, want := range map[string]bool{"/": true, "/docs": true, "/docs/a/b": true, "/llms.txt": true, "/docsx": false, "/v1/channels": false, "/x/docs/": false} {
		if documentation.Has(httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)) != want {
			t.Errorf("Has(%q) is %t", path, !want)
		}
	}
	for method, want := range map[string]bool{http.MethodGet: true, http.MethodHead: true, http.MethodPost: false} {
		if documentation.Has(httptest.NewRequestWithContext(t.Context(), method, "/", nil)) != want {
			t.Errorf("%s of /: Has is %t", method, !want)
		}
	}
	client := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	client.Header.Set("Authorization", "Bearer mdu_token")
	if documentation.Has(client) {
		t.Error("a client of the API is sent from / to the documentation")
	}
}

// A server starts without the pages: they are rendered at the first request.
func TestSiteIsRenderedAtTheFirstRequest(t *testing.T) {
	start := time.Now()
	unused := site.New(func() []byte { return []byte("no document") }, "", slog.New(slog.DiscardHandler))
	if elapsed := time.Since(start); elapsed > 10*time.Millisecond {
		t.Errorf("New takes %v", elapsed)
	}
	w := httptest.NewRecorder()
	unused.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/docs/", nil))
	if w.Code != http.StatusNotFound {
		t.Errorf("a site that cannot be rendered: got %d", w.Code)
	}
}

// TestReferenceIsSplit checks that no page of the reference has all operations.
func TestReferenceIsSplit(t *testing.T) {
	t.Parallel()
	list := get(t, "/docs/reference", nil).body
	for _, want := range []string{`<a href="/docs/reference/moderation#banUser">`, `<a href="/docs/reference/channels#listFollowers">`} {
		if !strings.Contains(list, want) {
			t.Errorf("the list has no %s", want)
		}
	}
	if markdown := get(t, "/docs/reference"+".md", nil).body; !strings.Contains(markdown, "](/docs/reference/moderation.md#banUser)") || !strings.HasPrefix(markdown, "# API reference\n") {
		t.Errorf("the Markdown of the list begins %.200s", markdown)
	}
	moderation := get(t, "/docs/reference/moderation", nil).body
	if !strings.Contains(moderation, `id="banUser"`) || strings.Contains(moderation, `id="listFollowers"`) {
		t.Error("the page of a service has not its own operations alone")
	}
}

// TestJSONIsReadable checks how examples are shown, also those that leave things out.
func TestJSONIsReadable(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		`{"a":1,"b":{"c":[],"d":["x, y",…]},"e":{}}`: "{\n  \"a\": 1,\n  \"b\": {\n    \"c\": [],\n    \"d\": [\n      \"x, y\",\n      …\n    ]\n  },\n  \"e\": {}\n}\n",
		`{"a":"\"{,","b":"…"}`:                       "{\n  \"a\": \"\\\"{,\",\n  \"b\": \"…\"\n}\n",
		"POST /v1 HTTP/1.1\n\n{\"a\":1}\n":           "POST /v1 HTTP/1.1\n\n{\n  \"a\": 1\n}\n",
		`{"a":"<b>"}`:                                "{\n  \"a\": \"<b>\"\n}\n",
	} {
		shown := string(site.JSONHTML(source))
		if got := html.UnescapeString(strings.ReplaceAll(shown, "<wbr>", "")); got != want || strings.Contains(shown, "<b>") {
			t.Errorf("%s is shown as\n%s\nwant\n%s", source, got, want)
		}
	}
	if page := get(t, "/docs/moderation", nil).body; !strings.Contains(page, "\n  &#34;success&#34;: true,\n") {
		t.Error("the page about moderation has JSON on one line")
	}
}

func BenchmarkRender(b *testing.B) {
	for b.Loop() {
		fresh := site.New(openapi.JSON, "", slog.New(slog.DiscardHandler))
		fresh.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/docs/", nil))
	}
}
