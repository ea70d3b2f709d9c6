package gateway_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/moderato-live/moderato/gateway"
)

// TestLoopServesReadsOfServices checks which paths the loop of gateway/httploop serves: the
// GET operations of the services, but no streams and no pages.
func TestLoopServesReadsOfServices(t *testing.T) {
	server := gateway.NewHTTPServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		served := "loop"
		if r.Context().Value(http.ServerContextKey) != nil {
			served = "net/http"
		}
		_, _ = io.WriteString(w, served)
	}))
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- server.Serve(l) }()
	for path, want := range map[string]string{
		"/v1/channels/followers": "loop", "/v1/channels/stats": "loop", "/v1/moderation/log": "loop", "/v1/chats/messages": "loop",
		"/v1/events": "net/http", "/openapi.json": "net/http", "/socket.io/": "net/http", "/docs": "net/http", "/v1/moderation/ban": "net/http",
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		transport := new(http.Transport) // each has its own connection
		defer transport.CloseIdleConnections()
		response, err := transport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if got := string(body); err != nil || got != want {
			t.Errorf("%s: served by %s, %v, want %s", path, got, err, want)
		}
	}
	if err := server.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}
