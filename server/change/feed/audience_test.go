package feed_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/test/servertest"
)

// The names of Viewer and Raider in events and activities.
const (
	amaraEvent = `"userId":"0b6f0003-0000-4000-8000-00000000000c","userDisplayName":"Amara Okafor","userSlug":"amara.okafor"`
	amaraRow   = `"id":"0b6f0003-0000-4000-8000-00000000000c","displayName":"Amara Okafor","slug":"amara.okafor","avatarUrl":"https://img.example.com/amara.okafor.png"`
	amaraInfo  = `{"displayName":"Amara Okafor","slug":"amara.okafor","userId":"0b6f0003-0000-4000-8000-00000000000c"}`
	never      = `{"isSubscriber":false,"hadSubscriptionBefore":false,"renewCount":null,"streakCount":null,"expiresAt":null,"subscribedAt":null}`
)

// fromBackend returns the beginning of the payload of every event that a backend causes.
func fromBackend(channel uid.ID) string {
	return fmt.Sprintf(`{"channelId":%q,"clientId":"chat-server",`, channel)
}

func follow(at instant.Instant) *platformv1.FollowRequest {
	r := &platformv1.FollowRequest{ChannelId: servertest.Owner.String(), UserId: servertest.Viewer.String()}
	if at != 0 {
		r.FollowedAt = at.Proto()
	}
	return r
}

func unfollow() *platformv1.UnfollowRequest {
	return &platformv1.UnfollowRequest{ChannelId: servertest.Owner.String(), UserId: servertest.Viewer.String()}
}

func (f *platformFeed) wantFollow(since instant.Instant, wantsNotifications bool) {
	f.t.Helper()
	owner := f.owners[servertest.Owner]
	f.wantREST(owner, "/followers", `{"rows":[{%s,"isFollower":true,"followedAt":%q,"subscriptionInfo":%s}],"pagination":{"cursor":""}}`, amaraRow, since, never)
	f.wantREST(f.viewer, "/followed",
		`{"rows":[{"id":%q,"displayName":"Inês Carvalho","slug":"ines","avatarUrl":"https://img.example.com/Ines.png","isFollower":true,"followedAt":%q,"subscriptionInfo":%s,"isNotificationEnabled":%t}],"pagination":{"cursor":""}}`,
		servertest.Owner, since, never, wantsNotifications)
	f.wantREST(owner, "/stats", `{"followerCount":1,"subscriberCount":0,"viewerCount":0}`)
}

func TestFollow(t *testing.T) {
	eachFeed(t, func(t *testing.T, f *platformFeed) {
		for name, back := range map[string]time.Duration{"of now": 0, "of earlier": time.Hour, "of later": -time.Hour} {
			since := f.now.Add(-back)
			request := follow(since)
			if back == 0 {
				request = follow(0)
			}
			request.IsNotificationEnabled = true
			answer := f.must(request)
			want := fmt.Sprint(&platformv1.FollowResponse{Follow: &platformv1.FollowRecord{
				ChannelId: servertest.Owner.String(), UserId: servertest.Viewer.String(), FollowedAt: since.Proto(), IsNotificationEnabled: true,
			}})
			if diff := cmp.Diff(want, fmt.Sprint(answer)); diff != "" {
				t.Errorf("a follow %s answers (-want +got):\n%s", name, diff)
			}
			f.wantFollow(since, true)
			f.wantEvents(servertest.Owner, byBackend("channel.follow", servertest.Viewer, fromBackend(servertest.Owner)+amaraEvent+`,"followedAt":%q,"unfollowedAt":null}`, since))
			f.wantActivities(servertest.Owner, noteOf("follower", servertest.Viewer, since, amaraInfo))

			// Despite its other fields, the call repeats the existing follow.
			f.repeat(request, answer)
			f.repeat(follow(f.now), answer)
			f.repeat(follow(0), answer)
			f.wantFollow(since, true)

			f.once(unfollow())
			f.wantREST(f.owners[servertest.Owner], "/followers", `{"rows":[],"pagination":{"cursor":""}}`)
			f.wantREST(f.viewer, "/followed", `{"rows":[],"pagination":{"cursor":""}}`)
			f.wantREST(f.owners[servertest.Owner], "/stats", `{"followerCount":0,"subscriberCount":0,"viewerCount":0}`)
			f.later(-2 * time.Minute) // undo the two minutes by which once advances the clock
			f.wantEvents(servertest.Owner, byBackend("channel.unfollow", servertest.Viewer,
				fromBackend(servertest.Owner)+amaraEvent+`,"followedAt":%q,"unfollowedAt":%q}`, since, f.now))
			f.wantActivities(servertest.Owner)
		}
		f.wantREST(f.owners[servertest.Other], "/stats", `{"followerCount":0,"subscriberCount":0,"viewerCount":0}`)
	})
}

// TestFollowActivityRemainsAfterUnfollow lists the activity like the dashboard, after the
// follow has ended.
func TestFollowActivityRemainsAfterUnfollow(t *testing.T) {
	eachFeed(t, func(_ *testing.T, f *platformFeed) {
		at := f.now
		f.must(follow(0))
		f.later(time.Hour)
		f.must(unfollow())
		f.wantREST(f.owners[servertest.Owner], "/activities",
			`{"rows":[{"id":1,"type":"follower","createdAt":%q,"info":%s,"action":{}}],"pagination":{"cursor":""}}`, at, amaraInfo)
	})
}

func TestFollowNotifications(t *testing.T) {
	eachFeed(t, func(t *testing.T, f *platformFeed) {
		request := func(wants bool) *platformv1.SetFollowNotificationsRequest {
			return &platformv1.SetFollowNotificationsRequest{
				ChannelId: servertest.Owner.String(), UserId: servertest.Viewer.String(), IsNotificationEnabled: wants,
			}
		}
		f.refuse(request(true), "NOT_FOLLOWING")
		since := f.now
		f.must(follow(0))
		f.wantEvents(servertest.Owner, byBackend("channel.follow", servertest.Viewer, fromBackend(servertest.Owner)+amaraEvent+`,"followedAt":%q,"unfollowedAt":null}`, since))
		f.wantActivities(servertest.Owner, noteOf("follower", servertest.Viewer, since, amaraInfo))
		for _, wants := range []bool{true, false, true} {
			want := fmt.Sprint(&platformv1.SetFollowNotificationsResponse{Follow: &platformv1.FollowRecord{
				ChannelId: servertest.Owner.String(), UserId: servertest.Viewer.String(), FollowedAt: since.Proto(), IsNotificationEnabled: wants,
			}})
			if diff := cmp.Diff(want, fmt.Sprint(f.once(request(wants)))); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			f.wantFollow(since, wants)
		}
		f.wantEvents(servertest.Owner)
		f.wantActivities(servertest.Owner)
		f.must(unfollow())
		f.refuse(request(true), "NOT_FOLLOWING")
	})
}

// TestLiveStreamCountsFollows counts the follows since the start, without those that
// ended.
func TestLiveStreamCountsFollows(t *testing.T) {
	eachFeed(t, func(_ *testing.T, f *platformFeed) {
		start := f.now
		want := func(followers int) {
			f.t.Helper()
			f.wantREST(f.owners[servertest.Owner], "/live-stats",
				`{"startedAt":%q,"isLive":true,"newFollowerCount":%d,"newSubscriberCount":0,"viewerCount":0}`, start, followers)
		}
		f.must(follow(start)) // counts for the stream that starts at the same instant
		f.must(&platformv1.StartStreamRequest{ChannelId: servertest.Owner.String()})
		f.later(time.Minute)
		want(1)
		f.must(unfollow())
		want(0)
		f.must(follow(start - 1))
		want(0)
		f.must(unfollow())
		f.must(follow(0))
		want(1)
		f.must(&platformv1.EndStreamRequest{ChannelId: servertest.Owner.String()})
		f.wantREST(f.owners[servertest.Owner], "/live-stats",
			`{"startedAt":null,"isLive":false,"newFollowerCount":0,"newSubscriberCount":0,"viewerCount":0}`)
		f.must(unfollow())
	})
}
