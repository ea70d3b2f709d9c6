package logging_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/internal/logging"
)

func TestBoundedTruncatesLongValues(t *testing.T) {
	t.Parallel()
	const kib = 1 << 10
	long := strings.Repeat("é", 8*kib)
	for _, c := range []struct {
		name string
		key  string
		log  func(l *slog.Logger)
		want int
	}{
		{"a string", "text", func(l *slog.Logger) { l.Info("m", "text", long) }, 2 * kib},
		{"an error", "error", func(l *slog.Logger) { l.Info("m", "error", errors.New(long)) }, 2 * kib},
		{"an attribute of the logger", "text", func(l *slog.Logger) { l.With("text", long).Info("m") }, 2 * kib},
		{"a stack", "stack", func(l *slog.Logger) { l.Info("m", "stack", long) }, 16 * kib},
		{"a short string", "text", func(l *slog.Logger) { l.Info("m", "text", "short") }, len("short")},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			c.log(slog.New(logging.Bounded(slog.NewJSONHandler(&out, nil))))
			var line map[string]any
			if err := json.Unmarshal(out.Bytes(), &line); err != nil {
				t.Fatal(err)
			}
			got := strings.TrimSuffix(line[c.key].(string), "…")
			if len(got) != c.want {
				t.Errorf("got %d bytes, want %d", len(got), c.want)
			}
		})
	}
}

func TestBoundedKeepsOtherValues(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	slog.New(logging.Bounded(slog.NewJSONHandler(&out, nil))).WithGroup("g").Info("m", "n", 7, "b", true)
	if got := out.String(); !strings.Contains(got, `"g":{"n":7,"b":true}`) {
		t.Errorf("got %s, want the values unchanged", got)
	}
}

func TestPathIsEscapedAndBounded(t *testing.T) {
	t.Parallel()
	const id, secret = "0198c0de-0000-7000-8000-000000000001", "mdu_0123456789abcdefghijABCDEFGHIJ012345"
	for path, want := range map[string]string{
		"/v1/channels":              "/v1/channels",
		"/v1/emotes/channels/" + id: "/v1/emotes/channels/" + id,
		"/a\n\x1b[31m\"é":           "/a%0A%1B%5B31m%22%C3%A9",
		"/v1/" + secret + "/x":      "/v1/…/x",
		"/" + secret[:37]:           "/…",
		strings.Repeat("/a", 100):   strings.Repeat("/a", 64) + "…",
	} {
		if got := logging.Path(&url.URL{Path: path, RawQuery: "token=x"}); got != want {
			t.Errorf("%q: got %q, want %q", path, got, want)
		}
	}
}
