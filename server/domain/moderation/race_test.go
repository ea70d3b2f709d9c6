package moderation_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// races is the number of runs of TestNoMessageSurvivesConcurrentBan, which the stores share.
const races = 500

// TestNoMessageSurvivesConcurrentBan repeatedly runs a post concurrently with the ban or
// mute of its sender. In any order, no message from before the response is visible after
// it, not even when the ban is removed again.
func TestNoMessageSurvivesConcurrentBan(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		silence := []func() error{
			func() error { _, err := d.ban(servertest.Moderator, servertest.Raider); return err },
			func() error { _, err := d.mute(servertest.Moderator, servertest.Raider); return err },
		}
		var posted, refused int
		for i := range storetest.Share(t, races) {
			// The head start varies from the post to the ban.
			lead := time.Duration(i%31-10) * 200 * time.Microsecond
			post := make(chan error, 1)
			go func() {
				time.Sleep(lead)
				post <- d.post(servertest.Raider, fmt.Sprintf("race %d", i))
			}()
			time.Sleep(-lead)
			if err := silence[i%2](); err != nil {
				t.Fatalf("race %d: %v", i, err)
			}
			switch got := reason(<-post); got {
			case "OK":
				posted++
			case "USER_BANNED", "USER_MUTED":
				refused++
			default:
				t.Fatalf("race %d: the post ended with %s", i, got)
			}
			if got := d.visible(); len(got) != 0 {
				t.Fatalf("race %d: visible after the answer: %q", i, got)
			}
			d.release(i)
			if got := d.visible(); len(got) != 0 {
				t.Fatalf("race %d: visible after the release: %q", i, got)
			}
		}
		t.Logf("%d posts came first, %d came late", posted, refused)
		if posted == 0 || refused == 0 {
			t.Errorf("not a race: %d posted, %d refused", posted, refused)
		}
	})
}

// release ends the ban or mute of a race.
func (d *drive) release(race int) {
	d.t.Helper()
	if race%2 == 1 {
		d.Store.Clock.Advance(10 * time.Minute)
		return
	}
	if err := d.unban(servertest.Moderator, servertest.Raider); err != nil {
		d.t.Fatal(err)
	}
}

// replicas are two servers on one database.
func replicas(t *testing.T, test func(t *testing.T, a, b *drive)) {
	t.Helper()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		first := servertest.Start(t, servertest.Config(url))
		first.Load(t, servertest.World()...)
		a := newDrive(t, first)
		test(t, a, &drive{Server: servertest.Start(t, servertest.Config(url)), t: t, creds: a.creds, chat: a.chat})
	})
}

// together runs two functions concurrently.
func together(a, b func()) {
	var start, end sync.WaitGroup
	start.Add(1)
	for _, f := range []func(){a, b} {
		end.Go(func() { start.Wait(); f() })
	}
	start.Done()
	end.Wait()
}

// withoutTerms returns a ban as a text without what the first one does not have.
func withoutTerms(ban *moderatov1.BanUserResponse) string {
	ban.Terms, ban.Outcome = nil, nil
	return ban.String()
}

func TestConcurrentBansOnTwoServers(t *testing.T) {
	replicas(t, func(t *testing.T, a, b *drive) {
		want := []string{}
		for range 25 {
			var results [2]string
			together(
				func() { results[0] = withoutTerms(a.mustBan(servertest.Owner, servertest.Raider)) },
				func() { results[1] = withoutTerms(b.mustBan(servertest.Moderator, servertest.Raider)) },
			)
			if diff := cmp.Diff(results[0], results[1]); diff != "" {
				t.Fatalf("the two answers differ:\n%s", diff)
			}
			wantReason(t, b.unban(servertest.Owner, servertest.Raider), "OK")
			want = append(want, "channel.ban", "channel.chat.clear_user_messages", "channel.unban")
		}
		a.wantEvents(want...)
	})
}

func TestConcurrentMutesOnTwoServers(t *testing.T) {
	replicas(t, func(t *testing.T, a, b *drive) {
		for range 25 {
			var errs [2]error
			together(
				func() { _, errs[0] = a.mute(servertest.Owner, servertest.Viewer) },
				func() { _, errs[1] = b.mute(servertest.Owner, servertest.Viewer) },
			)
			outcomes := map[string]int{reason(errs[0]): 1}
			outcomes[reason(errs[1])]++
			if outcomes["OK"] != 1 || outcomes["MUTE_ACTIVE"] != 1 {
				t.Fatalf("outcomes %v, want one OK and one MUTE_ACTIVE", outcomes)
			}
			a.Store.Clock.Advance(10 * time.Minute)
			b.Store.Clock.Advance(10 * time.Minute)
		}
	})
}

func TestConcurrentUnbansOnTwoServers(t *testing.T) {
	replicas(t, func(t *testing.T, a, b *drive) {
		for range 25 {
			a.mustBan(servertest.Owner, servertest.Raider)
			var errs [2]error
			together(
				func() { errs[0] = a.unban(servertest.Owner, servertest.Raider) },
				func() { errs[1] = b.unban(servertest.Moderator, servertest.Raider) },
			)
			outcomes := map[string]int{reason(errs[0]): 1}
			outcomes[reason(errs[1])]++
			if outcomes["OK"] != 1 || outcomes["NOT_BANNED"] != 1 {
				t.Fatalf("outcomes %v, want one OK and one NOT_BANNED", outcomes)
			}
		}
	})
}

// TestChangesOfManyUsersRunConcurrently has bans, mutes and roles of the same few users
// run concurrently on two servers. The server must resolve deadlocks and lock waits, so
// no caller receives such an error.
func TestChangesOfManyUsersRunConcurrently(t *testing.T) {
	replicas(t, func(t *testing.T, a, b *drive) {
		users := []uid.ID{servertest.Viewer, servertest.Raider, servertest.Other}
		var wait sync.WaitGroup
		for i := range 60 {
			on, user := a, users[i%len(users)]
			if i%2 == 1 {
				on = b
			}
			wait.Go(func() {
				var err error
				switch i % 4 {
				case 0:
					_, err = on.ban(servertest.Owner, user)
				case 1:
					err = on.unban(servertest.Owner, user)
				case 2:
					_, err = on.mute(servertest.Owner, user)
				case 3:
					err = on.post(user, "hello")
				}
				switch got := reason(err); got {
				case "OK", "NOT_BANNED", "MUTE_ACTIVE", "USER_BANNED", "USER_MUTED":
				default:
					t.Errorf("change %d ended with %s: %v", i, got, err)
				}
			})
		}
		wait.Wait()
		a.events() // checks that the sequence has no gap
	})
}
