package paging_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// startWithModerators starts a server with a channel that has n moderators, and returns
// their ids, those with the oldest role first. layers are around the handler of REST.
func startWithModerators(t *testing.T, url store.URL, count, maxResults int, layers ...func(http.Handler) http.Handler) (*servertest.Server, []string) {
	t.Helper()
	config := servertest.Config(url)
	for _, layer := range layers {
		config.HTTPLayer = layer
	}
	config.MaxResults = maxResults
	config.RateLimit = 1000
	config.MaxWait = 200 * time.Millisecond
	s := servertest.Start(t, config)
	s.Load(t, servertest.World()...)
	var records []*platformv1.Record
	for i := range count {
		id := uid.New().String()
		records = append(records,
			&platformv1.Record{Kind: &platformv1.Record_User{User: &platformv1.UserRecord{Id: id, Username: fmt.Sprintf("mod%d", i)}}},
			&platformv1.Record{Kind: &platformv1.Record_Role{Role: &platformv1.RoleRecord{
				ChannelId: servertest.Viewer.String(), UserId: id, Role: "moderator",
			}}})
	}
	s.Load(t, &platformv1.Record{Kind: &platformv1.Record_Channel{Channel: &platformv1.ChannelRecord{Id: servertest.Viewer.String(), Title: "Viewing"}}})
	s.Load(t, records...)
	rows := listOverGRPC(t, s, s.AsService(t), &moderatov1.ListModeratorsRequest{})
	if len(rows) != count {
		t.Fatalf("over gRPC: got %d moderators, want %d", len(rows), count)
	}
	return s, rows
}

func listOverGRPC(t *testing.T, s *servertest.Server, c servertest.Credentials, r *moderatov1.ListModeratorsRequest) []string {
	t.Helper()
	r.ChannelId = servertest.Viewer.String()
	response, err := s.Moderation.ListModerators(c.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return ids(response.GetModerators())
}

func ids(users []*moderatov1.UserSummary) (found []string) {
	for _, u := range users {
		found = append(found, u.GetId())
	}
	return found
}

const path = "/v1/moderation/moderators"

var query = url.Values{"channelId": {servertest.Viewer.String()}}

// listed returns the ids of the rows of a response.
func listed(t *testing.T, r servertest.Response) (found []string) {
	t.Helper()
	var body struct {
		Data []struct{ ID string }
	}
	if err := json.Unmarshal([]byte(r.Body), &body); r.Status != http.StatusOK || err != nil {
		t.Fatalf("got %d %.200s: %v", r.Status, r.Body, err)
	}
	for _, row := range body.Data {
		found = append(found, row.ID)
	}
	return found
}

// A list is complete over both transports, whether or not it is long.
func TestListsAreCompleteWithoutALimit(t *testing.T) {
	for _, count := range []int{0, 1, 999, 1000, 1001} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			s, want := startWithModerators(t, storetest.SQLite(t), count, 50_000)
			if diff := cmp.Diff(want, listed(t, s.REST(t, s.As(t, servertest.Owner), "GET", path+"?"+query.Encode(), ""))); diff != "" {
				t.Errorf("over REST: %s", diff)
			}
		})
	}
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		s, want := startWithModerators(t, url, 1200, 50_000)
		if diff := cmp.Diff(want, listed(t, s.REST(t, s.As(t, servertest.Owner), "GET", path+"?"+query.Encode(), ""))); diff != "" {
			t.Errorf("over REST: %s", diff)
		}
	})
}

var nextPage = regexp.MustCompile(`^<(/v1/[^>]*)>; rel="next"$`)

func TestPageCursorsLeadToNextPage(t *testing.T) {
	s, want := startWithModerators(t, storetest.SQLite(t), 95, 50_000)
	owner := s.As(t, servertest.Owner)
	var got []string
	next := path + "?" + query.Encode() + "&limit=40"
	for pages := 0; next != ""; pages++ {
		r := s.REST(t, owner, "GET", next, "")
		rows := listed(t, r)
		got = append(got, rows...)
		link := r.Header.Get("Link")
		if isLast := pages == 2; isLast != (link == "") || len(rows) > 40 {
			t.Fatalf("page %d: got %d rows and the link %q", pages, len(rows), link)
		}
		next = ""
		if link != "" {
			next = nextPage.FindStringSubmatch(link)[1]
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("over REST: %s", diff)
	}
	got = nil
	cursor := ""
	for {
		r, err := s.Moderation.ListModerators(owner.Context(), &moderatov1.ListModeratorsRequest{
			ChannelId: servertest.Viewer.String(), Limit: new(int32(40)), Cursor: cursor,
		})
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, ids(r.GetModerators())...)
		if cursor = r.GetPagination().GetCursor(); cursor == "" {
			break
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("over gRPC: %s", diff)
	}
	if rows := listed(t, s.REST(t, owner, "GET", path+"?"+query.Encode()+"&limit=100", "")); !slices.Equal(rows, want) {
		t.Errorf("a page for all: got %d rows, want %d", len(rows), len(want))
	}
}

// The channels that a user moderates are paginated too, and a cursor is bound to its
// list.
func TestCursorIsBoundToItsList(t *testing.T) {
	s, _ := startWithModerators(t, storetest.SQLite(t), 25, 50_000)
	moderator := s.As(t, servertest.Moderator) // moderates two channels
	channels := "/v1/moderation/channels?userId=" + servertest.Moderator.String()
	all := s.REST(t, moderator, "GET", channels, "")
	first := s.REST(t, moderator, "GET", channels+"&limit=1", "")
	second := s.REST(t, moderator, "GET", nextPage.FindStringSubmatch(first.Header.Get("Link"))[1], "")
	joined := strings.TrimSuffix(first.Body, "]}") + "," + strings.TrimPrefix(second.Body, `{"success":true,"message":"success","data":[`)
	if joined != all.Body || second.Header.Get("Link") != "" {
		t.Errorf("pages: got %s and %s, want %s", first.Body, second.Body, all.Body)
	}
	cursor := s.REST(t, moderator, "GET", path+"?"+query.Encode()+"&limit=1", "").Header.Get("Link")
	theirs, err := url.Parse(nextPage.FindStringSubmatch(cursor)[1])
	if err != nil {
		t.Fatal(err)
	}
	for name, wrong := range map[string]string{
		"another list's": channels + "&cursor=" + theirs.Query().Get("cursor"),
		"no cursor":      path + "?" + query.Encode() + "&cursor=AAAA",
	} {
		if r := s.REST(t, moderator, "GET", wrong, ""); r.Status != 400 || !strings.Contains(r.Body, "CURSOR_INVALID") {
			t.Errorf("%s: got %d %s, want CURSOR_INVALID", name, r.Status, r.Body)
		}
	}
}

// A list that is too long is rejected before any part of it is sent.
func TestUnpagedListsOverLimitAreRejected(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, db store.URL) {
		s, want := startWithModerators(t, db, 300, 300)
		owner := s.As(t, servertest.Owner)
		if rows := listed(t, s.REST(t, owner, "GET", path+"?"+query.Encode(), "")); len(rows) != len(want) {
			t.Errorf("as many as the cap: got %d rows, want %d", len(rows), len(want))
		}
		s.Load(t, &platformv1.Record{Kind: &platformv1.Record_Role{Role: &platformv1.RoleRecord{
			ChannelId: servertest.Viewer.String(), UserId: servertest.Raider.String(), Role: "moderator",
		}}})
		r := s.REST(t, owner, "GET", path+"?"+query.Encode(), "")
		if r.Status != 400 || !strings.Contains(r.Body, "RESULT_TOO_LARGE") {
			t.Errorf("over REST: got %d %.200s, want RESULT_TOO_LARGE", r.Status, r.Body)
		}
		_, err := s.Moderation.ListModerators(owner.Context(), &moderatov1.ListModeratorsRequest{ChannelId: servertest.Viewer.String()})
		if got := servertest.OutcomeOf(err).Reason; got != "RESULT_TOO_LARGE" {
			t.Errorf("over gRPC: got %s, want RESULT_TOO_LARGE", got)
		}
		if rows := listed(t, s.REST(t, owner, "GET", path+"?"+query.Encode()+"&limit=100", "")); len(rows) != 100 {
			t.Errorf("a page of it: got %d rows, want 100", len(rows))
		}
	})
}
