package feed_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/audience"
	"github.com/moderato-live/moderato/server/domain/importer"
	"github.com/moderato-live/moderato/server/store/counts"
	"github.com/moderato-live/moderato/test/servertest"
)

const countedUsers = 12

// randomRecord returns a record that changes counters of one of the World's channels.
func randomRecord(r *rand.Rand, now instant.Instant, live map[uid.ID]instant.Instant) *platformv1.Record {
	channel := []uid.ID{servertest.Owner, servertest.Other}[r.IntN(2)]
	user := countedUser(r.IntN(countedUsers))
	at := now.Add(-time.Duration(r.IntN(7200)) * time.Second)
	switch r.IntN(6) {
	case 0, 1:
		return &platformv1.Record{Kind: &platformv1.Record_Follow{Follow: &platformv1.FollowRecord{
			ChannelId: channel.String(), UserId: user, FollowedAt: at.Proto(), IsNotificationEnabled: r.IntN(2) == 0,
		}}}
	case 2:
		return &platformv1.Record{Kind: &platformv1.Record_Subscription{Subscription: &platformv1.SubscriptionRecord{
			ChannelId: channel.String(), UserId: user, SubscribedAt: at.Proto(), ExpiresAt: at.Add(time.Duration(1+r.IntN(10800)) * time.Second).Proto(),
		}}}
	case 3:
		stream := &platformv1.StreamRecord{ChannelId: channel.String(), StartedAt: live[channel].Proto(), Title: "x"}
		if r.IntN(2) == 0 {
			stream.EndedAt = now.Proto()
		}
		category := r.Int64N(2) * 7
		stream.CategoryId = &category
		return &platformv1.Record{Kind: &platformv1.Record_Stream{Stream: stream}}
	case 4:
		return &platformv1.Record{Kind: &platformv1.Record_Clip{Clip: &platformv1.ClipRecord{
			ClipId: clipID(channel, r.IntN(20)), ChannelId: channel.String(), CreatorId: servertest.Viewer.String(), Title: "x",
		}}}
	}
	return &platformv1.Record{Kind: &platformv1.Record_Channel{Channel: &platformv1.ChannelRecord{
		Id: channel.String(), Title: "x", CategoryId: r.Int64N(2) * 7,
	}}}
}

// randomCall returns a call of the feed that changes the same counters.
func randomCall(r *rand.Rand, now instant.Instant, live map[uid.ID]instant.Instant) proto.Message {
	channel := []uid.ID{servertest.Owner, servertest.Other}[r.IntN(2)]
	id, user, at := channel.String(), countedUser(r.IntN(countedUsers)), now.Add(-time.Duration(r.IntN(7200))*time.Second)
	start := live[channel].Add(time.Duration(r.IntN(3)) * time.Minute)
	category := r.Int64N(2) * 7
	switch r.IntN(14) {
	case 0, 1:
		return &platformv1.FollowRequest{ChannelId: id, UserId: user, FollowedAt: at.Proto()}
	case 2, 3:
		return &platformv1.UnfollowRequest{ChannelId: id, UserId: user}
	case 4, 5:
		return &platformv1.PutSubscriptionRequest{Subscription: &platformv1.SubscriptionRecord{
			ChannelId: id, UserId: user, SubscribedAt: at.Proto(), ExpiresAt: at.Add(time.Duration(1+r.IntN(10800)) * time.Second).Proto(), RenewCount: r.Int64N(3),
		}}
	case 6:
		return &platformv1.EndSubscriptionRequest{ChannelId: id, UserId: user}
	case 7:
		return &platformv1.StartStreamRequest{ChannelId: id, StartedAt: start.Proto(), CategoryId: &category}
	case 8:
		return &platformv1.EndStreamRequest{ChannelId: id, StartedAt: start.Proto()}
	case 9:
		return &platformv1.EndStreamRequest{ChannelId: id}
	case 10, 11:
		return &platformv1.PutClipRequest{Clip: &platformv1.ClipRecord{
			ClipId: anyClip(r, channel), ChannelId: id, CreatorId: servertest.Viewer.String(), Title: "x",
		}}
	case 12:
		return &platformv1.DeleteClipRequest{ClipId: anyClip(r, channel)}
	}
	return &platformv1.RecordGiftRequest{ChannelId: id, Key: fmt.Sprint(r.IntN(100)), UserId: user, Count: 1}
}

// anyClip returns the id of a clip that imports put as well, or of one of a few that move
// between channels.
func anyClip(r *rand.Rand, channel uid.ID) string {
	if r.IntN(2) == 0 {
		return clipID(servertest.Owner, 100+r.IntN(3))
	}
	return clipID(channel, r.IntN(20))
}

// callAtRandom makes random calls of the feed. Calls may be rejected because of the
// state, but none may fail. As backends do, it repeats a call that the server was too busy
// for.
func callAtRandom(t *testing.T, s *servertest.Server, r *rand.Rand, calls int, now instant.Instant, live map[uid.ID]instant.Instant) {
	f := &platformFeed{Server: s, t: t, backend: s.AsService(t)}
	for range calls {
		request := randomCall(r, now, live)
		_, err := f.call(f.ctx(), request)
		for range 10 {
			if refusalOf(err)[0] != "OVERLOADED" {
				break
			}
			_, err = f.call(f.ctx(), request)
		}
		if got := refusalOf(err); got[0] != "OK" && (len(got) != 2 ||
			(!strings.HasPrefix(got[1], "startedAt must not be before") && !strings.HasPrefix(got[1], "clip.channelId must be that of"))) {
			t.Errorf("%T: %v", request, got)
		}
	}
}

func countedUser(i int) string { return fmt.Sprintf("0b6fdddd-0000-4000-8000-%012d", i+1) }

func clipID(channel uid.ID, i int) string {
	id := channel
	id[0], id[15] = 0xcc, byte(i+1)
	return id.String()
}

// TestCountersAreExactAfterConcurrentChanges runs imports and feed calls concurrently,
// while the server sweeps and compacts, and compares every counter with the rows that it
// counts.
func TestCountersAreExactAfterConcurrentChanges(t *testing.T) {
	const importers, batches, size, feeders, calls = 3, 12, 25, 4, 150
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		s.Load(t, &platformv1.Record{Kind: &platformv1.Record_Category{Category: &platformv1.CategoryRecord{Id: 7, Name: "Chess", Slug: "chess"}}})
		for i := range countedUsers {
			s.Load(t, &platformv1.Record{Kind: &platformv1.Record_User{User: &platformv1.UserRecord{Id: countedUser(i), Username: fmt.Sprintf("counted%d", i)}}})
		}
		now := instant.Of(time.Now())
		live := map[uid.ID]instant.Instant{servertest.Owner: now.Add(-time.Hour), servertest.Other: now.Add(-30 * time.Minute)}
		var all sync.WaitGroup
		for i := range importers {
			all.Go(func() {
				r := rand.New(rand.NewPCG(6, uint64(i)))
				importer := importer.Importer{Store: s.Store}
				for range batches {
					var records []*platformv1.Record
					for range size {
						records = append(records, randomRecord(r, now, live))
					}
					// A backend may have started another stream meanwhile.
					err := importer.ImportRecords(context.Background(), records)
					if err != nil && !strings.Contains(err.Error(), "the channel is live already") {
						t.Error(err)
					}
				}
			})
		}
		for i := range feeders {
			all.Go(func() { callAtRandom(t, s, rand.New(rand.NewPCG(7, uint64(i))), calls, now, live) })
		}
		all.Wait()
		servertest.CheckCounters(t, s.Store, "after the changes")
		checkNumbers(t, &platformFeed{Server: s, t: t})
		s.Store.Clock.Advance(90 * time.Minute) // some subscriptions expire
		for range 2 {
			all.Go(func() {
				if err := (&audience.Sweeper{Store: s.Store}).Sweep(context.Background()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if err := (&counts.Compactor{Store: s.Store}).Compact(context.Background()); err != nil {
			t.Error(err)
		}
		servertest.CheckCounters(t, s.Store, "after sweeping and folding")
		checkNumbers(t, &platformFeed{Server: s, t: t})
	})
}
