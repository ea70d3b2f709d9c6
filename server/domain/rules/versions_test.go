package rules_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/test/servertest"
)

// restore restores a version as the owner.
func (r *room) restore(members string) (int, *ruleList) {
	r.t.Helper()
	return r.callRules(r.owner, http.MethodPost, rulesPath+"/restore", fmt.Sprintf(`{"channelId":%q,%s}`, servertest.Owner, members))
}

// listedVersion is a row of the list of versions.
type listedVersion struct {
	Version      int64
	Moderator    *struct{ ID, Username string }
	ClientID     string
	Cause        string
	ChangedAt    string
	Put, Deleted []string
}

// versions lists a page of the versions, with the members of a query.
func (r *room) versions(query string) (rows []listedVersion, cursor string) {
	r.t.Helper()
	response := r.REST(r.t, r.owner, http.MethodGet, rulesPath+"/versions?channelId="+servertest.Owner.String()+query, "")
	var b struct {
		Data struct {
			Rows       []listedVersion
			Pagination struct{ Cursor string }
		}
	}
	if err := json.Unmarshal([]byte(response.Body), &b); err != nil || response.Status != http.StatusOK {
		r.t.Fatal(err, response.Body)
	}
	return b.Data.Rows, b.Data.Pagination.Cursor
}

func TestRestoreRules(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		first := r.rules(`"put":[` + term("a") + `,` + term("b") + `,` + term("e", fmt.Sprintf(`"expiresAt":%q`, now.Add(time.Minute))) + `]`)
		r.rules(fmt.Sprintf(`"put":[%s,%s],"delete":[%q,%q]`, term("A", `"ruleId":"`+first.id(0)+`"`), term("c"), first.id(1), first.id(2)))
		if status, l := r.restore(`"version":1,"expectedVersion":1`); status != http.StatusConflict || l.Data.Code != "VERSION_CONFLICT" {
			t.Errorf("another version: got %d %+v", status, l)
		}
		if status, l := r.restore(`"version":3`); status != http.StatusNotFound || l.Data.Code != "VERSION_NOT_FOUND" {
			t.Errorf("no version: got %d %+v", status, l)
		}
		if _, l := r.restore(`"expectedVersion":2`); l.Data.Code != "INVALID_ARGUMENT" || l.Data.Violations[0].Field != "version" {
			t.Errorf("without a version: got %+v", l)
		}
		r.Store.Clock.Freeze(now.Add(time.Minute)) // the third one has expired
		for range 2 {                              // the second restore changes nothing
			status, l := r.restore(`"version":1`)
			if status != http.StatusOK || l.Data.Version != 3 || !slices.Equal(l.names(), []string{"a", "b"}) || l.id(0) != first.id(0) || l.id(1) != first.id(1) {
				t.Errorf("restored: got %d %+v", status, l)
			}
		}
		if _, l := r.restore(`"version":0`); l.Data.Version != 4 || len(l.Data.Rules) != 0 {
			t.Errorf("restored nothing: got %+v", l)
		}
		events := r.ruleEvents()
		if len(events) != 4 || events[2].GetCause() != "restore" || len(events[2].GetPut()) != 2 || len(events[2].GetDeleted()) != 1 || events[2].GetModeratorId() != servertest.Owner.String() {
			t.Errorf("the events are %v", events)
		}
	})
}

func TestVersionsAreListed(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		if rows, cursor := r.versions(""); len(rows) != 0 || cursor != "" {
			t.Errorf("at first: got %+v", rows)
		}
		l := r.rules(`"put":[` + term("a") + `]`)
		r.rules(fmt.Sprintf(`"delete":[%q]`, l.id(0)))
		r.restore(`"version":1`)
		page, cursor := r.versions("&limit=2")
		rest, end := r.versions("&limit=2&cursor=" + cursor)
		rows := slices.Concat(page, rest)
		if len(rows) != 3 || len(page) != 2 || end != "" {
			t.Fatalf("got %+v", rows)
		}
		for i, want := range []struct{ cause, by, put, deleted string }{
			{"restore", servertest.Owner.String(), l.id(0), ""}, {"moderator", servertest.Moderator.String(), "", l.id(0)}, {"moderator", servertest.Moderator.String(), l.id(0), ""},
		} {
			v := rows[i]
			if v.Version != int64(3-i) || v.Cause != want.cause || v.Moderator.ID != want.by || v.Moderator.Username == "" || v.ClientID != servertest.Dashboard ||
				v.ChangedAt != now.String() || strings.Join(v.Put, " ") != want.put || strings.Join(v.Deleted, " ") != want.deleted {
				t.Errorf("row %d is %+v", i, v)
			}
		}
	})
}

// TestOldVersionsAreGone passes the time for which versions are kept after they ended, while no job
// removes them.
func TestOldVersionsAreGone(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		const day = 24 * time.Hour
		l := r.rules(`"put":[` + term("a") + `]`)
		r.Store.Clock.Freeze(now.Add(91 * day))
		if status, got := r.getRules(1); status != http.StatusOK || len(got.Data.Rules) != 1 {
			t.Errorf("the present version, which is old: got %d %+v", status, got)
		}
		r.rules(fmt.Sprintf(`"put":[%s]`, term("b", `"ruleId":"`+l.id(0)+`"`)))
		r.Store.Clock.Freeze(now.Add(92 * day))
		r.rules(fmt.Sprintf(`"delete":[%q]`, l.id(0)))
		if status, got := r.restore(`"version":1`); status != http.StatusOK || !slices.Equal(got.names(), []string{"a"}) {
			t.Errorf("restore of a version that ended a day ago: got %d %+v", status, got)
		}
		r.Store.Clock.Freeze(now.Add((91 + 90) * day))
		for version, want := range map[int]int{0: http.StatusOK, 1: http.StatusNotFound, 2: http.StatusOK, 3: http.StatusOK, 4: http.StatusOK, 5: http.StatusNotFound} {
			if status, _ := r.getRules(version); status != want {
				t.Errorf("version %d: got %d, want %d", version, status, want)
			}
		}
		if rows, _ := r.versions(""); len(rows) != 2 || rows[1].Version != 3 {
			t.Errorf("listed: %+v", rows)
		}
		if status, _ := r.restore(`"version":1`); status != http.StatusNotFound {
			t.Errorf("restore of version 1: got %d", status)
		}
	})
}

// TestBodyOfRulesIsBounded sends bodies of 1 MiB, and a byte more, over both transports.
func TestBodyOfRulesIsBounded(t *testing.T) {
	each(t, func(r *room, _ instant.Instant) {
		const most = 1 << 20
		text := fmt.Sprintf(`{"channelId":%q,"put":[%s]}`, servertest.Owner, term("a"))
		for size, want := range map[int]int{most: http.StatusOK, most + 1: http.StatusRequestEntityTooLarge} {
			response := r.REST(t, r.moderator, http.MethodPost, rulesPath, text+strings.Repeat(" ", size-len(text)))
			if response.Status != want {
				t.Errorf("%d bytes: got %s, want %d", size, response.Body, want)
			}
		}
		_, err := moderatov1.NewChatRulesServiceClient(r.Conn).UpdateChatRules(r.moderator.Context(), &moderatov1.UpdateChatRulesRequest{
			ChannelId: servertest.Owner.String(), Delete: []string{strings.Repeat("x", most)},
		})
		if status.Code(err) != codes.ResourceExhausted {
			t.Errorf("over gRPC: got %v", err)
		}
	})
}
