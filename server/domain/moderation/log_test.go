package moderation_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/test/servertest"
)

// logPage is a page of a log as REST shows it.
type logPage struct {
	Data struct {
		Code       string
		Violations []struct{ Field string }
		Rows       []struct {
			Sequence        int64
			Type            string
			Moderator, User *struct{ ID, DisplayName, Slug string }
			ClientID        string
			RequestID       string
			Payload         map[string]any
			Evidence        []any
		}
		Pagination struct{ Cursor string }

		TrimmedSequence *int64
	}
}

func (d *drive) log(c servertest.Credentials, query url.Values) logPage {
	d.t.Helper()
	t, _ := d.t.(*testing.T)
	r := d.REST(t, c, "GET", "/v1/moderation/log?"+query.Encode(), "")
	var page logPage
	if err := json.Unmarshal([]byte(r.Body), &page); err != nil {
		t.Fatalf("%v in %s", err, r.Body)
	}
	return page
}

// types returns the types of the page, newest first.
func (p logPage) types() []string {
	var types []string
	for _, row := range p.Data.Rows {
		types = append(types, row.Type)
	}
	return types
}

func channelQuery(pairs ...string) url.Values {
	query := url.Values{"channelId": {servertest.Owner.String()}}
	for i := 0; i < len(pairs); i += 2 {
		query.Add(pairs[i], pairs[i+1])
	}
	return query
}

// fillLog creates bans by two moderators, a role and a follow.
func fillLog(d *drive) {
	d.t.Helper()
	d.mustBan(servertest.Moderator, servertest.Raider)
	d.mustBan(servertest.Owner, servertest.Viewer)
	if err := d.unban(servertest.Owner, servertest.Raider); err != nil {
		d.t.Fatal(err)
	}
	t, _ := d.t.(*testing.T)
	body := fmt.Sprintf(`{"channelId":%q,"userId":%q}`, servertest.Owner, servertest.Raider)
	if r := d.REST(t, d.creds[servertest.Owner], "POST", "/v1/channels/vips", body); r.Status != 200 {
		t.Fatal(r.Body)
	}
}

func TestLogListsActionsNewestFirst(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		fillLog(d)
		owner, viewer, raider := servertest.Owner.String(), servertest.Viewer.String(), servertest.Raider.String()
		all := []string{
			"channel.vip.add", "channel.unban", "channel.chat.clear_user_messages", "channel.ban", "channel.chat.clear_user_messages", "channel.ban",
		}
		page := d.log(d.creds[servertest.Moderator], channelQuery())
		if diff := cmp.Diff(all, page.types()); diff != "" {
			t.Fatalf("the log (-want +got):\n%s", diff)
		}
		ban := page.Data.Rows[3]
		if ban.Moderator.ID != owner || ban.Moderator.Slug != "ines" || ban.User.ID != viewer || ban.User.DisplayName != "Amara Okafor" ||
			ban.ClientID != servertest.Dashboard || ban.RequestID == "" || ban.Payload["bannedUserId"] != viewer || ban.Sequence != 3 {
			t.Errorf("the ban is %+v", ban)
		}
		for name, c := range map[string]struct {
			query url.Values
			want  []string
		}{
			"of a user":                  {channelQuery("userId", raider), []string{all[0], all[1], all[4], all[5]}},
			"by a moderator":             {channelQuery("moderatorId", servertest.Moderator.String()), all[4:]},
			"of a user by another":       {channelQuery("userId", raider, "moderatorId", owner), all[:2]},
			"of one type":                {channelQuery("type[]", "channel.ban"), []string{"channel.ban", "channel.ban"}},
			"of two types":               {channelQuery("type[]", "channel.ban", "type[]", "channel.unban"), []string{"channel.unban", "channel.ban", "channel.ban"}},
			"repeated type":              {channelQuery("type[]", "channel.unban", "type[]", "channel.unban"), []string{"channel.unban"}},
			"of a user and a type":       {channelQuery("userId", viewer, "type[]", "channel.ban"), []string{"channel.ban"}},
			"of an unknown user":         {channelQuery("userId", servertest.Nobody.String()), nil},
			"of a type without entries":  {channelQuery("type[]", "channel.vote"), nil},
			"of a channel without a log": {url.Values{"channelId": {servertest.Other.String()}}, nil},
		} {
			if diff := cmp.Diff(c.want, d.log(d.creds[servertest.Moderator], c.query).types()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	})
}

func TestLogPagination(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		fillLog(d)
		whole := d.log(d.creds[servertest.Owner], channelQuery())
		var paged []int64
		query := channelQuery("limit", "2")
		for {
			page := d.log(d.creds[servertest.Owner], query)
			for _, row := range page.Data.Rows {
				paged = append(paged, row.Sequence)
			}
			if page.Data.Pagination.Cursor == "" {
				break
			}
			query.Set("cursor", page.Data.Pagination.Cursor)
			d.mustBan(servertest.Owner, servertest.Raider) // new entries are not on later pages
			if err := d.unban(servertest.Owner, servertest.Raider); err != nil {
				t.Fatal(err)
			}
		}
		var want []int64
		for _, row := range whole.Data.Rows {
			want = append(want, row.Sequence)
		}
		if !slices.Equal(paged, want) {
			t.Errorf("the pages have %v, want %v", paged, want)
		}
		query.Set("userId", servertest.Raider.String())
		if got := d.log(d.creds[servertest.Owner], query); got.Data.Code != "CURSOR_INVALID" {
			t.Errorf("a cursor of another filter: %+v", got.Data)
		}
	})
}

func TestLogReportsTrimmedThrough(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		fillLog(d)
		for _, want := range []int64{0, 3} {
			if _, err := d.Store.DB().Exec("UPDATE channels SET trimmed_sequence = ? WHERE id = ?", want, servertest.Owner); err != nil {
				t.Fatal(err)
			}
			page := d.log(d.creds[servertest.Owner], channelQuery())
			if got := page.Data.TrimmedSequence; got == nil || *got != want {
				t.Errorf("got %v, want %d", got, want)
			}
		}
	})
}

func TestLogRequiresOwnerOrModerator(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		acting := func(user uid.ID) servertest.Credentials {
			c := d.AsService(t)
			c.ActingUser = user
			return c
		}
		narrow := d.Token(t, authn.NewToken{Kind: authn.User, ClientID: servertest.Dashboard, UserID: servertest.Owner, Scopes: []string{authn.UsersRead}})
		nobody := url.Values{"channelId": {servertest.Nobody.String()}}
		for name, c := range map[string]struct {
			caller servertest.Credentials
			query  url.Values
			want   string
		}{
			"the owner":                   {d.creds[servertest.Owner], channelQuery(), ""},
			"a moderator":                 {d.creds[servertest.Moderator], channelQuery(), ""},
			"a backend":                   {d.AsService(t), channelQuery(), ""},
			"a backend for a moderator":   {acting(servertest.Moderator), channelQuery(), ""},
			"a backend for a viewer":      {acting(servertest.Viewer), channelQuery(), "NOT_CHANNEL_MODERATOR"},
			"a viewer":                    {d.creds[servertest.Viewer], channelQuery(), "NOT_CHANNEL_MODERATOR"},
			"another owner":               {d.creds[servertest.Other], channelQuery(), "NOT_CHANNEL_MODERATOR"},
			"an app":                      {d.AsApp(t), channelQuery(), "TOKEN_KIND_NOT_ACCEPTED"},
			"the owner without the scope": {narrow, channelQuery(), "SCOPE_MISSING"},
			"a channel that is none":      {d.creds[servertest.Owner], nobody, "NOT_CHANNEL_MODERATOR"},
			"a backend, no such channel":  {d.AsService(t), nobody, "CHANNEL_NOT_FOUND"},
			"no channel":                  {d.creds[servertest.Owner], url.Values{}, "INVALID_ARGUMENT"},
			"a user that is no id":        {d.creds[servertest.Owner], channelQuery("userId", "x"), "INVALID_ARGUMENT"},
			"a type that is none":         {d.creds[servertest.Owner], channelQuery("type[]", "ban"), "INVALID_ARGUMENT"},
			"limit 0":                     {d.creds[servertest.Owner], channelQuery("limit", "0"), "INVALID_ARGUMENT"},
			"limit 101":                   {d.creds[servertest.Owner], channelQuery("limit", "101"), "INVALID_ARGUMENT"},
			"a cursor that is none":       {d.creds[servertest.Owner], channelQuery("cursor", "x"), "CURSOR_INVALID"},
		} {
			if got := d.log(c.caller, c.query); got.Data.Code != c.want {
				t.Errorf("%s: got %q, want %q", name, got.Data.Code, c.want)
			}
		}
		d.mustBan(servertest.Owner, servertest.Moderator)
		if got := d.log(d.creds[servertest.Moderator], channelQuery()); got.Data.Code != "NOT_CHANNEL_MODERATOR" {
			t.Errorf("a banned moderator: got %q", got.Data.Code)
		}
	})
}

// TestLogOfLapses has a mute and a timed ban lapse. Their entries name the moderator who applied
// them, and no client.
func TestLogOfLapses(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		d.mustMute(servertest.Moderator, servertest.Viewer)
		d.banFor(servertest.Moderator, servertest.Raider, 60, "spam")
		d.Store.Clock.Freeze(start.Add(time.Hour))
		expirer := newExpirer(d)
		if err := errors.Join(expirer.ExpireMutes(t.Context()), expirer.ExpireBans(t.Context())); err != nil {
			t.Fatal(err)
		}
		for kind, user := range map[string]uid.ID{"channel.mute.expire": servertest.Viewer, "channel.unban": servertest.Raider} {
			rows := d.log(d.creds[servertest.Owner], channelQuery("moderatorId", servertest.Moderator.String(), "type[]", kind)).Data.Rows
			if len(rows) != 1 {
				t.Errorf("%s has %d entries by the moderator, want 1", kind, len(rows))
				continue
			}
			row := rows[0]
			if row.Moderator == nil || row.Moderator.ID != servertest.Moderator.String() || row.User == nil || row.User.ID != user.String() || row.ClientID != "" {
				t.Errorf("the entry is %+v, by %+v about %+v", row, row.Moderator, row.User)
			}
		}
	})
}
