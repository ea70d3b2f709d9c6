package cli_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/moderato-live/moderato/server/cli"
	"github.com/moderato-live/moderato/server/demo"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/servertest/process"
)

var update = flag.Bool("update", false, "write the golden files anew")

// conforming runs `moderato conformance` with tokens of every kind that it knows.
type conforming struct {
	*workplace

	tokens []string
}

func newConforming(t *testing.T) *conforming {
	t.Helper()
	c := &conforming{workplace: newWorkplace(t)}
	for _, role := range []string{"owner", "moderator", "viewer", "app"} {
		c.tokens = append(c.tokens, "--token="+c.DemoToken(t, role))
	}
	issued := c.run(t, "moderato token issue --client demo-dashboard --user "+demoOwner+" --scope channel.moderate 2>/dev/null")
	c.tokens = append(c.tokens, "--token="+strings.TrimSpace(issued))
	return c
}

// check runs the command against an address.
func (c *conforming) check(t *testing.T, address string, args ...string) process.Result {
	t.Helper()
	args = append([]string{"conformance", "--base-url=" + address, "--client-id=" + demo.People().Client, "--rate=0"}, args...)
	var out, errs servertest.Buffer
	code := cli.Run(t.Context(), args, strings.NewReader(""), &out, &errs)
	return process.Result{Out: out.String(), Err: errs.String(), Code: code}
}

// TestConformanceOfDemo finds nothing in what the demo serves, and leaves out only what the
// demo has no example of.
func TestConformanceOfDemo(t *testing.T) {
	t.Parallel()
	c := newConforming(t)
	got := c.check(t, "http://"+c.REST, c.tokens...)
	if got.Code != 0 || got.Err != "" || strings.Contains(got.Out, "FINDING") {
		t.Errorf("exit code %d, prints\n%s%s", got.Code, got.Out, got.Err)
	}
	wantGolden(t, "testdata/conformance-demo.golden", regexp.MustCompile(`\d+ requests`).ReplaceAllString(got.Out, "N requests"))

	c.environ = append(c.environ, "MODERATO_CONFORMANCE_RATE=0", "OWNER="+c.DemoToken(t, "owner"), "VIEWER="+c.DemoToken(t, "viewer"), "APP="+c.DemoToken(t, "app"))
	wants{"SKIPPED", "no token without the scope users.read", "46 operations", " 0 findings"}.check(t, c.run(t, block(t, "docs/conformance.md: Conformance/1")))

	command := strings.NewReplacer("https://moderato.example.com", "http://"+c.REST, "my-app", demo.People().Client, "mdu_…", c.DemoToken(t, "owner"))
	wants{"46 operations", " 0 findings"}.check(t, c.run(t, command.Replace(block(t, "docs/coming-from-blaze.md: Check the server/1"))))

	// With fewer tokens, it says what it leaves out.
	got = c.check(t, "http://"+c.REST, c.tokens[3])
	wants{"no token of a user with a channel", "no token of a user without a channel", "no token without the scope", "/v1/channels/followers ", " no token was given that may call it"}.check(t, got.Out)

	got = c.check(t, "http://"+c.REST, append(c.tokens, "--max-requests=100")...)
	wants{"GET /v1/channels/live-stats", "not reached: --max-requests is too low", " 100 requests, 0 findings"}.check(t, got.Out)
}

// wantGolden compares text with a golden file.
func wantGolden(t *testing.T, path, text string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// response is a response of the demo that a fault changes.
type response struct {
	status int
	header http.Header
	body   map[string]any
	plain  string // instead of body
}

func (r *response) data() map[string]any { return r.body["data"].(map[string]any) }

// rows returns the rows of a list, or an empty one if the response has none.
func (r *response) rows() []map[string]any {
	list, isList := r.body["data"].([]any)
	if object, ok := r.body["data"].(map[string]any); ok && !isList {
		list, _ = object["rows"].([]any)
	}
	var rows []map[string]any
	for _, row := range list {
		rows = append(rows, row.(map[string]any))
	}
	return rows
}

// faults are what the wrong server does wrong, by operation.
func faults() map[string]func(*http.Request, *response) {
	var first any // the first row of a list
	return map[string]func(*http.Request, *response){
		// a field is missing, another is null
		"/v1/channels/followers": func(_ *http.Request, r *response) {
			for _, row := range r.rows() {
				delete(row, "followedAt")
				row["slug"] = nil
			}
		},
		// a time in whole seconds
		"/v1/channels/vods": func(_ *http.Request, r *response) {
			for _, row := range r.rows() {
				row["startedAt"] = "2026-11-19T09:54:49Z"
			}
		},
		// no envelope
		"/v1/channels/stats": func(_ *http.Request, r *response) {
			if r.status == http.StatusOK {
				r.body = r.data()
			}
		},
		// a null that the rest of the row contradicts
		"/v1/channels/subscribers": func(_ *http.Request, r *response) {
			for _, row := range r.rows() {
				row["subscriptionInfo"].(map[string]any)["expiresAt"] = nil
			}
		},
		// a field that may be null is left out instead, and the order is wrong
		"/v1/channels/clips": func(_ *http.Request, r *response) {
			for i, row := range r.rows() {
				delete(row["category"].(map[string]any), "parentId")
				row["viewCount"] = i
			}
		},
		// the first row is on every page
		"/v1/channels/banned-users": func(q *http.Request, r *response) {
			if rows := r.rows(); len(rows) > 0 && q.URL.Query().Get("cursor") == "" {
				first = rows[0]
			} else if len(rows) > 0 {
				r.data()["rows"] = append([]any{first}, r.data()["rows"].([]any)[1:]...)
			}
		},
		// the filter has no effect, the count is of the page
		"/v1/channels": func(_ *http.Request, r *response) {
			if r.status == http.StatusOK {
				r.data()["count"] = len(r.rows())
			}
		},
		// the cursor has no effect, nor has the limit
		"/v1/channels/activities": func(_ *http.Request, _ *response) {},
		// wrong statuses and codes
		"/v1/channels/roles/vips": func(_ *http.Request, r *response) {
			switch r.status {
			case http.StatusUnauthorized:
				r.status = http.StatusForbidden
			case http.StatusBadRequest:
				r.data()["code"] = "BAD_REQUEST"
				delete(r.data(), "violations")
			}
		},
		// UUIDs in capitals, an error page
		"/v1/channels/roles/mods": func(_ *http.Request, r *response) {
			for _, row := range r.rows() {
				row["id"] = strings.ToUpper(row["id"].(string))
			}
			if r.status >= http.StatusBadRequest {
				r.plain = "<h1>Sorry</h1>"
				r.header.Set("Content-Type", "text/html")
			}
		},
		// headers are missing
		"/v1/channels/stream-info": func(_ *http.Request, r *response) {
			for _, name := range []string{"Deprecation", "X-Request-Id", "WWW-Authenticate"} {
				r.header.Del(name)
			}
		},
		// another message, numbers as text
		"/v1/channels/live-stats": func(_ *http.Request, r *response) {
			if r.status == http.StatusOK {
				r.body["message"] = "ok"
				r.data()["viewerCount"] = "1372"
			}
		},
		// an object instead of a list
		"/v1/channels/votes": func(_ *http.Request, r *response) {
			if r.status == http.StatusOK {
				r.body["data"] = map[string]any{"rows": r.body["data"]}
			}
		},
		// another duration, data where there is none, a success that must be a refusal
		"POST /v1/moderation/mute": func(_ *http.Request, r *response) {
			if r.status == http.StatusOK {
				r.data()["muteExpiresAt"] = time.Now().UTC().Add(time.Hour).Format("2006-01-02T15:04:05.000Z")
			}
			r.header.Del("Retry-After")
		},
		"DELETE /v1/channels/vips": func(_ *http.Request, r *response) { r.body["data"] = map[string]any{} },
		"DELETE /v1/moderation/ban": func(_ *http.Request, r *response) {
			if r.status == http.StatusNotFound {
				r.status, r.body = http.StatusOK, map[string]any{"success": true, "message": "success"}
			}
		},
		// null instead of an empty list
		"/v1/moderation/channels": func(_ *http.Request, r *response) {
			if r.status == http.StatusOK && len(r.rows()) == 0 {
				r.body["data"] = nil
			}
		},
	}
}

// wrongServer serves what another one serves, with faults.
func wrongServer(t *testing.T, address string) string {
	t.Helper()
	target, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	wrong := faults()
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ModifyResponse = func(p *http.Response) error {
		fault := wrong[strings.TrimPrefix(p.Request.Method+" "+p.Request.URL.Path, "GET ")]
		if fault == nil {
			return nil
		}
		r := &response{status: p.StatusCode, header: p.Header}
		decoder := json.NewDecoder(p.Body)
		decoder.UseNumber()
		if err := decoder.Decode(&r.body); err != nil {
			return err
		}
		fault(p.Request, r)
		text := []byte(r.plain)
		if r.plain == "" {
			if text, err = json.Marshal(r.body); err != nil {
				return err
			}
		}
		p.StatusCode, p.Body, p.ContentLength = r.status, io.NopCloser(bytes.NewReader(text)), int64(len(text))
		p.Header.Del("Content-Length")
		return nil
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		query := q.URL.Query()
		switch q.URL.Path {
		case "/v1/channels":
			query.Del("type")
			if query.Get("limit") == "21" {
				query.Set("limit", "20")
			}
		case "/v1/channels/activities":
			query.Del("cursor")
			query.Del("limit")
		}
		q.URL.RawQuery = query.Encode()
		q.Header.Del("Accept-Encoding")
		proxy.ServeHTTP(w, q)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestConformanceFindsFaults has a server with faults reported line by line.
func TestConformanceFindsFaults(t *testing.T) {
	t.Parallel()
	c := newConforming(t)
	got := c.check(t, wrongServer(t, "http://"+c.REST), c.tokens...)
	if got.Code != 1 || !strings.HasSuffix(got.Err, " findings\n") {
		t.Errorf("exit code %d, errors %s", got.Code, got.Err)
	}
	wantGolden(t, "testdata/conformance-faults.golden", regexp.MustCompile(`\d+ requests`).ReplaceAllString(got.Out, "N requests"))

	got = c.check(t, wrongServer(t, "http://"+c.REST), append(c.tokens, "--json")...)
	var report struct {
		Findings []struct{ Section, Operation, Finding string }
		Requests int
	}
	if err := json.Unmarshal([]byte(got.Out), &report); err != nil || len(report.Findings) < 20 || report.Findings[0].Section == "" || report.Requests < 100 {
		t.Errorf("prints %s (%v)", got.Out, err)
	}
}

// TestConformanceWrites has the changes made, compared with the document and undone.
func TestConformanceWrites(t *testing.T) {
	t.Parallel()
	c := newConforming(t)
	state := func() string {
		all := ""
		for _, list := range []string{"roles/vips", "roles/mods", "roles/ogs", "banned-users"} {
			all += c.run(t, "moderato api GET /v1/channels/"+list+" --client demo-dashboard --token "+c.DemoToken(t, "owner"))
		}
		return all
	}
	before := state()
	got := c.check(t, "http://"+c.REST, append(c.tokens, "--write="+demoOwner)...)
	if got.Code != 0 || !strings.Contains(got.Out, " 0 findings") {
		t.Errorf("exit code %d, prints\n%s%s", got.Code, got.Out, got.Err)
	}
	got = c.check(t, wrongServer(t, "http://"+c.REST), append(c.tokens, "--write="+demoOwner)...)
	wants{
		"DELETE /v1/channels/vips", "data is {}, want none",
		"DELETE /v1/moderation/ban", "200, want 404 NOT_BANNED",
		"POST /v1/moderation/mute", "data.muteExpiresAt is in 1h0m0s, want in 10m",
		"POST /v1/moderation/mute", `and Retry-After ""`,
	}.check(t, got.Out)
	if after := state(); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	if got = c.check(t, "http://"+c.REST, append(c.tokens, "--write="+demo.People().Viewer.ID.String())...); got.Code != 1 || !strings.Contains(got.Err, "of this channel's owner") {
		t.Errorf("exit code %d, prints %s%s", got.Code, got.Out, got.Err)
	}
}

// TestConformanceIsPolite has a server ask to wait, and a token refused.
func TestConformanceIsPolite(t *testing.T) {
	t.Parallel()
	c, asked := newConforming(t), 0
	target, err := url.Parse("http://" + c.REST)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	busy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if asked++; asked == 40 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		proxy.ServeHTTP(w, q)
	}))
	t.Cleanup(busy.Close)
	if got := c.check(t, busy.URL, c.tokens...); got.Code != 0 {
		t.Errorf("exit code %d, prints\n%s", got.Code, got.Out)
	}
	for want, args := range map[string][]string{
		"is it a token of the client demo-dashboard": {"--token=mdu_nonsense"},
		"does not answer":          {"--token=x", "--base-url=http://127.0.0.1:1"},
		"must be an address":       {"--token=x", "--base-url=127.0.0.1:1"},
		"--max-requests":           {"--token=x", "--max-requests=0"},
		"--tls-ca needs":           {"--token=x", "--tls-ca=/dev/null"},
		"missing flags: --token=T": {},
	} {
		if got := c.check(t, "http://"+c.REST, args...); got.Code == 0 || got.Out != "" || !strings.Contains(got.Err, want) {
			t.Errorf("%q: exit code %d, prints %s%s; want %q", args, got.Code, got.Out, got.Err, want)
		}
	}
}
