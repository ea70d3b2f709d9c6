package standings_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestChangesDuringSnapshotFollow bans and unbans users after a snapshot has read the bans,
// and before it is complete.
func TestChangesDuringSnapshotFollow(t *testing.T) {
	t.Parallel()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		gate := &storetest.Gate{}
		config := servertest.Config(url)
		config.DBLayer = gate.Layer()
		there := servertest.Start(t, config)
		there.Load(t, servertest.World()...)
		d := newDrive(t, servertest.Start(t, servertest.Config(url)))
		d.ban(servertest.Owner, servertest.Raider, 0)
		held := gate.Shut("user_id, expires_at FROM mutes")
		w := watch(t, there, d.service, named(channels...), nil)
		<-held
		d.unban(servertest.Owner, servertest.Raider)
		d.ban(servertest.Other, servertest.Viewer, 0)
		sequence(t, d.Store) // the changes have their positions before the snapshot goes on
		gate.Open()
		w.wantSame(d.Server, d.service, channels, everyone)
		if w.changes < 2 {
			t.Errorf("the snapshot was followed by %d changes, want those that were made meanwhile", w.changes)
		}
	})
}

// TestStreamIsNotSilent holds back a snapshot, and then the event for which its state waits.
// Responses with nothing but the time come meanwhile.
func TestStreamIsNotSilent(t *testing.T) {
	t.Parallel()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		gate := &storetest.Gate{}
		config := servertest.Config(url)
		config.DBLayer = gate.Layer()
		s := servertest.Start(t, config)
		s.Load(t, servertest.World()...)
		d := newDrive(t, s)
		gate.Fail(withoutSequencer)
		d.ban(servertest.Owner, servertest.Raider, 0)
		held := gate.Shut("user_id, expires_at FROM mutes")
		w := watch(t, s, d.service, named(channels...), nil)
		<-held
		w.waitFor("a response during the snapshot", func() bool { return w.bare > 0 })
		gate.Open()
		var before int
		w.waitFor("the end of the snapshot", func() bool { before = w.bare; return len(w.view.roles) > 0 })
		w.waitFor("a response before the state is complete", func() bool { return w.bare > before })
		if w.complete > 0 || w.cursor != "" || w.asOf != 0 {
			t.Error("the state is complete before the event of the ban has a position")
		}
		gate.Fail(nil)
		w.wantSame(s, d.service, channels, everyone)
	})
}

// withoutSequencer fails the statements with which events get their positions.
func withoutSequencer(query string) (int, error) {
	if strings.HasPrefix(query, "UPDATE events") && strings.Contains(query, " SET position = ") {
		return 0, errors.New("a fault")
	}
	return 0, nil
}
