package audience_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/audience"
	"github.com/moderato-live/moderato/test/servertest"
)

const v1 = "/v1/channels"

// TestSubscriptionExpires reads a subscription around its end, to the millisecond, before
// and after the sweeper has processed it.
func TestSubscriptionExpires(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		now, err := s.Store.Clock.Now(context.Background(), s.Store.Read)
		if err != nil {
			t.Fatal(err)
		}
		began, end := now.Add(-time.Hour), now.Add(time.Hour)
		s.Load(t, subscription(servertest.Viewer, began, end, 0), subscription(servertest.Raider, began, end.Add(time.Hour), 3),
			&platformv1.Record{Kind: &platformv1.Record_Follow{Follow: &platformv1.FollowRecord{
				ChannelId: servertest.Owner.String(), UserId: servertest.Viewer.String(), FollowedAt: began.Proto(),
			}}})
		owner := s.As(t, servertest.Owner)
		get := func(path string) string { return s.REST(t, owner, http.MethodGet, v1+path, "").Body }
		active := `{"isSubscriber":true,"hadSubscriptionBefore":false,"renewCount":0,"streakCount":1,"expiresAt":"` + end.String() + `","subscribedAt":"` + began.String() + `"}`
		lapsed := `{"isSubscriber":false,"hadSubscriptionBefore":true,"renewCount":0,"streakCount":1,"expiresAt":null,"subscribedAt":null}`

		s.Store.Clock.Freeze(end - 1)
		if got := get("/followers"); !strings.Contains(got, active) {
			t.Errorf("followers in the last millisecond: %s", got)
		}
		if got := get("/subscribers"); !strings.Contains(got, active) || !strings.Contains(got, `"isFollower":false,"followedAt":null,"subscriptionInfo":{"isSubscriber":true,"hadSubscriptionBefore":true,"renewCount":3`) {
			t.Errorf("subscribers in the last millisecond: %s", got)
		}
		s.Store.Clock.Freeze(end)
		for _, when := range []string{"before", "after"} {
			if got := get("/followers"); !strings.Contains(got, lapsed) {
				t.Errorf("followers %s the sweep: %s", when, got)
			}
			if got := get("/subscribers"); strings.Contains(got, servertest.Viewer.String()) || !strings.Contains(got, servertest.Raider.String()) {
				t.Errorf("subscribers %s the sweep: %s", when, got)
			}
			if got := get("/stats"); !strings.Contains(got, `"subscriberCount":1`) {
				t.Errorf("stats %s the sweep: %s", when, got)
			}
			if err := (&audience.Sweeper{Store: s.Store}).Sweep(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		row, err := s.Store.Read.Channel.Get(context.Background(), servertest.Owner)
		if err != nil || row.SubscriberCount != 1 {
			t.Errorf("the sweeper left %d subscribers (%v), want 1", row.SubscriberCount, err)
		}
	})
}

func subscription(user uid.ID, began, end instant.Instant, renewed int64) *platformv1.Record {
	return &platformv1.Record{Kind: &platformv1.Record_Subscription{Subscription: &platformv1.SubscriptionRecord{
		ChannelId: servertest.Owner.String(), UserId: user.String(), SubscribedAt: began.Proto(), ExpiresAt: end.Proto(),
		RenewCount: renewed, StreakCount: renewed + 1,
	}}}
}

func TestAudienceUserFilter(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		began := instant.Of(time.Now().Add(-time.Hour))
		for _, user := range []uid.ID{servertest.Viewer, servertest.Raider} {
			s.Load(t, &platformv1.Record{Kind: &platformv1.Record_Follow{Follow: &platformv1.FollowRecord{
				ChannelId: servertest.Owner.String(), UserId: user.String(), FollowedAt: began.Proto(), IsNotificationEnabled: true,
			}}})
		}
		for _, user := range []uid.ID{servertest.Raider, servertest.Moderator} {
			s.Load(t, subscription(user, began, began.Add(24*time.Hour), 0))
		}
		owner, viewer := s.As(t, servertest.Owner), s.As(t, servertest.Viewer)
		for path, want := range map[string]int{
			"/followers": 2,
			"/followers?userId=" + servertest.Viewer.String():    1,
			"/followers?userId=" + servertest.Moderator.String(): 0,
			"/followers?userId=" + servertest.Nobody.String():    0,
			"/subscribers": 2,
			"/subscribers?userId=" + servertest.Raider.String():          1,
			"/subscribers?userId=" + servertest.Viewer.String():          0,
			"/followers?channelId=" + servertest.Owner.String():          2,
			"/followers?channelId=&userId=" + servertest.Raider.String(): 1,
		} {
			r := s.REST(t, owner, http.MethodGet, v1+path, "")
			if got := strings.Count(r.Body, `"displayName"`); got != want || r.Status != http.StatusOK {
				t.Errorf("%s: %d rows, want %d: %s", path, got, want, r.Body)
			}
		}
		r := s.REST(t, viewer, http.MethodGet, v1+"/followed", "")
		want := `{"success":true,"message":"success","data":{"rows":[{"id":"` + servertest.Owner.String() +
			`","displayName":"Inês Carvalho","slug":"ines","avatarUrl":"https://img.example.com/Ines.png","isFollower":true,"followedAt":"` + began.String() +
			`","subscriptionInfo":{"isSubscriber":false,"hadSubscriptionBefore":false,"renewCount":null,"streakCount":null,"expiresAt":null,"subscribedAt":null},"isNotificationEnabled":true}],"pagination":{"cursor":""}}}`
		if r.Body != want {
			t.Errorf("followed: %s\nwant %s", r.Body, want)
		}
	})
}
