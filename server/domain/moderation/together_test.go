package moderation_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/user"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// Parts of the statement that locks a channel, and of the one that reads the users whom bans
// are about.
const (
	locksChannel = "event_sequence, activity_number, live_started_at FROM channels"
	readsUsers   = "SELECT u.id, u.slug, u.username, u.display_name, u.avatar_url, EXISTS"
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

// withLine returns a test that runs with an empty line.
func withLine(test func(*testing.T, *line)) func(*testing.T, store.URL) {
	return func(t *testing.T, url store.URL) {
		t.Helper()
		gate := &storetest.Gate{}
		config := servertest.Config(url)
		config.DBLayer = gate.Layer()
		s := servertest.Start(t, config)
		s.Load(t, servertest.World()...)
		l := &line{Gate: gate, drive: newDrive(t, s), open: func() {}}
		defer func() { l.open() }() // also after a failure: the server would not stop
		test(t, l)
	}
}

// start starts a call. The first one has its turn, and is held back with the lock of the
// channel. The others wait behind it.
func (l *line) start(call func() error, want string) {
	l.t.Helper()
	var held <-chan storetest.Statement
	if l.started == 0 {
		held, l.open = l.Shut(locksChannel), sync.OnceFunc(l.Open)
	}
	l.calls.Go(func() { wantReason(l.t, call(), want) })
	if held != nil {
		l.await(held)
	}
	l.waitForWaiting(l.t, l.started)
	l.started++
}

// readUsers lets the first request lock the channel, and stops it after it has read the users of
// all requests with a statement, which readUsers returns.
func (l *line) readUsers() storetest.Statement {
	l.t.Helper()
	return l.await(l.Move(readsUsers))
}

// finish ends all calls.
func (l *line) finish() {
	l.open()
	l.calls.Wait()
	l.started = 0
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

// TestQueuedBansHaveTheirOwnResults queues bans and unbans that are made together. Each has the
// result that it would have alone.
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
		isServer := !d.Store.HasOneWriter() // on which others can write while the first change runs
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
		l.readUsers()
		l.finish()
		for id, want := range map[uid.ID]bool{target: true, servertest.Raider: true, another: true, banned: false} {
			if got := d.standing(id).GetIsBanned(); got != want {
				t.Errorf("user %s is banned: %t, want %t", id, got, want)
			}
		}
	})
}

// TestStatementThatFailsHarmsNoRequest lets the first statement fail that reads the users of
// several bans. Each ban is made alone.
func TestStatementThatFailsHarmsNoRequest(t *testing.T) {
	eachLine(t, func(t *testing.T, l *line) {
		users := servertest.AddUsers(t, l.Store, 3)
		for _, user := range users {
			l.start(l.banAs(servertest.Owner, user), "OK")
		}
		var failed atomic.Bool
		l.Fail(func(query string) (int, error) {
			if strings.Contains(query, readsUsers) && failed.CompareAndSwap(false, true) {
				return 0, errors.New("no users today")
			}
			return 0, nil
		})
		l.finish()
		l.Fail(nil)
		for i, user := range users {
			if !l.standing(user).GetIsBanned() {
				t.Errorf("user %d is not banned", i)
			}
		}
		if !failed.Load() {
			t.Error("no statement failed")
		}
		l.wantEvents(slices.Repeat([]string{"channel.ban", "channel.chat.clear_user_messages"}, 3)...)
	})
}

// TestCallerWhoLeavesHarmsNoRequest cancels a ban while it is made together with another one.
// Both bans stand.
func TestCallerWhoLeavesHarmsNoRequest(t *testing.T) {
	for name, leaver := range map[string]int{"the first": 0, "one that joined": 1} {
		t.Run(name, func(t *testing.T) {
			eachLine(t, func(t *testing.T, l *line) {
				users := servertest.AddUsers(t, l.Store, 2)
				ctx, cancel := context.WithCancel(l.creds[servertest.Moderator].Context())
				defer cancel()
				left := make(chan error, 1)
				for i, user := range users {
					if i != leaver {
						l.start(l.banAs(servertest.Owner, user), "OK")
						continue
					}
					l.start(func() error {
						_, err := l.Moderation.BanUser(ctx, &moderatov1.BanUserRequest{ChannelId: servertest.Owner.String(), BanUserId: user.String()})
						left <- err
						return nil
					}, "OK")
				}
				l.readUsers()
				cancel()
				if err := <-left; status.Code(err) != codes.Canceled {
					t.Errorf("got %v, want CANCELED", err)
				}
				l.finish()
				for i, user := range users {
					if !l.standing(user).GetIsBanned() {
						t.Errorf("user %d is not banned", i)
					}
				}
			})
		})
	}
}

// TestQueuedBansWithKeys makes bans together of which some have idempotency keys. A repeat has
// the stored response. A ban that is refused stores nothing, and takes no other with it.
func TestQueuedBansWithKeys(t *testing.T) {
	eachLine(t, func(t *testing.T, l *line) {
		users := servertest.AddUsers(t, l.Store, 3)
		var responses [2]*moderatov1.BanUserResponse
		banWithKey := func(key string, user uid.ID, into **moderatov1.BanUserResponse) func() error {
			ctx := metadata.AppendToOutgoingContext(l.creds[servertest.Owner].Context(), idempotency.MetadataKey, key)
			return func() (err error) {
				*into, err = l.Moderation.BanUser(ctx, &moderatov1.BanUserRequest{ChannelId: servertest.Owner.String(), BanUserId: user.String()})
				return err
			}
		}
		for name, refused := range map[string]uid.ID{"none is refused": users[2], "one is refused": uid.New()} {
			want := "OK"
			if refused != users[2] {
				want = "USER_NOT_FOUND"
			}
			l.start(l.banAs(servertest.Owner, users[0]), "OK")
			l.start(banWithKey("first-key-"+want, users[1], &responses[0]), "OK")
			l.start(banWithKey("second-key-"+want, refused, new(*moderatov1.BanUserResponse)), want)
			l.finish()
			wantReason(t, l.unban(servertest.Owner, users[1]), "OK")
			wantReason(t, banWithKey("first-key-"+want, users[1], &responses[1])(), "OK")
			if diff := cmp.Diff(responses[0], responses[1], protocmp.Transform()); diff != "" {
				t.Errorf("%s: the repeat answers (-first +repeat):\n%s", name, diff)
			}
			if l.standing(users[1]).GetIsBanned() {
				t.Errorf("%s: the repeat has banned the user again", name)
			}
			wantReason(t, banWithKey("second-key-"+want, users[2], new(*moderatov1.BanUserResponse))(), map[string]string{
				"OK": "OK", "USER_NOT_FOUND": "OK", // the key that was refused is free
			}[want])
			_ = l.unban(servertest.Owner, users[0])
			_ = l.unban(servertest.Owner, users[2])
		}
	})
}
