package held_test

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/domain/held"
	"github.com/moderato-live/moderato/server/domain/rules"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestPlans explains every statement about held messages, among many of other channels: each
// reads a range of an index or rows by key, and a page is read in the order of its index.
func TestPlans(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
		s, recorder := storetest.OpenRecorded(t, url)
		servertest.Import(t, s, servertest.World()...)
		now := storetest.Must(s.Clock.Now(t.Context(), s.Read))
		rule := uid.New()
		ids := crowd(t, s, now, rule)
		r := &room{Server: nil, t: t}
		hub := newHub(s)
		service := &held.Service{Store: s, Live: hub, Posted: rules.RecordTexts}
		ctx := asService(t, s)

		wanted := map[string]string{} // the index of each list
		list := func(index string, req *moderatov1.ListHeldMessagesRequest) {
			req.ChannelId, req.Limit = servertest.Owner.String(), new(int32(2))
			for range 2 {
				page, err := service.ListHeldMessages(authz.NewContext(ctx, authz.Rule{}), req)
				if err != nil || len(page.GetRows()) != 2 {
					t.Fatalf("%v: got %d rows and %v", req, len(page.GetRows()), err)
				}
				sent := recorder.Sent()
				wanted[last(sent, "held_messages").Text] = index
				req.Cursor = page.GetPagination().GetCursor()
			}
		}
		for _, status := range []string{"", "DENIED"} {
			list("heldmessage_channel_id_status_held_at_id", &moderatov1.ListHeldMessagesRequest{Status: status})
			list("heldmessage_channel_id_rule_id_status_held_at_id", &moderatov1.ListHeldMessagesRequest{Status: status, RuleId: rule.String()})
			list("heldmessage_user_id_channel_id_status_held_at_id", &moderatov1.ListHeldMessagesRequest{Status: status, UserId: servertest.Viewer.String()})
		}
		st := storetest.Must(chat.ReadSender(ctx, s, servertest.Owner, servertest.Raider))
		at := storetest.Must(st.Stored.At(now))
		st.Settings = &at
		_ = held.Hold(ctx, s, hub, st, chat.Message{ID: uid.New(), ChannelID: servertest.Owner, UserID: servertest.Raider, Text: "hello"}, held.Reason{})
		_ = held.Check(s)(ctx, st, chat.Message{ID: ids[0], ChannelID: servertest.Owner, UserID: servertest.Viewer})
		err := change.ApplyUnattended(ctx, s, servertest.Owner, func(ctx context.Context, c *change.Change) error {
			return held.Cancel(ctx, c, []uid.ID{servertest.Viewer})
		})
		if q := last(recorder.Sent(), "FROM `held_messages`").Text; strings.Contains(q, "`details`") || !strings.Contains(q, "`user_id`") {
			t.Errorf("a cancellation reads %s", q)
		}
		if err == nil {
			s.Clock.Freeze(now + 2_000_000)
			err = service.Expire(ctx)
		}
		if err == nil {
			err = change.ApplyUnattended(ctx, s, servertest.Owner, held.CancelAll)
		}
		if err != nil {
			t.Fatal(err)
		}
		due, args := service.Job().Due()
		statements := append(slices.Concat(recorder.Sent(), recorder.Executed()), storetest.Statement{Text: due, Args: args})
		r.wantPlans(s, statements, wanted)
	})
}

// crowd holds messages in many channels, and returns the ids of those of Viewer that wait in
// Owner's channel.
func crowd(t *testing.T, s *store.Store, now instant.Instant, rule uid.ID) (ids []uid.ID) {
	t.Helper()
	others := make([]uid.ID, 20)
	for i := range others {
		others[i] = uid.New()
	}
	write := func(channel uid.ID, i int) {
		from := servertest.Viewer
		if i%4 == 3 {
			from = servertest.Raider
		}
		row := []any{uid.New(), channel, from, "hello", "{}", rule, false, now + instant.Instant(i), now + 1_000_000, false}
		if i%2 == 0 {
			row = append(row, now+1_000_000, "PENDING", nil)
			if channel == servertest.Owner && from == servertest.Viewer {
				ids = append(ids, row[0].(uid.ID))
			}
		} else {
			row = append(row, nil, "DENIED", now)
		}
		execute(t, s, "INSERT INTO held_messages (id, channel_id, user_id, text, details, rule_id, is_bot, held_at, expires_at, approves, due_at, status, decided_at) VALUES ("+store.Placeholders(len(row))+")", row...)
	}
	for i := range 200 {
		write(servertest.Owner, i)
		for _, channel := range others[:2+i%10] {
			write(channel, i)
		}
	}
	if storetest.IsSQLite(s) {
		execute(t, s, "ANALYZE")
	} else {
		execute(t, s, "ANALYZE TABLE held_messages")
	}
	return ids
}

func execute(t *testing.T, s *store.Store, statement string, args ...any) {
	t.Helper()
	if _, err := s.DB().ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatal(err)
	}
}

// last returns the last statement that has a text.
func last(sent []storetest.Statement, text string) storetest.Statement {
	for _, q := range slices.Backward(sent) {
		if strings.Contains(q.Text, text) {
			return q
		}
	}
	return storetest.Statement{}
}

// scanned matches a step that reads a whole table or index, or sorts.
var scanned = regexp.MustCompile("SCAN |TEMP B-TREE|filesort|temporary|type=ALL|type=index ")

func (r *room) wantPlans(s *store.Store, statements []storetest.Statement, wanted map[string]string) {
	r.t.Helper()
	seen := map[string]bool{}
	for _, q := range statements {
		if seen[q.Text] || !strings.Contains(q.Text, "held_messages") || strings.HasPrefix(q.Text, "INSERT") || strings.HasPrefix(q.Text, "ANALYZE") {
			continue
		}
		seen[q.Text] = true
		plan := storetest.Explain(r.t, s, q)
		for step := range strings.Lines(plan) {
			if bad := scanned.FindString(step); bad != "" && !strings.HasPrefix(step, "SCAN CONSTANT ROW") && !strings.Contains(step, "table=<derived") {
				r.t.Errorf("the plan of %s has %q:\n%s", q.Text, bad, plan)
			}
		}
		index := wanted[q.Text]
		if !strings.Contains(plan, index) {
			r.t.Errorf("the plan of %s does not use %s:\n%s", q.Text, index, plan)
		}
		if index != "" && storetest.IsTiDB(r.t, s) { // its plan does not tell whether it sorts; it reads ahead
			if got := storetest.RowsReadByTiDB(r.t, s, q); got > 100 {
				r.t.Errorf("%s reads %d rows:\n%s", q.Text, got, plan)
			}
		}
	}
	if len(seen) < 15 {
		r.t.Errorf("%d statements are explained", len(seen))
	}
}
