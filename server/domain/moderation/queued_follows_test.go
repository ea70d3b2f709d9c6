package moderation_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/moderato-live/moderato/ent/activity"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/test/servertest"
)

// TestQueuedFollows queues changes, of which the follows are made together. Each change must see
// the changes before it, and a change that fails must undo no other change.
func TestQueuedFollows(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		users := servertest.AddUsers(t, d.Store, 4)
		channel, first, second, third, never := servertest.Owner.String(), users[0], users[1], users[2], users[3]
		ctx := d.chat.Context()
		var both [2]*platformv1.FollowResponse
		follow := func(user uid.ID, into **platformv1.FollowResponse) func() error {
			return func() error {
				made, err := d.Audience.Follow(ctx, &platformv1.FollowRequest{ChannelId: channel, UserId: user.String()})
				if into != nil {
					*into = made
				}
				return err
			}
		}
		unfollow := func() error {
			_, err := d.Audience.Unfollow(ctx, &platformv1.UnfollowRequest{ChannelId: channel, UserId: first.String()})
			return err
		}
		notify := func(user uid.ID) func() error {
			return func() error {
				_, err := d.Audience.SetFollowNotifications(ctx, &platformv1.SetFollowNotificationsRequest{ChannelId: channel, UserId: user.String(), IsNotificationEnabled: true})
				return err
			}
		}
		release := d.lockChannel(t)
		var all sync.WaitGroup
		// This call changes nothing. Either this call or the first step has the first turn; the
		// others wait.
		all.Go(func() { wantReason(t, notify(never)(), "NOT_FOLLOWING") })
		for i, change := range []struct {
			call func() error
			want string
		}{
			{follow(first, &both[0]), "OK"},
			{follow(second, nil), "OK"},
			{follow(first, &both[1]), "OK"},
			{follow(uid.New(), nil), "USER_NOT_FOUND"},
			{notify(second), "OK"},
			{unfollow, "OK"},
			{follow(first, nil), "OK"},
			{unfollow, "OK"},
			{unfollow, "OK"},
			{follow(first, nil), "OK"},
			{follow(third, nil), "OK"},
		} {
			all.Go(func() { wantReason(t, change.call(), change.want) })
			d.waitForWaiting(t, i+1)
		}
		release()
		all.Wait()
		if diff := cmp.Diff(both[0].String(), both[1].String()); diff != "" {
			t.Errorf("the second follow of a user answers (-first +second):\n%s", diff)
		}
		names := map[uid.ID]string{first: "first", second: "second", third: "third"}
		var events, activities []string
		for _, e := range d.events() {
			events = append(events, strings.TrimPrefix(e.Type, "channel.")+" "+names[*e.TargetID])
		}
		stored, err := d.Store.Read.Activity.Query().Where(activity.ChannelID(servertest.Owner)).Order(activity.ByNumber()).All(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range stored {
			activities = append(activities, a.Type+" "+names[*a.UserID])
		}
		follows, err := d.Store.Read.Follow.Query().All(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		notified := map[string]bool{}
		for _, f := range follows {
			notified[names[f.UserID]] = f.IsNotificationEnabled
		}
		if diff := cmp.Diff([]string{
			"follow first", "follow second", "unfollow first", "follow first", "unfollow first", "follow first", "follow third",
		}, events); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"follower first", "follower second", "follower first", "follower first", "follower third"}, activities); diff != "" {
			t.Errorf("activities (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(map[string]bool{"first": false, "second": true, "third": false}, notified); diff != "" {
			t.Errorf("follows, with notifications (-want +got):\n%s", diff)
		}
		row, err := d.Store.Read.Channel.Get(context.Background(), servertest.Owner)
		if err != nil || row.FollowerCount != 3 {
			t.Errorf("the channel has %v followers (%v), want 3", row, err)
		}
		if strings.Contains(d.Metrics(t), "\nmoderato_changes_joined_total 0\n") {
			t.Error("no follow joined another one")
		}
	})
}
