package channels_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/event"
	"github.com/moderato-live/moderato/ent/stream"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/server/store/counts"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

func eventTypes(t *testing.T, s *servertest.Server) []string {
	t.Helper()
	rows, err := s.Store.Read.Event.Query().Where(event.ChannelID(servertest.Owner)).Order(ent.Asc(event.FieldSequence)).All(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	types := []string{}
	for i, row := range rows {
		if row.Sequence != int64(i+1) {
			t.Errorf("event %d has sequence %d", i+1, row.Sequence)
		}
		types = append(types, row.Type)
	}
	return types
}

func wantEvents(t *testing.T, s *servertest.Server, want ...string) {
	t.Helper()
	if diff := cmp.Diff(append([]string{}, want...), eventTypes(t, s)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// TestAddAndRemoveVipsAndOgs makes each transition of the table, and repeats each step.
func TestAddAndRemoveVipsAndOgs(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		owner := s.As(t, servertest.Owner)
		var want []string
		for path, role := range map[string]string{"/vips": "vip", "/ogs": "og"} {
			who := fmt.Sprintf(`{"channelId":%q,"userId":%q}`, servertest.Owner, servertest.Viewer)
			added := fmt.Sprintf(`{"success":true,"message":"success","data":{"channelId":%q,"userId":%q,"role":%q}}`, servertest.Owner, servertest.Viewer, role)
			holder := `[{"id":"` + servertest.Viewer.String() + `","displayName":"Amara Okafor","slug":"amara.okafor","avatarUrl":"https://img.example.com/amara.okafor.png"}]`
			for _, step := range []struct{ method, want, list string }{
				{"POST", added, holder},
				{"POST", added, holder}, // again: no change
				{"DELETE", `{"success":true,"message":"success"}`, "[]"},
				{"DELETE", `{"success":true,"message":"success"}`, "[]"}, // again: no change
			} {
				if r := s.REST(t, owner, step.method, v1+path, who); r.Status != http.StatusOK || r.Body != step.want {
					t.Errorf("%s %s: %d %s, want %s", step.method, path, r.Status, r.Body, step.want)
				}
				r := s.REST(t, owner, http.MethodGet, v1+"/roles"+path, "")
				if want := `{"success":true,"message":"success","data":` + step.list + `}`; r.Body != want {
					t.Errorf("list after %s %s: %s, want %s", step.method, path, r.Body, want)
				}
			}
			want = append(want, "channel."+role+".add", "channel."+role+".remove")
		}
		wantEvents(t, s, want...)
		for _, e := range storetest.Must(s.Store.Read.Event.Query().All(t.Context())) {
			role := strings.Split(e.Type, ".")[1]
			person := fmt.Sprintf(`,%q:{"id":%q,"username":"amara.okafor","displayName":"Amara Okafor","avatarUrl":"https://img.example.com/amara.okafor.png"}}`, role, servertest.Viewer)
			if !strings.Contains(e.Payload, `"role":"`+role+`","changedAt":"`) || !strings.HasSuffix(e.Payload, person) {
				t.Errorf("%s: got %s, want %s at the end", e.Type, e.Payload, person)
			}
		}
	})
}

func TestModeratorCannotAssignRoles(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		moderator := s.As(t, servertest.Moderator)
		args := servertest.Args{"channelId": servertest.Owner.String(), "userId": servertest.Viewer.String()}
		for _, path := range []string{"/vips", "/ogs"} {
			if _, got := s.CallREST(t, moderator, http.MethodPost, v1+path, args); got.Reason != "NOT_CHANNEL_OWNER" {
				t.Errorf("%s: %s, want NOT_CHANNEL_OWNER", path, got.Reason)
			}
		}
		wantEvents(t, s)
	})
}

func category(id int64, name string) *platformv1.Record {
	return &platformv1.Record{Kind: &platformv1.Record_Category{Category: &platformv1.CategoryRecord{
		Id: id, Name: name, Slug: strings.ToLower(name),
	}}}
}

func TestUpdateInfo(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		s.Load(t, category(7, "Chess"))
		owner := s.As(t, servertest.Owner)
		for _, step := range []struct{ body, want string }{
			{`{"title":"  A new\u0020title ","lang":"PT-br","categoryId":7}`, `{"title":"A new title","lang":"pt-BR","categoryId":7,"categoryTitle":"Chess"}`},
			{`{"title":"A new title","lang":"pt-BR"}`, `{"title":"A new title","lang":"pt-BR","categoryId":7,"categoryTitle":"Chess"}`}, // no change
			{`{"title":"e\u0301","lang":"de","categoryId":null}`, `{"title":"é","lang":"de","categoryId":7,"categoryTitle":"Chess"}`},   // NFC; the category is kept
			{`{"title":"x","lang":"de","categoryId":0}`, `{"title":"x","lang":"de","categoryId":0,"categoryTitle":"Uncategorized"}`},
		} {
			r := s.REST(t, owner, http.MethodPost, v1+"/info", step.body)
			if want := `{"success":true,"message":"success","data":` + step.want + `}`; r.Status != http.StatusOK || r.Body != want {
				t.Errorf("%s: %d %s, want %s", step.body, r.Status, r.Body, want)
			}
		}
		wantEvents(t, s, "channel.update", "channel.update", "channel.update")
		for category, want := range map[int64]int64{7: 0, 0: 2} {
			if got, err := counts.Read(context.Background(), s.Store, []int64{category}, false); err != nil || got != want {
				t.Errorf("category %d has %d channels (%v), want %d", category, got, err, want)
			}
		}
	})
}

func TestUpdateInfoUpdatesLiveStream(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		started := instant.Of(time.Now().Add(-time.Hour))
		s.Load(t, category(7, "Chess"), &platformv1.Record{Kind: &platformv1.Record_Stream{Stream: &platformv1.StreamRecord{
			ChannelId: servertest.Owner.String(), StartedAt: started.Proto(), Title: "Before", Lang: "en", ViewerCount: 12,
			PreviewImgUrl: "https://img.example.com/live.png",
		}}})
		owner := s.As(t, servertest.Owner)
		s.REST(t, owner, http.MethodPost, v1+"/info", `{"title":"After","lang":"fr","categoryId":7}`)
		row, err := s.Store.Read.Stream.Query().Where(stream.ChannelID(servertest.Owner)).Only(context.Background())
		if err != nil || row.Title != "After" || row.Lang != "fr" || row.CategoryID != 7 {
			t.Errorf("the stream is %v (%v)", row, err)
		}
		r := s.REST(t, owner, http.MethodGet, v1+"/stream-info", "")
		want := `{"success":true,"message":"success","data":{"isLive":true,"title":"After","previewImgUrl":"https://img.example.com/live.png","startedAt":"` +
			started.String() + `","category":{"id":7,"title":"Chess"}}}`
		if r.Body != want {
			t.Errorf("stream info: %s, want %s", r.Body, want)
		}
		if got, err := counts.Read(context.Background(), s.Store, []int64{7}, true); err != nil || got != 1 {
			t.Errorf("category 7 has %d live channels (%v), want 1", got, err)
		}
	})
}

func TestOfflineChannel(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		owner := s.As(t, servertest.Owner)
		for path, want := range map[string]string{
			"/stream-info": `{"isLive":false,"title":"Any% until it works","previewImgUrl":"","startedAt":null,"category":{"id":0,"title":"Uncategorized"}}`,
			"/live-stats":  `{"startedAt":null,"isLive":false,"newFollowerCount":0,"newSubscriberCount":0,"viewerCount":0}`,
			"/stats":       `{"followerCount":0,"subscriberCount":0,"viewerCount":0}`,
			"/followers":   `{"rows":[],"pagination":{"cursor":""}}`,
			"/activities":  `{"rows":[],"pagination":{"cursor":""}}`,
		} {
			r := s.REST(t, owner, http.MethodGet, v1+path, "")
			if want := `{"success":true,"message":"success","data":` + want + `}`; r.Body != want {
				t.Errorf("%s: %s\nwant %s", path, r.Body, want)
			}
		}
	})
}

func TestStreamInfoHasDeprecationHeaders(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		r := s.REST(t, s.As(t, servertest.Owner), http.MethodGet, v1+"/stream-info", "")
		for name, want := range map[string]string{
			"Deprecation": "@1793491200",
			"Link":        `</v1/channels/live-stats>; rel="successor-version"`,
			"Sunset":      "",
		} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		if r := s.REST(t, s.As(t, servertest.Owner), http.MethodGet, v1+"/live-stats", ""); r.Header.Get("Deprecation") != "" {
			t.Error("live-stats says that it is deprecated")
		}
		if !json.Valid([]byte(r.Body)) {
			t.Errorf("the body is %s", r.Body)
		}
	})
}
