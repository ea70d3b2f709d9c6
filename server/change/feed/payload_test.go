package feed_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/event"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

var update = flag.Bool("update", false, "write the golden file instead of comparing with it")

var timeText = regexp.MustCompile(`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"`)

// TestEventsHaveTheFieldsThatClientsDecode compares the whole payload of an event of each
// kind that the feed causes with a file.
func TestEventsHaveTheFieldsThatClientsDecode(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		now, err := s.Store.Clock.Now(t.Context(), s.Store.Read)
		if err != nil {
			t.Fatal(err)
		}
		s.Store.Clock.Freeze(now)
		s.Load(t, &platformv1.Record{Kind: &platformv1.Record_Category{Category: &platformv1.CategoryRecord{Id: 7, Name: "Just talking", Slug: "just-talking"}}})
		causeEvents(t, s, now)
		var got strings.Builder
		for _, row := range storetest.Must(s.Store.Read.Event.Query().Order(ent.Asc(event.FieldSequence)).All(t.Context())) {
			payload := timeText.ReplaceAllStringFunc(row.Payload, func(text string) string {
				at, err := time.Parse(`"2006-01-02T15:04:05.000Z"`, text)
				if err != nil {
					t.Error(err)
				}
				return fmt.Sprintf(`"now%+ds"`, int64(at.Sub(now.Time())/time.Second))
			})
			fmt.Fprintf(&got, "%s %s\n", row.Type, payload)
		}
		path := filepath.Join("testdata", "payloads.golden")
		if *update {
			if err := os.WriteFile(path, []byte(got.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			return
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got.String()); diff != "" {
			t.Errorf("the payloads are not those of %s (-update writes it; -want +got):\n%s", path, diff)
		}
	})
}

// causeEvents causes an event of each kind in Owner's channel.
func causeEvents(t *testing.T, s *servertest.Server, now instant.Instant) {
	t.Helper()
	channel, viewer := servertest.Owner.String(), servertest.Viewer.String()
	before, later := now.Add(-time.Minute).Proto(), now.Add(time.Hour).Proto()
	category := int64(7)
	for _, call := range []struct {
		method  string
		request proto.Message
	}{
		{platformv1.AudienceService_Follow_FullMethodName, &platformv1.FollowRequest{ChannelId: channel, UserId: viewer, FollowedAt: before}},
		{platformv1.AudienceService_Unfollow_FullMethodName, &platformv1.UnfollowRequest{ChannelId: channel, UserId: viewer}},
		{platformv1.AudienceService_PutSubscription_FullMethodName, &platformv1.PutSubscriptionRequest{Subscription: &platformv1.SubscriptionRecord{
			ChannelId: channel, UserId: viewer, SubscribedAt: before, ExpiresAt: later, RenewCount: 2, StreakCount: 1,
		}}},
		{platformv1.AudienceService_EndSubscription_FullMethodName, &platformv1.EndSubscriptionRequest{ChannelId: channel, UserId: viewer}},
		{platformv1.ContentService_RecordGift_FullMethodName, &platformv1.RecordGiftRequest{
			ChannelId: channel, UserId: viewer, Key: "gift-1", Count: 5, GiftedAt: before,
		}},
		{platformv1.ContentService_RecordThanks_FullMethodName, &platformv1.RecordThanksRequest{
			ChannelId: channel, UserId: viewer, Key: "thanks-1", Amount: 250, Message: "gg", ThankedAt: before, MessageId: "0B6F00A1-0000-4000-8000-00000000000A",
		}},
		{platformv1.ContentService_RecordVote_FullMethodName, &platformv1.RecordVoteRequest{
			Id: "0b6f00b1-0000-4000-8000-00000000000b", ChannelId: channel, UserId: viewer, Epoch: 42, Amount: 3, Address: "0x00f", VotedAt: before,
		}},
		{platformv1.StreamService_StartStream_FullMethodName, &platformv1.StartStreamRequest{
			ChannelId: channel, StartedAt: before, Title: "Late", Lang: "en", CategoryId: &category,
		}},
		{platformv1.StreamService_EndStream_FullMethodName, &platformv1.EndStreamRequest{ChannelId: channel}},
		{platformv1.StreamService_Raid_FullMethodName, &platformv1.RaidRequest{
			ChannelId: channel, Key: "raid-1", RaiderId: servertest.Other.String(), ViewerCount: 7, RaidedAt: before,
		}},
	} {
		if err := s.Conn.Invoke(s.AsService(t).Context(), call.method, call.request, new(emptypb.Empty)); err != nil {
			t.Fatalf("%s: %v", call.method, err)
		}
	}
}
