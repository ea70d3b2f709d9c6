package erasure_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/event"
	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/domain/domains"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// counting lists tables that other workers rewrite at any time; wantExactCounters checks
// them.
var counting = []string{"channel_counts", "channel_count_deltas"}

// untouched returns the rows that are unrelated to a person: all rows without a trace,
// and without the channels, whose counters change.
func untouched(t *testing.T, s *scene, p person) map[string]bool {
	t.Helper()
	rows := map[string]bool{}
	for _, r := range servertest.Rows(t, s.Store, append([]string{"channels", "erasures"}, counting...)...) {
		if p.traceIn(r) == "" {
			rows[r.String()] = true
		}
	}
	return rows
}

// kept counts the rows that remain after the erasure of a person: rows of some tables in
// other channels that are not about the person.
func kept(t *testing.T, s *scene, p person) map[string]int {
	t.Helper()
	kept := map[string]int{}
	conditions := map[string]string{"channels": "", "follows": "user_id", "subscriptions": "user_id"}
	for _, table := range domains.Tables() {
		if _, isKnown := conditions[table.Name]; isKnown || table.Channel == "" || table.Name == "message_generations" {
			continue
		}
		conditions[table.Name] = ""
		for _, column := range table.Users {
			if column.Erase == tables.RemoveRow {
				conditions[table.Name] = column.Name
			}
		}
	}
	for table, condition := range conditions {
		query, args := "SELECT COUNT(*) FROM "+table+" WHERE channel_id <> ?", []any{p.id}
		if table == "channels" {
			query = "SELECT COUNT(*) FROM channels WHERE id <> ?"
		}
		if condition != "" {
			query, args = query+" AND "+condition+" <> ?", append(args, p.id)
		}
		var n int
		if err := s.Store.DB().QueryRowContext(context.Background(), query, args...).Scan(&n); err != nil {
			t.Fatal(err)
		}
		kept[table] = n
	}
	return kept
}

func TestErasureLeavesNoTraceOfUser(t *testing.T) {
	eachScene(t, func(t *testing.T, s *scene) {
		s.live(walter)
		s.live(vera)
		s.settle()
		wantExactCounters(t, s.Store)
		wantEveryTableToKnow(t, s, vera)
		before, others := untouched(t, s, vera), kept(t, s, vera)
		start := s.Store.Clock.Local()
		r := s.deleteUser(vera)
		if after := r.GetDoneAfter().AsTime().Sub(start.Time()); r.GetDone() || after < 2*time.Minute || after > 3*time.Minute {
			t.Errorf("got %v, want not done, and done some 2 minutes later", r)
		}
		if again := s.deleteUser(vera); again.GetDone() || !again.GetDoneAfter().AsTime().Equal(r.GetDoneAfter().AsTime()) {
			t.Errorf("repeated: got %v, want %v", again, r)
		}
		erase(t, s.Store)
		wantNoTrace(t, s.Store, vera)
		wantExactCounters(t, s.Store)
		after := untouched(t, s, vera)
		for row := range before {
			if !after[row] {
				t.Errorf("gone or changed is %s", row)
			}
		}
		if diff := cmp.Diff(others, kept(t, s, vera)); diff != "" {
			t.Errorf("rows of others (-before +after):\n%s", diff)
		}
		wantAnonymousEvents(t, s)
		if again := s.deleteUser(vera); !again.GetDone() || again.GetDoneAfter() != nil {
			t.Errorf("repeated at the end: got %v, want done", again)
		}
		s.must(nil, s.putUser(vera.id, vera.name))
		s.must(nil, s.putChannel(vera.id, "Again"))
		row := storetest.Must(s.Store.Read.Channel.Get(t.Context(), vera.id))
		if row.FollowerCount+row.SubscriberCount+row.ClipCount+row.VodCount+row.EventSequence+row.ActivityNumber+row.ViewerCount != 0 || row.IsLive {
			t.Errorf("the new channel is %v", row)
		}
		// Deleted once more, now a user without records.
		s.deleteUser(vera)
		erase(t, s.Store)
		wantNoTrace(t, s.Store, vera)
	})
}

// wantEveryTableToKnow checks the scene itself: a table without a trace of the person
// would not be tested.
func wantEveryTableToKnow(t *testing.T, s *scene, p person) {
	t.Helper()
	known := map[string]bool{}
	found := map[string]bool{}
	for _, r := range servertest.Rows(t, s.Store) {
		found[r.Table] = true
		known[r.Table] = known[r.Table] || p.traceIn(r) != ""
	}
	for _, table := range domains.Tables() {
		found[table.Name] = true // a table without rows must not be overlooked
	}
	for table := range found {
		switch table {
		case "goose_db_version", "sqlite_sequence", "channel_counts", "channel_count_deltas", "clients", "categories",
			"event_sequencers", "event_sinks", "retentions", "cursor_keys", "chat_servers", "chat_batches", "standing_subscribers":
			continue // these tables hold no data of users
		case "erasures", "webhooks", "webhook_deliveries":
			continue // the scene has no such rows yet
		case "event_tickets", "authorizations", "event_sessions", "event_subscriptions":
			continue // rows expire while the clock of the scene advances
		}
		if !known[table] {
			t.Errorf("%s has no trace of the user before the deletion", table)
		}
	}
	if len(known) < 18 {
		t.Errorf("there are rows in %d tables alone", len(known))
	}
}

// ownerOnly lists the event types that name only the owner of the channel. They are erased
// with the channel.
var ownerOnly = []string{"channel.update", "stream.online", "stream.offline", "channel.shield.preset"}

// wantAnonymousEvents checks the events of others that had named vera: their other facts
// must be unchanged.
func wantAnonymousEvents(t *testing.T, s *scene) {
	t.Helper()
	const deleted = "5e1f8a0c-93d7-4b6e-a4c2-d07b3e9f6185"
	rows := storetest.Must(s.Store.Read.Event.Query().
		Where(event.Or(event.ActorID(users.Deleted), event.TargetID(users.Deleted))).
		Order(ent.Asc(event.FieldSequence)).
		All(context.Background()))
	byType := map[string]int{}
	for _, e := range rows {
		var payload map[string]any
		if err := json.Unmarshal([]byte(e.Payload), &payload); err != nil {
			t.Errorf("%s: %v in %s", e.Type, err, e.Payload)
		}
		if payload["channelId"] != e.ChannelID.String() {
			t.Errorf("%s: the channel is %v", e.Type, payload["channelId"])
		}
		if !strings.Contains(e.Payload, deleted) && !slices.Contains([]string{"channel.follow", "channel.unfollow", "channel.chat.hold.update"}, e.Type) {
			t.Errorf("%s names nobody: %s", e.Type, e.Payload)
		}
		byType[e.Type]++
		switch {
		case e.Type == "channel.ban" && *e.ActorID == users.Deleted:
			if payload["moderatorId"] != deleted || !strings.HasPrefix(payload["bannedUserDisplayName"].(string), "newcomer") || payload["bannedAt"] == nil {
				t.Errorf("a ban by the user became %s", e.Payload)
			}
		case e.Type == "channel.ban":
			if payload["moderatorId"] == deleted || payload["bannedUserId"] != deleted || payload["bannedUserDisplayName"] != "Deleted user" {
				t.Errorf("a ban of the user became %s", e.Payload)
			}
		case e.Type == "channel.thanks":
			if payload["message"] != "" || payload["userSlug"] != "~deleted" || payload["userDisplayName"] != "Deleted user" || payload["amount"] != "5" && payload["amount"] != 5.0 {
				t.Errorf("thanks of the user became %s", e.Payload)
			}
		case e.Type == "channel.vote":
			if payload["username"] != "~deleted" || payload["address"] != "" {
				t.Errorf("a vote of the user became %s", e.Payload)
			}
		}
	}
	for _, kind := range eventtype.Types() {
		if byType[kind] == 0 && !slices.Contains(ownerOnly, kind) {
			t.Errorf("no event %s names the user, so its erasure is not tested", kind)
		}
	}
}
