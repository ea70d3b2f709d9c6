package feed_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/activity"
	"github.com/moderato-live/moderato/ent/event"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// concurrently makes calls concurrently, half of them on each server, and returns their
// results.
func (f *platformFeed) concurrently(other *servertest.Server, requests []proto.Message) (answers []proto.Message, errs []error) {
	f.t.Helper()
	second := *f
	second.Server = other
	answers, errs = make([]proto.Message, len(requests)), make([]error, len(requests))
	var start, end sync.WaitGroup
	start.Add(1)
	for i, request := range requests {
		on := f
		if i%2 == 1 {
			on = &second
		}
		end.Go(func() {
			start.Wait()
			answers[i], errs[i] = on.call(f.ctx(), request)
		})
	}
	start.Done()
	end.Wait()
	return answers, errs
}

// TestConcurrentRepeatedCallsChangeStateOnce makes each call 8 times concurrently on two
// servers: all must return the same response, for one change with one event and one
// activity.
func TestConcurrentRepeatedCallsChangeStateOnce(t *testing.T) {
	const callers, rounds = 8, 5
	hasEvent := map[string]bool{
		"FollowRequest": true, "PutSubscriptionRequest": true, "StartStreamRequest": true, "RecordVoteRequest": true, "RecordGiftRequest": true,
		"RecordThanksRequest": true, "EndStreamRequest": true, "EndSubscriptionRequest": true, "UnfollowRequest": true,
	}
	for _, request := range otherRequests(0) {
		hasEvent[string(request.ProtoReflect().Descriptor().Name())] = true
	}
	hasActivity := map[string]bool{
		"FollowRequest": true, "PutSubscriptionRequest": true, "RecordVoteRequest": true, "RecordGiftRequest": true, "RecordThanksRequest": true,
		"PutActivityRequest": true,
	}
	eachPair(t, func(t *testing.T, f *platformFeed, other *servertest.Server) {
		for round := range rounds {
			f.later(time.Second)
			other.Store.Clock.Freeze(f.now)
			for _, request := range feedRequests(f.now) {
				name := string(request.ProtoReflect().Descriptor().Name())
				request = withRoundKey(request, round)
				events, activities := f.rows()
				requests := make([]proto.Message, callers)
				for i := range requests {
					requests[i] = request
				}
				answers, errs := f.concurrently(other, requests)
				for i := range answers {
					if errs[i] != nil || !proto.Equal(answers[i], answers[0]) {
						t.Errorf("%s: answer %v (%v), and another is %v", name, answers[i], errs[i], answers[0])
					}
				}
				moreEvents, moreActivities := f.rows()
				if got := moreEvents - events; (got == 1) != hasEvent[name] || got > 1 {
					t.Errorf("%s has %d events", name, got)
				}
				if got := moreActivities - activities; (got == 1) != hasActivity[name] || got > 1 {
					t.Errorf("%s has %d activities", name, got)
				}
			}
		}
		servertest.CheckCounters(t, f.Store, "after the calls")
		checkNumbers(t, f)
	})
}

// withRoundKey gives a request its own key, for records that remain.
func withRoundKey(request proto.Message, round int) proto.Message {
	switch request.(type) {
	case *platformv1.RecordVoteRequest:
		return edit(request, []string{"id"}, fmt.Sprintf("0b6fabab-0000-4000-8000-%012d", round+1))
	case *platformv1.PutActivityRequest:
		return edit(request, []string{"activity", "key"}, fmt.Sprint(round))
	}
	if request.ProtoReflect().Descriptor().Fields().ByJSONName("key") != nil {
		return edit(request, []string{"key"}, fmt.Sprintf("%T %d", request, round))
	}
	return request
}

// rows returns the numbers of events and activities.
func (f *platformFeed) rows() (events, activities int) {
	return storetest.Must(f.Store.Read.Event.Query().Count(context.Background())), storetest.Must(f.Store.Read.Activity.Query().Count(context.Background()))
}

// checkNumbers checks that the events and the activities of each channel are numbered
// from 1 without a gap, up to the number in the channel's row.
func checkNumbers(t *testing.T, f *platformFeed) {
	t.Helper()
	ctx := context.Background()
	for _, c := range storetest.Must(f.Store.Read.Channel.Query().All(ctx)) {
		for i, row := range storetest.Must(f.Store.Read.Event.Query().Where(event.ChannelID(c.ID)).Order(ent.Asc(event.FieldSequence)).All(ctx)) {
			if row.Sequence != int64(i+1) {
				t.Fatalf("event %d of %s has sequence %d", i+1, c.ID, row.Sequence)
			}
		}
		for i, row := range storetest.Must(f.Store.Read.Activity.Query().Where(activity.ChannelID(c.ID)).Order(ent.Asc(activity.FieldNumber)).All(ctx)) {
			if row.Number != int64(i+1) {
				t.Fatalf("activity %d of %s has number %d", i+1, c.ID, row.Number)
			}
		}
		events := storetest.Must(f.Store.Read.Event.Query().Where(event.ChannelID(c.ID)).Count(ctx))
		activities := storetest.Must(f.Store.Read.Activity.Query().Where(activity.ChannelID(c.ID)).Count(ctx))
		if c.EventSequence != int64(events) || c.ActivityNumber != int64(activities) {
			t.Errorf("%s counts %d events and %d activities, and has %d and %d", c.ID, c.EventSequence, c.ActivityNumber, events, activities)
		}
	}
}

// TestConcurrentPutsOfOneIDInTwoChannels concurrently puts a record with the same id into
// two channels: one call must succeed, and the other must be rejected.
func TestConcurrentPutsOfOneIDInTwoChannels(t *testing.T) {
	eachPair(t, func(t *testing.T, f *platformFeed, other *servertest.Server) {
		for round := range 10 {
			id := uid.New().String()
			for path, request := range map[string]proto.Message{
				"clip.channelId": edit(&platformv1.PutClipRequest{Clip: aClip()}, []string{"clip", "clipId"}, id),
				"vod.channelId":  edit(&platformv1.PutVodRequest{Vod: aVod(f.now)}, []string{"vod", "id"}, id),
				"channelId":      vote(id),
			} {
				elsewhere := vote(id).ProtoReflect().Interface()
				switch path {
				case "clip.channelId":
					elsewhere = edit(request, []string{"clip", "channelId"}, servertest.Other.String())
				case "vod.channelId":
					elsewhere = edit(request, []string{"vod", "channelId"}, servertest.Other.String())
				default:
					elsewhere = edit(elsewhere, []string{"channelId"}, servertest.Other.String())
				}
				_, errs := f.concurrently(other, []proto.Message{request, elsewhere, request, elsewhere})
				ended := map[string]int{}
				for _, err := range errs {
					got := refusalOf(err)
					if ended[got[0]]++; len(got) > 1 && got[1][:len(path)] != path {
						t.Errorf("round %d: %q, want a violation of %s", round, got, path)
					}
				}
				if ended["OK"] != 2 || ended["INVALID_ARGUMENT"] != 2 {
					t.Errorf("round %d: %T ended with %v", round, request, ended)
				}
			}
		}
		servertest.CheckCounters(t, f.Store, "after the puts")
		checkNumbers(t, f)
	})
}
