package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestWriteJSON(t *testing.T) {
	for _, c := range []struct {
		body     string
		isPretty bool
		want     string
	}{
		{`{"b":9007199254740993,"a":[]}`, false, "{\"b\":9007199254740993,\"a\":[]}\n"},
		{`{"b":9007199254740993,"a":[]}`, true, "{\n  \"b\": 9007199254740993,\n  \"a\": []\n}\n"},
		{"no JSON\n", true, "no JSON\n"},
	} {
		var out bytes.Buffer
		writeJSON(&out, []byte(c.body), c.isPretty)
		if out.String() != c.want {
			t.Errorf("%s, pretty: %t: wrote %q, want %q", c.body, c.isPretty, &out, c.want)
		}
	}
}

// TestSilentServerIsAnError calls servers that send no response, and only the beginning of
// one. A call that the user did not interrupt must not seem to have succeeded.
func TestSilentServerIsAnError(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(http.ResponseWriter){
		"no response":        func(http.ResponseWriter) {},
		"half of a response": func(w http.ResponseWriter) { _, _ = w.Write([]byte("{")); w.(http.Flusher).Flush() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				begin(w)
				<-r.Context().Done()
			}))
			t.Cleanup(server.Close)
			address, err := url.Parse(server.URL + "/v1/users/profile")
			if err != nil {
				t.Fatal(err)
			}
			_, err = (&apiCall{Method: http.MethodGet, Path: address.Path}).request(t.Context(), 100*time.Millisecond, io.Discard, address, nil)
			if err == nil || errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "no response within 100ms") {
				t.Errorf("got %v", err)
			}
		})
	}
}
