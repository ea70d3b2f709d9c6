package gateway_test

import (
	"bufio"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/test/servertest"
)

// typed sends a body with one Content-Type header line for each of types.
func typed(t *testing.T, s *servertest.Server, c servertest.Credentials, body string, types ...string) servertest.Response {
	t.Helper()
	r := s.Request(t, c, "POST", moderatorsPath, body)
	r.Header["Content-Type"] = types
	return s.Do(t, r)
}

func TestBodyRequiresJSONContentType(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner := s.As(t, servertest.Owner)
	body := roleArgs(servertest.Viewer)
	for _, c := range []struct {
		name  string
		types []string
		ok    bool
	}{
		{"JSON", []string{"application/json"}, true},
		{"with a charset", []string{"application/json; charset=UTF-8"}, true},
		{"with a charset in quotes", []string{`application/json;charset="utf-8"`}, true},
		{"with the name that some libraries have for the charset", []string{"application/json;charset=utf8"}, true},
		{"with that name in capitals", []string{`application/json; charset="UTF8"`}, true},
		{"in capitals", []string{"Application/JSON"}, true},
		{"form, curl's default", []string{"application/x-www-form-urlencoded"}, false},
		{"a form with files", []string{"multipart/form-data; boundary=x"}, false},
		{"text", []string{"text/plain"}, false},
		{"text/json", []string{"text/json"}, false},
		{"problem JSON", []string{"application/problem+json"}, false},
		{"JSON of another kind", []string{"application/jsonp"}, false},
		{"none", nil, false},
		{"empty", []string{""}, false},
		{"wildcard type", []string{"*/*"}, false},
		{"two", []string{"application/json", "application/json"}, false},
		{"two types in one line", []string{"application/json, text/plain"}, false},
		{"another charset", []string{"application/json; charset=latin1"}, false},
		{"UTF-16", []string{"application/json; charset=utf-16"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := typed(t, s, owner, body, c.types...)
			if c.ok {
				wantOK(t, r)
			} else {
				wantRefused(t, r, http.StatusUnsupportedMediaType, "MEDIA_TYPE_UNSUPPORTED")
			}
		})
	}
}

func TestBodySizeIsLimited(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner := s.As(t, servertest.Owner)
	const bound = 64 << 10
	body := roleArgs(servertest.Viewer)
	padded := func(size int) string { return body + strings.Repeat(" ", size-len(body)) }
	for _, c := range []struct {
		name   string
		size   int
		passes bool
	}{
		{"one byte less", bound - 1, true},
		{"exactly 64 KiB", bound, true},
		{"one byte more", bound + 1, false},
		{"much more", 8 * bound, false},
	} {
		for _, chunked := range []bool{false, true} {
			for _, method := range []string{"POST", "DELETE"} {
				name := c.name + " to " + method
				if chunked {
					name += " in chunks"
				}
				t.Run(name, func(t *testing.T) {
					request := s.Request(t, owner, method, moderatorsPath, padded(c.size))
					if chunked {
						request.ContentLength = -1
					}
					r := s.Do(t, request)
					if c.passes {
						wantOK(t, r)
					} else {
						wantRefused(t, r, http.StatusRequestEntityTooLarge, "BODY_TOO_LARGE")
					}
				})
			}
		}
	}
}

// TestBodyOfBatchMayBeLarger sends bodies to the operation that declares another bound.
func TestBodyOfBatchMayBeLarger(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner := s.As(t, servertest.Owner)
	const bound = 256 << 10
	body := `{"channelId":"` + servertest.Owner.String() + `","users":[{"username":"lootgoblin77"}],"dryRun":true}`
	padded := func(size int) string { return body + strings.Repeat(" ", size-len(body)) }
	wantOK(t, s.REST(t, owner, "POST", bansPath, padded(bound)))
	refused := wantRefused(t, s.REST(t, owner, "POST", bansPath, padded(bound+1)), http.StatusRequestEntityTooLarge, "BODY_TOO_LARGE")
	if refused.Message != "The request body is larger than 256 KiB." {
		t.Errorf("the message is %q", refused.Message)
	}
	wantRefused(t, s.REST(t, owner, "DELETE", bansPath, padded(bound)), http.StatusRequestEntityTooLarge, "BODY_TOO_LARGE")
}

func TestEmptyBodyIsRejected(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner := s.As(t, servertest.Owner)
	for path, methods := range pathMethods {
		for _, method := range methods {
			if method == "GET" {
				continue
			}
			for _, typed := range []bool{false, true} {
				r := s.Request(t, owner, method, path, "")
				if typed {
					r.Header.Set("Content-Type", "application/json")
				}
				// The error does not list the missing fields: there is no object that
				// could have fields.
				wantViolations(t, s.Do(t, r), "")
			}
			wantViolations(t, s.REST(t, owner, method, path, " \n"), "")
		}
	}
}

func TestDeleteReadsBodyAndIgnoresQuery(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner := s.As(t, servertest.Owner)
	query := "?channelId=" + servertest.Owner.String() + "&userId=" + servertest.Moderator.String()
	r := s.REST(t, owner, "DELETE", moderatorsPath+query, "")
	wantViolations(t, r, "")
	if want := `"message":"The request body must be a JSON object; this operation takes its arguments there."`; !strings.Contains(r.Body, want) {
		t.Errorf("got %s, want %s", r.Body, want)
	}
	wantViolations(t, s.REST(t, owner, "DELETE", moderatorsPath+query, `{}`), "channelId", "userId")
	// A query with another user, malformed or repeated, changes nothing.
	wantOK(t, s.REST(t, owner, "DELETE", moderatorsPath+query, roleArgs(servertest.Viewer)))
	wantOK(t, s.REST(t, owner, "POST", moderatorsPath+"?userId=x&userId=%zz", roleArgs(servertest.Viewer)))
	r = s.REST(t, owner, "GET", listModerators(), "")
	for _, id := range []string{servertest.Moderator.String(), servertest.Viewer.String()} {
		if !strings.Contains(r.Body, id) {
			t.Errorf("%s is no moderator any more: %s", id, r.Body)
		}
	}
	wantOK(t, s.REST(t, owner, "DELETE", moderatorsPath, roleArgs(servertest.Moderator)))
}

// TestOptionsInQueryAreRejected has options of a change in the query, where an operation with
// a body does not read them: without its duration, the ban would be permanent.
func TestOptionsInQueryAreRejected(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner := s.As(t, servertest.Owner)
	ban := `{"channelId":"` + servertest.Owner.String() + `","banUserId":"` + servertest.Viewer.String() + `"}`
	for query, want := range map[string]string{
		"durationSeconds=600": "durationSeconds", "duration=600": "duration", "duration_seconds=600": "duration_seconds", "reason=spam": "reason",
	} {
		wantViolations(t, s.REST(t, owner, "POST", banPath+"?"+query, ban), want)
	}
	wantViolations(t, s.REST(t, owner, "POST", "/v1/moderation/bans?dryRun=true", `{"channelId":"`+servertest.Owner.String()+`"}`), "dryRun")
	wantViolations(t, s.REST(t, owner, "DELETE", moderatorsPath+"?permanent=true", roleArgs(servertest.Viewer)), "permanent")
	wantOK(t, s.REST(t, owner, "POST", banPath+"?utm_source=x", ban))
}

func TestMalformedBodyIsRejected(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner := s.As(t, servertest.Owner)
	channel, user := servertest.Owner.String(), servertest.Viewer.String()
	good := roleArgs(servertest.Viewer)
	deep := strings.Repeat("[", 10_000)
	for _, c := range []struct {
		name, body string
		fields     []string
	}{
		{"more after it", good + "x", []string{""}},
		{"another object after it", good + "{}", []string{""}},
		{"a comma after it", good + ",", []string{""}},
		{"an array", "[" + good + "]", []string{""}},
		{"a string", `"` + channel + `"`, []string{""}},
		{"a number", "1", []string{""}},
		{"null", "null", []string{""}},
		{"broken off", good[:len(good)-1], []string{""}},
		{"no JSON", "channelId=" + channel, []string{""}},
		{"single quotes", strings.ReplaceAll(good, `"`, `'`), []string{""}},
		{"a comment", "/**/" + good, []string{""}},
		{"trailing comma", good[:len(good)-1] + ",}", []string{""}},
		{"a byte order mark within", "{\ufeff" + good[1:], []string{""}},
		{"not UTF-8", `{"channelId":"` + "\xff" + `","userId":"` + user + `"}`, []string{""}},
		{"invalid UTF-8 in an ignored field", `{"x":"` + "\xc3\x28" + `",` + good[1:], []string{""}},
		{"half a surrogate pair", `{"x":"\ud800",` + good[1:], []string{""}},
		{"nested too deep", `{"x":` + deep, []string{""}},
		{"nested too deep in a field", `{"userId":` + deep, []string{""}},
		{"repeated field", `{"channelId":"` + channel + `",` + good[1:], []string{"channelId"}},
		{"repeated field, once null", `{"channelId":null,` + good[1:], []string{"channelId"}},
		{"repeated unknown field", `{"x":1,"x":2,` + good[1:], []string{"x"}},
		{"a number for a string", `{"channelId":1,"userId":"` + user + `"}`, []string{"channelId"}},
		{"a boolean for a string", `{"channelId":true,"userId":"` + user + `"}`, []string{"channelId"}},
		{"an array for a string", `{"channelId":["` + channel + `"],"userId":"` + user + `"}`, []string{"channelId"}},
		{"an object for a string", `{"channelId":{},"userId":"` + user + `"}`, []string{"channelId"}},
		{"two wrong types", `{"channelId":0,"userId":1.5}`, []string{"channelId", "userId"}},
		{"a wrong type and another", `{"channelId":0,"userId":"x"}`, []string{"channelId"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, method := range []string{"POST", "DELETE"} {
				wantViolations(t, s.REST(t, owner, method, moderatorsPath, c.body), c.fields...)
			}
		})
	}
}

func TestBodyFieldsWithoutEffect(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner := s.As(t, servertest.Owner)
	channel, user := servertest.Owner.String(), servertest.Viewer.String()
	for _, c := range []struct {
		name, body string
		missing    []string
	}{
		{"unknown fields", `{"x":1,"y":{"z":[null,{"a":"b"}]},` + roleArgs(servertest.Viewer)[1:], nil},
		{"unknown null fields", `{"x":null,` + roleArgs(servertest.Viewer)[1:], nil},
		{"spaces in names", args(" channelId", channel, "userId ", user), []string{"channelId", "userId"}},
		{"null", `{"channelId":null,"userId":"` + user + `"}`, []string{"channelId"}},
		{"empty strings", args("channelId", "", "userId", ""), []string{"channelId", "userId"}},
		{"an empty object", `{}`, []string{"channelId", "userId"}},
		{"a byte order mark", "\ufeff" + roleArgs(servertest.Viewer), nil},
		{"white space around", " \r\n\t" + roleArgs(servertest.Viewer) + "\n ", nil},
		{"a name in escapes", `{"\u0063hannelId":"` + channel + `","userId":"` + user + `"}`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := s.REST(t, owner, "POST", moderatorsPath, c.body)
			if c.missing == nil {
				wantOK(t, r)
				return
			}
			for _, v := range wantViolations(t, r, c.missing...).Data.Violations {
				if v.Description != "is required" {
					t.Errorf("%s: got %q, want that it is required", v.Field, v.Description)
				}
			}
		})
	}
}

// TestMisspelledWebhookFieldIsRejected misspells the channel and the types. If such
// fields were ignored, the webhook would be created for every channel or for all types.
func TestMisspelledWebhookFieldIsRejected(t *testing.T) {
	t.Parallel()
	s := start(t)
	service := s.AsService(t)
	for field, want := range map[string]string{
		"channel_id": "unknown field channel_id; did you mean channelId?",
		"type[]":     "unknown field type[]; did you mean type?",
		"chanel":     "chanel is not a known field; the known fields are channelId, url, type.",
	} {
		r := s.REST(t, service, "POST", "/v1/webhooks", args("url", "https://hooks.example.com/x", field, servertest.Owner.String()))
		if got := wantViolations(t, r, field).Message; got != want {
			t.Errorf("%s: got the message %q, want %q", field, got, want)
		}
	}
	wantViolations(t, s.REST(t, service, "DELETE", "/v1/webhooks", args("webhook_id", servertest.Nobody.String())), "webhook_id")
	if r := s.REST(t, service, "GET", "/v1/webhooks", ""); !strings.Contains(r.Body, `"data":[]`) {
		t.Errorf("there are webhooks: %s", r.Body)
	}
}

func TestBodyIsParsedBeforeAuthentication(t *testing.T) {
	t.Parallel()
	s := start(t)
	// A readable body is checked for its token next; without a token, the caller learns
	// nothing else.
	wantRefused(t, s.REST(t, servertest.Credentials{}, "POST", moderatorsPath, `{}`), http.StatusUnauthorized, "TOKEN_MISSING")
	wantViolations(t, s.REST(t, servertest.Credentials{}, "POST", moderatorsPath, `{"userId":1}`), "userId")
}

func TestTruncatedBodyIsRejected(t *testing.T) {
	t.Parallel()
	s := start(t)
	body := roleArgs(servertest.Viewer)
	conn, ok := dial(t, s).(*net.TCPConn)
	if !ok {
		t.Fatal("the connection is not of TCP")
	}
	request := head(s, s.As(t, servertest.Owner), "POST", moderatorsPath) + "Content-Type: application/json\r\n" +
		"Content-Length: " + strconv.Itoa(len(body)+1) + "\r\n\r\n" + body
	if _, err := conn.Write([]byte(request)); err != nil {
		t.Fatal(err)
	}
	if err := conn.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	wantViolations(t, answer(t, bufio.NewReader(conn), "POST"), "")
}
