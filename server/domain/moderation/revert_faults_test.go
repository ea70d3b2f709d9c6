package moderation_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/moderato-live/moderato/internal/uid"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestRevertSurvivesLostCommit loses the connection in COMMIT. The revert is applied once, and
// the answer is its own.
func TestRevertSurvivesLostCommit(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		cutter := &storetest.Cutter{}
		config := servertest.Config(url)
		config.DBLayer = cutter.Layer
		s := servertest.Start(t, config)
		s.Load(t, servertest.World()...)
		d := newDrive(t, s)
		d.mustPost(servertest.Raider, "raider")
		d.mustPost(servertest.Viewer, "viewer")
		for _, cuts := range [][]storetest.Cut{
			{storetest.BeforeCommit}, {storetest.AfterCommit}, {storetest.BeforeCommit, storetest.AfterCommit},
		} {
			d.mustBan(servertest.Moderator, servertest.Raider)
			d.mustMute(servertest.Moderator, servertest.Viewer)
			before := len(d.events())
			cutter.CutNext("change.apply", cuts...)
			r := d.revert(servertest.Moderator, 0, false)
			wantReverted(t, r, servertest.Raider.String()+" UNBANNED", servertest.Viewer.String()+" UNMUTED")
			if n := len(d.events()) - before; n != 2 || cutter.Made() != len(cuts) {
				t.Errorf("%v: %d events after %d cuts, want 2", cuts, n, cutter.Made())
			}
			d.wantVisible("raider", "viewer")
		}
	})
}

// TestConcurrentReverts reverts a moderator through two servers while the moderator bans
// through both. Each ban is lifted once.
func TestConcurrentReverts(t *testing.T) {
	replicas(t, func(t *testing.T, a, b *drive) {
		crowd := servertest.AddUsers(t, a.Store, 60)
		var mu sync.Mutex
		lifted := map[string]int{}
		revert := func(d *drive) {
			r, err := d.Moderation.RevertModerator(d.creds[servertest.Owner].Context(), &moderatov1.RevertModeratorRequest{
				ChannelId: servertest.Owner.String(), ModeratorId: servertest.Moderator.String(), Since: instant.Instant(0).Proto(),
			})
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, row := range r.GetResults() {
				lifted[row.GetUserId()]++
			}
		}
		var group sync.WaitGroup
		for i, d := range []*drive{a, b} {
			group.Go(func() {
				for _, id := range crowd[i*20 : i*20+20] {
					d.mustBan(servertest.Moderator, id)
				}
			})
			group.Go(func() {
				for range 5 {
					revert(d)
				}
			})
		}
		group.Go(func() { b.banAll(servertest.Moderator, crowd[40:]...) })
		group.Wait()
		revert(b)
		for _, id := range crowd {
			if lifted[id.String()] != 1 {
				t.Errorf("the ban of %s was lifted %d times", id, lifted[id.String()])
			}
		}
		if n := len(a.events()); n != 3*len(crowd) { // events checks that the sequence has no gap
			t.Errorf("%d events", n)
		}
		wantReverted(t, a.revert(servertest.Moderator, 0, false))
	})
}

// TestRevertInParts reverts more bans than one call lifts, with some mutes among them.
func TestRevertInParts(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		d, recorder := newRecordedDrive(t, url)
		crowd := servertest.AddUsers(t, d.Store, 10_003)
		exec(t, d.Store, "INSERT INTO bans (channel_id, user_id, moderator_id, banned_at, reason) SELECT ?, id, ?, created_at, '' FROM users WHERE username LIKE 'u%'",
			servertest.Owner, servertest.Moderator)
		for i, id := range crowd {
			if i%5001 == 0 {
				exec(t, d.Store, "UPDATE bans SET banned_at = ? WHERE channel_id = ? AND user_id = ?", 2+i, servertest.Owner, id)
				exec(t, d.Store, "INSERT INTO mutes (channel_id, user_id, moderator_id, muted_at, expires_at, reason) VALUES (?, ?, ?, ?, ?, '')",
					servertest.Owner, id, servertest.Moderator, 1+i, int64(1)<<50)
			}
		}
		r := d.revert(servertest.Moderator, 0, false)
		if n := len(r.GetResults()); n != 10_000 || !r.GetHasMore() || r.GetCounts().GetUnmuted() != 3 {
			t.Errorf("the first call lifts %d; %v, %t", n, r.GetCounts(), r.GetHasMore())
		}
		for i, want := range []string{"UNMUTED", "UNBANNED", "UNMUTED", "UNBANNED", "UNMUTED", "UNBANNED"} {
			row := r.GetResults()[i]
			if row.GetUserId() != crowd[i/2*5001].String() || row.GetStatus() != want {
				t.Errorf("result %d is %v, want %s", i, row, want)
			}
		}
		r = d.revert(servertest.Moderator, 0, false)
		if n := len(r.GetResults()); n != 6 || r.GetHasMore() {
			t.Errorf("the second call lifts %d; %t", n, r.GetHasMore())
		}
		wantReverted(t, d.revert(servertest.Moderator, 0, false))
		wantSearch(t, d.Store, recorder, "FROM bans b", "ban_moderator_id_channel_id_banned_at_user_id")
		wantSearch(t, d.Store, recorder, "FROM mutes m", "mute_moderator_id_channel_id_muted_at_user_id")
		_, err := d.Moderation.RevertModerator(d.creds[servertest.Owner].Context(), &moderatov1.RevertModeratorRequest{
			ChannelId: servertest.Owner.String(), RuleId: uid.New().String(),
		})
		wantReason(t, err, "OK")
		wantSearch(t, d.Store, recorder, "FROM mutes m", "mute_channel_id_rule_id_muted_at_user_id")
	})
}

func exec(t *testing.T, s *store.Store, statement string, args ...any) {
	t.Helper()
	if _, err := s.DB().ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatal(err)
	}
}

// wantSearch explains the latest statement with a text. It must read an index, of which it
// examines one range in order.
func wantSearch(t *testing.T, s *store.Store, recorder *storetest.Recorder, text, index string) {
	t.Helper()
	var found storetest.Statement
	for _, q := range recorder.Sent() {
		if strings.Contains(q.Text, text) {
			found = q
		}
	}
	plan := storetest.Explain(t, s, found)
	if !strings.Contains(plan, index) || strings.Contains(plan, "TEMP B-TREE") || strings.Contains(plan, "filesort") {
		t.Errorf("the statement with %s does not search %s:\n%s", text, index, plan)
	}
}
