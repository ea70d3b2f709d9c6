package gateway_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/server"
	"github.com/moderato-live/moderato/test/servertest"
)

// What clients of the interface get wrong, and what they take for granted.

func TestArrayParameterSpellings(t *testing.T) {
	t.Parallel()
	s := start(t)
	app := s.AsApp(t)
	want := s.REST(t, app, "GET", "/v1/channels?slug[]=ines", "").Body
	if strings.Count(want, `"slug":"ines"`) != 1 || !strings.Contains(want, `"count":1`) {
		t.Fatalf("got %s, want one channel", want)
	}
	for _, query := range []string{"slug=ines", "slug[0]=ines", "slug%5B%5D=Ines", "slug%5B7%5D=ines"} {
		if got := s.REST(t, app, "GET", "/v1/channels?"+query, "").Body; got != want {
			t.Errorf("%s: got %s, want %s", query, got, want)
		}
	}
}

// If a misspelled filter were ignored, the request would select everything.
func TestMisspelledParameterIsRejected(t *testing.T) {
	t.Parallel()
	s := start(t)
	app := s.AsApp(t)
	for query, want := range map[string]string{
		"slugs[]=ines":                  "unknown parameter slugs[]; did you mean slug[]?",
		"Slug=ines":                     "unknown parameter Slug; did you mean slug[]?",
		"categoryIds=1":                 "unknown parameter categoryIds; did you mean categoryId[]?",
		"category_id=1&limits=1":        "unknown parameter category_id; did you mean categoryId[]? There is 1 more violation.",
		"slug[x]=ines":                  "unknown parameter slug[x]; did you mean slug[]?",
		"limit=+5":                      "limit must be an integer.",
		"limit=007":                     "limit must be an integer.",
		"limit=21&categoryId=9&type=on": "limit must be between 1 and 20. There is 1 more violation.",
	} {
		r := s.REST(t, app, "GET", "/v1/channels?"+query, "")
		if got := wantRefused(t, r, http.StatusBadRequest, "INVALID_ARGUMENT").Message; got != want {
			t.Errorf("%s: got the message %q, want %q", query, got, want)
		}
	}
}

// TestOtherSpellingsOfValuesAreAccepted writes values as some languages and libraries do.
func TestOtherSpellingsOfValuesAreAccepted(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner := s.As(t, servertest.Owner)
	channel := servertest.Owner.String()
	mute := `{"durationSeconds":600.0,` + args("channelId", channel, "mutedUserId", servertest.Viewer.String())[1:]
	r := s.Request(t, owner, "POST", mutePath, mute)
	r.Header.Set("Content-Type", "application/json;charset=utf8")
	wantOK(t, s.Do(t, r))
	since := time.Now().UTC().Add(-time.Hour).Format("2006-01-02t15:04:05z")
	wantOK(t, s.REST(t, owner, "POST", "/v1/moderation/reverts", args("channelId", channel, "moderatorId", servertest.Moderator.String(), "since", since)))
}

// If the duration of a ban were ignored, the ban would be permanent.
func TestUnknownRestrictingBodyFieldIsRejected(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner := s.As(t, servertest.Owner)
	for field, want := range map[string]string{
		"duration": "is not supported", "durations": "is not supported", "duration_seconds": "did you mean durationSeconds?",
		"Reason": "did you mean reason?", "expiresAt": "is not supported", "expires_at": "is not supported", "permanent": "is not supported",
		"banUserID": "did you mean banUserId?", "ban_username": "did you mean banUsername?",
	} {
		body := `{"` + field + `":600,` + args("channelId", servertest.Owner.String(), "banUsername", "LootGoblin77")[1:]
		failed := wantViolations(t, s.REST(t, owner, "POST", banPath, body), field)
		if !strings.Contains(failed.Message, want) {
			t.Errorf("%s: got the message %q, want %q in it", field, failed.Message, want)
		}
	}
	wantRefused(t, s.REST(t, owner, "DELETE", banPath, args("channelId", servertest.Owner.String(), "banUsername", "LootGoblin77")),
		http.StatusNotFound, "NOT_BANNED")
}

func TestBanAcceptsUsernameAsInChat(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner := s.As(t, servertest.Owner)
	for _, name := range []string{"LootGoblin77", "@lootgoblin77", " @LOOTGOBLIN77\n", "\tlootgoblin77 "} {
		body := `{"channelId":"` + servertest.Owner.String() + `","banUsername":` + quoted(name) + `}`
		wantOK(t, s.REST(t, owner, "POST", banPath, body))
		wantOK(t, s.REST(t, owner, "DELETE", banPath, body))
	}
	for _, name := range []string{"@", " ", "@@lootgoblin77", "loot goblin77", "lootgoblin77@"} {
		body := `{"channelId":"` + servertest.Owner.String() + `","banUsername":` + quoted(name) + `}`
		wantViolations(t, s.REST(t, owner, "POST", banPath, body), "banUsername")
	}
}

func quoted(text string) string {
	return `"` + strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(text) + `"`
}

func TestHeadReturnsGetHeadersWithoutBody(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner := s.As(t, servertest.Owner)
	for _, path := range []string{listModerators(), "/v1/channels/stats", "/v1/channels?limit=21"} {
		get, head := s.REST(t, owner, "GET", path, ""), s.REST(t, owner, "HEAD", path, "")
		if head.Status != get.Status || head.Body != "" {
			t.Errorf("%s: got %d and %q, want %d without a body", path, head.Status, head.Body, get.Status)
		}
		for _, name := range []string{"Content-Type", "Content-Length"} {
			// All request ids have the same length.
			if head.Header.Get(name) != get.Header.Get(name) {
				t.Errorf("%s: got %s %q, want %q", path, name, head.Header.Get(name), get.Header.Get(name))
			}
		}
	}
	// The event stream must not stay open.
	if r := s.REST(t, owner, "HEAD", "/v1/events", ""); r.Status != http.StatusOK || r.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("/v1/events: got %d, %v", r.Status, r.Header)
	}
	if r := s.REST(t, owner, "HEAD", "/v1/events?type=x", ""); r.Status != http.StatusBadRequest {
		t.Errorf("/v1/events of a type that does not exist: got %d, want 400", r.Status)
	}
}

func TestSimilarPathIsNotFoundAndSuggestsPath(t *testing.T) {
	t.Parallel()
	s := start(t)
	for path, want := range map[string]string{
		"/v1/channels/": "did you mean /v1/channels?", "/v1/moderation/ban//": "did you mean /v1/moderation/ban?", "/v1/": "Nothing is served",
		"/moderation/ban": "did you mean /v1/moderation/ban?", "/channels/": "did you mean /v1/channels?",
	} {
		failed := wantRefused(t, s.REST(t, s.AsApp(t), "GET", path, ""), http.StatusNotFound, "PATH_NOT_FOUND")
		if !strings.Contains(failed.Message, want) {
			t.Errorf("%s: got the message %q, want %q in it", path, failed.Message, want)
		}
	}
}

func TestLargeResponsesAreCompressedWhenAccepted(t *testing.T) {
	t.Parallel()
	s := start(t)
	app := s.AsApp(t)
	get := func(path, accept string) servertest.Response {
		r := s.Request(t, app, "GET", path, "")
		if accept != "" {
			r.Header.Set("Accept-Encoding", accept)
		}
		return s.Do(t, r)
	}
	const small, large = "/v1/channels?slug=nobody", "/v1/channels?limit=20"
	plain := get(large, "")
	for range 20 { // the two channels of the World need less than 1 KiB
		if len(plain.Body) > 1<<10 {
			break
		}
		servertest.AddChannels(t, s.Store, 3)
		plain = get(large, "")
	}
	for _, c := range []struct {
		name, path, accept string
		compressed         bool
	}{
		{"large and accepted", large, "gzip", true},
		{"large, among others", large, "br;q=1.0, gzip;q=0.8, *;q=0.1", true},
		{"large and not accepted", large, "br", false},
		{"large and refused", large, "gzip;q=0", false},
		{"large without the header", large, "", false},
		{"small and accepted", small, "gzip", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := get(c.path, c.accept)
			if got := r.Header.Get("Content-Encoding") == "gzip"; got != c.compressed {
				t.Errorf("got Content-Encoding %q, want compressed %t", r.Header.Get("Content-Encoding"), c.compressed)
			}
			if got := listed(r.Header, "Vary"); !strings.Contains(strings.Join(got, ","), "accept-encoding") {
				t.Errorf("got Vary %q, want Accept-Encoding in it", got)
			}
			if !c.compressed {
				return
			}
			body, err := gzip.NewReader(strings.NewReader(r.Body))
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(body)
			if err != nil || string(text) != plain.Body {
				t.Errorf("got %s, %v, want %s", text, err, plain.Body)
			}
		})
	}
	events := s.Request(t, s.As(t, servertest.Owner), "HEAD", "/v1/events", "")
	events.Header.Set("Accept-Encoding", "gzip")
	if r := s.Do(t, events); r.Header.Get("Content-Encoding") != "" {
		t.Errorf("the event stream has Content-Encoding %q, want none", r.Header.Get("Content-Encoding"))
	}
}

func TestCompressedRequestBody(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner := s.As(t, servertest.Owner)
	packed := func(text string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = w.Write([]byte(text))
		_ = w.Close()
		return b.String()
	}
	post := func(encoding, body string) servertest.Response {
		r := s.Request(t, owner, "POST", moderatorsPath, body)
		r.Header.Set("Content-Encoding", encoding)
		return s.Do(t, r)
	}
	good := roleArgs(servertest.Viewer)
	wantOK(t, post("gzip", packed(good)))
	wantOK(t, post("GZIP", packed(good)))
	wantOK(t, post("identity", good))
	for _, encoding := range []string{"br", "deflate", "gzip, gzip", "zstd"} {
		wantRefused(t, post(encoding, packed(good)), http.StatusUnsupportedMediaType, "MEDIA_TYPE_UNSUPPORTED")
	}
	wantViolations(t, post("gzip", good), "")
	wantViolations(t, post("gzip", packed(good)[:20]), "")
	// A decompression bomb: 10 MB in 10 KB.
	wantRefused(t, post("gzip", packed(good[:1]+strings.Repeat(" ", 10<<20)+good[1:])), http.StatusRequestEntityTooLarge, "BODY_TOO_LARGE")
}

func TestHTTP2WithoutTLS(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *server.Config) { c.HTTPH2C = true })
	owner := s.As(t, servertest.Owner)
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	client := &http.Client{Transport: &http.Transport{Protocols: &protocols}}
	defer client.CloseIdleConnections()
	call := func(method, path, body string) {
		t.Helper()
		r, err := client.Do(s.Request(t, owner, method, path, body))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = r.Body.Close() }()
		if r.ProtoMajor != 2 || r.StatusCode != http.StatusOK {
			t.Fatalf("%s %s: got %s %s, want HTTP/2 and 200", method, path, r.Proto, r.Status)
		}
	}
	call("GET", listModerators(), "")
	call("POST", moderatorsPath, roleArgs(servertest.Viewer))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if r, err := client.Do(start(t).Request(t, owner, "GET", listModerators(), "")); err == nil {
		_ = r.Body.Close()
		t.Errorf("without the option: got %s, want no HTTP/2", r.Proto)
	}
	stream, err := client.Do(s.Request(t, owner, "GET", "/v1/events", "").WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Body.Close() }()
	start := make([]byte, len("id: "))
	if _, err := io.ReadFull(stream.Body, start); err != nil || string(start) != "id: " {
		t.Errorf("the event stream begins with %q, %v", start, err)
	}
}
