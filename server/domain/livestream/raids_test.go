package livestream_test

import (
	"net/http"
	"testing"
	"time"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

const at = instant.Instant(1_800_000_000_000)

// raid records a raid of Owner's channel.
func raid(t *testing.T, s *servertest.Server, key string, raider uid.ID, viewers int64, at instant.Instant) error {
	t.Helper()
	_, err := platformv1.NewStreamServiceClient(s.Conn).Raid(s.AsService(t).Context(), &platformv1.RaidRequest{
		ChannelId: servertest.Owner.String(), Key: key, RaiderId: raider.String(), ViewerCount: viewers, RaidedAt: at.Proto(),
	})
	return err
}

func TestRaidsAreListedNewestFirst(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for i, key := range []string{"first", "second", "second", "third"} {
			if err := raid(t, s, key, servertest.Other, int64(10*i), at.Add(time.Duration(i)*time.Minute)); err != nil {
				t.Fatal(err)
			}
		}
		client, ctx := moderatov1.NewChannelsServiceClient(s.Conn), s.As(t, servertest.Viewer).Context()
		limit, cursor := int32(2), ""
		var viewers []int64
		for {
			page, err := client.ListRaids(ctx, &moderatov1.ListRaidsRequest{ChannelId: servertest.Owner.String(), Limit: &limit, Cursor: cursor})
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range page.GetRows() {
				viewers = append(viewers, row.GetViewerCount())
				if row.GetRaider().GetId() != servertest.Other.String() || row.GetRaider().GetUsername() != "zoe-l" {
					t.Errorf("the raider is %v", row.GetRaider())
				}
			}
			if cursor = page.GetPagination().GetCursor(); cursor == "" {
				break
			}
		}
		if len(viewers) != 3 || viewers[0] != 30 || viewers[1] != 10 || viewers[2] != 0 {
			t.Errorf("the raids had %v viewers, want 30, 10 and 0", viewers)
		}
	})
}

func TestARaidIsReturnedOverREST(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		if err := raid(t, s, "first", servertest.Other, 7, at); err != nil {
			t.Fatal(err)
		}
		r, got := s.CallREST(t, s.As(t, servertest.Viewer), http.MethodGet, "/v1/channels/raids", servertest.Args{"channelId": servertest.Owner.String()})
		if got.Reason != "OK" {
			t.Fatalf("got %+v", got)
		}
		row := storetest.Must(s.Store.Read.Raid.Query().Only(t.Context()))
		want := `{"success":true,"message":"success","data":{"rows":[{"id":"` + row.ID.String() + `","raider":{"id":"` + servertest.Other.String() +
			`","username":"zoe-l","displayName":"Zoë Lindqvist","avatarUrl":"https://img.example.com/zoe-l.png"},"viewerCount":7,"createdAt":"2027-01-15T08:00:00.000Z"}],"pagination":{"cursor":""}}}`
		if r.Body != want {
			t.Errorf("got  %s\nwant %s", r.Body, want)
		}
	})
}

func TestARaidEmitsItsEvent(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		if err := raid(t, s, "first", servertest.Other, 7, at); err != nil {
			t.Fatal(err)
		}
		event := storetest.Must(s.Store.Read.Event.Query().Only(t.Context()))
		want := `{"channelId":"` + servertest.Owner.String() + `","clientId":"` + servertest.ChatServer + `","raider":{"id":"` + servertest.Other.String() +
			`","username":"zoe-l","displayName":"Zoë Lindqvist","avatarUrl":"https://img.example.com/zoe-l.png"},"viewerCount":7,"createdAt":"2027-01-15T08:00:00.000Z"}`
		if event.Type != "channel.raid" || event.Payload != want || *event.TargetID != servertest.Other {
			t.Errorf("got %s of %v: %s\nwant %s", event.Type, event.TargetID, event.Payload, want)
		}
	})
}

func TestRaidsAreRefused(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		if err := raid(t, s, "first", servertest.Other, 7, at); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			what   string
			err    error
			reason string
		}{
			{"a channel that raids itself", raid(t, s, "k", servertest.Owner, 1, at), "TARGET_IS_CHANNEL"},
			{"another raider with a known key", raid(t, s, "first", servertest.Raider, 7, at), "INVALID_ARGUMENT"},
			{"an unknown raider", raid(t, s, "k", servertest.Nobody, 1, at), "USER_NOT_FOUND"},
			{"no key", raid(t, s, "", servertest.Other, 1, at), "INVALID_ARGUMENT"},
			{"fewer than no viewers", raid(t, s, "k", servertest.Other, -1, at), "INVALID_ARGUMENT"},
		} {
			if got := servertest.OutcomeOf(c.err).Reason; got != c.reason {
				t.Errorf("%s: got %s, want %s", c.what, got, c.reason)
			}
		}
		for _, c := range []struct {
			what    string
			caller  servertest.Credentials
			channel uid.ID
			reason  string
		}{
			{"a viewer", s.As(t, servertest.Viewer), servertest.Owner, "OK"},
			{"an app", s.AsApp(t), servertest.Owner, "OK"},
			{"a token without the scope", s.Token(t, authn.NewToken{Kind: authn.User, ClientID: servertest.Dashboard, UserID: servertest.Owner}), servertest.Owner, "SCOPE_MISSING"},
			{"an unknown channel", s.As(t, servertest.Viewer), servertest.Nobody, "CHANNEL_NOT_FOUND"},
		} {
			if _, got := s.CallREST(t, c.caller, http.MethodGet, "/v1/channels/raids", servertest.Args{"channelId": c.channel.String()}); got.Reason != c.reason {
				t.Errorf("a list for %s: got %+v, want %s", c.what, got, c.reason)
			}
		}
	})
}

func TestRaidsAreImported(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, viewers := range []int64{4, 5} {
			s.Load(t, &platformv1.Record{Kind: &platformv1.Record_Raid{Raid: &platformv1.RaidRecord{
				ChannelId: servertest.Owner.String(), Key: "first", RaiderId: servertest.Other.String(), ViewerCount: viewers, RaidedAt: at.Proto(),
			}}})
		}
		if row := storetest.Must(s.Store.Read.Raid.Query().Only(t.Context())); row.ViewerCount != 5 || row.RaidedAt != at {
			t.Errorf("the raid is %v", row)
		}
		if n := storetest.Must(s.Store.Read.Event.Query().Count(t.Context())); n != 0 {
			t.Errorf("the import emitted %d events", n)
		}
	})
}
