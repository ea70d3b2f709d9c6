package moderation_test

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// The lists that moderators search.
const (
	banList  = "/v1/moderation/banned-users"
	muteList = "/v1/moderation/muted-users"
	roleList = "/v1/moderation/roles"
)

// searches are the lists that moderators search.
var searches = []string{banList, muteList, roleList}

// found is a page of a list as REST shows it.
type found struct {
	Code       string
	Rows       []map[string]any
	Pagination struct{ Cursor string }
}

// names returns the usernames of the rows.
func (f found) names() (names []string) {
	for _, row := range f.Rows {
		name, _ := row["slug"].(string)
		names = append(names, name)
	}
	return names
}

func (d *drive) find(c servertest.Credentials, list string, query url.Values) found {
	d.t.Helper()
	t, _ := d.t.(*testing.T)
	separator := "?"
	if strings.Contains(list, "?") {
		separator = "&"
	}
	r := d.REST(t, c, "GET", list+separator+query.Encode(), "")
	var page struct{ Data found }
	if err := json.Unmarshal([]byte(r.Body), &page); err != nil {
		t.Fatalf("%v in %s", err, r.Body)
	}
	return page.Data
}

// wantFound checks whom the owner finds in a list, in any number of pages.
func (d *drive) wantFound(list string, query url.Values, want ...string) {
	d.t.Helper()
	for _, limit := range []string{"1", "100"} {
		query.Set("limit", limit)
		query.Del("cursor")
		var names []string
		for {
			page := d.find(d.creds[servertest.Owner], list, query)
			if page.Code != "" {
				d.t.Errorf("%s?%s: got %s", list, query.Encode(), page.Code)
			}
			names = append(names, page.names()...)
			if page.Pagination.Cursor == "" {
				break
			}
			query.Set("cursor", page.Pagination.Cursor)
		}
		if diff := cmp.Diff(want, names); diff != "" {
			d.t.Errorf("%s?%s (-want +got):\n%s", list, query.Encode(), diff)
		}
	}
}

// Users whose names are hard to find.
var (
	percent    = uid.MustParse("0b6f0011-0000-4000-8000-000000000001")
	underscore = uid.MustParse("0b6f0011-0000-4000-8000-000000000002")
	accented   = uid.MustParse("0b6f0011-0000-4000-8000-000000000003")
)

func loadNames(t *testing.T, s *servertest.Server) {
	t.Helper()
	for id, names := range map[uid.ID][2]string{percent: {"raid1", "100% fun"}, underscore: {"Raid_Leader", "_boss"}, accented: {"raid2", "Ärger"}} {
		s.Load(t, &platformv1.Record{Kind: &platformv1.Record_User{User: &platformv1.UserRecord{Id: id.String(), Username: names[0], DisplayName: names[1]}}})
	}
}

// wantNames checks whom searches find in a list with the users of loadNames, which has them in
// this order.
func wantNames(d *drive, list string, order ...string) {
	d.t.Helper()
	for query, want := range map[string][]string{
		"": {"raid1", "raid_leader", "raid2"}, "RAID": {"raid1", "raid_leader", "raid2"}, "raid_": {"raid_leader"}, "raid%": nil, "aid": nil,
		"100% F": {"raid1"}, "%": nil, "_": {"raid_leader"}, " ärg ": {"raid2"}, "A\u0308R": {"raid2"}, `\_`: nil, "raid11": nil,
	} {
		slices.SortFunc(want, func(a, b string) int { return slices.Index(order, a) - slices.Index(order, b) })
		d.wantFound(list, channelQuery("query", query), want...)
	}
}

func TestSearchesRequireOwnerOrModerator(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		acting := d.AsService(t)
		acting.ActingUser = servertest.Viewer
		narrow := d.Token(t, authn.NewToken{Kind: authn.User, ClientID: servertest.Dashboard, UserID: servertest.Owner, Scopes: []string{authn.UsersRead}})
		nobody := url.Values{"channelId": {servertest.Nobody.String()}}
		for _, list := range searches {
			for name, c := range map[string]struct {
				caller servertest.Credentials
				query  url.Values
				want   string
			}{
				"the owner":                   {d.creds[servertest.Owner], channelQuery(), ""},
				"a moderator":                 {d.creds[servertest.Moderator], channelQuery(), ""},
				"a backend":                   {d.AsService(t), channelQuery(), ""},
				"a backend for a viewer":      {acting, channelQuery(), "NOT_CHANNEL_MODERATOR"},
				"a viewer":                    {d.creds[servertest.Viewer], channelQuery(), "NOT_CHANNEL_MODERATOR"},
				"another owner":               {d.creds[servertest.Other], channelQuery(), "NOT_CHANNEL_MODERATOR"},
				"an app":                      {d.AsApp(t), channelQuery(), "TOKEN_KIND_NOT_ACCEPTED"},
				"the owner without the scope": {narrow, channelQuery(), "SCOPE_MISSING"},
				"a backend, no such channel":  {d.AsService(t), nobody, "CHANNEL_NOT_FOUND"},
				"no channel":                  {d.creds[servertest.Owner], url.Values{}, "INVALID_ARGUMENT"},
				"a query of 101 characters":   {d.creds[servertest.Owner], channelQuery("query", strings.Repeat("ä", 101)), "INVALID_ARGUMENT"},
				"a query of 100 characters":   {d.creds[servertest.Owner], channelQuery("query", strings.Repeat("ä", 100)), ""},
				"limit 101":                   {d.creds[servertest.Owner], channelQuery("limit", "101"), "INVALID_ARGUMENT"},
				"a cursor that is none":       {d.creds[servertest.Owner], channelQuery("cursor", "x"), "CURSOR_INVALID"},
			} {
				if got := d.find(c.caller, list, c.query); got.Code != c.want {
					t.Errorf("%s: %s: got %q, want %q", list, name, got.Code, c.want)
				}
			}
		}
	})
}

func TestListOfBans(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		loadNames(t, d.Server)
		d.banFor(servertest.Moderator, accented, 3600, "spam")
		d.Store.Clock.Freeze(start.Add(time.Second))
		batch := d.banAll(servertest.Owner, underscore).GetBatchId()
		d.Store.Clock.Freeze(start.Add(2 * time.Second))
		d.mustBan(servertest.Owner, percent)
		wantNames(d, banList, "raid1", "raid_leader", "raid2")

		by := func(user uid.ID, more ...string) url.Values {
			return channelQuery(append(more, "bannedBy", user.String())...)
		}
		d.wantFound(banList, by(servertest.Owner), "raid1", "raid_leader")
		d.wantFound(banList, by(servertest.Owner, "query", "raid_"), "raid_leader")
		d.wantFound(banList, by(servertest.Nobody))
		d.wantFound(banList, channelQuery("batchId", batch), "raid_leader")
		d.wantFound(banList, by(servertest.Owner, "batchId", batch), "raid_leader")
		d.wantFound(banList, by(servertest.Moderator, "batchId", batch))
		d.wantFound(banList, channelQuery("batchId", servertest.Nobody.String()))

		rows := d.find(d.creds[servertest.Moderator], banList, channelQuery()).Rows
		want := map[string]any{
			"id": accented.String(), "displayName": "Ärger", "slug": "raid2", "bannedAt": start.String(), "reason": "spam", "expiresAt": start.Add(time.Hour).String(),
			"bannedBy": map[string]any{"id": servertest.Moderator.String(), "displayName": "Tomasz Wrona", "slug": "tomasz_wrona"},
			"batchId":  nil, "cause": "moderator",
		}
		if diff := cmp.Diff(want, rows[2]); diff != "" {
			t.Errorf("the timed ban (-want +got):\n%s", diff)
		}
		if got := rows[1]; got["batchId"] != batch || got["cause"] != "batch" || got["expiresAt"] != nil || got["reason"] != nil {
			t.Errorf("the ban of the batch is %v", got)
		}
		page := d.find(d.creds[servertest.Owner], banList, channelQuery("limit", "1"))
		for _, filter := range [][]string{{"query", "raid"}, {"bannedBy", servertest.Owner.String()}, {"batchId", batch}} {
			got := d.find(d.creds[servertest.Owner], banList, channelQuery(append(filter, "cursor", page.Pagination.Cursor)...))
			if got.Code != "CURSOR_INVALID" {
				t.Errorf("a cursor without the filter %v: got %q, want CURSOR_INVALID", filter, got.Code)
			}
		}
		d.Store.Clock.Freeze(start.Add(time.Hour))
		d.wantFound(banList, channelQuery(), "raid1", "raid_leader")
	})
}

func TestListOfMutes(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		loadNames(t, d.Server)
		for n, user := range []uid.ID{accented, underscore, percent} {
			d.Store.Clock.Freeze(start.Add(time.Duration(n) * time.Second))
			d.muteFor(servertest.Moderator, user, int64(3600-n), "spam")
		}
		wantNames(d, muteList, "raid1", "raid_leader", "raid2")
		want := map[string]any{
			"id": accented.String(), "displayName": "Ärger", "slug": "raid2", "mutedAt": start.String(), "reason": "spam", "expiresAt": start.Add(time.Hour).String(), "cause": "moderator", "ruleId": nil,
			"mutedBy": map[string]any{"id": servertest.Moderator.String(), "displayName": "Tomasz Wrona", "slug": "tomasz_wrona"},
		}
		page := d.find(d.creds[servertest.Moderator], muteList, channelQuery("limit", "2"))
		second := d.find(d.creds[servertest.Moderator], muteList, channelQuery("limit", "2", "cursor", page.Pagination.Cursor))
		if diff := cmp.Diff([]map[string]any{want}, second.Rows); diff != "" {
			t.Errorf("the first mute (-want +got):\n%s", diff)
		}
		if got := d.find(d.creds[servertest.Owner], muteList, channelQuery("query", "r", "cursor", page.Pagination.Cursor)); got.Code != "CURSOR_INVALID" {
			t.Errorf("a cursor of another query: got %q, want CURSOR_INVALID", got.Code)
		}
		if err := d.unmute(servertest.Owner, underscore); err != nil {
			t.Fatal(err)
		}
		d.Store.Clock.Freeze(start.Add(time.Hour)) // the others have lapsed
		d.wantFound(muteList, channelQuery())
	})
}

func (d *drive) muteFor(as, user uid.ID, seconds int64, reason string) {
	d.t.Helper()
	_, err := d.Moderation.MuteUser(d.creds[as].Context(), &moderatov1.MuteUserRequest{
		ChannelId: servertest.Owner.String(), MutedUserId: user.String(), DurationSeconds: &seconds, Reason: &reason,
	})
	if err != nil {
		d.t.Fatal(err)
	}
}

func TestListOfRoles(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		loadNames(t, d.Server)
		for n, r := range []struct {
			user uid.ID
			role string
		}{{accented, "og"}, {underscore, "vip"}, {percent, "vip"}, {accented, "vip"}} {
			d.role(r.user, r.role)
			exec(t, d.Store, "UPDATE roles SET created_at = ? WHERE user_id = ? AND role = ?", start.Add(time.Duration(n)*time.Second), r.user, r.role)
		}
		d.wantFound(roleList, channelQuery(), "tomasz_wrona", "raid_leader", "raid1", "raid2", "raid2")
		d.wantFound(roleList, channelQuery("query", "raid"), "raid_leader", "raid1", "raid2", "raid2")
		d.wantFound(roleList, channelQuery("role", "og"), "raid2")
		d.wantFound(roleList, channelQuery("role", "og", "query", "raid1"))
		d.wantFound(roleList, channelQuery("role", "moderator"), "tomasz_wrona")
		d.Store.Clock.Freeze(0)
		wantNames(d, roleList+"?role=vip", "raid_leader", "raid1", "raid2")

		d.banFor(servertest.Owner, accented, 3600, "spam")
		rows := d.find(d.creds[servertest.Owner], roleList, channelQuery("query", "raid")).Rows
		if rows[0]["isBanned"] != false {
			t.Errorf("a user who is not banned: got %v", rows[0])
		}
		want := map[string]any{
			"id": accented.String(), "displayName": "Ärger", "slug": "raid2", "avatarUrl": rows[3]["avatarUrl"],
			"role": "og", "createdAt": start.String(), "isBanned": true,
		}
		if diff := cmp.Diff(want, rows[3]); diff != "" {
			t.Errorf("a banned OG (-want +got):\n%s", diff)
		}
		d.Store.Clock.Advance(time.Hour)
		if rows := d.find(d.creds[servertest.Owner], roleList, channelQuery("role", "og")).Rows; rows[0]["isBanned"] != false {
			t.Errorf("after the ban: got %v", rows[0])
		}
		page := d.find(d.creds[servertest.Owner], roleList, channelQuery("limit", "1"))
		if got := d.find(d.creds[servertest.Owner], roleList, channelQuery("role", "vip", "cursor", page.Pagination.Cursor)); got.Code != "CURSOR_INVALID" {
			t.Errorf("a cursor of all roles: got %q, want CURSOR_INVALID", got.Code)
		}
		if got := d.find(d.creds[servertest.Owner], roleList, channelQuery("role", "owner")); got.Code != "INVALID_ARGUMENT" {
			t.Errorf("a role that is none: got %q, want INVALID_ARGUMENT", got.Code)
		}
	})
}

// TestPlansOfSearches checks that each list is read in the order of an index.
func TestPlansOfSearches(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
		d, recorder := newRecordedDrive(t, url)
		d.banAll(servertest.Owner, servertest.AddUsers(t, d.Store, 30)...)
		some := servertest.Nobody.String()
		for _, c := range []struct{ list, filter, from, index string }{
			{banList, "query", "FROM bans", "ban_channel_id_banned_at_user_id"},
			{banList, "bannedBy", "FROM bans", "ban_moderator_id_channel_id_banned_at_user_id"},
			{banList, "batchId", "FROM bans", "ban_batch_id_channel_id_banned_at_user_id"},
			{muteList, "query", "FROM mutes", "mute_channel_id_muted_at_user_id"},
			{roleList, "query", "roles.role = ?", "role_channel_id_role_created_at_user_id"},
		} {
			d.find(d.creds[servertest.Owner], c.list, channelQuery(c.filter, some))
			wantSearch(t, d.Store, recorder, c.from, c.index)
		}
	})
}
