package moderation_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent"
	entsweep "github.com/moderato-live/moderato/ent/sweep"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/moderation"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// examines is a part of the statement with which a preview reads messages.
const examines = "SELECT m.id, m.user_id, m.generation, m.text, m.sent_at"

// TestPreviewsAtOnceAreBounded makes previews that do not end, until one is refused because
// it would wait too long. Other calls go on, and so do previews afterwards.
func TestPreviewsAtOnceAreBounded(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		gate := &storetest.Gate{}
		config := servertest.Config(url)
		config.DBLayer, config.MaxWait = gate.Layer(), time.Second
		s := servertest.Start(t, config)
		s.Load(t, servertest.World()...)
		d := newDrive(t, s)
		raider := d.raid(1, "free sub")[0]
		held, ended := gate.Shut(examines), make(chan error)
		running := 0
		for refused := false; !refused; {
			go func() {
				_, err := d.preview(servertest.Moderator)
				ended <- err
			}()
			select {
			case <-held:
				if running++; running > 2 {
					t.Fatal("more than two previews examine messages at the same time")
				}
			case err := <-ended:
				wantReason(t, err, "OVERLOADED")
				refused = true
			}
		}
		if running == 0 {
			t.Fatal("the first preview was refused")
		}
		if r := d.REST(t, d.creds[servertest.Owner], "POST", sweepsPath, channelBody(`"phrase":"x","withinSeconds":60`)); r.Status != 503 || r.Header.Get("Retry-After") == "" {
			t.Errorf("over REST: %d %v %s", r.Status, r.Header, r.Body)
		}
		d.mustBan(servertest.Moderator, servertest.Viewer)
		gate.Open()
		for range running {
			if err := <-ended; err != nil {
				t.Errorf("a preview that was not refused: %v", err)
			}
		}
		if n := storetest.Must(s.Store.Read.Sweep.Query().Count(t.Context())); n != running {
			t.Errorf("%d previews are stored, want %d", n, running)
		}
		d.wantMatched("afterwards", d.mustPreview(), raider)
	})
}

// TestFailedPreviewsLeaveTheGate makes more previews fail than may examine at once.
func TestFailedPreviewsLeaveTheGate(t *testing.T) {
	gate := &storetest.Gate{}
	config := servertest.Config(storetest.SQLite(t))
	config.DBLayer, config.MaxWait = gate.Layer(), time.Second
	s := servertest.Start(t, config)
	s.Load(t, servertest.World()...)
	d := newDrive(t, s)
	gate.Fail(func(query string) (int, error) {
		if strings.Contains(query, examines) {
			return 0, errors.New("the disk is gone")
		}
		return 0, nil
	})
	for range 3 {
		_, err := d.preview(servertest.Moderator)
		wantReason(t, err, "INTERNAL")
	}
	gate.Fail(nil)
	if r := d.mustPreview(); r.GetMatched() != 0 {
		t.Errorf("matched %v", r)
	}
}

// TestOldSweepsAreRemoved has the job remove previews that nobody committed and sweeps that
// are complete, each at its time and with the users whom it was to ban.
func TestOldSweepsAreRemoved(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		d.raid(1, "free sub")
		remains := func(what string, after time.Duration, sweeps int) {
			t.Helper()
			d.Store.Clock.Freeze(start.Add(after))
			if more, err := d.completer().RemoveOld(t.Context()); more || err != nil {
				t.Errorf("%s: more is %t (%v)", what, more, err)
			}
			if n := storetest.Must(d.Store.Read.Sweep.Query().Count(t.Context())); n != sweeps {
				t.Errorf("%s: %d sweeps, want %d", what, n, sweeps)
			}
		}
		token := d.mustPreview().GetSweepToken()
		unused := d.mustPreview().GetSweepToken()
		d.mustCommit(token)
		inProgress := d.mustCommit(d.mustPreview(followed(60), noText).GetSweepToken())
		d.interrupt(inProgress.GetBatchId(), servertest.Viewer)
		d.write(func(tx *ent.Tx) error {
			return tx.Sweep.Update().Where(entsweep.BatchID(uid.MustParse(inProgress.GetBatchId()))).ClearRemoveAt().
				SetDueAt(start.Add(48 * time.Hour)).Exec(t.Context()) // so that the server's job does not complete it
		})
		d.wantChunks(2)
		remains("10 minutes after the token", 15*time.Minute-time.Millisecond, 3)
		_, err := d.commit(servertest.Moderator, unused)
		wantReason(t, err, "SWEEP_EXPIRED")
		remains("from then on", 15*time.Minute, 2)
		_, err = d.commit(servertest.Moderator, unused)
		wantReason(t, err, "SWEEP_NOT_FOUND")
		d.wantChunks(1)
		_, err = d.commit(servertest.Moderator, token)
		wantReason(t, err, "SWEEP_EXPIRED")
		remains("a day after the commit", 24*time.Hour-time.Millisecond, 2)
		remains("from then on, one in progress", 24*time.Hour, 1)
		_, err = d.commit(servertest.Moderator, token)
		wantReason(t, err, "SWEEP_NOT_FOUND")
		d.wantChunks(1)
		list, err := d.Moderation.ListBanBatches(d.creds[servertest.Owner].Context(), &moderatov1.ListBanBatchesRequest{ChannelId: servertest.Owner.String()})
		if err != nil || len(list.GetRows()) != 2 {
			t.Errorf("the batches are %v (%v)", list, err)
		}
		d.undo(inProgress.GetBatchId(), false)
		remains("a day after the undo", 48*time.Hour, 0)
	})
}

// TestOldSweepsAreRemovedInParts has more old sweeps than one run of the job removes.
func TestOldSweepsAreRemovedInParts(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		storetest.Migrate(t, url)
		db, err := store.Open(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		err = db.Write(t.Context(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
			var sweeps []*ent.SweepCreate
			for i := range 21 {
				sweeps = append(sweeps, tx.Sweep.Create().SetID(digest.Of(fmt.Sprint(i))).SetChannelID(servertest.Owner).SetUserID(servertest.Owner).
					SetExemptFollowAge(0).SetExemptSubscribers(true).SetExpiresAt(1).SetRemoveAt(1))
			}
			return tx.Sweep.CreateBulk(sweeps...).Exec(ctx)
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []bool{true, false} {
			if more, err := (&moderation.SweepCompleter{Store: db}).RemoveOld(t.Context()); more != want || err != nil {
				t.Errorf("more is %t, want %t (%v)", more, want, err)
			}
		}
		if n := storetest.Must(db.Read.Sweep.Query().Count(t.Context())); n != 0 {
			t.Errorf("%d sweeps are left", n)
		}
	})
}
