package moderation_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestBansReadByKey checks that bans which are made together, a batch of bans, its undo, and a
// revert read users and channels by key. Without index hints, the databases scan small tables,
// such as those of the test. They also scan a large table after an import, until its statistics
// are updated: each ban would then read all users.
func TestBansReadByKey(t *testing.T) {
	storetest.EachServer(t, func(t *testing.T, url store.URL) {
		d, recorder := newRecordedDrive(t, url)
		users := addUsers(t, d.Server, 8)
		release := d.lockChannel(t)
		var all sync.WaitGroup
		for _, user := range users {
			all.Go(func() {
				_, err := d.ban(servertest.Owner, user)
				wantReason(t, err, "OK")
			})
		}
		d.waitForWaiting(t, len(users)-1)
		release()
		all.Wait()
		moderators := servertest.AddUsers(t, d.Store, 30)
		for _, user := range moderators {
			_, err := d.Moderation.AddModerator(d.creds[servertest.Owner].Context(), &moderatov1.AddModeratorRequest{ChannelId: servertest.Owner.String(), UserId: user.String()})
			wantReason(t, err, "OK")
		}
		d.undo(d.banAll(servertest.Owner, moderators...).GetBatchId(), true)
		d.mustMute(servertest.Owner, users[0])
		d.mustBan(servertest.Owner, moderators[0])
		reverted, err := d.Moderation.RevertModerator(d.creds[servertest.Owner].Context(), &moderatov1.RevertModeratorRequest{
			ChannelId: servertest.Owner.String(), ModeratorId: servertest.Owner.String(), Since: d.Store.Clock.Local().Add(-time.Hour).Proto(),
		})
		if err != nil || reverted.GetCounts().GetUnbanned() != int32(len(users))+1 || reverted.GetCounts().GetUnmuted() != 1 {
			t.Fatalf("the revert returns %v (%v)", reverted, err)
		}
		sent := slices.Concat(recorder.Sent(), recorder.Executed())
		slices.SortFunc(sent, func(a, b storetest.Statement) int { return strings.Compare(a.Text, b.Text) })
		for _, q := range slices.CompactFunc(sent, func(a, b storetest.Statement) bool { return a.Text == b.Text }) {
			storetest.WantByKey(t, d.Store, q)
		}
	})
}
