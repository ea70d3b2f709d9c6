package channels_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/channels"
	"github.com/moderato-live/moderato/server/domain/domains"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/rpc/paging"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// newService returns the service over a store.
func newService(s *store.Store) *channels.Service {
	return domains.NewServices(s, domains.Options{Lists: paging.NewLists(50000)}).Channels
}

// eachService runs a test on the service over a store with the World.
func eachService(t *testing.T, test func(t *testing.T, s *channels.Service)) {
	t.Helper()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		s, _ := openRecorded(t, url)
		servertest.Import(t, s, servertest.World()...)
		test(t, newService(s))
	})
}

// eachRecorded is eachService on every kind of server, with a record of the queries that are
// sent.
func eachRecorded(t *testing.T, test func(t *testing.T, s *channels.Service, sent *recorder)) {
	t.Helper()
	storetest.Each(t, func(t *testing.T, url store.URL) {
		s, sent := openRecorded(t, url)
		servertest.Import(t, s, servertest.World()...)
		test(t, newService(s), sent)
	})
}

// openRecorded migrates and opens a database.
func openRecorded(t *testing.T, url store.URL) (*store.Store, *recorder) {
	t.Helper()
	storetest.Migrate(t, url)
	sent := &recorder{}
	s, err := store.OpenWith(t.Context(), url, store.Options{Layer: sent.Layer()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, sent
}

// as returns the context of a call that a user makes.
func as(user uid.ID) context.Context {
	caller := &authn.Caller{Kind: authn.User, ClientID: servertest.Dashboard, UserID: user}
	return authz.NewContext(authn.NewContext(context.Background(), caller), authz.Rule{})
}

// asApp returns the context of a call that an app makes.
func asApp() context.Context {
	caller := &authn.Caller{Kind: authn.App, ClientID: servertest.Dashboard}
	return authz.NewContext(authn.NewContext(context.Background(), caller), authz.Rule{})
}

// item is a row of any of the lists: its sort key and its identity.
type item struct {
	key    int64
	id     uid.ID
	number int64
}

func randomItem(r *rand.Rand, key, number int64) item {
	i := item{key: key, number: number}
	for b := range i.id {
		i.id[b] = byte(r.Uint32())
	}
	return i
}

// pagedList is one of the lists with pages.
type pagedList struct {
	name string
	most int32 // maximum rows of a page
	// table holds the list. owner is the column with the channel, or the user whose list
	// it is.
	table, owner string
	ownerID      uid.ID
	// columns are the columns of a row without the owner.
	columns string
	values  func(i item) []any
	// filtered is a row of the same owner that is not in the list; nil if all are.
	filtered func(i item) []any
	// page reads a page as an authorized caller, and returns the identity of each row.
	page func(s *channels.Service, cursor string, limit *int32) ([]string, *moderatov1.Pagination, error)
	// numbered lists are sorted and identified by number instead of id.
	numbered bool
	// isAscending reports whether the oldest row is first.
	isAscending bool
}

func (l pagedList) identity(i item) string {
	if l.numbered {
		return fmt.Sprint(i.number)
	}
	return i.id.String()
}

// sorted returns the rows that the list must return.
func (l pagedList) sorted(items []item) []string {
	items = slices.Clone(items)
	slices.SortFunc(items, func(a, b item) int {
		if l.isAscending {
			a, b = b, a
		}
		if l.numbered {
			return cmp.Or(cmp.Compare(b.key, a.key), cmp.Compare(b.number, a.number))
		}
		return cmp.Or(cmp.Compare(b.key, a.key), bytes.Compare(b.id[:], a.id[:]))
	})
	ids := make([]string, len(items))
	for n, i := range items {
		ids[n] = l.identity(i)
	}
	return ids
}

// ids returns the identity of each row.
func ids[Row any](rows []Row, id func(Row) string) []string {
	var found []string
	for _, r := range rows {
		found = append(found, id(r))
	}
	return found
}

const farFuture = instant.Instant(4_000_000_000_000)

var owner, other = servertest.Owner, servertest.Other

func pagedLists() []pagedList {
	people := func(f string) func(i item) []any {
		return func(i item) []any {
			switch f {
			case "subscriptions":
				return []any{i.id, i.key, farFuture, 0, 1, true}
			case "bans":
				return []any{i.id, i.key, servertest.Moderator}
			}
			return []any{i.id, i.key, true}
		}
	}
	activity := func(kind string) func(i item) []any {
		return func(i item) []any {
			return []any{i.id, i.number, fmt.Sprint("key ", i.number), kind, `{"count": 3}`, "{}", i.key}
		}
	}
	// The other order of clips and VODs is the opposite one.
	opposite := func(i item) int64 { return int64(farFuture) - i.key }
	clipByViews := func(i item) []any { return []any{i.id, owner, "Title", i.key, 30, "", "", 0, opposite(i)} }
	clipByTime := func(i item) []any { return []any{i.id, owner, "Title", opposite(i), 30, "", "", 0, i.key} }
	vodByViews := func(i item) []any { return []any{i.id, "Title", i.key, 30, "", opposite(i), farFuture, 0} }
	vodByTime := func(i item) []any { return []any{i.id, "Title", opposite(i), 30, "", i.key, farFuture, 0} }
	const (
		subscriptionColumns = "user_id, subscribed_at, expires_at, renew_count, streak_count, is_active"
		activityColumns     = "id, number, dedup_key, type, info, action, created_at"
		clipColumns         = "id, creator_id, title, view_count, duration, preview_img_url, clip_url, category_id, created_at"
		vodColumns          = "id, title, view_count, duration, preview_img_url, started_at, ended_at, category_id"
	)
	clips := func(order string) func(s *channels.Service, cursor string, limit *int32) ([]string, *moderatov1.Pagination, error) {
		return func(s *channels.Service, cursor string, limit *int32) ([]string, *moderatov1.Pagination, error) {
			r, err := s.ListClips(asApp(), &moderatov1.ListClipsRequest{ChannelId: owner.String(), Cursor: cursor, Limit: limit, OrderBy: order})
			return ids(r.GetRows(), (*moderatov1.Clip).GetClipId), r.GetPagination(), err
		}
	}
	vods := func(order string) func(s *channels.Service, cursor string, limit *int32) ([]string, *moderatov1.Pagination, error) {
		return func(s *channels.Service, cursor string, limit *int32) ([]string, *moderatov1.Pagination, error) {
			r, err := s.ListVods(as(servertest.Viewer), &moderatov1.ListVodsRequest{ChannelId: owner.String(), Cursor: cursor, Limit: limit, OrderBy: order})
			return ids(r.GetRows(), (*moderatov1.Vod).GetId), r.GetPagination(), err
		}
	}
	activities := func(kind string) func(s *channels.Service, cursor string, limit *int32) ([]string, *moderatov1.Pagination, error) {
		return func(s *channels.Service, cursor string, limit *int32) ([]string, *moderatov1.Pagination, error) {
			r, err := s.ListActivities(as(owner), &moderatov1.ListActivitiesRequest{Cursor: cursor, Limit: limit, Type: kind})
			return ids(r.GetRows(), func(a *moderatov1.Activity) string { return fmt.Sprint(a.GetId()) }), r.GetPagination(), err
		}
	}
	followers := func(s *channels.Service, cursor string, limit *int32) ([]string, *moderatov1.Pagination, error) {
		r, err := s.ListFollowers(as(owner), &moderatov1.ListFollowersRequest{Cursor: cursor, Limit: limit})
		return ids(r.GetRows(), (*moderatov1.AudienceMember).GetId), r.GetPagination(), err
	}
	followed := func(s *channels.Service, cursor string, limit *int32) ([]string, *moderatov1.Pagination, error) {
		r, err := s.ListFollowed(as(servertest.Viewer), &moderatov1.ListFollowedRequest{Cursor: cursor, Limit: limit})
		return ids(r.GetRows(), (*moderatov1.FollowedChannel).GetId), r.GetPagination(), err
	}
	subscribers := func(s *channels.Service, cursor string, limit *int32) ([]string, *moderatov1.Pagination, error) {
		r, err := s.ListSubscribers(as(owner), &moderatov1.ListSubscribersRequest{Cursor: cursor, Limit: limit})
		return ids(r.GetRows(), (*moderatov1.AudienceMember).GetId), r.GetPagination(), err
	}
	banned := func(s *channels.Service, cursor string, limit *int32) ([]string, *moderatov1.Pagination, error) {
		r, err := s.ListBannedUsers(as(owner), &moderatov1.ListBannedUsersRequest{Cursor: cursor, Limit: limit})
		return ids(r.GetRows(), (*moderatov1.BannedUser).GetId), r.GetPagination(), err
	}
	// These lists are complete without limit and cursor.
	vips := func(s *channels.Service, cursor string, limit *int32) ([]string, *moderatov1.Pagination, error) {
		r, err := s.ListVips(as(owner), &moderatov1.ListVipsRequest{Cursor: cursor, Limit: cmp.Or(limit, new(int32(20)))})
		return ids(r.GetUsers(), (*moderatov1.UserSummary).GetId), r.GetPagination(), err
	}
	votes := func(epoch string) func(s *channels.Service, cursor string, limit *int32) ([]string, *moderatov1.Pagination, error) {
		return func(s *channels.Service, cursor string, limit *int32) ([]string, *moderatov1.Pagination, error) {
			r, err := s.ListVotes(as(owner), &moderatov1.ListVotesRequest{
				ChannelId: owner.String(), Epoch: epoch, Cursor: cursor, Limit: cmp.Or(limit, new(int32(20))),
			})
			return ids(r.GetVotes(), (*moderatov1.Vote).GetId), r.GetPagination(), err
		}
	}
	raids := func(s *channels.Service, cursor string, limit *int32) ([]string, *moderatov1.Pagination, error) {
		r, err := s.ListRaids(as(servertest.Viewer), &moderatov1.ListRaidsRequest{ChannelId: owner.String(), Cursor: cursor, Limit: limit})
		return ids(r.GetRows(), (*moderatov1.Raid).GetId), r.GetPagination(), err
	}
	raid := func(i item) []any { return []any{i.id, i.id.String(), i.id, 7, i.key} }
	lapsed := func(i item) []any { return []any{i.id, i.key, i.key + 1, 0, 1, true} }
	role := func(name string) func(i item) []any {
		return func(i item) []any { return []any{i.id, i.id, name, i.key} }
	}
	vote := func(epoch int) func(i item) []any {
		return func(i item) []any { return []any{i.id, i.id, "name", "", 1, i.key, epoch} }
	}
	const voteColumns = "id, user_id, username, address, amount, voted_at, epoch"
	return []pagedList{
		{"VIPs", 100, "roles", "channel_id", owner, "id, user_id, role, created_at", role("vip"), role("og"), vips, false, true},
		{"votes", 100, "votes", "channel_id", owner, voteColumns, vote(2800), nil, votes("all"), false, false},
		{"votes of a week", 100, "votes", "channel_id", owner, voteColumns, vote(2800), vote(2801), votes("2800"), false, false},
		{"followers", 100, "follows", "channel_id", owner, "user_id, followed_at, is_notification_enabled", people("follows"), nil, followers, false, false},
		{"followed", 100, "follows", "user_id", servertest.Viewer, "channel_id, followed_at, is_notification_enabled", people("follows"), nil, followed, false, false},
		{"subscribers", 100, "subscriptions", "channel_id", owner, subscriptionColumns, people("subscriptions"), lapsed, subscribers, false, false},
		{"banned users", 100, "bans", "channel_id", owner, "user_id, banned_at, moderator_id", people("bans"), nil, banned, false, false},
		{"activities", 100, "activities", "channel_id", owner, activityColumns, activity("gift"), nil, activities(""), true, false},
		{"gifts", 100, "activities", "channel_id", owner, activityColumns, activity("gift"), activity("thanks"), activities("gift"), true, false},
		{"clips, most viewed", 20, "clips", "channel_id", owner, clipColumns, clipByViews, nil, clips(""), false, false},
		{"clips, most recent", 20, "clips", "channel_id", owner, clipColumns, clipByTime, nil, clips("most_recent"), false, false},
		{"VODs, most recent", 20, "vods", "channel_id", owner, vodColumns, vodByTime, nil, vods(""), false, false},
		{"VODs, most viewed", 20, "vods", "channel_id", owner, vodColumns, vodByViews, nil, vods("most_viewed"), false, false},
		{"raids", 100, "raids", "channel_id", owner, "id, dedup_key, raider_id, viewer_count, raided_at", raid, nil, raids, false, false},
	}
}

// put inserts rows with one statement.
func (l pagedList) put(t *testing.T, s *store.Store, owner uid.ID, items ...item) {
	t.Helper()
	l.insert(t, s, owner, l.values, items...)
}

func (l pagedList) insert(t *testing.T, s *store.Store, owner uid.ID, values func(i item) []any, items ...item) {
	t.Helper()
	if len(items) == 0 {
		return
	}
	var args []any
	for _, i := range items {
		args = append(append(args, owner), values(i)...)
	}
	row := "(?" + strings.Repeat(", ?", strings.Count(l.columns, ",")+1) + ")"
	exec(t, s, "INSERT INTO "+l.table+" ("+l.owner+", "+l.columns+") VALUES "+row+strings.Repeat(", "+row, len(items)-1), args...)
	if l.table == "follows" || l.table == "subscriptions" || l.table == "bans" || l.table == "roles" || l.table == "raids" {
		insertMany(t, s, "users (id, username, slug, display_name, avatar_url, created_at)", len(items), func(n int) []any {
			name := strings.ReplaceAll(items[n].id.String(), "-", "")
			return []any{items[n].id, name, name, name, "", 1}
		})
	}
	if l.name == "followed" {
		insertMany(t, s, "channels (id, title, bio, lang, category_id, created_at, preview_img_url)", len(items), func(n int) []any {
			return []any{items[n].id, "Title", "", "en", 0, 1, ""}
		})
	}
}

// remove deletes a row, or all rows.
func (l pagedList) remove(t *testing.T, s *store.Store, i item) {
	t.Helper()
	name, _, _ := strings.Cut(l.columns, ",")
	exec(t, s, "DELETE FROM "+l.table+" WHERE "+l.owner+" = ? AND "+name+" = ?", l.ownerID, i.id)
}

func (l pagedList) empty(t *testing.T, s *store.Store) {
	t.Helper()
	exec(t, s, "DELETE FROM "+l.table+" WHERE "+l.owner+" = ?", l.ownerID)
}

func exec(t *testing.T, s *store.Store, statement string, args ...any) {
	t.Helper()
	if _, err := s.DB().ExecContext(context.Background(), statement, args...); err != nil {
		t.Fatal(err)
	}
}

func wantCode(t *testing.T, what string, err error, want string) {
	t.Helper()
	got := "OK"
	if err != nil {
		got = apierr.Code(apierr.Of(err).Reason)
	}
	if got != want {
		t.Errorf("%s: got %s (%v), want %s", what, got, err, want)
	}
}
