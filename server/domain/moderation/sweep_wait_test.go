package moderation_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/ban"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

const (
	readOfChunks = "FROM `sweep_chunks` WHERE `sweep_chunks`.`sweep_id` ="
	readOfSweep  = "FROM `sweeps` WHERE `sweeps`.`id` ="
)

// TestCommitIsNotRefusedOnceItHasBanned overloads the database after a sweep has banned its
// user and before the commit responds: the response has the batch, with which the sweep can be
// undone. SQLite has one writer, so that one transaction overloads it.
func TestCommitIsNotRefusedOnceItHasBanned(t *testing.T) {
	for name, key := range map[string]string{"without a key": "", "with a key": "overloaded"} {
		t.Run(name, func(t *testing.T) {
			gate := &storetest.Gate{}
			config := servertest.Config(storetest.SQLite(t))
			config.DBLayer, config.MaxWait = gate.Layer(), time.Second
			s := servertest.Start(t, config)
			s.Load(t, servertest.World()...)
			d := newDrive(t, s)
			raider := d.raid(1, "free sub")[0]
			token := d.mustPreview().GetSweepToken()
			d.during(gate.Shut(readOfChunks), func() {
				if key == "" {
					d.mustBeComplete(d.commit(servertest.Moderator, token))
				} else {
					d.mustBeComplete(d.commitWithKey(key, token))
				}
			}, func() {
				<-gate.Move(readOfSweep)
				release := d.lockWriter()
				defer release()
				gate.Open()
				// The second one begins to wait after the commit, and is refused nevertheless.
				for range 2 {
					_, err := d.ban(servertest.Owner, servertest.Viewer)
					wantReason(t, err, "OVERLOADED")
				}
			})
			if !d.standing(raider).GetIsBanned() {
				t.Error("the user is not banned")
			}
			if key != "" {
				d.mustBeComplete(d.commitWithKey(key, token))
			}
		})
	}
}

// TestCommitRespondsWithinTheCall holds back a sweep for longer than its call may take, which
// is less than the commit waits.
func TestCommitRespondsWithinTheCall(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		gate := &storetest.Gate{}
		config := servertest.Config(url)
		config.DBLayer, config.SweepWait = gate.Layer(), time.Minute
		s := servertest.Start(t, config)
		s.Load(t, servertest.World()...)
		d := newDrive(t, s)
		raider := d.raid(1, "free sub")[0]
		token := d.mustPreview().GetSweepToken()
		gate.Shut(readOfChunks)
		ctx, cancel := context.WithTimeout(d.creds[servertest.Moderator].Context(), 5*time.Second)
		defer cancel()
		r, err := d.Moderation.CommitSweep(ctx, &moderatov1.CommitSweepRequest{ChannelId: servertest.Owner.String(), SweepToken: token})
		gate.Open()
		if err != nil || r.GetStatus() != "IN_PROGRESS" || r.GetBatchId() == "" {
			t.Errorf("got %v and %v", r, err)
		}
		d.Store.Clock.Advance(time.Minute)
		if err := d.completer().Complete(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !d.standing(raider).GetIsBanned() {
			t.Error("the user is not banned")
		}
	})
}

// TestWaitingSweepsDelayNoOtherChannel has many sweeps to complete in a channel whose changes
// wait, and one in another channel, which is due last. The job of the server comes to it
// nevertheless.
func TestWaitingSweepsDelayNoOtherChannel(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		gate := &storetest.Gate{}
		config := servertest.Config(url)
		config.DBLayer = gate.Layer()
		s := servertest.Start(t, config)
		s.Load(t, servertest.World()...)
		d := newDrive(t, s)
		users := servertest.AddUsers(t, d.Store, 26)
		turn, err := d.Store.ChangeQueues.AcquireLong(t.Context(), servertest.Owner)
		if err != nil {
			t.Fatal(err)
		}
		held := gate.Shut(readOfChunks)
		d.write(func(tx *ent.Tx) error {
			for i, user := range users[1:] {
				if err := interruptedSweep(tx, servertest.Owner, user, instant.Instant(i+1)); err != nil {
					return err
				}
			}
			return interruptedSweep(tx, servertest.Other, users[0], 100)
		})
		select {
		case <-held: // no sweep of the first channel comes this far
		case <-time.After(time.Minute):
			t.Error("the sweep of the other channel waits")
		}
		gate.Open()
		turn.End()
		if err := d.completer().Complete(t.Context()); err != nil {
			t.Fatal(err)
		}
		isBanned, err := d.Store.Read.Ban.Query().Where(ban.ChannelID(servertest.Other), ban.UserID(users[0])).Exist(t.Context())
		if err != nil || !isBanned {
			t.Errorf("the user is not banned in the other channel (%v)", err)
		}
	})
}

// interruptedSweep stores a sweep, whose server stopped before it banned a user.
func interruptedSweep(tx *ent.Tx, channel, user uid.ID, dueAt instant.Instant) error {
	ctx, id, batch := context.Background(), digest.Of(uid.New().String()), uid.New()
	err := tx.BanBatch.Create().SetID(batch).SetChannelID(channel).SetModeratorID(channel).SetCreatedAt(1).SetBannedCount(0).
		SetFirstSequence(1).SetLastSequence(0).Exec(ctx)
	if err != nil {
		return err
	}
	err = tx.Sweep.Create().SetID(id).SetChannelID(channel).SetUserID(channel).SetModeratorID(channel).SetBatchID(batch).
		SetExemptFollowAge(0).SetExemptSubscribers(true).SetExpiresAt(1).SetDueAt(dueAt).Exec(ctx)
	if err != nil {
		return err
	}
	return tx.SweepChunk.Create().SetID(uid.New()).SetSweepID(id).SetChannelID(channel).SetNumber(0).SetUserIds(user[:]).Exec(ctx)
}

// during runs a call, and an action once the call has come to a query that is held. It returns
// when both have.
func (d *drive) during(held <-chan storetest.Statement, call, action func()) {
	d.t.Helper()
	var called sync.WaitGroup
	called.Go(call)
	<-held
	action()
	called.Wait()
}

func (d *drive) mustBeComplete(r *moderatov1.CommitSweepResponse, err error) {
	d.t.Helper()
	if err != nil || r.GetStatus() != "COMPLETE" || r.GetCounts().GetBanned() != 1 {
		d.t.Errorf("the commit returns %v and %v", r, err)
	}
}

// lockWriter keeps other transactions of the server from beginning until release is called.
func (d *drive) lockWriter() (release func()) {
	held, released := make(chan struct{}), make(chan struct{})
	hold := sync.OnceFunc(func() { close(held) })
	var holder sync.WaitGroup
	holder.Go(func() {
		d.write(func(*ent.Tx) error {
			hold()
			<-released
			return nil
		})
	})
	<-held
	return func() {
		close(released)
		holder.Wait()
	}
}
