package gateway_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/gateway"
)

// onePage has one path.
type onePage struct{}

func (onePage) Has(r *http.Request) bool { return r.URL.Path == "/page" }

func (onePage) ServeHTTP(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "a page") }

func TestPagesAreServedBesideTheAPI(t *testing.T) {
	t.Parallel()
	facade, err := gateway.New(stubConn(plain, nil), gateway.Options{
		Log: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(), Pages: []gateway.Pages{onePage{}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"/page": "a page", "/page/": "PATH_NOT_FOUND", "/v1/page": "PATH_NOT_FOUND", "/": "PATH_NOT_FOUND"} {
		w := httptest.NewRecorder()
		facade.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: got %q, want %q", path, w.Body.String(), want)
		}
		if w.Header().Get("X-Request-Id") == "" {
			t.Errorf("%s: the response has no request id", path)
		}
	}
}
