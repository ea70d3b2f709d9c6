package server_test

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/docs/openapi"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestDocumentsAreServedToAnyone checks how the OpenAPI documents are served: without a
// token, compressed, and so that a browser asks for them again only if they changed.
func TestDocumentsAreServedToAnyone(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t, servertest.Config(storetest.SQLite(t)))
	ask := func(method, path, header, value string) servertest.Response {
		r := s.Request(t, servertest.Credentials{}, method, path, "")
		r.Header.Set(header, value)
		return s.Do(t, r)
	}
	for _, c := range []struct{ path, mediaType, text string }{
		{"/openapi.json", "application/json", string(openapi.JSON())},
		{"/openapi.yaml", "application/yaml", string(openapi.YAML())},
	} {
		r := ask("GET", c.path, "Origin", "https://docs.example.com")
		if r.Status != http.StatusOK || r.Body != c.text || r.Header.Get("Content-Type") != c.mediaType {
			t.Errorf("%s: got %d, %s, %d bytes; want the document", c.path, r.Status, r.Header.Get("Content-Type"), len(r.Body))
		}
		if got := r.Header.Get("Access-Control-Allow-Origin"); got != "*" {
			t.Errorf("%s: Access-Control-Allow-Origin: got %q, want *", c.path, got)
		}
		if again := ask("GET", c.path, "If-None-Match", r.Header.Get("ETag")); again.Status != http.StatusNotModified || again.Body != "" {
			t.Errorf("%s with its ETag: got %d, want 304", c.path, again.Status)
		}
		for name, value := range map[string]string{"Range": "bytes=0-9", "If-Match": `"another"`} {
			if r := ask("GET", c.path, name, value); r.Status != http.StatusOK {
				t.Errorf("%s with %s: got %d, want the whole document", c.path, name, r.Status)
			}
		}
		if head := ask("HEAD", c.path, "Accept", "*/*"); head.Status != http.StatusOK || head.Body != "" || head.Header.Get("ETag") != r.Header.Get("ETag") {
			t.Errorf("HEAD %s: got %d with %q", c.path, head.Status, head.Header)
		}
		if post := ask("POST", c.path, "Accept", "*/*"); post.Status != http.StatusMethodNotAllowed {
			t.Errorf("POST %s: got %d, want 405", c.path, post.Status)
		}
		compressed := ask("GET", c.path, "Accept-Encoding", "gzip")
		if _, err := gzip.NewReader(strings.NewReader(compressed.Body)); err != nil || compressed.Header.Get("Content-Encoding") != "gzip" {
			t.Errorf("%s with gzip: %v; got %q", c.path, err, compressed.Header)
		}
	}
}

// TestPublicURLIsNamedEverywhere starts a server behind a proxy that changes the header Host.
func TestPublicURLIsNamedEverywhere(t *testing.T) {
	t.Parallel()
	config := servertest.Config(storetest.SQLite(t))
	config.PublicURL = "https://api.example.com"
	s := servertest.Start(t, config)
	for path, want := range map[string]string{
		"/.well-known/oauth-authorization-server": `"issuer":"https://api.example.com"`,
		"/openapi.json": `"servers": [{"url": "https://api.example.com",`,
		"/openapi.yaml": "servers:- url: https://api.example.comdescription",
	} {
		for _, encoding := range []string{"identity", "gzip"} {
			r := s.Request(t, servertest.Credentials{}, http.MethodGet, path, "")
			r.Header.Set("Accept-Encoding", encoding)
			got := s.Do(t, r)
			body := got.Body
			if got.Header.Get("Content-Encoding") == "gzip" {
				reader, err := gzip.NewReader(strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				body = string(storetest.Must(io.ReadAll(reader)))
			}
			if !strings.Contains(unindented.ReplaceAllString(body, ""), want) {
				t.Errorf("%s in %s: got %d, want %s in %.400s", path, encoding, got.Status, want, body)
			}
		}
	}
}

var unindented = regexp.MustCompile(`\n *`)

// TestClientIDIsAParameter checks that tools which ignore security schemes ask for the header.
func TestClientIDIsAParameter(t *testing.T) {
	t.Parallel()
	var document struct {
		Paths map[string]map[string]struct {
			Security   []map[string][]string
			Parameters []map[string]any
		}
	}
	if err := json.Unmarshal(openapi.JSON(), &document); err != nil {
		t.Fatal(err)
	}
	for path, item := range document.Paths {
		for method, o := range item {
			needs := len(o.Security) > 0 && !slices.ContainsFunc(o.Security, func(way map[string][]string) bool { _, has := way["clientId"]; return !has })
			has := slices.ContainsFunc(o.Parameters, func(p map[string]any) bool { return p["$ref"] == "#/components/parameters/ClientId" })
			if needs != has {
				t.Errorf("%s %s: has the parameter: %t, needs the header: %t", method, path, has, needs)
			}
		}
	}
}
