package moderation_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/user"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server"
	"github.com/moderato-live/moderato/server/authn"
	"github.com/moderato-live/moderato/server/idempotency"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/servertest"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/storetest"
	"github.com/moderato-live/moderato/server/uid"
)

// Parts of the statement that locks a channel, and of the one that reads the users of several
// changes.
const (
	locksChannel = "event_sequence, activity_number, live_started_at FROM channels"
	readsUsers   = "SELECT u.id, u.slug, "
)

// line makes changes of one channel that wait behind each other.
type line struct {
	*storetest.Gate
	*drive

	calls   sync.WaitGroup
	started int
	open    func()
}

// eachLine runs a test with an empty line on each kind of store.
func eachLine(t *testing.T, test func(*testing.T, *line)) {
	t.Helper()
	storetest.EachKind(t, withLine(test))
}

// withLine returns a test that runs with an empty line, after changes of the configuration.
func withLine(test func(*testing.T, *line), change ...func(*server.Config)) func(*testing.T, store.URL) {
	return func(t *testing.T, url store.URL) {
		t.Helper()
		gate := &storetest.Gate{}
		config := servertest.Config(url)
		config.DBLayer = gate.Layer()
		for _, f := range change {
			f(&config)
		}
		s := servertest.Start(t, config)
		s.Load(t, servertest.World()...)
		l := &line{Gate: gate, drive: newDrive(t, s), open: sync.OnceFunc(gate.Open)}
		defer l.open() // also after a failure: the server would not stop
		test(t, l)
	}
}

// start starts a call. The first one has its turn, and is held back with the lock of the
// channel. The others wait behind it.
func (l *line) start(call func() error, want string) {
	l.t.Helper()
	var held <-chan storetest.Statement
	if l.started == 0 {
		held = l.Shut(locksChannel)
	}
	l.calls.Go(func() { wantReason(l.t, call(), want) })
	if held != nil {
		l.await(held)
	}
	l.waitForWaiting(l.t, l.started)
	l.started++
}

// readFacts lets the first change read the facts of the waiting changes, and stops it after that
// statement, which readFacts returns.
func (l *line) readFacts() storetest.Statement {
	l.t.Helper()
	return l.await(l.Move(readsUsers))
}

// finish ends all calls.
func (l *line) finish() {
	l.open()
	l.calls.Wait()
}

func (l *line) await(held <-chan storetest.Statement) storetest.Statement {
	l.t.Helper()
	select {
	case s := <-held:
		return s
	case <-time.After(10 * time.Second):
		l.t.Fatal("the statement is not sent")
		return storetest.Statement{}
	}
}

func (l *line) banAs(as, target uid.ID) func() error {
	return func() error { _, err := l.ban(as, target); return err }
}

// TestQueuedBansHaveTheirOwnResults queues bans and unbans whose facts are read together. Each
// has the result that it would have alone.
func TestQueuedBansHaveTheirOwnResults(t *testing.T) {
	eachLine(t, func(t *testing.T, l *line) {
		d := l.drive
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
			call            func() error
			want            string
			afterOtherWrite bool
		}{
			{ban(servertest.Owner, &moderatov1.BanUserRequest{BanUserId: target.String()}), "OK", false},
			{ban(servertest.Moderator, &moderatov1.BanUserRequest{BanUsername: "LootGoblin77"}), "OK", false},
			{ban(servertest.Owner, &moderatov1.BanUserRequest{BanUserId: uid.New().String()}), "USER_NOT_FOUND", false},
			{ban(servertest.Owner, &moderatov1.BanUserRequest{BanUsername: "nobody_has_this_name"}), "USER_NOT_FOUND", false},
			{ban(servertest.Viewer, &moderatov1.BanUserRequest{BanUserId: another.String()}), "TOKEN_INVALID", true},
			{ban(servertest.Owner, &moderatov1.BanUserRequest{BanUserId: deleted.String()}), "USER_NOT_FOUND", true},
			{func() error {
				again, err := d.ban(servertest.Moderator, banned)
				if err == nil && !again.GetBannedAt().AsTime().Equal(first.GetBannedAt().AsTime()) {
					t.Errorf("the user who is banned already was banned again: %v", again)
				}
				return err
			}, "OK", false},
			{func() error { return d.unban(servertest.Moderator, banned) }, "OK", false},
			{func() error { return d.unban(servertest.Owner, never) }, "NOT_BANNED", false},
			{ban(servertest.Moderator, &moderatov1.BanUserRequest{BanUserId: another.String()}), "OK", false},
		}
		isServer := !d.Store.SharesAmongChannels() // on which others can write while the first change runs
		for _, change := range changes {
			if isServer || !change.afterOtherWrite {
				l.start(change.call, change.want)
			}
		}
		if isServer {
			if _, err := authn.Revoke(t.Context(), d.Store, revoked.Token, nil); err != nil {
				t.Fatal(err)
			}
			d.write(func(tx *ent.Tx) error {
				return tx.User.Update().Where(user.ID(deleted)).SetDeletedAt(instant.Instant(1)).Exec(context.Background())
			})
		}
		l.readFacts()
		l.finish()
		for id, want := range map[uid.ID]bool{target: true, servertest.Raider: true, another: true, banned: false} {
			if got := d.standing(id).GetIsBanned(); got != want {
				t.Errorf("user %s is banned: %t, want %t", id, got, want)
			}
		}
	})
}

// TestFactsOfWaitingChangesStand revokes the token of a waiting ban whose facts have been read.
// The ban is made, as if it had come before the revocation. On SQLite the revocation would wait
// until the ban's transaction has ended.
func TestFactsOfWaitingChangesStand(t *testing.T) {
	storetest.EachServer(t, withLine(func(t *testing.T, l *line) {
		users := servertest.AddUsers(t, l.Store, 2)
		l.start(l.banAs(servertest.Owner, users[0]), "OK")
		l.start(l.banAs(servertest.Moderator, users[1]), "OK")
		l.readFacts()
		if _, err := authn.Revoke(t.Context(), l.Store, l.creds[servertest.Moderator].Token, nil); err != nil {
			t.Fatal(err)
		}
		l.finish()
		wantReason(t, l.unban(servertest.Moderator, users[1]), "TOKEN_INVALID")
	}))
}

// TestWaitingFollowsAreReadTogether has follows wait. The first one reads the facts of all.
func TestWaitingFollowsAreReadTogether(t *testing.T) {
	eachLine(t, func(t *testing.T, l *line) {
		for _, user := range servertest.AddUsers(t, l.Store, 3) {
			l.start(func() error {
				_, err := l.Audience.Follow(l.chat.Context(), &platformv1.FollowRequest{ChannelId: servertest.Owner.String(), UserId: user.String()})
				return err
			}, "OK")
		}
		l.readFacts()
		l.finish()
	})
}

// TestTimesOfQueuedBansFollowTheirOrder lets a ban overtake another one whose facts have been
// read already. The ban that was overtaken must not have the earlier time.
func TestTimesOfQueuedBansFollowTheirOrder(t *testing.T) {
	eachLine(t, func(t *testing.T, l *line) {
		users := l.overtake()
		l.finish()
		var order []uid.ID
		var last instant.Instant
		for _, e := range l.events() {
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

// overtake starts bans of four users. The first ban reads the facts of the second and third
// one. The fourth one starts a second later, and has its turn before the third one.
func (l *line) overtake(want ...string) (users []uid.ID) {
	l.t.Helper()
	users = servertest.AddUsers(l.t, l.Store, 4)
	for _, user := range users[:3] {
		l.start(l.banAs(servertest.Owner, user), "OK")
	}
	l.readFacts()
	l.Store.Clock.Advance(time.Second)
	l.start(l.banAs(servertest.Moderator, users[3]), cmp.Or(append(want, "OK")...))
	return users
}

// TestFailedReadOfFactsHarmsNoOther lets a statement fail that reads the facts of a change and of
// a waiting one, whose facts have been read before. Only the change itself fails. On SQLite the
// second change begins a transaction of its own if a job waits to write.
func TestFailedReadOfFactsHarmsNoOther(t *testing.T) {
	storetest.OneServer(t, withLine(func(t *testing.T, l *line) {
		users := l.overtake("INTERNAL")
		l.Fail(func(query string) (after int, err error) {
			if strings.Contains(query, readsUsers) {
				err = errors.New("no users today")
			}
			return 0, err
		})
		l.finish()
		l.Fail(nil)
		for i, want := range []bool{true, true, true, false} {
			if got := l.standing(users[i]).GetIsBanned(); got != want {
				t.Errorf("user %d is banned: %t, want %t", i, got, want)
			}
		}
	}))
}

// TestCallerLeavesWhileItsFactsAreRead cancels a waiting ban while another ban reads its facts.
func TestCallerLeavesWhileItsFactsAreRead(t *testing.T) {
	eachLine(t, func(t *testing.T, l *line) {
		users := servertest.AddUsers(t, l.Store, 2)
		ctx, cancel := context.WithCancel(l.creds[servertest.Moderator].Context())
		defer cancel()
		left := make(chan error, 1)
		l.start(l.banAs(servertest.Owner, users[0]), "OK")
		l.start(func() error {
			_, err := l.Moderation.BanUser(ctx, &moderatov1.BanUserRequest{ChannelId: servertest.Owner.String(), BanUserId: users[1].String()})
			left <- err
			return nil
		}, "OK")
		l.readFacts()
		cancel()
		if err := <-left; status.Code(err) != codes.Canceled {
			t.Errorf("got %v, want CANCELED", err)
		}
		l.waitForWaiting(t, 0)
		l.finish()
		for i, want := range []bool{true, false} {
			if got := l.standing(users[i]).GetIsBanned(); got != want {
				t.Errorf("user %d is banned: %t, want %t", i, got, want)
			}
		}
	})
}

// TestFactsAreNotReadForCallWithKey has a ban with an idempotency key wait. Its facts could be old
// when it has waited for the key, so no other change reads them.
func TestFactsAreNotReadForCallWithKey(t *testing.T) {
	eachLine(t, func(t *testing.T, l *line) {
		users := servertest.AddUsers(t, l.Store, 3)
		withKey := metadata.AppendToOutgoingContext(l.creds[servertest.Owner].Context(), idempotency.MetadataKey, "a-key-of-this-test")
		l.start(l.banAs(servertest.Owner, users[0]), "OK")
		l.start(func() error {
			_, err := l.Moderation.BanUser(withKey, &moderatov1.BanUserRequest{ChannelId: servertest.Owner.String(), BanUserId: users[1].String()})
			return err
		}, "OK")
		l.start(l.banAs(servertest.Owner, users[2]), "OK")
		read := l.readFacts()
		for i, want := range []bool{true, false, true} {
			id, err := users[i].Value()
			isRead := slices.ContainsFunc(read.Args, func(arg any) bool { return fmt.Sprint(arg) == fmt.Sprint(id) })
			if err != nil || isRead != want {
				t.Errorf("the facts about user %d are read: %t (%v), want %t", i, isRead, err, want)
			}
		}
		l.finish()
		if !l.standing(users[1]).GetIsBanned() {
			t.Error("the user is not banned")
		}
	})
}

// TestFactsAreReadOnlyForChangesThatCanJoin has bans wait on a server where no change can join a
// transaction. Each ban reads its own facts only.
func TestFactsAreReadOnlyForChangesThatCanJoin(t *testing.T) {
	storetest.EachKind(t, withLine(func(t *testing.T, l *line) {
		var together atomic.Int64
		l.Fail(func(query string) (int, error) {
			if strings.Contains(query, readsUsers) {
				together.Add(1)
			}
			return 0, nil
		})
		for _, user := range servertest.AddUsers(t, l.Store, 3) {
			l.start(l.banAs(servertest.Owner, user), "OK")
		}
		l.finish()
		if n := together.Load(); n > 0 {
			t.Errorf("%d changes read the facts of others", n)
		}
	}, func(c *server.Config) { c.DisableSharing = true }))
}
