package directory_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

const achievementsPath = "/v1/users/achievement-stats"

// noon is a day's noon, so that a test can move the clock within the day.
var noon = instant.Of(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))

func TestAchievementStatsAreThoseOfTheChannel(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		s.Store.Clock.Freeze(noon)
		owner, viewer := servertest.Owner.String(), servertest.Viewer.String()
		stream := func(from, to time.Duration) *platformv1.Record {
			r := &platformv1.StreamRecord{ChannelId: owner, Title: "x", StartedAt: noon.Add(from).Proto()}
			if to != 0 {
				r.EndedAt = noon.Add(to).Proto()
			}
			return &platformv1.Record{Kind: &platformv1.Record_Stream{Stream: r}}
		}
		message := func(user uid.ID, ago time.Duration) *platformv1.Record {
			return &platformv1.Record{Kind: &platformv1.Record_Message{Message: &platformv1.MessageRecord{
				Id: uid.New().String(), ChannelId: owner, UserId: user.String(), Text: "x", SentAt: noon.Add(-ago).Proto(),
			}}}
		}
		const day = 24 * time.Hour
		s.Load(
			t,
			&platformv1.Record{Kind: &platformv1.Record_Channel{Channel: &platformv1.ChannelRecord{Id: owner, Title: "x", Tier: 3}}},
			&platformv1.Record{Kind: &platformv1.Record_Follow{Follow: &platformv1.FollowRecord{ChannelId: owner, UserId: viewer}}},
			&platformv1.Record{Kind: &platformv1.Record_Subscription{Subscription: &platformv1.SubscriptionRecord{
				ChannelId: owner, UserId: viewer, ExpiresAt: noon.Add(day).Proto(),
			}}},
			stream(-10*day, -10*day+90*time.Minute), stream(-5*day, -5*day+20*time.Second), stream(-89*time.Minute, 0),
			message(servertest.Viewer, day), message(servertest.Viewer, 40*day), message(servertest.Raider, 29*day), message(servertest.Moderator, 30*day),
		)
		const want, none = `{"tier":3,"followerCount":1,"subscriberCount":1,"streamHours":2,"uniqueChatters":2}`,
			`{"tier":0,"followerCount":0,"subscriberCount":0,"streamHours":0,"uniqueChatters":0}`
		for _, test := range []struct {
			name   string
			caller servertest.Credentials
			query  string
			want   string // in the body
		}{
			{"the owner", s.As(t, servertest.Owner), "", want},
			{"the owner by id", s.As(t, servertest.Owner), "userId=" + strings.ToUpper(owner), want},
			{"a user without a channel", s.As(t, servertest.Viewer), "", none},
			{"a user about another", s.As(t, servertest.Viewer), "userId=" + owner, `"code":"NOT_SELF"`},
			{"a user about nobody", s.As(t, servertest.Viewer), "userId=" + servertest.Nobody.String(), `"code":"NOT_SELF"`},
			{"an app", s.AsApp(t), "userId=" + owner, want},
			{"an app about a user without a channel", s.AsApp(t), "userId=" + viewer, none},
			{"an app about nobody", s.AsApp(t), "userId=" + servertest.Nobody.String(), `"code":"USER_NOT_FOUND"`},
			{"an app without a user", s.AsApp(t), "", "userId is required."},
			{"a backend", s.AsService(t), "userId=" + owner, want},
		} {
			if r := s.REST(t, test.caller, http.MethodGet, achievementsPath+"?"+test.query, ""); !strings.Contains(r.Body, test.want) {
				t.Errorf("%s: got %s, want %s", test.name, r.Body, test.want)
			}
		}
	})
}

// TestChattersAreCountedByDay posts messages on several days.
func TestChattersAreCountedByDay(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		chat, ctx := platformv1.NewChatServiceClient(s.Conn), s.AsService(t).Context()
		want := func(when string, number int) {
			t.Helper()
			r := s.REST(t, s.AsApp(t), http.MethodGet, achievementsPath+"?userId="+servertest.Owner.String(), "")
			if !strings.Contains(r.Body, fmt.Sprintf(`"uniqueChatters":%d}`, number)) {
				t.Errorf("%s: got %s, want %d", when, r.Body, number)
			}
		}
		post := func(user uid.ID) {
			t.Helper()
			_, err := chat.PostMessage(ctx, &platformv1.PostMessageRequest{ChannelId: servertest.Owner.String(), UserId: user.String(), Text: "x"})
			if err != nil {
				t.Fatal(err)
			}
		}
		days := func() (days []instant.Instant) {
			for _, row := range storetest.Must(s.Store.Read.Chatter.Query().All(t.Context())) {
				days = append(days, row.LastDay)
			}
			return days
		}
		s.Store.Clock.Freeze(noon)
		post(servertest.Viewer)
		post(servertest.Raider)
		s.Store.Clock.Freeze(noon.Add(time.Hour))
		post(servertest.Viewer)
		want("two users", 2)
		s.Store.Clock.Freeze(noon.Add(24 * time.Hour))
		post(servertest.Viewer)
		midnight := noon.Add(-12 * time.Hour)
		if got := days(); len(got) != 2 || got[0]+got[1] != 2*midnight.Add(12*time.Hour) {
			t.Errorf("the days are %v", got)
		}
		s.Store.Clock.Freeze(midnight.Add(30*24*time.Hour - time.Millisecond))
		want("at the end of the 30th day", 2)
		s.Store.Clock.Freeze(midnight.Add(30 * 24 * time.Hour).Add(time.Millisecond))
		want("on the 31st day", 1)
		s.Load(t, &platformv1.Record{Kind: &platformv1.Record_Message{Message: &platformv1.MessageRecord{ // older than the last one
			Id: uid.New().String(), ChannelId: servertest.Owner.String(), UserId: servertest.Viewer.String(), Text: "x", SentAt: timestamppb.New(noon.Time()),
		}}})
		s.Store.Clock.Freeze(midnight.Add(31*24*time.Hour - time.Millisecond))
		want("on the last day of a user whose earlier message was imported", 1)
	})
}
