package requests_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/servertest/process"
)

// hidden is the request that an attacker hides in the body of another one. Its response is
// PATH_NOT_FOUND, which no other request of the test gets.
const hidden = "GET /v1/smuggled HTTP/1.1\r\nHost: moderato\r\n\r\n"

// ambiguous are requests of which a proxy and a server may disagree where they end. %s
// stands for the headers of a valid request.
var ambiguous = []struct{ name, request string }{
	{"CL.TE", "POST /v1/channels/info HTTP/1.1\r\n%sContent-Length: {0}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden},
	{"TE.CL", "POST /v1/channels/info HTTP/1.1\r\n%sTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n{chunk}0\r\n\r\n"},
	{"CL.0", "POST /v1/channels/info HTTP/1.1\r\n%sContent-Length: 0\r\n\r\n" + hidden},
	{"GET with a body", "GET /v1/channels/stats HTTP/1.1\r\n%sContent-Length: {0}\r\n\r\n" + hidden},
	{"GET with chunks", "GET /v1/channels/stats HTTP/1.1\r\n%sTransfer-Encoding: chunked\r\n\r\n{chunk}0\r\n\r\n"},
	{"two Content-Length", "POST /v1/channels/info HTTP/1.1\r\n%sContent-Length: 0\r\nContent-Length: {0}\r\n\r\n" + hidden},
	{"a list of Content-Length", "POST /v1/channels/info HTTP/1.1\r\n%sContent-Length: 0, {0}\r\n\r\n" + hidden},
	{"Content-Length with a sign", "POST /v1/channels/info HTTP/1.1\r\n%sContent-Length: +{0}\r\n\r\n" + hidden},
	{"Content-Length in hexadecimal", "POST /v1/channels/info HTTP/1.1\r\n%sContent-Length: 0x10\r\n\r\n" + hidden},
	{"a space before the colon", "POST /v1/channels/info HTTP/1.1\r\n%sTransfer-Encoding : chunked\r\nContent-Length: {0}\r\n\r\n0\r\n\r\n" + hidden},
	{"a tab after the colon", "POST /v1/channels/info HTTP/1.1\r\n%sTransfer-Encoding:\tchunked\r\nContent-Length: {0}\r\n\r\n0\r\n\r\n" + hidden},
	{"a vertical tab", "POST /v1/channels/info HTTP/1.1\r\n%sTransfer-Encoding: \x0bchunked\r\nContent-Length: {0}\r\n\r\n0\r\n\r\n" + hidden},
	{"another coding", "POST /v1/channels/info HTTP/1.1\r\n%sTransfer-Encoding: xchunked\r\nContent-Length: {0}\r\n\r\n0\r\n\r\n" + hidden},
	{"chunked twice", "POST /v1/channels/info HTTP/1.1\r\n%sTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\nContent-Length: {0}\r\n\r\n0\r\n\r\n" + hidden},
	{"chunked before identity", "POST /v1/channels/info HTTP/1.1\r\n%sTransfer-Encoding: chunked, identity\r\nContent-Length: {0}\r\n\r\n0\r\n\r\n" + hidden},
	{"a folded header", "POST /v1/channels/info HTTP/1.1\r\n%sTransfer-Encoding:\r\n chunked\r\nContent-Length: {0}\r\n\r\n0\r\n\r\n" + hidden},
	{"in a header of another name", "POST /v1/channels/info HTTP/1.1\r\n%sX: a\nTransfer-Encoding: chunked\r\nContent-Length: {0}\r\n\r\n0\r\n\r\n" + hidden},
	{"a NUL in the name", "POST /v1/channels/info HTTP/1.1\r\n%sTransfer-Encoding\x00: chunked\r\nContent-Length: {0}\r\n\r\n0\r\n\r\n" + hidden},
	{"bare line feeds", "POST /v1/channels/info HTTP/1.1\n{lf}Transfer-Encoding: chunked\nContent-Length: {0}\n\n0\n\n" + hidden},
	{"chunks with line feeds", "POST /v1/channels/info HTTP/1.1\r\n%sTransfer-Encoding: chunked\r\n\r\n1\na\n0\n\n" + hidden},
	{"a chunk extension", "POST /v1/channels/info HTTP/1.1\r\n%sTransfer-Encoding: chunked\r\n\r\n1;a=\"\n\"\r\na\r\n0\r\n\r\n" + hidden},
	{"an extension that ends early", "POST /v1/channels/info HTTP/1.1\r\n%sTransfer-Encoding: chunked\r\n\r\n2;\nxx\r\n4f\r\n0\r\n\r\n" + hidden},
	{"a chunk size that overflows", "POST /v1/channels/info HTTP/1.1\r\n%sTransfer-Encoding: chunked\r\n\r\n10000000000000000\r\n0\r\n\r\n" + hidden},
	{"a chunk size with a sign", "POST /v1/channels/info HTTP/1.1\r\n%sTransfer-Encoding: chunked\r\n\r\n-1\r\n0\r\n\r\n" + hidden},
	{"trailers", "POST /v1/channels/info HTTP/1.1\r\n%sTransfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 100\r\n\r\n" + hidden},
	{"an absolute address", "GET http://evil.example/v1/channels/stats HTTP/1.1\r\n%sContent-Length: {0}\r\n\r\n" + hidden},
	{"two hosts", "GET /v1/channels/stats HTTP/1.1\r\nHost: evil.example\r\n%sContent-Length: {0}\r\n\r\n" + hidden},
	{"HTTP/1.0 with chunks", "POST /v1/channels/info HTTP/1.0\r\n%sConnection: keep-alive\r\nTransfer-Encoding: chunked\r\nContent-Length: {0}\r\n\r\n0\r\n\r\n" + hidden},
	{"an upgrade to h2c", "GET /v1/channels/stats HTTP/1.1\r\n%sConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\nContent-Length: {0}\r\n\r\n" + hidden},
	{"an upgrade to a WebSocket", "GET /ws?EIO=4&transport=websocket HTTP/1.1\r\n%sConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 777\r\nContent-Length: {0}\r\n\r\n" + hidden},
	{"a body after 100-continue", "POST /v1/channels/info HTTP/1.1\r\n%sExpect: 100-continue\r\nContent-Length: 0\r\n\r\n" + hidden},
}

// TestSmugglingThroughProxy sends ambiguous requests through HAProxy, which reuses its
// connections to the server for all clients. The client that comes next must get its own
// response, and the server must not answer the hidden request.
func TestSmugglingThroughProxy(t *testing.T) {
	t.Parallel()
	s := serve(t, "--log-level=debug") // which logs reads
	address := startProxy(t, s.REST)
	for _, a := range ambiguous {
		before := s.Log()
		statuses := exchange(t, address, s.ambiguous(a.request), isPipelined(a.name))
		last := ""
		for range 3 { // the connection to the server is reused
			last = s.wantOwnResponse(t, a.name, address)
		}
		log := s.logUntil(t, last)[len(before):]
		// The proxy may see two requests of the attacker; then the attacker gets both responses.
		answered := strings.Count(strings.Join(statuses, "\n"), "404")
		if hidden := strings.Count(log, "PATH_NOT_FOUND"); hidden != answered || (isPipelined(a.name) && hidden != 1) {
			t.Errorf("%s: the server answered %d hidden requests, and their sender got the responses %v; the server says\n%s", a.name, hidden, statuses, log)
		}
	}
}

// logUntil returns the log when it has the call with this request id. The server logs a call
// when it has answered it.
func (s *target) logUntil(t *testing.T, id string) (log string) {
	t.Helper()
	for deadline := time.Now().Add(servertest.Slack); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if log = s.Log(); strings.Contains(log, id) {
			return log
		}
	}
	t.Errorf("the log does not have the call %s", id)
	return log
}

// TestSmugglingWithoutProxy sends the same requests to the server itself, which must refuse
// what no rule decides: a proxy may understand it otherwise.
func TestSmugglingWithoutProxy(t *testing.T) {
	t.Parallel()
	s := serve(t, "--log-level=debug") // which logs reads
	for _, a := range ambiguous {
		want := isPipelined(a.name) || isOverridden(a.name)
		before := s.Log()
		statuses := exchange(t, s.REST, s.ambiguous(a.request), want)
		// A second request that is answered late is in the log before a call that is sent now.
		log := s.logUntil(t, s.wantOwnResponse(t, a.name, s.REST))[len(before):]
		if isAnswered := strings.Contains(log, "PATH_NOT_FOUND"); isAnswered != want || (len(statuses) > 1) != want {
			t.Errorf("%s: got the responses %v; want a second one only if the client plainly sent two requests; the server says\n%s", a.name, statuses, log)
		}
	}
	if s.probe(t, 50*time.Millisecond) == nil {
		t.Error("the server does not answer")
	}
}

// isPipelined reports whether a request is unambiguous, so that what follows is a second
// request of the same client.
func isPipelined(name string) bool {
	switch name {
	case "CL.0", "a body after 100-continue", "trailers":
		return true
	}
	return false
}

// isOverridden reports whether Transfer-Encoding overrides Content-Length (RFC 9112, section
// 6.1), so that the server, without a proxy, sees a second request of the same client.
func isOverridden(name string) bool {
	switch name {
	case "CL.TE", "a tab after the colon", "a folded header", "in a header of another name":
		return true
	}
	return false
}

// ambiguous returns a request with credentials.
func (s *target) ambiguous(request string) string {
	headers := fmt.Sprintf("Host: moderato\r\nAuthorization: Bearer %s\r\nclient-id: %s\r\nContent-Type: application/json\r\n", s.owner.Token, s.owner.ClientID)
	request = strings.Replace(request, "%s", headers, 1)
	request = strings.Replace(request, "{lf}", strings.ReplaceAll(headers, "\r", ""), 1)
	request = strings.Replace(request, "{chunk}", fmt.Sprintf("%x\r\n%s\r\n", len(hidden), hidden), 1)
	_, body, isCRLF := strings.Cut(request, "\r\n\r\n")
	if !isCRLF {
		_, body, _ = strings.Cut(request, "\n\n")
	}
	return strings.Replace(request, "{0}", fmt.Sprint(len(body)), 1)
}

// exchange sends a text, and returns the statuses of the responses. It waits long for a
// second response only if there should be one.
func exchange(t *testing.T, address, text string, second bool) (statuses []string) {
	t.Helper()
	long, short := 10*time.Second, scaled(100*time.Millisecond, 250*time.Millisecond)
	conn, err := net.DialTimeout("tcp", address, long)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, _ = io.WriteString(conn, text)
	for responses := bufio.NewReader(conn); ; {
		wait := long
		if want := map[bool]int{true: 2, false: 1}[second]; len(statuses) >= want {
			wait = short
		}
		_ = conn.SetReadDeadline(time.Now().Add(wait))
		response, err := http.ReadResponse(responses, nil)
		if err != nil {
			return statuses
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		if response.StatusCode != http.StatusContinue {
			statuses = append(statuses, response.Status)
		}
	}
}

// wantOwnResponse makes a request of another client, which must get its own response. It
// returns the id of the request.
func (s *target) wantOwnResponse(t *testing.T, after, address string) (id string) {
	t.Helper()
	id = "own-" + fmt.Sprint(time.Now().UnixNano())
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/v1/tokens/self", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer " + s.backend.Token}, "Client-Id": {s.backend.ClientID}, "X-Request-Id": {id}}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Errorf("%s: the next client: %v", after, err)
		return id
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK || response.Header.Get("X-Request-Id") != id {
		t.Errorf("%s: the next client got %s, the request id %q instead of %q, %s, %v", after, response.Status, response.Header.Get("X-Request-Id"), id, body, err)
	}
	return id
}

// startProxy runs HAProxy in front of a server, as deploy/compose/haproxy.cfg configures
// it, but with connections to the server that all clients share.
func startProxy(t *testing.T, backend string) (address string) {
	t.Helper()
	address = process.FreeAddress(t)
	process.HAProxy(t, fmt.Sprintf(`global
    maxconn 200
defaults
    mode http
    timeout connect 5s
    timeout client 5s
    timeout server 5s
    timeout http-request 5s
    option http-keep-alive
    http-reuse always
frontend rest
    bind %s
    default_backend rest
backend rest
    server moderato %s maxconn 1
`, address, backend), address)
	return address
}
