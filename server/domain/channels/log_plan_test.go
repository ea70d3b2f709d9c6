package channels_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/channels"
	"github.com/moderato-live/moderato/server/domain/moderation"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/storetest"
)

// fillLogs inserts events of bans and follows into channels, each event with another pair
// of the users. A few events have no actor, and a few a target who no longer exists.
func fillLogs(t *testing.T, s *store.Store, channelIDs, users []uid.ID) {
	t.Helper()
	types := []string{"channel.ban", "channel.unban", "channel.follow", "channel.follow"}
	const columns = "id, channel_id, sequence, type, occurred_at, actor_id, target_id, client_id, request_id, operation_id, payload"
	insertMany(t, s, "events ("+columns+")", crowdRows, func(n int) []any {
		var actor any
		if n%7 > 0 {
			actor = users[n%len(users)]
		}
		target := users[n/3%len(users)]
		if n%11 == 0 {
			target = uid.New()
		}
		payload, err := json.Marshal(map[string]int{"n": n})
		if err != nil {
			t.Fatal(err)
		}
		return []any{
			uid.New(), channelIDs[n%len(channelIDs)], 1_000_000 + n, types[n/len(channelIDs)%len(types)], n, actor, target, "client", "request", uid.New(), string(payload),
		}
	})
}

// explainLogs explains the statements of a log and of its filters: each search of
// events uses an index, and the other tables are joined by their keys.
func explainLogs(t *testing.T, s *channels.Service, recorded *recorder) {
	t.Helper()
	users := someUsers(t, s.Store, 50)
	fillLogs(t, s.Store, append(users[:9:9], owner), users)
	if storetest.IsSQLite(s.Store) {
		exec(t, s.Store, "ANALYZE")
	} else {
		analyze(t, s.Store, "events")
	}
	log := &moderation.Service{Store: s.Store}
	for _, c := range []struct {
		index string
		req   *moderatov1.ListLogRequest
	}{
		{"event_channel_id_type_sequence", &moderatov1.ListLogRequest{}},
		{"event_channel_id_type_sequence", &moderatov1.ListLogRequest{Type: []string{"channel.ban"}}},
		{"event_target_id_channel_id_sequence", &moderatov1.ListLogRequest{UserId: users[26].String()}},
		{"event_actor_id_channel_id_sequence", &moderatov1.ListLogRequest{ModeratorId: users[29].String()}},
	} {
		c.req.ChannelId, c.req.Limit = owner.String(), limit(1)
		for page := 1; page <= 2; page++ {
			log, err := log.ListLog(as(owner), c.req)
			if err != nil || len(log.GetRows()) != 1 {
				t.Fatalf("%v: got %v, %v, want a row", c.req, log, err)
			}
			wantLogPlan(t, fmt.Sprintf("%s, page %d", c.index, page), storetest.Explain(t, s.Store, recorded.of(t, "events")), c.index)
			c.req.Cursor = log.GetPagination().GetCursor()
		}
	}
}

func wantLogPlan(t *testing.T, what, plan, index string) {
	t.Helper()
	if !strings.Contains(plan, index) {
		t.Errorf("%s: the plan does not use the index:\n%s", what, plan)
	}
	for _, table := range []string{"events", "e", "a", "u"} {
		for _, bad := range []string{"SCAN " + table + " ", "table=" + table + " type=ALL", "table=" + table + " type=index "} {
			if strings.Contains(plan, bad) {
				t.Errorf("%s: the plan has %q:\n%s", what, bad, plan)
			}
		}
	}
}

// someUsers returns the ids of n users.
func someUsers(t *testing.T, s *store.Store, n int) []uid.ID {
	t.Helper()
	ids := make([]uid.ID, 0, n)
	err := store.QueryEach(t.Context(), s.Read, "SELECT id FROM users ORDER BY id"+store.Limit(n), nil, func(scan func(...any) error) error {
		var id uid.ID
		defer func() { ids = append(ids, id) }()
		return scan(&id)
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}
