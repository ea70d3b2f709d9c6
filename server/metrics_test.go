package server_test

import (
	"strings"
	"testing"

	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestCountersBeginAtZero reads the metrics of a server to which nothing has happened. A rate
// over a counter that appears with its first event misses that event.
func TestCountersBeginAtZero(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t, servertest.Config(storetest.SQLite(t)))
	metrics := s.Metrics(t)
	for _, want := range []string{
		`moderato_requests_total{code="OK",method="/moderato.v1.ModerationService/BanUser",transport="rest"} 0`,
		`moderato_requests_total{code="OK",method="/moderato.v1.ModerationService/MuteUser",transport="grpc"} 0`,
		`moderato_requests_total{code="OK",method="/moderato.v1.ModerationService/CommitSweep",transport="rest"} 0`,
		`moderato_webhook_attempts_total{outcome="failed"} 0`,
		`moderato_webhooks_disabled_total{reason="behind"} 0`,
		`moderato_chat_dropped_total{cause="full"} 0`,
		`moderato_rest_refused_total{code="BODY_TOO_LARGE"} 0`,
		`moderato_rest_refused_total{code="PATH_NOT_FOUND"} 0`,
		`moderato_connections_closed_total{transport="rest"} 0`,
		`moderato_connections_closed_total{transport="grpc"} 0`,
		`moderato_transaction_retries_total{cause="busy"} 0`,
		`moderato_transaction_retries_total{cause="commit"} 0`,
	} {
		if !strings.Contains(metrics, "\n"+want+"\n") {
			t.Errorf("the metrics have no line %s", want)
		}
	}
}
