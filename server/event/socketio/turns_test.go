package socketio_test

import (
	"testing"

	"github.com/moderato-live/moderato/server/event/socketio/socketiotest"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestConnectionsDoNotWaitLong uses the only connection to the database that writes. A client
// whose session cannot be stored in time is disconnected.
func TestConnectionsDoNotWaitLong(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t, servertest.Config(storetest.SQLite(t)))
	busy, err := s.Store.DB().BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = busy.Rollback() }()
	var clients []*socketiotest.Client
	for range 3 { // the first one may hold the writer's slot, and wait for the connection
		c, err := socketiotest.Dial(t, s.HTTPAddr)
		if err != nil {
			t.Fatal(err)
		}
		clients = append(clients, c)
	}
	if m := clients[2].Next(t); m.Raw != "" {
		t.Errorf("got %s, want the end of the connection", m.Raw)
	}
}
