package feed_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/test/servertest"
)

const month = 30 * 24 * time.Hour

// period is a subscription of Viewer to Owner's channel; a time of 0 is omitted.
type period struct {
	from, to        instant.Instant
	renewed, streak int64
}

func (p period) record() *platformv1.SubscriptionRecord {
	r := &platformv1.SubscriptionRecord{
		ChannelId: servertest.Owner.String(), UserId: servertest.Viewer.String(), RenewCount: p.renewed, StreakCount: p.streak,
	}
	if p.from != 0 {
		r.SubscribedAt = p.from.Proto()
	}
	if p.to != 0 {
		r.ExpiresAt = p.to.Proto()
	}
	return r
}

func (p period) put() *platformv1.PutSubscriptionRequest {
	return &platformv1.PutSubscriptionRequest{Subscription: p.record()}
}

func endSubscription() *platformv1.EndSubscriptionRequest {
	return &platformv1.EndSubscriptionRequest{ChannelId: servertest.Owner.String(), UserId: servertest.Viewer.String()}
}

// payload returns the part of an event's payload that describes the period, after the
// actor.
func (p period) payload() string {
	return fmt.Sprintf(`%s,"subscribedAt":%q,"expiresAt":%q,"renewCount":%d,"streakCount":%d}`, amaraEvent, p.from, p.to, p.renewed, p.streak)
}

func (p period) subscribed() storedEvent {
	return byBackend("channel.subscribe", servertest.Viewer, "%s", fromBackend(servertest.Owner)+p.payload())
}

func (p period) ended() storedEvent {
	return byBackend("channel.subscription.end", servertest.Viewer, "%s", fromBackend(servertest.Owner)+p.payload())
}

// lapsed returns the event of an expiration.
func (p period) lapsed() storedEvent {
	return byNobody("channel.subscription.end", servertest.Viewer, `{"channelId":%q,"clientId":"",%s`, servertest.Owner, p.payload())
}

func (p period) note() storedActivity {
	return noteOf("subscriber", servertest.Viewer, p.from, `{"displayName":"Amara Okafor","renewCount":%d,"slug":"amara.okafor","userId":%q}`,
		p.renewed, servertest.Viewer)
}

// wantActive checks that REST returns the period.
func (f *platformFeed) wantActive(p period) {
	f.t.Helper()
	owner := f.owners[servertest.Owner]
	f.wantREST(owner, "/subscribers",
		`{"rows":[{%s,"isFollower":false,"followedAt":null,"subscriptionInfo":{"isSubscriber":true,"hadSubscriptionBefore":%t,"renewCount":%d,"streakCount":%d,"expiresAt":%q,"subscribedAt":%q}}],"pagination":{"cursor":""}}`,
		amaraRow, p.renewed > 0, p.renewed, p.streak, p.to, p.from)
	f.wantREST(owner, "/stats", `{"followerCount":0,"subscriberCount":1,"viewerCount":0}`)
	servertest.CheckCounters(f.t, f.Store, "while it is active")
}

// wantNoSubscriber checks that the channel has no subscribers, and that Viewer, who
// temporarily follows the channel, has the renewals of the ended period.
func (f *platformFeed) wantNoSubscriber(p period) {
	f.t.Helper()
	owner := f.owners[servertest.Owner]
	f.wantREST(owner, "/subscribers", `{"rows":[],"pagination":{"cursor":""}}`)
	f.wantREST(owner, "/stats", `{"followerCount":0,"subscriberCount":0,"viewerCount":0}`)
	f.exec("INSERT INTO follows (channel_id, user_id, followed_at, is_notification_enabled) VALUES (?, ?, 0, ?)", servertest.Owner, servertest.Viewer, false)
	f.wantREST(owner, "/followers",
		`{"rows":[{%s,"isFollower":true,"followedAt":"1970-01-01T00:00:00.000Z","subscriptionInfo":{"isSubscriber":false,"hadSubscriptionBefore":true,"renewCount":%d,"streakCount":%d,"expiresAt":null,"subscribedAt":null}}],"pagination":{"cursor":""}}`,
		amaraRow, p.renewed, p.streak)
	f.exec("DELETE FROM follows")
}

// TestSubscriptionLifecycle makes each transition of a subscription; each step is
// repeated, also a while later.
func TestSubscriptionLifecycle(t *testing.T) {
	eachFeed(t, func(t *testing.T, f *platformFeed) {
		began := f.now
		steps := []struct {
			name   string
			put    period
			want   period // the stored period
			events func(before, after period) []storedEvent
			isNew  bool
		}{
			{
				"new, without its start", period{to: began.Add(month)}, period{from: began, to: began.Add(month)},
				func(_, after period) []storedEvent { return []storedEvent{after.subscribed()} }, true,
			},
			{
				"changed while active: it ends later", period{to: began.Add(month + time.Hour), streak: 1},
				period{from: began, to: began.Add(month + time.Hour), streak: 1},
				func(_, after period) []storedEvent { return []storedEvent{after.subscribed()} }, false,
			},
			{
				"changed while active: it began earlier", period{from: began - 5000, to: began.Add(month + time.Hour), streak: 1},
				period{from: began - 5000, to: began.Add(month + time.Hour), streak: 1},
				func(_, after period) []storedEvent { return []storedEvent{after.subscribed()} }, false,
			},
			{
				"renewed, without its start", period{to: began.Add(2 * month), renewed: 1, streak: 2},
				period{from: began.Add(time.Hour), to: began.Add(2 * month), renewed: 1, streak: 2},
				func(_, after period) []storedEvent { return []storedEvent{after.subscribed()} }, true,
			},
			{
				"renewed, with its start", period{from: began, to: began.Add(3 * month), renewed: 2, streak: 3},
				period{from: began, to: began.Add(3 * month), renewed: 2, streak: 3},
				func(_, after period) []storedEvent { return []storedEvent{after.subscribed()} }, true,
			},
			{
				"corrected: fewer renewals are no new period", period{to: began.Add(3 * month), renewed: 1, streak: 3},
				period{from: began, to: began.Add(3 * month), renewed: 1, streak: 3},
				func(_, after period) []storedEvent { return []storedEvent{after.subscribed()} }, false,
			},
		}
		before := period{}
		for _, step := range steps {
			f.to(began)
			if step.want.from > began {
				f.to(step.want.from)
			}
			at := f.now
			answer := f.once(step.put.put())
			want := fmt.Sprint(&platformv1.PutSubscriptionResponse{Subscription: step.want.record()})
			if diff := cmp.Diff(want, fmt.Sprint(answer)); diff != "" {
				t.Errorf("%s: answer (-want +got):\n%s", step.name, diff)
			}
			f.to(at)
			f.wantEvents(servertest.Owner, step.events(before, step.want)...)
			if step.isNew {
				f.wantActivities(servertest.Owner, step.want.note())
			}
			f.wantActivities(servertest.Owner)
			f.wantActive(step.want)
			before = step.want
		}
		f.later(time.Hour)
		at := f.now
		f.once(endSubscription())
		f.to(at)
		before.to = at
		f.wantEvents(servertest.Owner, before.ended())
		f.wantActivities(servertest.Owner)
		f.wantNoSubscriber(before)
		f.sweep()
		f.wantEvents(servertest.Owner)
		servertest.CheckCounters(t, f.Store, "after the end")

		again := period{from: f.now, to: f.now.Add(month)}
		f.must(period{to: again.to}.put())
		f.wantEvents(servertest.Owner, again.subscribed())
		f.wantActivities(servertest.Owner, again.note()) // fewer renewals than before, but the subscription was not active
		f.wantActive(again)
	})
}

// TestSubscriptionWithPastEndIsEnded ends an active subscription, and emits no end for
// one that is not active.
func TestSubscriptionWithPastEndIsEnded(t *testing.T) {
	eachFeed(t, func(t *testing.T, f *platformFeed) {
		past := period{from: f.now.Add(-2 * month), to: f.now.Add(-month)}
		f.must(past.put())
		f.wantEvents(servertest.Owner)
		f.wantActivities(servertest.Owner)
		f.wantNoSubscriber(past)

		active := period{from: f.now.Add(-time.Hour), to: f.now.Add(month), renewed: 1}
		f.must(active.put())
		f.wantEvents(servertest.Owner, active.subscribed())
		f.wantActivities(servertest.Owner, active.note())

		ended := period{from: active.from, to: f.now, renewed: 2, streak: 4} // the period excludes its end
		at := f.now
		f.once(ended.put())
		f.to(at)
		f.wantEvents(servertest.Owner, ended.ended())
		f.wantActivities(servertest.Owner)
		f.wantNoSubscriber(ended)
		changed := ended
		changed.streak = 5
		f.must(changed.put())
		f.must(endSubscription())
		f.sweep()
		f.wantEvents(servertest.Owner)
		f.wantActivities(servertest.Owner)
		f.wantNoSubscriber(changed)
		servertest.CheckCounters(t, f.Store, "after the end")
	})
}

// TestSubscriptionWithPastEndKeepsStart omits subscribedAt.
func TestSubscriptionWithPastEndKeepsStart(t *testing.T) {
	eachFeed(t, func(_ *testing.T, f *platformFeed) {
		active := period{from: f.now, to: f.now.Add(month)}
		f.must(active.put())
		f.wantEvents(servertest.Owner, active.subscribed())
		f.later(time.Hour)
		at := f.now
		f.once(period{to: at - 1}.put())
		f.to(at)
		ended := period{from: active.from, to: at - 1}
		f.wantEvents(servertest.Owner, ended.ended())
		f.wantNoSubscriber(ended)
	})
}

func TestSubscriptionEndMustFollowStart(t *testing.T) {
	eachFeed(t, func(_ *testing.T, f *platformFeed) {
		const want = "subscription.expiresAt must be after subscribedAt"
		f.refuse(period{from: f.now, to: f.now}.put(), "INVALID_ARGUMENT", want)
		f.refuse(period{from: f.now, to: f.now - 1}.put(), "INVALID_ARGUMENT", want)
		f.refuse(period{to: f.now}.put(), "INVALID_ARGUMENT", want) // the default start is now
		f.must(period{from: f.now, to: f.now + 1}.put())
	})
}

func TestEndingMissingSubscriptionChangesNothing(t *testing.T) {
	eachFeed(t, func(_ *testing.T, f *platformFeed) {
		f.repeat(endSubscription(), &platformv1.EndSubscriptionResponse{})
		f.repeat(unfollow(), &platformv1.UnfollowResponse{})
	})
}

// TestLiveStreamCountsSubscriptions counts the active subscriptions whose period began
// since the start of the stream.
func TestLiveStreamCountsSubscriptions(t *testing.T) {
	eachFeed(t, func(_ *testing.T, f *platformFeed) {
		start := f.now
		f.must(&platformv1.StartStreamRequest{ChannelId: servertest.Owner.String()})
		want := func(subscribers int) {
			f.t.Helper()
			f.wantREST(f.owners[servertest.Owner], "/live-stats",
				`{"startedAt":%q,"isLive":true,"newFollowerCount":0,"newSubscriberCount":%d,"viewerCount":0}`, start, subscribers)
			servertest.CheckCounters(f.t, f.Store, "live")
		}
		f.must(period{from: start - 1, to: start.Add(time.Hour)}.put())
		want(0)
		f.must(period{from: start, to: start.Add(time.Hour)}.put())
		want(1)
		f.later(time.Minute)
		f.must(period{to: start.Add(time.Hour), renewed: 1}.put())
		want(1)
		f.must(endSubscription())
		want(0)
		f.must(period{to: start.Add(time.Hour), renewed: 1}.put())
		want(1)
		f.to(start.Add(time.Hour))
		want(0) // expired, before or after the sweep
		f.sweep()
		want(0)
	})
}
