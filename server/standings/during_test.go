package standings_test

import (
	"testing"

	"github.com/moderato-live/moderato/server/servertest"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/storetest"
)

// TestChangesDuringSnapshotFollow bans and unbans users after a snapshot has read the bans,
// and before it is complete.
func TestChangesDuringSnapshotFollow(t *testing.T) {
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
