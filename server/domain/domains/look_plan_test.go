package domains_test

import (
	"log/slog"
	"regexp"
	"testing"

	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/domain/domains"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/storetest"
)

// scan matches a step that reads a whole table, except a table of which every row is work or
// which is small: webhooks, and the subscriptions of Socket.IO sessions.
var scan = regexp.MustCompile(`SCAN (bans|mutes|sweeps|events|messages|message_generations|chat_generations|subscriptions|chatters|tokens|erasures|[a-z_]+_(keys|tokens|tickets|deliveries|batches|sessions|metrics)|d|c)\b`)

// TestLooksReadByIndex explains the queries with which jobs look for work on an idle server.
func TestLooksReadByIndex(t *testing.T) {
	url := storetest.SQLite(t)
	storetest.Migrate(t, url)
	s, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	retention := eventtype.DefaultRetention()
	for _, job := range domains.Jobs(tables.Env{Store: s, Log: slog.New(slog.DiscardHandler), Retention: retention, Webhooks: noWebhooks{}}) {
		if job.Due == nil {
			continue // it runs at each interval
		}
		query, args := job.Due()
		plan := storetest.Explain(t, s, storetest.Statement{Text: "SELECT EXISTS (" + query + ")", Args: args})
		if step := scan.FindString(plan); step != "" {
			t.Errorf("%s: %s reads a whole table: %s", job.Name, query, plan)
		}
	}
}
