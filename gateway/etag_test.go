package gateway_test

import (
	"net/http"
	"strings"
	"testing"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/test/servertest"
)

func TestEmotesAreSentAgainOnlyIfTheyChanged(t *testing.T) {
	t.Parallel()
	s := start(t)
	put := func(name string) {
		s.Load(t, &platformv1.Record{Kind: &platformv1.Record_Emote{Emote: &platformv1.EmoteRecord{
			Id: servertest.Nobody.String(), Name: name, ImageUrl: "https://img.example.com/" + strings.Repeat("x", 2000), // enough to be compressed
		}}})
	}
	get := func(method, condition string, header ...string) servertest.Response {
		r := s.Request(t, s.AsApp(t), method, "/v1/emotes/blaze", "")
		if condition != "" {
			r.Header.Set("If-None-Match", condition)
		}
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		return s.Do(t, r)
	}
	put("GG")
	first := get("GET", "")
	wantOK(t, first)
	tag := first.Header.Get("ETag")
	if !strings.HasPrefix(tag, `W/"`) {
		t.Fatalf("the ETag is %q", tag)
	}
	for name, r := range map[string]servertest.Response{
		"the same": get("GET", tag), "HEAD": get("HEAD", tag), "one of two": get("GET", `"x", `+tag),
		"compressed": get("GET", tag, "Accept-Encoding", "gzip"),
	} {
		if r.Status != http.StatusNotModified || r.Body != "" || r.Header.Get("ETag") != tag || r.Header.Get("Content-Type") != "" {
			t.Errorf("%s: got %d %v %q", name, r.Status, r.Header, r.Body)
		}
	}
	for name, r := range map[string]servertest.Response{
		"another tag": get("GET", `W/"x"`), "a range": get("GET", "", "Range", "bytes=0-1"), "compressed": get("GET", "", "Accept-Encoding", "gzip"),
	} {
		if r.Status != http.StatusOK || len(r.Body) == 2 || r.Header.Get("ETag") != tag {
			t.Errorf("%s: got %d %v %q", name, r.Status, r.Header, r.Body)
		}
	}
	head := get("HEAD", "")
	if head.Status != http.StatusOK || head.Header.Get("ETag") != tag || head.Header.Get("Content-Length") != first.Header.Get("Content-Length") {
		t.Errorf("HEAD: got %d %v, want the header %v", head.Status, head.Header, first.Header)
	}
	put("Gg")
	if r := get("GET", tag); r.Status != http.StatusOK || r.Header.Get("ETag") == tag || !strings.Contains(r.Body, `"Gg"`) {
		t.Errorf("after a change: got %d %v %q", r.Status, r.Header, r.Body)
	}
	r := s.Request(t, servertest.Credentials{}, "GET", "/v1/emotes/blaze", "")
	r.Header.Set("Origin", "https://overlay.example.com")
	refused := s.Do(t, r)
	if wantRefused(t, refused, 401, "TOKEN_MISSING"); refused.Header.Get("ETag") != "" {
		t.Errorf("an error has the ETag %q", refused.Header.Get("ETag"))
	}
	if exposed := refused.Header.Get("Access-Control-Expose-Headers"); !strings.Contains(strings.ToLower(exposed), "etag") {
		t.Errorf("web pages may read %q", exposed)
	}
}
