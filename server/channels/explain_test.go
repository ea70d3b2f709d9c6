package channels_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"testing"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/servertest"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
)

// recorder keeps the queries that go through it.
type recorder struct {
	dialect.Driver
	db   *sql.DB
	mu   sync.Mutex
	sent []statement
}

// statement is a query with its arguments.
type statement struct {
	text string
	args []any
}

// QueryContext is how store.QueryEach queries.
func (r *recorder) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent = append(r.sent, statement{query, args})
	return r.db.QueryContext(ctx, query, args...) //nolint:sqlclosecheck // whoever asked closes it
}

// record has the store's reads recorded.
func record(s *store.Store) *recorder {
	name := dialect.MySQL
	if s.IsEmbedded() {
		name = dialect.SQLite
	}
	r := &recorder{Driver: entsql.OpenDB(name, s.DB()), db: s.DB()}
	s.Read = ent.NewClient(ent.Driver(r))
	return r
}

// TestPagesAreCutOnTheirIndex asks each store how it reads the first and a later
// page of the hot lists: the table that is paged is searched on the index of its
// order, without a scan or a sort. What is joined and sorted after that is a page.
func TestPagesAreCutOnTheirIndex(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		fillForPlans(t, s)
		r := record(s.Store)
		caller := s.As(t, servertest.Owner)
		user := s.As(t, planUser(0))
		owner := servertest.Owner.String()
		for _, c := range []struct {
			as                 servertest.Credentials
			path, table, index string
		}{
			{caller, "", "channels", "channel_is_live_viewer_count_id"},
			{caller, "?categoryId[]=3", "channels", "channel_category_id_is_live_viewer_count_id"},
			{caller, "/followers?", "follows", "follow_channel_id_followed_at_user_id"},
			{user, "/followed?", "follows", "follow_user_id_followed_at_channel_id"},
			{caller, "/subscribers?", "subscriptions", "subscription_channel_id_is_active_subscribed_at_user_id"},
			{caller, "/banned-users?", "bans", "ban_channel_id_banned_at_user_id"},
			{caller, "/clips?orderBy=most_recent&channelId=" + owner, "clips", "clip_channel_id_created_at_id"},
			{caller, "/clips?orderBy=most_viewed&channelId=" + owner, "clips", "clip_channel_id_view_count_id"},
			{caller, "/vods?orderBy=most_recent&channelId=" + owner, "vods", "vod_channel_id_started_at_id"},
			{caller, "/vods?orderBy=most_viewed&channelId=" + owner, "vods", "vod_channel_id_view_count_id"},
		} {
			if !strings.Contains(c.path, "?") {
				c.path += "?"
			}
			_, next := page(t, s, c.as, list{path: c.path + "&", key: keyOf(c.table)}, 20, "")
			if next == "" {
				t.Errorf("%s has one page only, so its plan says nothing", c.path)
			}
			checkPlan(t, s.Store, c.path, r.last(c.table), c.table, c.index)
			page(t, s, c.as, list{path: c.path + "&", key: keyOf(c.table)}, 20, next)
			checkPlan(t, s.Store, c.path+" later", r.last(c.table), c.table, c.index)
		}
	})
}

func keyOf(table string) string {
	if table == "clips" {
		return "clipId"
	}
	return "id"
}

// last is the last statement that pages a table.
func (r *recorder) last(table string) statement {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := len(r.sent) - 1; i >= 0; i-- {
		if strings.Contains(r.sent[i].text, "FROM "+table) && strings.Contains(r.sent[i].text, "LIMIT") {
			return r.sent[i]
		}
	}
	return statement{}
}

// checkPlan looks at the steps that read the paged table.
func checkPlan(t *testing.T, s *store.Store, what string, q statement, table, index string) {
	t.Helper()
	found := false
	plan := explain(t, s, q)
	for i, step := range plan {
		if s.IsEmbedded() {
			if strings.Contains(step, "SCAN "+table) {
				t.Errorf("%s scans %s:\n%s", what, table, strings.Join(plan, "\n"))
			}
			if strings.Contains(step, "SEARCH "+table+" ") && strings.Contains(step, " "+index+" ") {
				found = true
				if i+1 < len(plan) && strings.Contains(plan[i+1], "TEMP B-TREE") {
					t.Errorf("%s sorts %s:\n%s", what, table, strings.Join(plan, "\n"))
				}
			}
			continue
		}
		if !strings.Contains(step, "table="+table+" ") {
			continue
		}
		found = found || strings.Contains(step, "key="+index+" ")
		for _, bad := range []string{"type=ALL", "type=index ", "filesort", "temporary"} {
			if strings.Contains(step, bad) {
				t.Errorf("%s has %s:\n%s", what, bad, strings.Join(plan, "\n"))
			}
		}
	}
	if !found {
		t.Errorf("%s does not search %s on %s:\n%s", what, table, index, strings.Join(plan, "\n"))
	}
}

// explain is a line for each step of a plan.
func explain(t *testing.T, s *store.Store, q statement) []string {
	t.Helper()
	verb := "EXPLAIN FORMAT=TRADITIONAL "
	if s.IsEmbedded() {
		verb = "EXPLAIN QUERY PLAN "
	}
	rows, err := s.DB().QueryContext(context.Background(), verb+q.text, q.args...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var plan []string
	for rows.Next() {
		values, columns := make([]sql.NullString, len(names)), make([]any, len(names))
		for i := range values {
			columns[i] = &values[i]
		}
		if err := rows.Scan(columns...); err != nil {
			t.Fatal(err)
		}
		step := ""
		for i, name := range names {
			step += name + "=" + values[i].String + " "
		}
		plan = append(plan, step)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return plan
}

const (
	planUsers    = 1200
	planChannels = 300
)

func planUser(i int) uid.ID { return uid.MustParse(fmt.Sprintf("0b6feeee-0000-4000-8000-%012x", i+1)) }

// fillForPlans puts enough rows into the tables that a plan matters, of several
// channels, and has the store count them.
func fillForPlans(t *testing.T, s *servertest.Server) {
	t.Helper()
	err := s.Store.Write(context.Background(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		for i := range planUsers {
			id, at := planUser(i), instant.Instant(1_700_000_000_000+int64(i)*1000)
			name := fmt.Sprintf("plan%d", i)
			if err := tx.User.Create().SetID(id).SetUsername(name).SetSlug(name).SetDisplayName(name).SetAvatarURL("").SetCreatedAt(1).Exec(ctx); err != nil {
				return err
			}
			if i < planChannels {
				err := tx.Channel.Create().SetID(id).SetTitle("t").SetBio("").SetLang("en").SetCategoryID(int64(i % 5)).
					SetIsLive(i%3 == 0).SetViewerCount(int64(i % 3)).SetCreatedAt(1).Exec(ctx)
				if err != nil {
					return err
				}
				if err := tx.Follow.Create().SetChannelID(id).SetUserID(planUser(0)).SetFollowedAt(at).SetIsNotificationEnabled(true).Exec(ctx); err != nil {
					return err
				}
			}
			for c, channel := range []uid.ID{servertest.Owner, servertest.Other} {
				if err := fillChannel(ctx, tx, channel, id, at, int64(i), c); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	analyze(t, s.Store)
}

// analyze has the store count its rows.
func analyze(t *testing.T, s *store.Store) {
	t.Helper()
	statement := "ANALYZE TABLE users, channels, follows, subscriptions, bans, clips, vods"
	if s.IsEmbedded() {
		statement = "ANALYZE"
	}
	if _, err := s.DB().ExecContext(context.Background(), statement); err != nil {
		t.Fatal(err)
	}
}

func fillChannel(ctx context.Context, tx *ent.Tx, channel, user uid.ID, at instant.Instant, i int64, c int) error {
	const never = instant.Instant(9_000_000_000_000)
	id := user
	id[1] = byte(c + 1)
	err := tx.Follow.Create().SetChannelID(channel).SetUserID(user).SetFollowedAt(at).SetIsNotificationEnabled(false).Exec(ctx)
	if err == nil {
		err = tx.Subscription.Create().SetChannelID(channel).SetUserID(user).SetSubscribedAt(at).SetExpiresAt(never).
			SetRenewCount(0).SetStreakCount(1).SetIsActive(i%4 > 0).Exec(ctx)
	}
	if err == nil {
		err = tx.Ban.Create().SetChannelID(channel).SetUserID(user).SetModeratorID(servertest.Moderator).SetBannedAt(at).Exec(ctx)
	}
	if err == nil {
		err = tx.Clip.Create().SetID(id).SetChannelID(channel).SetCreatorID(user).SetTitle("c").SetViewCount(i % 50).SetDuration(1).
			SetPreviewImgURL("").SetClipURL("").SetCategoryID(0).SetCreatedAt(at).Exec(ctx)
	}
	if err == nil {
		err = tx.Vod.Create().SetID(id).SetChannelID(channel).SetTitle("v").SetViewCount(i % 50).SetDuration(1).
			SetPreviewImgURL("").SetStartedAt(at).SetEndedAt(at).SetCategoryID(0).Exec(ctx)
	}
	return err
}
