package openapitest_test

import (
	"cmp"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/moderato-live/moderato/docs/openapi"
	"github.com/moderato-live/moderato/docs/openapi/openapitest"
)

// recorder is a test that records its failures.
type recorder struct {
	testing.TB

	failures []string
	cleanups []func()
}

func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}
func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }

const (
	banned = `{"success":true,"message":"success","data":{"channelId":"0b6f0001-0000-4000-8000-00000000000a",` +
		`"moderatorId":"0b6f0002-0000-4000-8000-00000000000b","bannedUserId":"0b6f0004-0000-4000-8000-00000000000d",` +
		`"bannedUserDisplayName":"Loot","bannedAt":"2026-11-20T12:00:00.000Z"}}`
	notBanned = `{"success":false,"message":"The user is not banned in this channel.","data":{"code":"NOT_BANNED","requestId":"1"}}`
	emptyList = `{"success":true,"message":"success","data":[]}`
	request   = `{"channelId":"0b6f0001-0000-4000-8000-00000000000a","banUsername":"lootgoblin77"}`
	frame     = "data: {\"metadata\":{\"messageId\":\"019aa123-4c00-7e5a-9b1f-2f6d3c8a7e10\",\"messageType\":\"notification\"," +
		"\"subscriptionType\":\"channel.chat.clear\",\"subscriptionVersion\":\"1\",\"messageTimestamp\":\"2026-11-20T12:00:00.000Z\"," +
		"\"channelId\":\"1\",\"sequence\":1},\"payload\":{\"channelId\":\"1\",\"moderatorId\":\"2\",\"clientId\":\"3\",\"clearedAt\":\"2026-11-20T12:00:00.000Z\"}}\n\n"
)

// TestDifferencesFail checks that a test fails if an exchange differs from the document, and
// only then. Each case breaks either the document or the exchange.
func TestDifferencesFail(t *testing.T) {
	t.Parallel()
	unchanged := sync.OnceValues(func() (*openapitest.Document, error) { return openapitest.Parse(openapi.JSON()) })
	for _, c := range []struct {
		name                string
		removed, instead    string // what the document has, and what is there instead
		method, path        string
		request             string
		status              int
		body                string
		header, contentType string
		want                string // in the failure; empty for none
	}{
		{name: "as documented", body: banned},
		{name: "an error as documented", method: "DELETE", status: 404, body: notBanned},
		{name: "a field that the document lacks", removed: `"bannedAt": {`, instead: `"was": {`, body: banned, want: "bannedAt"},
		{name: "a field that the response lacks", body: strings.Replace(banned, `"bannedUserDisplayName":"Loot",`, "", 1), want: "bannedUserDisplayName"},
		{name: "a time that is none", body: strings.Replace(banned, "2026-11-20T", "2026-11-40T", 1), want: "kin-openapi"},
		{name: "null", body: strings.Replace(banned, `"Loot"`, "null", 1), want: "bannedUserDisplayName"},
		{name: "a status that the document lacks", removed: `"404": {`, instead: `"418": {`, method: "DELETE", status: 404, body: notBanned, want: "status is not documented"},
		{name: "a code that the operation does not have", status: 400, body: strings.Replace(notBanned, "NOT_BANNED", "CURSOR_INVALID", 1), want: "/data/code"},
		{name: "a header that the document lacks", removed: "RateLimit-Limit", instead: "RateLimit-Most", header: "RateLimit-Limit", body: banned, want: "Ratelimit-Limit is not documented"},
		{name: "a header that nobody knows", header: "X-Powered-By", body: banned, want: "X-Powered-By is not documented"},
		{name: "another media type", contentType: "text/plain", body: banned, want: "media type"},
		{name: "a request that should be refused", request: `{"banUsername":"lootgoblin77"}`, body: banned, want: "channelId"},
		{name: "a request that is refused", request: `{}`, status: 400, body: strings.Replace(notBanned, "NOT_BANNED", "INVALID_ARGUMENT", 1)},
		{name: "a parameter that should be refused", method: "GET", path: "/v1/channels/roles/vips?limit=101", body: emptyList, want: "limit"},
		{name: "a parameter that the request lacks", method: "GET", path: "/v1/moderation/moderators", body: emptyList, want: "channelId"},
		{name: "an unknown path", path: "/v1/unknown", body: banned, want: "not documented"},
		{name: "an event", method: "GET", path: "/v1/events", contentType: "text/event-stream", body: frame},
		{name: "an event with a field that the document lacks", removed: `"clearedAt": {`, instead: `"was": {`, method: "GET", path: "/v1/events", contentType: "text/event-stream", body: frame, want: "clearedAt"},
		{name: "an unknown event", method: "GET", path: "/v1/events", contentType: "text/event-stream", body: strings.Replace(frame, "chat.clear", "party", 1), want: "ChannelPartyNotification"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			document, err := unchanged()
			if c.removed != "" {
				document, err = openapitest.Parse([]byte(strings.ReplaceAll(string(openapi.JSON()), c.removed, c.instead)))
			}
			if err != nil {
				t.Fatal(err)
			}
			recorded := &recorder{TB: t}
			handler := openapitest.LayerOf(recorded, document)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = r.Body.Read(make([]byte, 1<<10))
				w.Header().Set("Content-Type", cmp.Or(c.contentType, "application/json"))
				w.Header().Set("X-Request-Id", "1")
				if c.header != "" {
					w.Header().Set(c.header, "1")
				}
				w.WriteHeader(max(c.status, http.StatusOK))
				_, _ = w.Write([]byte(c.body))
			}))
			r := httptest.NewRequest(cmp.Or(c.method, "POST"), cmp.Or(c.path, "/v1/moderation/ban"), strings.NewReader(cmp.Or(c.request, request)))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("client-id", "dashboard")
			handler.ServeHTTP(httptest.NewRecorder(), r)
			for _, cleanup := range recorded.cleanups {
				cleanup()
			}
			if got := strings.Join(recorded.failures, "\n"); (got != "") != (c.want != "") || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
