package server_test

import (
	"context"
	"strings"
	"testing"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/servertest"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/storetest"
)

// TestServerWithoutCoalescing holds the results of more concurrent reads than a
// coalescing server would have in flight.
func TestServerWithoutCoalescing(t *testing.T) {
	storetest.EachServer(t, func(t *testing.T, url store.URL) {
		gate := &storetest.Gate{}
		config := servertest.Config(url)
		config.DBLayer, config.DisableCoalescing = gate.Layer(), true
		s := servertest.Start(t, config)
		s.Load(t, servertest.World()...)
		ctx, cancel := context.WithTimeout(s.As(t, servertest.Owner).Context(), time.Minute)
		defer cancel()
		const reads = 20
		held := gate.Shut("SELECT c.follower_count")
		results := make(chan error, reads)
		for range reads {
			go func() {
				_, err := moderatov1.NewChannelsServiceClient(s.Conn).GetStats(ctx, &moderatov1.GetStatsRequest{})
				results <- err
			}()
		}
		for range reads {
			select {
			case q := <-held:
				if strings.Contains(q.Text, "UNION") {
					t.Errorf("got %q, want each read by itself", q.Text)
				}
			case <-ctx.Done():
				t.Fatal("fewer statements than reads were sent")
			}
		}
		gate.Open()
		for range reads {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
		if metrics := s.Metrics(t); !strings.Contains(metrics, "\nmoderato_reads_coalesced_total 0\n") {
			t.Error("the server reports coalesced reads")
		}
	})
}
