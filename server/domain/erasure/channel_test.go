package erasure_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/moderato-live/moderato/ent/subscription"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/domain/audience"
	"github.com/moderato-live/moderato/server/domain/domains"
	"github.com/moderato-live/moderato/server/domain/moderation"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// splitByChannel returns the rows of a channel, and all other rows. The owner's user is
// among the others.
func splitByChannel(t *testing.T, s *scene, id uid.ID) (ofChannel []servertest.Row, others map[string]bool) {
	t.Helper()
	others = map[string]bool{}
	for _, r := range servertest.Rows(t, s.Store, append([]string{"erasures"}, counting...)...) {
		column := "channel_id"
		if r.Table == "channels" {
			column = "id"
		}
		if i := slices.Index(r.Columns, column); i >= 0 && bytes.Equal(r.Values[i], id[:]) {
			ofChannel = append(ofChannel, r)
			continue
		}
		others[r.String()] = true
	}
	return ofChannel, others
}

// wantRowsInEveryTable checks the scene itself: the erasure of a table without rows of the
// channel would not be tested.
func wantRowsInEveryTable(t *testing.T, ofChannel []servertest.Row) {
	t.Helper()
	found := map[string]bool{"webhooks": true, "webhook_deliveries": true, "event_subscriptions": true} // the scene has none
	for _, r := range ofChannel {
		found[r.Table] = true
	}
	for _, table := range domains.Tables() {
		if table.Channel != "" && !found[table.Name] {
			t.Errorf("%s has no row of the channel before the deletion", table.Name)
		}
	}
	if !found["channels"] {
		t.Error("the channel does not exist before the deletion")
	}
}

func TestDeletedChannelIsErasedCompletely(t *testing.T) {
	eachScene(t, func(t *testing.T, s *scene) {
		s.live(walter)
		as := s.live(vera)
		s.must(nil, s.mute(as.Context(), vera.id, servertest.Viewer)) // the earlier mute has expired
		s.settle()
		before, others := splitByChannel(t, s, vera.id)
		wantRowsInEveryTable(t, before)
		release := hold(t, s.Store)
		s.deleteChannel(vera)
		wantNoChannel(t, s, vera.id)
		wantWholeLists(t, s)
		wantReason(t, "PutChannel", s.putChannel(vera.id, "x"), "BEING_DELETED")
		stream, err := s.Bulk.Import(s.ctx)
		s.must(stream, err)
		s.must(nil, stream.Send(&platformv1.ImportRequest{Records: []*platformv1.Record{
			{Kind: &platformv1.Record_Channel{Channel: &platformv1.ChannelRecord{Id: vera.id.String(), Title: "x"}}},
		}}))
		_, err = stream.CloseAndRecv()
		wantReason(t, "an import of the channel", err, "BEING_DELETED")
		pending := servertest.Dump(t, s.Store, "erasures", "channel_counts", "channel_count_deltas")
		s.deleteChannel(vera)
		if diff := cmp.Diff(pending, servertest.Dump(t, s.Store, "erasures", "channel_counts", "channel_count_deltas")); diff != "" {
			t.Errorf("a repeated deletion changed (-before +after):\n%s", diff)
		}
		// The owner remains a regular user meanwhile.
		got, err := s.Directory.GetUser(s.ctx, &platformv1.GetUserRequest{Username: vera.name})
		if err != nil || got.GetUser().GetId() != vera.id.String() || got.GetUser().GetDisplayName() != vera.displayName {
			t.Errorf("the owner is %v, %v", got, err)
		}
		s.must(nil, s.post(servertest.Viewer, vera.id, "still here"))
		wantReason(t, "a ban by the owner elsewhere", s.ban(as.Context(), servertest.Owner, servertest.Moderator), "OK")

		release()
		erase(t, s.Store)
		after, othersAfter := splitByChannel(t, s, vera.id)
		for _, r := range after {
			t.Errorf("left of the channel is %s", r)
		}
		for row := range others {
			// The ban above increased Owner's sequence.
			if !othersAfter[row] && !bytes.HasPrefix([]byte(row), []byte("channels id="+fmt.Sprintf("%q", servertest.Owner[:]))) {
				t.Errorf("gone or changed is %s", row)
			}
		}
		wantExactCounters(t, s.Store)
		wantNoChannel(t, s, vera.id)

		s.must(nil, s.putChannel(vera.id, "Anew"))
		row := storetest.Must(s.Store.Read.Channel.Get(t.Context(), vera.id))
		if row.FollowerCount+row.SubscriberCount+row.ClipCount+row.VodCount+row.EventSequence+row.ActivityNumber+row.ViewerCount+row.NewFollowerCount+row.NewSubscriberCount != 0 ||
			row.IsLive || row.Title != "Anew" {
			t.Errorf("the new channel is %v", row)
		}
		s.must(nil, s.follow(vera.id, servertest.Viewer))
		s.must(nil, s.ban(as.Context(), vera.id, servertest.Raider))
		wantExactCounters(t, s.Store)
	})
}

// TestUserDeletionDuringChannelDeletion deletes the owner while their channel is being
// deleted.
func TestUserDeletionDuringChannelDeletion(t *testing.T) {
	eachScene(t, func(t *testing.T, s *scene) {
		s.live(vera)
		release := hold(t, s.Store)
		s.deleteChannel(vera)
		release()
		s.Store.Clock.Advance(time.Minute)
		s.must(nil, newEraser(s.Store).Erase(t.Context()))
		if r := s.deleteUser(vera); r.GetDone() || r.GetDoneAfter().AsTime().Sub(s.Store.Clock.Local().Time()) < 110*time.Second {
			t.Errorf("got %v, want the time of the second deletion", r)
		}
		s.deleteChannel(vera) // the user has no channel
		erase(t, s.Store)
		wantNoTrace(t, s.Store, vera)
		wantExactCounters(t, s.Store)
	})
}

// TestSweepersSkipDeletedChannel has more expired subscriptions and mutes in a deleted
// channel than one sweeper batch. The sweeper must neither fail nor loop forever, and
// must process other channels once these rows are erased.
func TestSweepersSkipDeletedChannel(t *testing.T) {
	const many = 250
	eachScene(t, func(t *testing.T, s *scene) {
		s.must(nil, s.putUser(vera.id, vera.name))
		s.must(nil, s.putChannel(vera.id, "x"))
		now := s.Store.Clock.Local()
		var records []*platformv1.Record
		for i := range many {
			id := uid.New().String()
			records = append(records,
				&platformv1.Record{Kind: &platformv1.Record_User{User: &platformv1.UserRecord{Id: id, Username: fmt.Sprint("subscriber", i)}}},
				&platformv1.Record{Kind: &platformv1.Record_Subscription{Subscription: &platformv1.SubscriptionRecord{
					ChannelId: vera.id.String(), UserId: id, SubscribedAt: now.Proto(), ExpiresAt: now.Add(time.Hour).Proto(),
				}}})
		}
		s.Load(t, records...)
		s.must(nil, s.subscribe(servertest.Owner, servertest.Viewer, time.Hour+time.Minute)) // expires after all others
		as := s.As(t, vera.id).Context()
		s.must(nil, s.mute(as, vera.id, servertest.Raider))
		s.must(nil, s.mute(s.As(t, servertest.Owner).Context(), servertest.Owner, servertest.Raider))
		release := hold(t, s.Store)
		s.deleteChannel(vera)
		s.Store.Clock.Advance(2 * time.Hour)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // in case the sweeper loops forever
		defer cancel()
		for range 2 {
			s.must(nil, (&audience.Sweeper{Store: s.Store}).Sweep(ctx))
			s.must(nil, (&moderation.Expirer{Store: s.Store}).ExpireMutes(ctx))
		}
		if n := storetest.Must(s.Store.Read.Subscription.Query().Where(subscription.ChannelID(vera.id), subscription.IsActive(true)).Count(ctx)); n != many {
			t.Errorf("%d subscriptions of the deleted channel are left, want all of them to the eraser", n)
		}
		if n := storetest.Must(s.Store.Read.Event.Query().Count(ctx)); n != 7 { // a subscription and its end, two mutes with two events each, and a lapse
			t.Errorf("there are %d events", n)
		}
		for _, table := range audience.Tables {
			if table.Expire == nil {
				continue
			}
			if due, err := table.Expire(tables.Env{Store: s.Store}).Backlog(ctx, s.Store); due != 0 || err != nil {
				t.Errorf("%d rows of %s are due (%v); those of the deleted channel must not displace others", due, table.Name, err)
			}
		}
		release()
		erase(t, s.Store)
		s.must(nil, (&audience.Sweeper{Store: s.Store}).Sweep(ctx))
		if n := storetest.Must(s.Store.Read.Subscription.Query().Where(subscription.IsActive(true)).Count(ctx)); n != 0 {
			t.Errorf("%d lapsed subscriptions are left", n)
		}
		wantExactCounters(t, s.Store)
	})
}
