package moderation_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/moderato-live/moderato/ent"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestBanOvertakesQueuedFollows bans while many follows are queued: only the follow that
// already runs is completed before the ban.
func TestBanOvertakesQueuedFollows(t *testing.T) {
	const follows = 6
	each(t, func(t *testing.T, d *drive) {
		users := addUsers(t, d.Server, follows)
		backend := d.AsService(t).Context()
		release := d.lockChannel(t)
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
		d.waitForWaiting(t, follows-1)
		call(func() error { _, err := d.ban(servertest.Moderator, servertest.Raider); return err })
		d.waitForWaiting(t, follows)
		release()
		all.Wait()
		types := d.eventTypes()
		if at := slices.Index(types, "channel.ban"); at != 1 {
			t.Errorf("got the ban after %d follows, want one: %v", at, types)
		}
		if len(types) != follows+2 {
			t.Errorf("got %d events, want %d: %v", len(types), follows+2, types)
		}
	})
}

// TestOnlyModeratorsHavePriority has users without any role make calls that are for
// moderators. The ban of a moderator must overtake them: many users, because each has its
// turn. The order of the responses would not
// show it: a call leaves the queue before it commits.
func TestOnlyModeratorsHavePriority(t *testing.T) {
	const tries = 20
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		d, recorder := newRecordedDrive(t, url)
		var callers []context.Context // their tokens are written before the database is locked
		for _, user := range addUsers(t, d.Server, tries) {
			callers = append(callers, d.As(t, user).Context())
		}
		release := d.lockChannel(t)
		earlier := len(recorder.Sent())
		var all sync.WaitGroup
		call := func(do func() error, want string) { all.Go(func() { wantReason(t, do(), want) }) }
		for _, as := range callers {
			call(func() error {
				_, err := d.Moderation.MuteUser(as, &moderatov1.MuteUserRequest{ChannelId: servertest.Owner.String(), MutedUserId: servertest.Viewer.String()})
				return err
			}, "NOT_CHANNEL_MODERATOR")
		}
		d.waitForWaiting(t, tries-1)
		call(func() error { _, err := d.ban(servertest.Moderator, servertest.Raider); return err }, "OK")
		d.waitForWaiting(t, tries)
		release()
		all.Wait()
		// In its turn, a call requests the lock of the channel, and then reads about its target.
		turns, ofBan := 0, 0
		for _, sent := range recorder.Sent()[earlier:] {
			if strings.Contains(sent.Text, locksChannel) {
				turns++
			}
			if slices.ContainsFunc(sent.Args, isID(servertest.Raider)) {
				ofBan = turns
			}
		}
		// The first turn is that of the try that held it already. The database may have
		// requested to repeat a transaction.
		if ofBan == 0 || ofBan > 3 {
			t.Errorf("the ban was made in turn %d of %d, want the second", ofBan, turns)
		}
	})
}

// addUsers adds users and returns their ids.
func addUsers(t *testing.T, s *servertest.Server, n int) []uid.ID {
	t.Helper()
	users, records := make([]uid.ID, n), make([]*platformv1.Record, n)
	for i := range users {
		users[i] = uid.New()
		name := fmt.Sprintf("late-%d", i)
		records[i] = &platformv1.Record{Kind: &platformv1.Record_User{User: &platformv1.UserRecord{Id: users[i].String(), Username: name, DisplayName: name}}}
	}
	s.Load(t, records...)
	return users
}

// isID returns a function that reports whether an argument of a statement is an id.
func isID(id uid.ID) func(any) bool {
	return func(arg any) bool {
		b, ok := arg.([]byte)
		return ok && bytes.Equal(b, id[:])
	}
}

// TestBackendChangesQueue puts and deletes records that need the lock of a channel while
// another change holds it.
func TestBackendChangesQueue(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		backend, channel := d.AsService(t).Context(), servertest.Owner.String()
		at := timestamppb.Now()
		clip := &platformv1.ClipRecord{ClipId: uid.New().String(), ChannelId: channel, CreatorId: servertest.Viewer.String(), Title: "A clip"}
		vod := &platformv1.VodRecord{Id: uid.New().String(), ChannelId: channel, Title: "A video", StartedAt: at, EndedAt: at}
		gift, err := structpb.NewStruct(map[string]any{"userId": servertest.Viewer.String()})
		if err != nil {
			t.Fatal(err)
		}
		activity := &platformv1.ActivityRecord{ChannelId: channel, Key: "k", Type: "gift", Info: gift}
		_, clipErr := d.Content.PutClip(backend, &platformv1.PutClipRequest{Clip: clip})
		_, vodErr := d.Content.PutVod(backend, &platformv1.PutVodRequest{Vod: vod})
		if err := errors.Join(clipErr, vodErr); err != nil {
			t.Fatal(err)
		}
		release := d.lockChannel(t)
		var all sync.WaitGroup
		for waiting, call := range []func() error{
			func() error { _, err := d.ban(servertest.Moderator, servertest.Raider); return err }, // one of them holds the slot
			func() error { _, err := d.Content.PutClip(backend, &platformv1.PutClipRequest{Clip: clip}); return err },
			func() error { _, err := d.Content.PutVod(backend, &platformv1.PutVodRequest{Vod: vod}); return err },
			func() error {
				_, err := d.Content.DeleteClip(backend, &platformv1.DeleteClipRequest{ClipId: clip.GetClipId()})
				return err
			},
			func() error {
				_, err := d.Content.DeleteVod(backend, &platformv1.DeleteVodRequest{VodId: vod.GetId()})
				return err
			},
			func() error {
				_, err := d.Content.PutActivity(backend, &platformv1.PutActivityRequest{Activity: activity})
				return err
			},
			func() error {
				_, err := d.Directory.PutChannel(backend, &platformv1.PutChannelRequest{Channel: &platformv1.ChannelRecord{Id: channel, Title: "A title", Lang: "en"}})
				return err
			},
		} {
			all.Go(func() {
				if err := call(); err != nil {
					t.Errorf("call %d: %v", waiting, err)
				}
			})
			d.waitForWaiting(t, waiting)
		}
		release()
		all.Wait()
	})
}

// TestCancelledCallLeavesQueue has a moderator cancel a ban while another change holds
// the channel: the ban does not happen, and the other queued changes do.
func TestCancelledCallLeavesQueue(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		release := d.lockChannel(t)
		var beside sync.WaitGroup
		for _, user := range []uid.ID{servertest.Raider, servertest.Other} {
			beside.Go(func() {
				if _, err := d.ban(servertest.Moderator, user); err != nil {
					t.Error(err)
				}
			})
		}
		d.waitForWaiting(t, 1)
		ctx, hangUp := context.WithCancel(d.creds[servertest.Owner].Context())
		ended := make(chan error, 1)
		go func() {
			_, err := d.Moderation.BanUser(ctx, &moderatov1.BanUserRequest{ChannelId: servertest.Owner.String(), BanUserId: servertest.Moderator.String()})
			ended <- err
		}()
		d.waitForWaiting(t, 2)
		hangUp()
		if err := <-ended; status.Code(err) != codes.Canceled {
			t.Errorf("got %v, want CANCELED", err)
		}
		d.waitForWaiting(t, 1)
		release()
		beside.Wait()
		d.waitForMetric(t, `moderato_requests_total{code="CANCELED",method="/moderato.v1.ModerationService/BanUser",transport="grpc"} 1`)
		d.wantEvents(slices.Repeat([]string{"channel.ban", "channel.chat.clear_user_messages"}, 2)...)
	})
}

// lockChannel locks the channel until release is called, as a change on another server
// does.
func (d *drive) lockChannel(t *testing.T) (release func()) {
	t.Helper()
	locked, released := make(chan struct{}), make(chan struct{})
	lock := sync.OnceFunc(func() { close(locked) }) // the transaction may be retried
	ended := make(chan error, 1)
	go func() {
		ended <- d.Store.Write(context.Background(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
			var id uid.ID
			err := store.QueryRow(ctx, tx, "SELECT id FROM channels WHERE id = ?"+d.Store.ForUpdate(), []any{servertest.Owner}, &id)
			if err == nil {
				lock()
				<-released
			}
			return err
		})
	}()
	select {
	case <-locked:
	case err := <-ended:
		t.Fatal(err)
	}
	release = sync.OnceFunc(func() {
		close(released)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(release) // also after a failure: the server would not stop
	return release
}

// waitForWaiting waits until the server's metric reports this number of queued changes.
func (d *drive) waitForWaiting(t testing.TB, n int) {
	t.Helper()
	d.waitForMetric(t, fmt.Sprintf("moderato_changes_waiting %d", n))
}

// waitForMetric waits until the server's metrics contain a line.
func (d *drive) waitForMetric(t testing.TB, line string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		metrics := adminGet(t, d.Server, "/metrics").Body
		if strings.Contains(metrics, "\n"+line+"\n") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the metrics never contain %s:\n%s", line, metrics)
		}
	}
}
