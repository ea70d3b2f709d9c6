package moderation_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// wantLog checks which entries a search in the log finds, in any number of pages.
func (d *drive) wantLog(query url.Values, want ...int64) {
	d.t.Helper()
	for _, limit := range []string{"1", "100"} {
		query.Set("limit", limit)
		query.Del("cursor")
		var got []int64
		for {
			page := d.log(d.creds[servertest.Owner], query)
			if page.Data.Code != "" {
				d.t.Fatalf("%s: got %s", query.Encode(), page.Data.Code)
			}
			for _, row := range page.Data.Rows {
				got = append(got, row.Sequence)
			}
			if page.Data.Pagination.Cursor == "" {
				break
			}
			query.Set("cursor", page.Data.Pagination.Cursor)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			d.t.Errorf("%s (-want +got):\n%s", query.Encode(), diff)
		}
	}
}

func TestSearchInLog(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		at := func(n int) string { return start.Add(time.Duration(n) * time.Minute).String() }
		step := func(n int) { d.Store.Clock.Freeze(start.Add(time.Duration(n) * time.Minute)) }
		d.mustBan(servertest.Moderator, servertest.Viewer) // entries 1 and 2
		step(1)
		batch := d.banAll(servertest.Owner, servertest.Raider).GetBatchId() // 3 and 4
		step(2)
		d.mustMute(servertest.Owner, servertest.Other) // 5 and 6
		step(3)
		d.undo(batch, false) // 7
		all := []int64{7, 6, 5, 4, 3, 2, 1}

		d.wantLog(channelQuery("since", at(0)), all...)
		d.wantLog(channelQuery("since", at(1)), all[:5]...)
		d.wantLog(channelQuery("since", at(4)))
		d.wantLog(channelQuery("until", at(1)), 2, 1)
		d.wantLog(channelQuery("until", at(0)))
		d.wantLog(channelQuery("until", at(9)), all...)
		d.wantLog(channelQuery("since", at(1), "until", at(3)), 6, 5, 4, 3)
		d.wantLog(channelQuery("since", at(3), "until", at(1)))
		d.wantLog(channelQuery("query", "AMARA"), 2, 1)  // the user
		d.wantLog(channelQuery("query", "tomasz"), 2, 1) // the moderator
		d.wantLog(channelQuery("query", "zoë"), 6, 5)    // by display name
		d.wantLog(channelQuery("query", "%"))
		d.wantLog(channelQuery("batchId", batch), 7, 3)
		d.wantLog(channelQuery("batchId", servertest.Nobody.String()))
		d.wantLog(channelQuery("cause[]", "moderator"), 5, 1)
		d.wantLog(channelQuery("cause[]", "moderator", "cause[]", "batch"), 7, 5, 3, 1)
		d.wantLog(channelQuery("cause[]", "revert"))
		d.wantLog(channelQuery("cause[]", "batch", "userId", servertest.Raider.String(), "type[]", "channel.ban"), 3)
		d.wantLog(channelQuery("actorId", servertest.Moderator.String()), 2, 1)
		d.wantLog(channelQuery("actorId", servertest.Moderator.String(), "moderatorId", servertest.Owner.String()))

		rule := servertest.Nobody.String()
		d.wantLog(channelQuery("ruleId", rule))
		exec(t, d.Store, "UPDATE events SET payload = ? WHERE sequence = 5", `{"ruleId":"`+rule+`"}`)
		d.wantLog(channelQuery("ruleId", rule), 5)
		for _, payload := range []string{`{"put":["` + rule + `"],"deleted":[],"cause":"restore"}`, `{"put":7,"deleted":["` + rule + `"],"cause":"restore"}`} {
			exec(t, d.Store, "UPDATE events SET payload = ? WHERE sequence = 1", payload)
			d.wantLog(channelQuery("ruleId", rule), 5, 1)
			d.wantLog(channelQuery("cause[]", "restore"), 1)
		}

		page := d.log(d.creds[servertest.Owner], channelQuery("limit", "1", "since", at(0)))
		for name, query := range map[string]url.Values{
			"CURSOR_INVALID":   channelQuery("cursor", page.Data.Pagination.Cursor, "since", at(1)),
			"INVALID_ARGUMENT": channelQuery("cause[]", "x"),
		} {
			if got := d.log(d.creds[servertest.Owner], query); got.Data.Code != name {
				t.Errorf("%s: got %q, want %s", query.Encode(), got.Data.Code, name)
			}
		}
	})
}

// fillLongLog stores bans of a viewer, one a second, of which the last is the newest, and
// returns the time of the first.
func fillLongLog(t *testing.T, d *drive, count int) (start instant.Instant) {
	t.Helper()
	start = frozen(t, d)
	row := "(?, ?, ?, 'channel.ban', ?, ?, ?, '', '', ?, '{\"cause\":\"moderator\"}')"
	for n := 0; n < count; n += 500 {
		var rows []string
		var args []any
		for i := n + 1; i <= min(count, n+500); i++ {
			id := idOf(i)
			rows = append(rows, row)
			args = append(args, id, servertest.Owner, i, id, servertest.Owner, servertest.Viewer, start.Add(time.Duration(i-1)*time.Second))
		}
		exec(t, d.Store, "INSERT INTO events (id, channel_id, sequence, type, operation_id, actor_id, target_id, client_id, request_id, occurred_at, payload) VALUES "+strings.Join(rows, ", "), args...)
	}
	exec(t, d.Store, "UPDATE channels SET event_sequence = ? WHERE id = ?", count, servertest.Owner)
	return start
}

// TestSearchInLongLog checks that a page examines a bounded part of the log, and no entries
// outside of since and until.
func TestSearchInLongLog(t *testing.T) {
	const count = 3500
	storetest.EachKind(t, func(t *testing.T, db store.URL) {
		d, recorder := newRecordedDrive(t, db)
		start := fillLongLog(t, d, count)
		statements := func(query url.Values) (page logPage, walks, lookups int) {
			before := len(recorder.Sent())
			page = d.log(d.creds[servertest.Owner], query)
			for _, q := range recorder.Sent()[before:] {
				if strings.Contains(q.Text, "SELECT e.sequence, e.occurred_at") {
					walks++
				}
				if strings.HasPrefix(q.Text, "SELECT e.occurred_at") {
					lookups++
				}
			}
			return page, walks, lookups
		}
		at := func(seconds int) string { return start.Add(time.Duration(seconds) * time.Second).String() }

		page, walks, _ := statements(channelQuery("query", "nobody"))
		if len(page.Data.Rows) != 0 || page.Data.Pagination.Cursor == "" || walks != 2 {
			t.Errorf("a search that finds nothing: got %d rows, the cursor %q and %d reads, want a cursor after 2 reads", len(page.Data.Rows), page.Data.Pagination.Cursor, walks)
		}
		page, walks, _ = statements(channelQuery("query", "nobody", "cursor", page.Data.Pagination.Cursor))
		if len(page.Data.Rows) != 0 || page.Data.Pagination.Cursor != "" || walks != 2 {
			t.Errorf("the next page: got %d rows, the cursor %q and %d reads, want the end after 2 reads", len(page.Data.Rows), page.Data.Pagination.Cursor, walks)
		}
		page, walks, _ = statements(channelQuery("query", "nobody", "since", at(count-900)))
		if page.Data.Pagination.Cursor != "" || walks != 1 {
			t.Errorf("with since: got the cursor %q and %d reads, want the end after 1 read", page.Data.Pagination.Cursor, walks)
		}
		page, walks, lookups := statements(channelQuery("until", at(100)))
		if len(page.Data.Rows) != 20 || page.Data.Rows[0].Sequence != 100 || walks != 1 || lookups > 13 {
			t.Errorf("with until: got %d rows, %d reads and %d look-ups, want the entries before it after 1 read and 13 look-ups", len(page.Data.Rows), walks, lookups)
		}
		wantSearch(t, d.Store, recorder, "SELECT e.occurred_at", "event_channel_id_sequence")
		// The clock of the database was set back by half a minute.
		exec(t, d.Store, "UPDATE events SET occurred_at = ? WHERE sequence = 110", start.Add(80*time.Second))
		sequences := func(query url.Values) (found []int64) {
			for _, row := range d.log(d.creds[servertest.Owner], query).Data.Rows {
				found = append(found, row.Sequence)
			}
			return found
		}
		if got := sequences(channelQuery("since", at(78), "until", at(82))); !slices.Equal(got, []int64{110, 82, 81, 80, 79}) {
			t.Errorf("the entries around a clock that was set back: got %v", got)
		}
		if got := sequences(channelQuery("since", at(95), "until", at(97))); !slices.Equal(got, []int64{97, 96}) {
			t.Errorf("before it: got %v", got)
		}
		if got := fmt.Sprint(sequences(channelQuery("since", at(120), "limit", "1"))); got != fmt.Sprint([]int64{count}) {
			t.Errorf("after it: got %v", got)
		}
		batch := d.banAll(servertest.Owner, servertest.Raider).GetBatchId()
		page, walks, _ = statements(channelQuery("batchId", batch))
		if len(page.Data.Rows) != 1 || page.Data.Pagination.Cursor != "" || walks != 1 {
			t.Errorf("with batchId: got %d rows, the cursor %q and %d reads, want the ban and the end after 1 read", len(page.Data.Rows), page.Data.Pagination.Cursor, walks)
		}
	})
}

// idOf returns an id with a number.
func idOf(n int) uid.ID {
	return uid.MustParse(fmt.Sprintf("0b6f0012-0000-4000-8000-%012d", n))
}
