package socketio

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/gorilla/websocket"
)

// The transports of a connection.
const (
	polling   int32 = iota
	probing         // the client polls, and opens a WebSocket
	leaving         // the client stops polling: its requests do not wait
	streaming       // the client has a WebSocket
)

const (
	// maxMessage is how many bytes a client may send in one message or request.
	maxMessage = 16 << 10
	// sendTimeout is how long a message may wait, and then take, until the client is taken for
	// gone.
	sendTimeout = 30 * time.Second
	// upgradeTimeout is how long a client may take to leave polling.
	upgradeTimeout = 10 * time.Second
	// separator is between the packets of a request or response.
	separator = "\x1e"
)

// ServeHTTP serves the requests of clients.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	id, name, transport := query.Get("sid"), "polling", polling
	if websocket.IsWebSocketUpgrade(r) {
		name, transport = "websocket", streaming
	}
	c := s.find(id)
	switch {
	case query.Get("EIO") != "4":
		refuse(w, http.StatusBadRequest, 5, "Unsupported protocol version")
	case query.Get("transport") != name:
		refuse(w, http.StatusBadRequest, 0, "Transport unknown")
	case id != "" && c == nil:
		refuse(w, http.StatusBadRequest, 1, "Session ID unknown")
	case c == nil && r.Method != http.MethodGet:
		refuse(w, http.StatusBadRequest, 2, "Bad handshake method")
	case c == nil:
		s.open(w, r, transport)
	case transport == streaming && c.transport.CompareAndSwap(polling, probing):
		s.stream(w, r, c)
	case transport == streaming || c.transport.Load() == streaming || r.Method != http.MethodGet && r.Method != http.MethodPost:
		refuse(w, http.StatusBadRequest, 3, "Bad request")
	case r.Method == http.MethodPost:
		s.post(w, r, c)
	default:
		c.poll(w, r)
	}
}

// refuse sends an error in the form of Engine.IO.
func refuse(w http.ResponseWriter, status, code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"code": code, "message": message})
}

// open opens a connection.
func (s *Server) open(w http.ResponseWriter, r *http.Request, transport int32) {
	c := newConn(s.ctx, r.RemoteAddr, transport)
	if err := s.admit(c); err != nil {
		c.close("")
		refuse(w, http.StatusForbidden, 4, err.Error())
	} else if transport == streaming {
		s.stream(w, r, c)
	} else {
		c.poll(w, r)
	}
}

// poll sends what waits for the client, or waits for it.
func (c *conn) poll(w http.ResponseWriter, r *http.Request) {
	select {
	case c.polled <- struct{}{}:
		defer func() { <-c.polled }()
	default:
		c.close("")
		refuse(w, http.StatusBadRequest, 3, "Bad request")
		return
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{}) // the server's would end the wait
	packets := c.next(r.Context())
	switch {
	case len(packets) > 0:
	case r.Context().Err() != nil:
		c.close("")
		return
	case c.isClosed():
		packets = [][]byte{[]byte(closePacket)}
	default:
		packets = [][]byte{[]byte(noopPacket)}
	}
	_ = control.SetWriteDeadline(time.Now().Add(sendTimeout))
	w.Header().Set("Content-Type", "text/plain; charset=UTF-8")
	w.Header().Set("Cache-Control", "no-store")
	if _, err := w.Write(bytes.Join(packets, []byte(separator))); err != nil {
		c.close("")
	}
	c.sent(packets)
}

// post receives packets of a client that polls.
func (s *Server) post(w http.ResponseWriter, r *http.Request, c *conn) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxMessage))
	isGood := err == nil
	for packet := range strings.SplitSeq(string(body), separator) {
		isGood = isGood && s.receive(c, packet)
	}
	if !isGood {
		c.close("")
		refuse(w, http.StatusBadRequest, 3, "Bad request")
		return
	}
	_, _ = io.WriteString(w, "ok")
}

// upgrader accepts every origin: FromOrigins has checked it.
var upgrader = websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}

// stream opens a WebSocket, and serves it until the connection ends. A client that polls
// leaves polling first, or goes on with it.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, c *conn) {
	isNew := c.transport.Load() == streaming
	ws, err := upgrader.Upgrade(w, r, nil)
	if err == nil {
		c.limit(ws)
		if isNew || c.probe(ws) {
			go c.write(ws)
			s.read(c, ws)
			return
		}
		defer func() { _ = ws.Close() }() // the client polls again once it sees the end
	}
	if isNew {
		c.close("")
	} else {
		c.transport.Store(polling)
	}
}

// read receives packets until the connection ends.
func (s *Server) read(c *conn, ws *websocket.Conn) {
	for !c.isClosed() {
		kind, packet, err := ws.ReadMessage()
		if err != nil || kind != websocket.TextMessage || !s.receive(c, string(packet)) {
			c.close("")
		}
	}
}

// limit bounds what a client sends over a WebSocket: control frames count as packets.
func (c *conn) limit(ws *websocket.Conn) {
	ws.SetReadLimit(maxMessage)
	answer := ws.PingHandler()
	count := func(string) error {
		if !c.received.Allow() {
			return errTooFast
		}
		return nil
	}
	ws.SetPongHandler(count)
	ws.SetPingHandler(func(data string) error { return cmp.Or(count(data), answer(data)) })
}

// probe waits until the client has left polling for a WebSocket.
func (c *conn) probe(ws *websocket.Conn) bool {
	until := time.Now().Add(upgradeTimeout)
	_, _ = ws.SetReadDeadline(until), ws.SetWriteDeadline(until)
	reads := func(want string) bool {
		_, packet, err := ws.ReadMessage()
		return err == nil && string(packet) == want
	}
	if !reads(pingPacket + "probe") {
		return false
	}
	c.transport.Store(leaving)
	c.push([]byte(noopPacket)) // ends the request that waits
	if ws.WriteMessage(websocket.TextMessage, []byte(pongPacket+"probe")) != nil || !reads(upgradePacket) {
		return false
	}
	c.transport.Store(streaming)
	return ws.SetReadDeadline(time.Time{}) == nil
}

// write sends what waits for the client until the connection ends, and closes the WebSocket.
func (c *conn) write(ws *websocket.Conn) {
	defer func() { _ = ws.Close() }()
	stop := context.AfterFunc(c.ctx, func() { _ = ws.NetConn().SetDeadline(time.Now().Add(time.Second)) })
	defer stop()
	for packets := c.next(c.ctx); len(packets) > 0; packets = c.next(c.ctx) {
		for _, packet := range packets {
			_ = ws.SetWriteDeadline(time.Now().Add(sendTimeout))
			if ws.WriteMessage(websocket.TextMessage, packet) != nil {
				c.close("")
				return
			}
		}
		c.sent(packets)
	}
}

// receive handles a packet of the client, and reports whether it is one that clients of this
// service send, and not one too many.
func (s *Server) receive(c *conn, packet string) bool {
	switch {
	case !c.received.Allow():
		return false
	case packet == pongPacket:
		return c.pong()
	case packet == closePacket, strings.HasPrefix(packet, disconnectPacket):
		c.close(noopPacket)
		return true
	case strings.HasPrefix(packet, connectPacket):
		return c.join(packet[len(connectPacket):]) && s.welcome(c)
	}
	return false
}
