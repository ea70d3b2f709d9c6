package console

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/moderato-live/moderato/gateway/static"
)

func get(t *testing.T, c *Console, url string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	c.ServeHTTP(w, r)
	return w
}

// small is a console of two files.
func small(t *testing.T, o Options) *Console {
	t.Helper()
	c, err := newConsole(fstest.MapFS{
		"index.html": {Data: []byte(`<head><script type="module" src="app.js"></script></head><body></body>`)},
		"app.js":     {Data: []byte("start()")},
	}, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestFilesAreServed loads the page of the program and all that it names.
func TestFilesAreServed(t *testing.T) {
	t.Parallel()
	c, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	page := get(t, c, Path+"?code=x&state=y")
	if page.Code != http.StatusOK || page.Header().Get("Cache-Control") != static.Revalidated || !strings.HasPrefix(page.Header().Get("Content-Type"), "text/html") {
		t.Fatalf("the page: got %d with %v", page.Code, page.Header())
	}
	names := regexp.MustCompile(`(?:src|href)="([^"#]+)"`).FindAllStringSubmatch(page.Body.String(), -1)
	if len(names) < 2 {
		t.Errorf("the page names %d files, want its script and its style", len(names))
	}
	for _, name := range names {
		f := get(t, c, Path+name[1])
		if f.Code != http.StatusOK || f.Header().Get("Cache-Control") != static.Immutable {
			t.Errorf("%s: got %d with %v, want an immutable file", name[1], f.Code, f.Header())
		}
	}
	for name := range c.files {
		if get(t, c, Path+name).Header().Get("Content-Type") == "" {
			t.Errorf("%s has no media type", name)
		}
	}
	files, _ := fs.Sub(dist, "dist")
	if text, err := fs.ReadFile(files, index); err != nil || regexp.MustCompile(`<script>|<style|\son[a-z]+=| style=`).Match(text) {
		t.Errorf("the page has inline scripts or styles, which its policy forbids (%v)", err)
	}
}

func TestPathsOfConsole(t *testing.T) {
	t.Parallel()
	c := small(t, Options{})
	for path, want := range map[string]bool{"/console": true, "/console/": true, "/console/app.js": true, "/consoles": false, "/v1/console/": false} {
		if got := c.Has(httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)); got != want {
			t.Errorf("%s: got %t, want %t", path, got, want)
		}
	}
	if r := get(t, c, "/console"); r.Code != http.StatusFound || r.Header().Get("Location") != Path {
		t.Errorf("without a slash: got %d to %s", r.Code, r.Header().Get("Location"))
	}
	for _, path := range []string{"none.js", "index.html", "../console.go"} {
		if r := get(t, c, Path+path); r.Code != http.StatusNotFound {
			t.Errorf("%s: got %d, want 404", path, r.Code)
		}
	}
}

// TestHashOfAnotherVersionIsNotCached asks a server for a file of another version, as behind a
// proxy of servers that are upgraded one by one.
func TestHashOfAnotherVersionIsNotCached(t *testing.T) {
	t.Parallel()
	c := small(t, Options{})
	for query, want := range map[string]string{"": static.Revalidated, "?v=0123456789abcdef": static.Revalidated, "?v=" + c.files["app.js"].immutable.Tag: static.Immutable} {
		if got := get(t, c, Path+"app.js"+query).Header().Get("Cache-Control"); got != want {
			t.Errorf("%q: got %s, want %s", query, got, want)
		}
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	c := small(t, Options{PictureOrigins: []string{"https://a.example", "https://b.example:8443"}})
	want := map[string]string{
		"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; font-src 'self'; " +
			"img-src 'self' https://a.example https://b.example:8443; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; " +
			"require-trusted-types-for 'script'; trusted-types 'none'",
		"X-Content-Type-Options":     "nosniff",
		"Referrer-Policy":            "no-referrer",
		"Cross-Origin-Opener-Policy": "same-origin",
	}
	for _, path := range []string{"/console", Path, Path + "app.js", Path + "none"} {
		got := get(t, c, path).Header()
		for name, value := range want {
			if got.Get(name) != value {
				t.Errorf("%s: %s: got %q, want %q", path, name, got.Get(name), value)
			}
		}
		if got.Get("Permissions-Policy") == "" {
			t.Errorf("%s has no Permissions-Policy", path)
		}
	}
}

func TestPageKnowsItsServer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		options      Options
		want, absent []string
	}{
		{"a platform", Options{HasSignIn: true, PictureOrigins: []string{"https://a.example", "https://b.example"}},
			[]string{`<meta name="picture-origins" content="https://a.example https://b.example">`}, []string{`name="sign-in"`, `name="demo"`}},
		{"no sign-in", Options{}, []string{`<meta name="sign-in" content="off">`, `<meta name="picture-origins" content="">`}, []string{`name="demo"`}},
		{"a demo", Options{HasSignIn: true, DemoUsers: []DemoUser{{ID: "1", Name: `I"nes`, Role: "owner"}}},
			[]string{`<meta name="demo" content="[{&#34;id&#34;:&#34;1&#34;,&#34;name&#34;:&#34;I\&#34;nes&#34;,&#34;role&#34;:&#34;owner&#34;}]">`}, []string{`name="sign-in"`}},
	} {
		page := get(t, small(t, c.options), Path).Body.String()
		for _, text := range c.want {
			if !strings.Contains(page, text) {
				t.Errorf("%s: the page does not contain %s:\n%s", c.name, text, page)
			}
		}
		for _, text := range c.absent {
			if strings.Contains(page, text) {
				t.Errorf("%s: the page contains %s", c.name, text)
			}
		}
	}
}

func TestPageIsSentOnce(t *testing.T) {
	t.Parallel()
	c := small(t, Options{})
	first := get(t, c, Path, "Accept-Encoding", "gzip")
	if first.Header().Get("Content-Encoding") != "gzip" {
		t.Errorf("got %v, want the page compressed", first.Header())
	}
	if again := get(t, c, Path, "Accept-Encoding", "gzip", "If-None-Match", first.Header().Get("ETag")); again.Code != http.StatusNotModified {
		t.Errorf("again: got %d, want 304", again.Code)
	}
}
