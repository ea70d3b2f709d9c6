package socketio

import (
	"bytes"
	"maps"
	"net/http"
	"sync"

	"github.com/gorilla/websocket"
	"github.com/zishang520/socket.io/servers/engine/v3"
	"github.com/zishang520/socket.io/servers/engine/v3/transports"
	"github.com/zishang520/socket.io/v3/pkg/types"
)

// closePacket is the packet of Engine.IO with which a server ends a connection.
const closePacket = "1"

// serveRequests returns a handler for the requests of clients that poll. WebSockets go to
// the library as they are.
//
// The handler ends the request of a client that polls when its connection closes, because
// the client or the server ends it. The library would let the request wait, because a
// polling transport that closes drops its own last packet.
func (s *Server) serveRequests(library http.Handler) http.Handler {
	server := s.io.Engine().(engine.Server)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if websocket.IsWebSocketUpgrade(r) {
			library.ServeHTTP(w, r)
			return
		}
		var held heldResponse
		request := types.NewHttpContext(&held, r)
		// The library would share the header of the response among its goroutines.
		request.ResponseHeaders().Replace(map[string][]string{})
		query := r.URL.Query()
		conn, ok := server.Clients().Load(query.Get("sid"))
		if ok && r.Method == http.MethodGet && query.Get("transport") == transports.POLLING {
			end := types.EventListener(func(...any) { _, _ = request.Write([]byte(closePacket)) })
			_ = conn.Once("close", end)
			defer conn.RemoveListener("close", end)
			if conn.ReadyState() == "closed" {
				end()
			}
		}
		server.HandleRequest(request)
		held.sendTo(w)
	})
}

// heldResponse holds what the library writes until its handler returns. The library writes
// from goroutines of its own, and may write after the client is gone: net/http allows
// neither. The library writes the header, the status and the body of a response once each,
// in this order.
type heldResponse struct {
	header http.Header
	status int

	mu      sync.Mutex
	body    []byte
	isWhole bool // the fields above no longer change
}

// Header implements http.ResponseWriter.
func (h *heldResponse) Header() http.Header {
	if h.header == nil {
		h.header = http.Header{}
	}
	return h.header
}

// WriteHeader implements http.ResponseWriter.
func (h *heldResponse) WriteHeader(status int) { h.status = status }

// Write implements http.ResponseWriter.
func (h *heldResponse) Write(body []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.body, h.isWhole = bytes.Clone(body), true
	return len(body), nil
}

// sendTo writes the response to w, unless the client left before the library answered.
func (h *heldResponse) sendTo(w http.ResponseWriter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.isWhole {
		return
	}
	maps.Copy(w.Header(), h.header)
	w.WriteHeader(h.status)
	_, _ = w.Write(h.body)
}
