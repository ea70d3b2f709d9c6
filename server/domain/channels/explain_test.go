package channels_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/channels"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/storetest"
)

// recorder records the queries that are sent.
type recorder struct{ storetest.Recorder }

// of returns the last query that reads the table first.
func (r *recorder) of(t *testing.T, table string) storetest.Statement {
	t.Helper()
	sent := r.Sent()
	for n := len(sent) - 1; n >= 0; n-- {
		if strings.Contains(sent[n].Text, "FROM "+table) {
			return sent[n]
		}
	}
	t.Fatalf("no query of %s was sent", table)
	return storetest.Statement{}
}

// wantPlan fails unless the statement reads the table of its list by this index, each
// other table by a key, and sorts no more than the page.
func wantPlan(t *testing.T, s *store.Store, what string, q storetest.Statement, table, index string) {
	t.Helper()
	plan := storetest.Explain(t, s, q)
	read, key := "table="+table+" ", " key="+index+" "
	if storetest.IsSQLite(s) {
		read, key = "SEARCH "+table+" ", " INDEX "+index+" "
	}
	found := false
	for step := range strings.Lines(plan) {
		if strings.HasPrefix(step, read) {
			found = strings.Contains(step, key)
		}
		if strings.HasPrefix(step, "SCAN CONSTANT ROW") { // a SELECT without a table
			continue
		}
		isPage := strings.HasPrefix(step, "table=<derived") || strings.HasPrefix(step, "SCAN "+alias(q)+" ")
		for _, bad := range []string{"SCAN ", "TEMP B-TREE", "filesort", "temporary", "type=ALL", "type=index ", "join buffer", "|filter"} {
			if !isPage && strings.Contains(step, bad) {
				t.Errorf("%s: the plan has %q:\n%s", what, bad, plan)
			}
		}
	}
	if !found {
		t.Errorf("%s: the plan does not read %s by %s:\n%s", what, table, index, plan)
	}
}

// pageName matches the name that a statement gives to its page.
var pageName = regexp.MustCompile(`LIMIT [0-9?]+\) (\w+)`)

// alias returns the name that a statement gives to its page.
func alias(q storetest.Statement) string {
	if found := pageName.FindStringSubmatch(q.Text); found != nil {
		return found[1]
	}
	return ""
}

// crowd is the number of rows of each table for the plans: of many channels, some with
// more rows than others; the measured channel has the most.
const (
	crowdRows     = 6000
	crowdOwn      = 1500
	crowdChannels = 30
)

// fillCrowd fills the tables of all lists and the users, and updates the statistics of
// the store.
func fillCrowd(t *testing.T, s *store.Store) {
	t.Helper()
	r := rand.New(rand.NewPCG(21, 34))
	users := make([]uid.ID, crowdRows)
	tables := map[string]bool{"users": true, "channels": true, "categories": true}
	for n := range users {
		users[n] = randomItem(r, 0, 0).id
	}
	insertMany(t, s, "users (id, username, slug, display_name, avatar_url, created_at)", crowdRows, func(n int) []any {
		name := fmt.Sprint("user", n)
		return []any{users[n], name, name, name, "", 1}
	})
	insertMany(t, s, "categories (id, name, slug, image_url)", 200, func(n int) []any {
		return []any{n + 1, fmt.Sprint(n), fmt.Sprint(n), ""}
	})
	insertMany(t, s, "channels (id, title, bio, lang, category_id, created_at, preview_img_url)", crowdChannels, func(n int) []any {
		return []any{users[n], "Title", "", "en", 0, 1, ""}
	})
	for _, l := range pagedLists() {
		key := l.table + l.owner
		if tables[key] {
			continue
		}
		tables[key], tables[l.table] = true, true
		insertMany(t, s, l.table+" ("+l.owner+", "+l.columns+")", crowdRows, func(n int) []any {
			i := randomItem(r, 1_700_000_000_000+r.Int64N(crowdRows), r.Int64())
			if l.table != "activities" && l.table != "clips" && l.table != "vods" {
				i.id = users[n]
			}
			values := l.values(i)
			switch l.table {
			case "activities":
				values[3] = []string{"gift", "follower", "follower"}[n%3]
			case "votes":
				values[6] = 2800 + n%3
			}
			return append([]any{crowdOwner(l.ownerID, users, n)}, values...)
		})
	}
	if storetest.IsSQLite(s) {
		exec(t, s, "ANALYZE")
		return
	}
	for table := range tables {
		if !strings.HasSuffix(table, "_id") {
			analyze(t, s, table)
		}
	}
}

func crowdOwner(own uid.ID, users []uid.ID, n int) uid.ID {
	if n < crowdOwn {
		return own
	}
	return users[n%crowdChannels]
}

func analyze(t *testing.T, s *store.Store, table string) {
	t.Helper()
	err := store.QueryEach(context.Background(), s.Read, "ANALYZE TABLE "+table, nil, func(func(...any) error) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
}

// insertMany inserts rows, many per statement.
func insertMany(t *testing.T, s *store.Store, into string, count int, row func(n int) []any) {
	t.Helper()
	const batch = 500
	for n := 0; n < count; {
		var args []any
		var marks []string
		for ; n < count && len(marks) < batch; n++ {
			values := row(n)
			args = append(args, values...)
			marks = append(marks, "(?"+strings.Repeat(", ?", len(values)-1)+")")
		}
		exec(t, s, "INSERT INTO "+into+" VALUES "+strings.Join(marks, ", "), args...)
	}
}

// TestQueryPlans explains the statements of lists, logs and sweeps, and counts what pages read,
// on tables that are filled once for all of them.
func TestQueryPlans(t *testing.T) {
	eachRecorded(t, func(t *testing.T, s *channels.Service, recorded *recorder) {
		fillCrowd(t, s.Store)
		for _, part := range []struct {
			name  string
			check func(t *testing.T, s *channels.Service, recorded *recorder)
		}{
			{"lists", explainLists},
			{"logs", explainLogs},
			{"sweeps", explainSweeps},
			{"cost of pages", comparePageCosts}, // changes the rows
		} {
			t.Run(part.name, func(t *testing.T) { part.check(t, s, recorded) })
		}
	})
}

// explainLists explains the statement of each list's first page and of one further on, as it
// was sent.
func explainLists(t *testing.T, s *channels.Service, recorded *recorder) {
	t.Helper()
	indexes := map[string]string{
		"VIPs":               "role_channel_id_role_created_at_user_id",
		"votes":              "vote_channel_id_voted_at_id",
		"votes of a week":    "vote_channel_id_epoch_voted_at_id",
		"followers":          "follow_channel_id_followed_at_user_id",
		"followed":           "follow_user_id_followed_at_channel_id",
		"subscribers":        "subscription_channel_id_is_active_subscribed_at_user_id",
		"banned users":       "ban_channel_id_banned_at_user_id",
		"activities":         "activity_channel_id_created_at_number",
		"gifts":              "activity_channel_id_type_created_at_number",
		"clips, most viewed": "clip_channel_id_view_count_id",
		"clips, most recent": "clip_channel_id_created_at_id",
		"VODs, most viewed":  "vod_channel_id_view_count_id",
		"VODs, most recent":  "vod_channel_id_started_at_id",
		"raids":              "raid_channel_id_raided_at_id",
	}
	for _, l := range pagedLists() {
		for _, size := range []*int32{limit(1), nil, limit(l.most)} {
			cursor := ""
			for page := 1; page <= deep(l, size); page++ {
				rows, pagination, err := l.page(s, cursor, size)
				if err != nil || pagination.GetCursor() == "" {
					t.Fatalf("%s: got %d rows, %v, %v, want more", l.name, len(rows), pagination, err)
				}
				cursor = pagination.GetCursor()
				if page == 1 || page == deep(l, size) {
					wantPlan(t, s.Store, fmt.Sprintf("%s, %d rows, page %d", l.name, len(rows), page), recorded.of(t, l.table), l.table, indexes[l.name])
				}
			}
		}
	}
	wantPlansOfVotes(t, s, recorded)
	wantPlansOfOneUser(t, s, recorded)
}

// deep returns a page in the middle of a list, or at least further on.
func deep(l pagedList, size *int32) int {
	if size == nil || *size != l.most {
		return 3
	}
	return crowdOwn / 6 / int(*size)
}

func wantPlansOfVotes(t *testing.T, s *channels.Service, recorded *recorder) {
	t.Helper()
	for epoch, index := range map[string]string{"all": "vote_channel_id_voted_at_id", "2801": "vote_channel_id_epoch_voted_at_id"} {
		r, err := s.ListVotes(as(owner), &moderatov1.ListVotesRequest{ChannelId: owner.String(), Epoch: epoch})
		if err != nil || len(r.GetVotes()) == 0 {
			t.Fatalf("votes of %s: got %v, %v", epoch, r, err)
		}
		wantPlan(t, s.Store, "votes of "+epoch, recorded.of(t, "votes"), "votes", index)
	}
}

// wantPlansOfOneUser checks that a list with userId finds the one row by the
// key of its table.
func wantPlansOfOneUser(t *testing.T, s *channels.Service, recorded *recorder) {
	t.Helper()
	followers, err := s.ListFollowers(as(owner), &moderatov1.ListFollowersRequest{Limit: limit(1)})
	if err != nil {
		t.Fatal(err)
	}
	user := followers.GetRows()[0].GetId()
	if _, err := s.ListFollowers(as(owner), &moderatov1.ListFollowersRequest{UserId: user}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ListSubscribers(as(owner), &moderatov1.ListSubscribersRequest{UserId: user}); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"follows", "subscriptions"} {
		key := "PRIMARY"
		if storetest.IsSQLite(s.Store) {
			key = "sqlite_autoindex_" + table + "_1"
		}
		wantPlan(t, s.Store, table+" of one user", recorded.of(t, table), table, key)
	}
}

// comparePageCosts counts the rows that a server reads for the first page and for one in the
// middle: of a list of many keys, and of one in which all rows share theirs.
func comparePageCosts(t *testing.T, s *channels.Service, recorded *recorder) {
	t.Helper()
	if storetest.IsSQLite(s.Store) || storetest.IsTiDB(t, s.Store) {
		return // does not count rows, or reads ahead: see TestPagesOfTiDB
	}
	for _, table := range []string{"", "follows SET followed_at = 5", "bans SET banned_at = 5", "clips SET view_count = 5, created_at = 5"} {
		if table != "" {
			exec(t, s.Store, "UPDATE "+table)
		}
		for _, l := range pagedLists() {
			var first int
			cursor := ""
			for n := range 20 {
				_, pagination, err := l.page(s, cursor, limit(20))
				if err != nil || pagination.GetCursor() == "" {
					t.Fatalf("%s: got %v, %v, want more", l.name, pagination, err)
				}
				cursor = pagination.GetCursor()
				if n == 0 {
					first = rowsRead(t, s.Store, recorded.of(t, l.table))
				}
			}
			if got := rowsRead(t, s.Store, recorded.of(t, l.table)); got > first+5 {
				t.Errorf("%s %s: page 20 reads %d rows, the first %d", l.name, table, got, first)
			}
		}
	}
}

// rowsRead returns how many rows a server reads for a statement.
func rowsRead(t *testing.T, s *store.Store, q storetest.Statement) int {
	t.Helper()
	ctx := context.Background()
	conn, err := s.DB().Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	read := func(text string, args ...any) (sum int) {
		rows, err := conn.QueryContext(ctx, text, args...)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			if len(args) > 0 {
				continue
			}
			var name string
			var value int
			if err := rows.Scan(&name, &value); err != nil {
				t.Fatal(err)
			}
			sum += value
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		return sum
	}
	const status = "SHOW SESSION STATUS LIKE 'Handler_read%'"
	before := read(status)
	read(q.Text, q.Args...)
	return read(status) - before
}
