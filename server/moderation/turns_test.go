package moderation_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/servertest"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
)

// TestABanGoesAheadOfTheFollowsThatWait bans while many wait to follow: only those
// who had asked for the channel's lock before are first, and one who
// asks at the same moment.
func TestABanGoesAheadOfTheFollowsThatWait(t *testing.T) {
	const follows, before = 6, 2
	each(t, func(t *testing.T, d *drive) {
		users := make([]uid.ID, follows)
		for i := range users {
			users[i] = uid.New()
			name := fmt.Sprintf("late-%d", i)
			d.Load(t, &platformv1.Record{Kind: &platformv1.Record_User{User: &platformv1.UserRecord{Id: users[i].String(), Username: name, DisplayName: name}}})
		}
		backend := d.AsService(t).Context()
		release := d.holdChannel(t)
		var all sync.WaitGroup
		call := func(do func() error) {
			all.Go(func() {
				if err := do(); err != nil {
					t.Error(err)
				}
			})
		}
		for _, user := range users {
			call(func() error {
				_, err := d.Audience.Follow(backend, &platformv1.FollowRequest{ChannelId: servertest.Owner.String(), UserId: user.String()})
				return err
			})
		}
		d.waitForWaiting(t, follows-before)
		call(func() error { _, err := d.ban(servertest.Moderator, servertest.Raider); return err })
		d.waitForWaiting(t, follows-before+1)
		release()
		all.Wait()
		// Two ask for the lock at once: the ban may be behind the one beside it.
		told := d.eventTypes()
		if at := slices.Index(told, "channel.ban"); at < 0 || at > before+1 {
			t.Errorf("got the ban after %d follows, want at most %d: %v", at, before+1, told)
		}
		if len(told) != follows+2 {
			t.Errorf("got %d events, want %d: %v", len(told), follows+2, told)
		}
	})
}

// holdChannel locks the channel as a change of another server would, until release.
func (d *drive) holdChannel(t *testing.T) (release func()) {
	t.Helper()
	held, released := make(chan struct{}), make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		ended <- d.Store.Write(context.Background(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
			var id uid.ID
			err := store.QueryRow(ctx, tx, "SELECT id FROM channels WHERE id = ?"+d.Store.ForUpdate(), []any{servertest.Owner}, &id)
			close(held)
			<-released
			return err
		})
	}()
	<-held
	release = sync.OnceFunc(func() {
		close(released)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(release) // also after a failure: the server would not stop
	return release
}

// waitForWaiting waits until the server's metric tells that so many changes wait.
func (d *drive) waitForWaiting(t *testing.T, n int) {
	t.Helper()
	want := fmt.Sprintf("\nmoderato_changes_waiting %d\n", n)
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		metrics := adminGet(t, d.Server, "/metrics").Body
		if strings.Contains(metrics, want) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("not %d changes wait:\n%s", n, metrics)
		}
	}
}
