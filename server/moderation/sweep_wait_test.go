package moderation_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/servertest"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/storetest"
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
				release := d.holdWriter()
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

// holdWriter keeps other transactions of the server from beginning until release is called.
func (d *drive) holdWriter() (release func()) {
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
