package socketio_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// The tests in this file follow the cases that Socket.IO publishes for implementations of
// Engine.IO 4 and Socket.IO 5. Heartbeats are tested in conn_test.go.

const (
	pollingPath   = "/ws/?EIO=4&transport=polling"
	websocketPath = "/ws/?EIO=4&transport=websocket"
)

func startOne(t *testing.T) *servertest.Server {
	t.Helper()
	t.Parallel()
	return servertest.Start(t, servertest.Config(storetest.SQLite(t)))
}

// post sends packets of a client that polls.
func post(t *testing.T, s *servertest.Server, path, packets string) (status int, body string) {
	t.Helper()
	return do(t, s, http.MethodPost, path, packets)
}

// openPolling opens a connection, and returns the path of its requests.
func openPolling(t *testing.T, s *servertest.Server) string {
	t.Helper()
	status, text := get(t, s, pollingPath)
	opened := handshake(t, text)
	if status != http.StatusOK {
		t.Fatalf("got %d %s", status, text)
	}
	return pollingPath + "&sid=" + opened["sid"].(string)
}

// handshake decodes the first packet of a connection.
func handshake(t *testing.T, packet string) (opened map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(strings.TrimPrefix(packet, "0")), &opened); err != nil || packet[0] != '0' {
		t.Fatalf("%s: %v", packet, err)
	}
	return opened
}

// dial opens a WebSocket.
func dial(t *testing.T, s *servertest.Server, path string) *websocket.Conn {
	t.Helper()
	ws, response, err := websocket.DefaultDialer.Dial("ws://"+s.HTTPAddr+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	t.Cleanup(func() { _ = ws.Close() })
	_ = ws.SetReadDeadline(time.Now().Add(patience))
	return ws
}

func write(t *testing.T, ws *websocket.Conn, packet string) {
	t.Helper()
	if err := ws.WriteMessage(websocket.TextMessage, []byte(packet)); err != nil {
		t.Fatal(err)
	}
}

// read returns the next packet of a WebSocket; none when the server has closed it.
func read(t *testing.T, ws *websocket.Conn) string {
	t.Helper()
	_, packet, err := ws.ReadMessage()
	if err != nil && strings.Contains(err.Error(), "timeout") {
		t.Fatal(err)
	}
	return string(packet)
}

func TestHandshake(t *testing.T) {
	s := startOne(t)
	_, text := get(t, s, pollingPath)
	for text, upgrades := range map[string][]any{text: {"websocket"}, read(t, dial(t, s, websocketPath)): {}} {
		opened := handshake(t, text)
		keys := slices.Sorted(maps.Keys(opened))
		if !slices.Equal(keys, []string{"maxPayload", "pingInterval", "pingTimeout", "sid", "upgrades"}) || !slices.Equal(opened["upgrades"].([]any), upgrades) {
			t.Errorf("got %s", text)
		}
	}
	for _, c := range []struct{ method, path string }{
		{http.MethodGet, "/ws/?transport=polling"},
		{http.MethodGet, "/ws/?EIO=abc&transport=polling"},
		{http.MethodGet, "/ws/?EIO=3&transport=polling"},
		{http.MethodGet, "/ws/?EIO=4"},
		{http.MethodGet, "/ws/?EIO=4&transport=abc"},
		{http.MethodGet, websocketPath}, // without an upgrade
		{http.MethodGet, pollingPath + "&sid=abc"},
		{http.MethodPost, pollingPath},
		{http.MethodPut, pollingPath},
		{http.MethodPut, openPolling(t, s)},
	} {
		if status, text := do(t, s, c.method, c.path, ""); status != http.StatusBadRequest || !strings.Contains(text, `"message"`) {
			t.Errorf("%s %s: got %d %s, want 400", c.method, c.path, status, text)
		}
	}
}

// TestJoin joins each namespace at each path. The client learns its session in three ways.
func TestJoin(t *testing.T) {
	s := startOne(t)
	for _, path := range []string{"/ws", "/ws/", "/socket.io/"} {
		for join, want := range map[string]string{"40": "", `40{"token":"x"}`: "", "40/ws,": "/ws,", `40/ws,{"token":"x"}`: "/ws,", "40/ws": "/ws,"} {
			ws := dial(t, s, path+"?EIO=4&transport=websocket")
			read(t, ws)
			write(t, ws, join)
			var joined struct{ SID string }
			packet := read(t, ws)
			if err := json.Unmarshal([]byte(strings.TrimPrefix(packet, "40"+want)), &joined); err != nil || joined.SID == "" {
				t.Fatalf("%s, %s: got %s", path, join, packet)
			}
			if packet := read(t, ws); packet != `42`+want+`["session_welcome",{"sessionId":"`+joined.SID+`"}]` {
				t.Errorf("%s, %s: got %s", path, join, packet)
			}
			if packet := read(t, ws); !strings.HasPrefix(packet, `42`+want+`["eventsub",{"metadata":{`) || !strings.Contains(packet, `"sessionId":"`+joined.SID+`"`) {
				t.Errorf("%s, %s: got %s", path, join, packet)
			}
			write(t, ws, "41"+want)
			if packet := read(t, ws); packet != "6" || read(t, ws) != "" {
				t.Errorf("%s, %s: got %s, want the end of the connection", path, join, packet)
			}
		}
	}
	ws := dial(t, s, websocketPath)
	read(t, ws)
	write(t, ws, "40/random,")
	if packet := read(t, ws); packet != `44/random,{"message":"Invalid namespace"}` || read(t, ws) != "" {
		t.Errorf("an unknown namespace: got %s", packet)
	}
}

// TestUnknownPacketsEndTheConnection sends what the clients of this service do not.
func TestUnknownPacketsEndTheConnection(t *testing.T) {
	s := startOne(t)
	for name, packets := range map[string][]string{
		"no packet":            {""},
		"an unknown packet":    {"abc"},
		"an unknown message":   {"4abc"},
		"binary in text":       {"bAQIDBA=="},
		"a ping":               {"2"},
		"a pong without ping":  {"3"},
		"an upgrade":           {"5"},
		"an event":             {"40", `42["message","hello"]`},
		"an acknowledgement":   {"40", `431[]`},
		"binary attachments":   {"40", `451-["message",{"_placeholder":true,"num":0}]`},
		"auth that is none":    {"40abc"},
		"two joins":            {"40", "40"},
		"two namespaces":       {"40", "40/ws,"},
		"many unknown ones":    slices.Repeat([]string{"40/x,"}, 500),
		"a packet that is big": {"40{" + strings.Repeat("x", 16<<10) + "}"},
	} {
		path := openPolling(t, s)
		if status, text := post(t, s, path, strings.Join(packets, "\x1e")); status != http.StatusBadRequest {
			t.Errorf("%s, polling: got %d %s, want 400", name, status, text)
		}
		if status, text := get(t, s, path); status != http.StatusBadRequest && text != `44/x,{"message":"Invalid namespace"}` {
			t.Errorf("%s, polling again: got %d %s, want 400", name, status, text)
		}
		ws := dial(t, s, websocketPath)
		for _, packet := range packets {
			_ = ws.WriteMessage(websocket.TextMessage, []byte(packet))
		}
		for read(t, ws) != "" { // until the server closes it
		}
	}
	ws := dial(t, s, websocketPath)
	if err := ws.WriteMessage(websocket.BinaryMessage, []byte("40")); err != nil {
		t.Fatal(err)
	}
	for read(t, ws) != "" {
	}
}

// TestControlFramesAreCounted sends more pings of the WebSocket than a client may.
func TestControlFramesAreCounted(t *testing.T) {
	s := startOne(t)
	ws := dial(t, s, websocketPath)
	_ = ws.SetReadDeadline(time.Now().Add(5 * time.Second)) // it must not end because nobody joins
	for range 100 {
		_ = ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(patience))
	}
	for read(t, ws) != "" {
	}
}

// TestConnectionHasOneSession joins many times in one request. A session costs two transactions
// and needs no token, and the limits count connections.
func TestConnectionHasOneSession(t *testing.T) {
	s := startOne(t)
	post(t, s, openPolling(t, s), strings.Repeat("40\x1e", 50)+"40")
	for until := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		n := storetest.Must(s.Store.Read.EventSession.Query().Count(t.Context()))
		if n > 1 {
			t.Fatalf("the connection has %d sessions", n)
		}
		if n == 0 {
			return
		}
		if time.Now().After(until) {
			t.Fatal("the session of a closed connection remains")
		}
	}
}

// TestConcurrentPollsEndTheConnection polls twice at the same moment.
func TestConcurrentPollsEndTheConnection(t *testing.T) {
	s := startOne(t)
	path := openPolling(t, s)
	first := pollInBackground(t, s, path)
	if status, text := get(t, s, path); status != http.StatusBadRequest {
		t.Errorf("the second poll: got %d %s, want 400", status, text)
	}
	if text := <-first; text != "1" {
		t.Errorf("the first poll: got %s, want 1", text)
	}
	if status, text := get(t, s, path); status != http.StatusBadRequest {
		t.Errorf("a poll after them: got %d %s, want 400", status, text)
	}
}

// pollInBackground polls, and waits until the server has the request.
func pollInBackground(t *testing.T, s *servertest.Server, path string) <-chan string {
	t.Helper()
	response := make(chan string, 1)
	go func() {
		_, text := get(t, s, path)
		response <- text
	}()
	select {
	case text := <-response:
		t.Fatalf("the poll does not wait: %s", text)
	case <-time.After(200 * time.Millisecond):
	}
	return response
}

func TestClientCloses(t *testing.T) {
	s := startOne(t)
	path := openPolling(t, s)
	response := pollInBackground(t, s, path)
	if status, text := post(t, s, path, "1"); status != http.StatusOK || text != "ok" {
		t.Errorf("got %d %s", status, text)
	}
	if text := <-response; text != "6" {
		t.Errorf("the poll: got %s, want 6", text)
	}
	if status, text := get(t, s, path); status != http.StatusBadRequest {
		t.Errorf("a poll afterwards: got %d %s, want 400", status, text)
	}
	ws := dial(t, s, websocketPath)
	write(t, ws, "1")
	for read(t, ws) != "" {
	}
}

// TestUpgrade leaves polling for a WebSocket, which may fail once.
func TestUpgrade(t *testing.T) {
	s := startOne(t)
	path := openPolling(t, s)
	response := pollInBackground(t, s, path)
	streaming := strings.Replace(path, "polling", "websocket", 1)
	failed := dial(t, s, streaming)
	write(t, failed, "2probe")
	if text := <-response; text != "6" || read(t, failed) != "3probe" {
		t.Errorf("the poll: got %s, want 6", text)
	}
	write(t, failed, "4hello")
	if text := read(t, failed); text != "" {
		t.Errorf("got %s, want the end of the WebSocket", text)
	}
	response = pollInBackground(t, s, path)
	ws := dial(t, s, streaming)
	write(t, ws, "2probe")
	if text := <-response; text != "6" || read(t, ws) != "3probe" {
		t.Errorf("the poll: got %s, want 6", text)
	}
	if status, text := get(t, s, path); status != http.StatusOK || text != "6" {
		t.Errorf("a poll before the upgrade: got %d %s, want 6", status, text)
	}
	write(t, ws, "5")
	write(t, ws, "40")
	if text := read(t, ws); !strings.HasPrefix(text, "40{") {
		t.Errorf("got %s, want the session", text)
	}
	if status, text := get(t, s, path); status != http.StatusBadRequest {
		t.Errorf("a poll after the upgrade: got %d %s, want 400", status, text)
	}
	if status, text := post(t, s, path, "3"); status != http.StatusBadRequest {
		t.Errorf("a packet after the upgrade: got %d %s, want 400", status, text)
	}
	if _, _, err := websocket.DefaultDialer.Dial("ws://"+s.HTTPAddr+streaming, nil); err == nil { //nolint:bodyclose // it is empty
		t.Error("a second WebSocket is accepted")
	}
	write(t, ws, "41")
	for text := read(t, ws); text != "6"; text = read(t, ws) {
		if text == "" {
			t.Fatal("the connection ended before")
		}
	}
}

// TestPollEndsWithItsServer stops the server while a client polls. The process and the client
// wait for the request.
func TestPollEndsWithItsServer(t *testing.T) {
	s := startOne(t)
	response := pollInBackground(t, s, openPolling(t, s))
	s.Stop(t)
	if text := <-response; text != "1" {
		t.Errorf("got %s, want 1", text)
	}
}

// do calls a path over HTTP without a token.
func do(t *testing.T, s *servertest.Server, method, path, body string) (status int, text string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.HTTPAddr+path, bytes.NewBufferString(body))
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer func() { _ = response.Body.Close() }()
	all, err := io.ReadAll(response.Body)
	if err != nil {
		t.Error(err)
	}
	return response.StatusCode, string(all)
}

// get is do with GET.
func get(t *testing.T, s *servertest.Server, path string) (status int, text string) {
	t.Helper()
	return do(t, s, http.MethodGet, path, "")
}
