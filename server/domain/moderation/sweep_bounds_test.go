package moderation_test

import (
	"testing"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/test/servertest"
)

// TestSweepConditionsAtTheirBounds has users who followed or first posted exactly as long ago
// as a condition says, and a millisecond longer.
func TestSweepConditionsAtTheirBounds(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		const week = 7 * 24 * time.Hour
		start := frozen(t, d)
		users := servertest.AddUsers(t, d.Store, 4)
		earlier, newcomer, week7, longer := users[0], users[1], users[2], users[3]
		d.mustPost(earlier, "hello")
		d.Store.Clock.Freeze(start.Add(time.Millisecond))
		d.mustPost(newcomer, "free sub")
		d.Store.Clock.Freeze(start.Add(time.Minute + time.Millisecond))
		for _, id := range users {
			d.mustPost(id, "free sub")
		}
		d.follow(week7, week)
		d.follow(longer, week+time.Millisecond)
		first := func(r *moderatov1.PreviewSweepRequest) { r.FirstMessageWithinSeconds = new(int64(60)) }
		d.wantMatched("first message", d.mustPreview(first), newcomer, week7)
		r := d.mustPreview()
		d.wantMatched("followers", r, earlier, newcomer, week7)
		if n := r.GetExempted().GetFollowers(); n != 1 {
			t.Errorf("%d followers are exempted, want 1", n)
		}
	})
}

// TestDurationOfSweepBeginsWithItsCommit commits a sweep a minute after its preview.
func TestDurationOfSweepBeginsWithItsCommit(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		d.raid(1, "free sub")
		token := d.mustPreview().GetSweepToken()
		d.Store.Clock.Freeze(start.Add(time.Minute))
		d.mustCommit(token, func(r *moderatov1.CommitSweepRequest) { r.DurationSeconds = new(int64(3600)) })
		want := start.Add(time.Minute + time.Hour)
		if got := payload(t, d.events()[0])["expiresAt"]; got != want.String() {
			t.Errorf("the ban ends at %v, want %v", got, want)
		}
		batch := func() *moderatov1.BanBatch {
			t.Helper()
			list, err := d.Moderation.ListBanBatches(d.creds[servertest.Owner].Context(), &moderatov1.ListBanBatchesRequest{ChannelId: servertest.Owner.String()})
			if err != nil || len(list.GetRows()) != 1 {
				t.Fatalf("the list is %v (%v)", list, err)
			}
			return list.GetRows()[0]
		}
		if row := batch(); row.GetExpiresAt().AsTime() != want.Proto().AsTime() || row.GetStillBannedCount() != 1 {
			t.Errorf("the batch is %v", row)
		}
		d.Store.Clock.Freeze(want)
		if row := batch(); row.GetBannedCount() != 1 || row.GetStillBannedCount() != 0 {
			t.Errorf("after the bans the batch is %v", row)
		}
	})
}
