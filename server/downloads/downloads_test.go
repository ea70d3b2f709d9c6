package downloads_test

import (
	"archive/zip"
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/moderato-live/moderato/gateway"
	"github.com/moderato-live/moderato/gateway/static"
	"github.com/moderato-live/moderato/server/downloads"
	"github.com/moderato-live/moderato/test/doctest"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// load returns a download of a new list of endpoints, which makes it anew.
func load(t *testing.T, suffix string) []byte {
	t.Helper()
	for _, e := range downloads.Endpoints() {
		if strings.HasSuffix(e.Path, suffix) {
			return serve(t, e)
		}
	}
	t.Fatalf("there is no download %s", suffix)
	return nil
}

func serve(t *testing.T, e gateway.Endpoint) []byte {
	t.Helper()
	w := httptest.NewRecorder()
	if err := e.Serve(w, httptest.NewRequestWithContext(t.Context(), e.Method, e.Path, nil)); err != nil {
		t.Fatal(err)
	}
	return w.Body.Bytes()
}

// TestDownloadsAreServedToAnyone loads the files as npm and pip do, without a token.
func TestDownloadsAreServedToAnyone(t *testing.T) {
	t.Parallel()
	config := servertest.Config(storetest.SQLite(t))
	config.HTTPLayer = func(next http.Handler) http.Handler { return next } // no operation of the API
	s := servertest.Start(t, config)
	for _, name := range downloads.Names() {
		doctest.Want(t, "docs/start.md", downloads.Path+name)
		got := s.Do(t, s.Request(t, servertest.Credentials{}, http.MethodGet, downloads.Path+name, ""))
		if got.Status != http.StatusOK || got.Body != string(load(t, name)) {
			t.Errorf("%s: got %d and %d bytes, or other bytes the second time", name, got.Status, len(got.Body))
		}
		for header, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Cache-Control": "no-cache", "Access-Control-Allow-Origin": "*"} {
			if values := got.Header.Values(header); len(values) != 1 || values[0] != want {
				t.Errorf("%s: %s is %q, want %q", name, header, values, want)
			}
		}
		policy := got.Header.Get("Content-Security-Policy")
		if mayRun := strings.Contains(policy, "connect-src 'self'; "); mayRun != (name == "overlay.html") || !mayRun && policy != static.Inert {
			t.Errorf("%s: the policy is %s", name, policy)
		}
		again := s.Request(t, servertest.Credentials{}, http.MethodGet, downloads.Path+name, "")
		again.Header.Set("If-None-Match", got.Header.Get("ETag"))
		if r := s.Do(t, again); r.Status != http.StatusNotModified {
			t.Errorf("%s with its ETag: got %d", name, r.Status)
		}
		if r := s.Do(t, s.Request(t, servertest.Credentials{}, http.MethodPost, downloads.Path+name, "")); r.Status != http.StatusMethodNotAllowed {
			t.Errorf("POST %s: got %d", name, r.Status)
		}
	}
}

// TestContractIsComplete reads the set of descriptors as grpcurl does, and finds each .proto
// file beside it.
func TestContractIsComplete(t *testing.T) {
	t.Parallel()
	archive := load(t, "moderato-proto.zip")
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	set := &descriptorpb.FileDescriptorSet{}
	names := map[string]bool{}
	for _, f := range r.File {
		names[f.Name] = true
		if path.Ext(f.Name) != ".binpb" {
			continue
		}
		opened, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if err := proto.Unmarshal(storetest.Must(io.ReadAll(opened)), set); err != nil {
			t.Fatal(err)
		}
	}
	files, err := protodesc.NewFiles(set)
	if err != nil {
		t.Fatal(err)
	}
	for _, service := range []string{"moderato.v1.ModerationService", "moderato.platform.v1.DirectoryService", "moderato.platform.v1.ImportService"} {
		if _, err := files.FindDescriptorByName(protoreflect.FullName(service)); err != nil {
			t.Error(err)
		}
	}
	for _, f := range set.GetFile() {
		if !names[f.GetName()] && !strings.HasPrefix(f.GetName(), "google/protobuf/") {
			t.Errorf("the archive has no %s", f.GetName())
		}
	}
}
