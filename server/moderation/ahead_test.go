package moderation_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/user"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/authn"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/servertest"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/storetest"
	"github.com/moderato-live/moderato/server/uid"
)

// eachAhead runs a test of changes whose facts an earlier one reads, on database servers, which
// tell whether a change has its turn. The gate holds back the results of the statement that
// reads the facts.
func eachAhead(t *testing.T, test func(t *testing.T, d *drive, gate *readGate)) {
	t.Helper()
	storetest.EachServer(t, func(t *testing.T, url store.URL) {
		gate := &storetest.Gate{}
		config := servertest.Config(url)
		config.DBLayer = gate.Layer()
		s := servertest.Start(t, config)
		s.Load(t, servertest.World()...)
		open := sync.OnceFunc(gate.Open)
		held := gate.Shut("u.id IN (")
		defer open() // also after a failure: the server would not stop
		test(t, newDrive(t, s), &readGate{t, held, open})
	})
}

type readGate struct {
	t    *testing.T
	held <-chan storetest.Statement
	open func()
}

// wait waits until facts have been read.
func (g *readGate) wait() {
	g.t.Helper()
	select {
	case <-g.held:
	case <-time.After(10 * time.Second):
		g.t.Fatal("no facts are read together")
	}
}

// waitForTurns waits until one change has its turn, and n others wait for theirs.
func (d *drive) waitForTurns(t *testing.T, n int) {
	t.Helper()
	if n == 0 {
		storetest.AwaitStatement(t, d.Store, "event_sequence, activity_number, live_started_at FROM channels")
	}
	d.waitForWaiting(t, n)
}

// TestQueuedBansHaveTheirOwnResults queues bans and unbans whose facts are read together. Each
// has the result that it would have alone.
func TestQueuedBansHaveTheirOwnResults(t *testing.T) {
	eachAhead(t, func(t *testing.T, d *drive, gate *readGate) {
		users := servertest.AddUsers(t, d.Store, 5)
		target, banned, deleted, another, never := users[0], users[1], users[2], users[3], users[4]
		first := d.mustBan(servertest.Owner, banned)
		_ = d.setModerator(servertest.Viewer, true)
		revoked := d.creds[servertest.Viewer]
		ban := func(as uid.ID, request *moderatov1.BanUserRequest) func() error {
			request.ChannelId = servertest.Owner.String()
			return func() error {
				_, err := d.Moderation.BanUser(d.creds[as].Context(), request)
				return err
			}
		}
		changes := []struct {
			call func() error
			want string
		}{
			{ban(servertest.Owner, &moderatov1.BanUserRequest{BanUserId: target.String()}), "OK"},
			{ban(servertest.Moderator, &moderatov1.BanUserRequest{BanUsername: "LootGoblin77"}), "OK"},
			{ban(servertest.Owner, &moderatov1.BanUserRequest{BanUserId: uid.New().String()}), "USER_NOT_FOUND"},
			{ban(servertest.Owner, &moderatov1.BanUserRequest{BanUsername: "nobody_has_this_name"}), "USER_NOT_FOUND"},
			{ban(servertest.Viewer, &moderatov1.BanUserRequest{BanUserId: another.String()}), "TOKEN_INVALID"},
			{ban(servertest.Owner, &moderatov1.BanUserRequest{BanUserId: deleted.String()}), "USER_NOT_FOUND"},
			{func() error {
				again, err := d.ban(servertest.Moderator, banned)
				if err == nil && !again.GetBannedAt().AsTime().Equal(first.GetBannedAt().AsTime()) {
					t.Errorf("the user who is banned already was banned again: %v", again)
				}
				return err
			}, "OK"},
			{func() error { return d.unban(servertest.Moderator, banned) }, "OK"},
			{func() error { return d.unban(servertest.Owner, never) }, "NOT_BANNED"},
			{ban(servertest.Moderator, &moderatov1.BanUserRequest{BanUserId: another.String()}), "OK"},
		}
		release := d.holdChannel(t)
		var all sync.WaitGroup
		for i, change := range changes {
			all.Go(func() { wantReason(t, change.call(), change.want) })
			d.waitForTurns(t, i)
		}
		if _, err := authn.Revoke(t.Context(), d.Store, revoked.Token, nil); err != nil {
			t.Fatal(err)
		}
		d.write(func(tx *ent.Tx) error {
			return tx.User.Update().Where(user.ID(deleted)).SetDeletedAt(instant.Instant(1)).Exec(context.Background())
		})
		release()
		gate.wait()
		gate.open()
		all.Wait()
		for id, want := range map[uid.ID]bool{target: true, servertest.Raider: true, another: true, banned: false} {
			if got := d.standing(id).GetIsBanned(); got != want {
				t.Errorf("user %s is banned: %t, want %t", id, got, want)
			}
		}
	})
}

// TestFactsOfWaitingChangesStand revokes the token of a ban that waits for its turn, and whose
// facts have been read. The ban is made, as if it had come before the revocation.
func TestFactsOfWaitingChangesStand(t *testing.T) {
	eachAhead(t, func(t *testing.T, d *drive, gate *readGate) {
		users := servertest.AddUsers(t, d.Store, 2)
		release := d.holdChannel(t)
		var all sync.WaitGroup
		for i, as := range []uid.ID{servertest.Owner, servertest.Moderator} {
			all.Go(func() { wantReason(t, func() error { _, err := d.ban(as, users[i]); return err }(), "OK") })
			d.waitForTurns(t, i)
		}
		release()
		gate.wait()
		if _, err := authn.Revoke(t.Context(), d.Store, d.creds[servertest.Moderator].Token, nil); err != nil {
			t.Fatal(err)
		}
		gate.open()
		all.Wait()
		wantReason(t, d.unban(servertest.Moderator, users[1]), "TOKEN_INVALID")
	})
}

// TestQueuedFollowsAreReadTogether queues follows. The first one reads the facts of all.
func TestQueuedFollowsAreReadTogether(t *testing.T) {
	eachAhead(t, func(t *testing.T, d *drive, gate *readGate) {
		release := d.holdChannel(t)
		var all sync.WaitGroup
		for i, user := range servertest.AddUsers(t, d.Store, 3) {
			all.Go(func() {
				_, err := d.Audience.Follow(d.chat.Context(), &platformv1.FollowRequest{ChannelId: servertest.Owner.String(), UserId: user.String()})
				wantReason(t, err, "OK")
			})
			d.waitForTurns(t, i)
		}
		release()
		gate.wait()
		gate.open()
		all.Wait()
	})
}

// TestTimesOfQueuedBansFollowTheirOrder lets a ban overtake another one whose facts have been
// read already. The one that was overtaken is not the earlier one.
func TestTimesOfQueuedBansFollowTheirOrder(t *testing.T) {
	eachAhead(t, func(t *testing.T, d *drive, gate *readGate) {
		users := servertest.AddUsers(t, d.Store, 4)
		release := d.holdChannel(t)
		var all sync.WaitGroup
		start := func(as, target uid.ID, waiting int) {
			all.Go(func() { wantReason(t, func() error { _, err := d.ban(as, target); return err }(), "OK") })
			d.waitForTurns(t, waiting)
		}
		for i := range 3 {
			start(servertest.Owner, users[i], i)
		}
		release()
		gate.wait() // the facts of the three have been read
		d.Store.Clock.Advance(1_000)
		start(servertest.Moderator, users[3], 3) // has its turn before the third one of the owner
		gate.open()
		all.Wait()
		var order []uid.ID
		var last instant.Instant
		for _, e := range d.events() {
			if e.Type != "channel.ban" {
				continue
			}
			order = append(order, *e.TargetID)
			if e.OccurredAt < last {
				t.Errorf("ban %d is earlier than the one before it", len(order))
			}
			last = e.OccurredAt
		}
		if want := []uid.ID{users[0], users[1], users[3], users[2]}; !slices.Equal(order, want) {
			t.Errorf("the bans were made in the order %v, want %v", order, want)
		}
	})
}
