package live_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/server/event/live"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestListenersDoNotWaitForRenewal begins listeners while the renewal of the announcement
// hangs. The first waits for a bounded time, and the next one does not wait.
func TestListenersDoNotWaitForRenewal(t *testing.T) {
	t.Parallel()
	url, gate := storetest.SQLite(t), &storetest.Gate{}
	storetest.Migrate(t, url)
	s, err := store.OpenWith(t.Context(), url, store.Options{Layer: gate.Layer()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	h := live.NewHub(s, slog.New(slog.DiscardHandler), prometheus.NewRegistry(), (&messages{}).visible)
	h.Enter()
	held, renewed := gate.Shut("chat_servers"), make(chan error, 1)
	go func() {
		_, err := h.Jobs()[0].Run(t.Context())
		renewed <- err
	}()
	<-held
	listening := make(chan struct{})
	go func() {
		defer close(listening)
		h.Listen(t.Context(), live.Type).Close()
		began := time.Now()
		if h.Listen(t.Context(), live.Type).Close(); time.Since(began) > 500*time.Millisecond {
			t.Errorf("the second listener waits for %s", time.Since(began))
		}
	}()
	select {
	case <-listening:
	case <-time.After(4 * time.Second):
		t.Error("a listener waits for the renewal")
	}
	select {
	case err := <-renewed:
		if err == nil {
			t.Error("the renewal that hangs succeeds")
		}
	case <-time.After(15 * time.Second):
		t.Error("the renewal hangs")
	}
	gate.Open()
	<-listening
}
