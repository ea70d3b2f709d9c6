package gateway_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// Paths that the facade serves.
const (
	channelsPath   = "/v1/moderation/channels"
	moderatorsPath = "/v1/moderation/moderators"
	banPath        = "/v1/moderation/ban"
	mutePath       = "/v1/moderation/mute"
	bansPath       = "/v1/moderation/bans"
	sweepsPath     = "/v1/moderation/sweeps"
	logPath        = "/v1/moderation/log"
	webhooksPath   = "/v1/webhooks"
	emotesPath     = "/v1/emotes/channels/" // a channel follows
)

// start starts a server with the World; changes modify its configuration.
func start(t *testing.T, changes ...func(*server.Config)) *servertest.Server {
	t.Helper()
	config := servertest.Config(storetest.SQLite(t))
	for _, change := range changes {
		change(&config)
	}
	s := servertest.Start(t, config)
	s.Load(t, servertest.World()...)
	return s
}

// listModerators returns the target of a call that any caller with a token may make.
func listModerators() string { return moderatorsPath + "?channelId=" + servertest.Owner.String() }

// args returns a JSON object of strings; pairs holds names and values alternately.
func args(pairs ...string) string {
	var members []string
	for pair := range slices.Chunk(pairs, 2) {
		members = append(members, strconv.Quote(pair[0])+":"+strconv.Quote(pair[1]))
	}
	return "{" + strings.Join(members, ",") + "}"
}

// roleArgs returns arguments with Owner's channel and a user, as for adding a moderator.
func roleArgs(user uid.ID) string {
	return args("channelId", servertest.Owner.String(), "userId", user.String())
}

// narrow returns credentials of a user without scopes.
func narrow(t *testing.T, s *servertest.Server, user uid.ID) servertest.Credentials {
	t.Helper()
	return s.Token(t, authn.NewToken{Kind: authn.User, ClientID: servertest.Dashboard, UserID: user})
}

// failure is the body of an error.
type failure struct {
	Success *bool  `json:"success"`
	Message string `json:"message"`
	Data    struct {
		Code           string             `json:"code"`
		RequestID      string             `json:"requestId"`
		Violations     []apierr.Violation `json:"violations"`
		MuteExpiresAt  string             `json:"muteExpiresAt"`
		RequiredScope  string             `json:"requiredScope"`
		AcceptedTokens []string           `json:"acceptedTokens"`
	} `json:"data"`
}

// wantRefused checks that a response is an error with this status and code, in the form
// that all errors have, and returns its body.
func wantRefused(t *testing.T, r servertest.Response, status int, code string) failure {
	t.Helper()
	if r.Status != status {
		t.Fatalf("status: got %d, want %d; body %s", r.Status, status, r.Body)
	}
	wantJSON(t, r)
	var body failure
	decoder := json.NewDecoder(strings.NewReader(r.Body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&body); err != nil {
		t.Fatalf("body %s: %v", r.Body, err)
	}
	if body.Success == nil || *body.Success {
		t.Errorf("success: got %s, want false", r.Body)
	}
	if body.Message == "" {
		t.Errorf("message: got none in %s", r.Body)
	}
	if body.Data.Code != code {
		t.Errorf("code: got %s, want %s; body %s", body.Data.Code, code, r.Body)
	}
	if id := r.Header.Get("X-Request-Id"); id == "" || body.Data.RequestID != id {
		t.Errorf("requestId: got %q, want that of the header X-Request-Id, %q", body.Data.RequestID, id)
	}
	if code != "INVALID_ARGUMENT" && len(body.Data.Violations) > 0 {
		t.Errorf("violations: got %v with %s, want them with INVALID_ARGUMENT alone", body.Data.Violations, code)
	}
	return body
}

// wantViolations checks that a response is an INVALID_ARGUMENT with violations of exactly
// these fields, in any order.
func wantViolations(t *testing.T, r servertest.Response, fields ...string) failure {
	t.Helper()
	body := wantRefused(t, r, http.StatusBadRequest, "INVALID_ARGUMENT")
	var got []string
	for _, v := range body.Data.Violations {
		got = append(got, v.Field)
		if v.Description == "" {
			t.Errorf("the violation of %q has no description: %s", v.Field, r.Body)
		}
	}
	slices.Sort(got)
	slices.Sort(fields)
	if !slices.Equal(got, fields) {
		t.Errorf("violations: got fields %q, want %q; body %s", got, fields, r.Body)
	}
	return body
}

// wantOK checks that a call succeeded.
func wantOK(t *testing.T, r servertest.Response) {
	t.Helper()
	if r.Status != http.StatusOK {
		t.Fatalf("status: got %d, want 200; body %s", r.Status, r.Body)
	}
	wantJSON(t, r)
	if !strings.HasPrefix(r.Body, `{"success":true,"message":"success"`) {
		t.Errorf("envelope: got %s", r.Body)
	}
}

// wantJSON checks the headers that every response with a body has.
func wantJSON(t *testing.T, r servertest.Response) {
	t.Helper()
	if got := r.Header.Values("Content-Type"); len(got) != 1 || got[0] != "application/json" {
		t.Errorf("Content-Type: got %q, want application/json", got)
	}
	if got, want := r.Header.Get("Content-Length"), strconv.Itoa(len(r.Body)); got != want {
		t.Errorf("Content-Length: got %q, want %q", got, want)
	}
}

// head returns the beginning of a request as HTTP/1.1 text, to which a test adds what
// HTTP clients refuse to send.
func head(s *servertest.Server, c servertest.Credentials, method, target string) string {
	return method + " " + target + " HTTP/1.1\r\nHost: " + s.HTTPAddr +
		"\r\nAuthorization: Bearer " + c.Token + "\r\nclient-id: " + c.ClientID + "\r\n"
}

// exchange writes bytes to the server's REST port and reads one response.
func exchange(t *testing.T, s *servertest.Server, request string) servertest.Response {
	t.Helper()
	conn := dial(t, s)
	// The server may respond and close before it has read the whole request.
	go func() { _, _ = io.WriteString(conn, request) }()
	method, _, _ := strings.Cut(request, " ")
	return answer(t, bufio.NewReader(conn), method)
}

func dial(t *testing.T, s *servertest.Server) net.Conn {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.HTTPAddr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	return conn
}

// answer reads the response to a request with this method.
func answer(t *testing.T, from *bufio.Reader, method string) servertest.Response {
	t.Helper()
	response, err := http.ReadResponse(from, &http.Request{Method: method})
	if err != nil {
		t.Fatalf("no answer: %v", err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("the answer breaks off: %v", err)
	}
	return servertest.Response{Status: response.StatusCode, Header: response.Header, Body: string(body)}
}
