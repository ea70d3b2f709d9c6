package standings_test

import (
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"

	"context"
)

const forever = 253402300799999

// slow turns on slow mode in a channel, or off.
func (d *drive) slow(channel uid.ID, seconds int64) {
	d.t.Helper()
	d.must(moderatov1.NewChatRulesServiceClient(d.Conn).UpdateChatSettings(d.as(channel), &moderatov1.UpdateChatSettingsRequest{
		ChannelId: channel.String(), SlowSeconds: &seconds,
	}))
}

// TestModesAreTold turns slow mode on and off, while chat servers listen and while they are
// away.
func TestModesAreTold(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, d *drive, there *servertest.Server) {
		d.slow(servertest.Owner, 30)
		w := watch(t, there, d.service, subscriber("chat-1"), nil)
		w.settle(there)
		if got := w.view.checks[servertest.Owner]; got != forever {
			t.Errorf("after the snapshot, messages are examined until %d", got)
		}
		d.slow(servertest.Other, 30)
		w.waitFor("a mode", func() bool { return w.view.checks[servertest.Other] == forever })
		d.slow(servertest.Other, 0)
		w.waitFor("no mode", func() bool { return w.view.checks[servertest.Other] == 0 })
		d.slow(servertest.Other, 30)
		w.waitFor("a mode", func() bool { return w.view.checks[servertest.Other] == forever && w.cursor != "" })
		w.settle(there)
		view, cursor := w.stop()
		d.slow(servertest.Owner, 0)
		w = watch(t, d.Server, d.service, withCursor(subscriber("chat-1"), cursor), view)
		w.settle(d.Server)
		w.waitFor("the end of a mode", func() bool { return w.view.checks[servertest.Owner] == 0 })
		if w.view.checks[servertest.Other] != forever || w.beginning.GetIsSnapshot() {
			t.Errorf("the stream resumes with %v and %v", w.beginning, w.view.checks)
		}
	})
}

// TestShieldsAreTold raises a shield whose preset has settings, and puts one with a rule.
func TestShieldsAreTold(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, d *drive, there *servertest.Server) {
		as := d.As(t, servertest.Owner).Context()
		client := moderatov1.NewChatRulesServiceClient(d.Conn)
		preset := func(p *moderatov1.UpdateShieldPresetRequest) {
			p.ChannelId = servertest.Owner.String()
			d.must(client.UpdateShieldPreset(as, p))
		}
		raise := func(isActive bool) {
			d.must(client.UpdateShield(as, &moderatov1.UpdateShieldRequest{ChannelId: servertest.Owner.String(), Active: &isActive}))
		}
		w := watch(t, there, d.service, subscriber("chat-1"), nil)
		w.settle(there)
		tells := func(what string, until int64) {
			t.Helper()
			w.waitFor(what, func() bool { return w.view.checks[servertest.Owner] == until })
		}
		preset(&moderatov1.UpdateShieldPresetRequest{Settings: &moderatov1.ShieldSettings{EmoteOnly: new(true)}})
		raise(true)
		tells("the shield", forever)
		raise(false)
		tells("the end of the shield", 0)
		preset(&moderatov1.UpdateShieldPresetRequest{Settings: &moderatov1.ShieldSettings{}, Rules: []*moderatov1.ChatRule{{Name: "a", Kind: "mentions", Action: "block", Max: new(int32(3))}}})
		tells("a rule of the preset", forever)
		w.waitFor("a cursor", func() bool { return w.cursor != "" })
		w.settle(there)
		view, cursor := w.stop()
		preset(&moderatov1.UpdateShieldPresetRequest{Settings: &moderatov1.ShieldSettings{}})
		w = watch(t, d.Server, d.service, withCursor(subscriber("chat-1"), cursor), view)
		w.settle(d.Server)
		tells("no rule", 0)
		if w.beginning.GetIsSnapshot() {
			t.Error("the stream does not resume")
		}
	})
}

// TestModesOfDeletedChannelAreNotTold deletes a channel with a mode, whose row no eraser removes.
func TestModesOfDeletedChannelAreNotTold(t *testing.T) {
	t.Parallel()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		gate := &storetest.Gate{}
		config := servertest.Config(url)
		config.DBLayer = gate.Layer()
		s := servertest.Start(t, config)
		s.Load(t, servertest.World()...)
		d := newDrive(t, s)
		d.slow(servertest.Other, 30)
		w := watch(t, s, d.service, subscriber("chat-1"), nil)
		w.settle(s)
		gate.Fail(withoutEraser)
		defer gate.Fail(nil)
		d.must(d.Directory.DeleteChannel(d.service.Context(), &platformv1.DeleteChannelRequest{ChannelId: servertest.Other.String()}))
		w.waitFor("the deletion", func() bool { return w.view.missing[servertest.Other] })
		time.Sleep(time.Second) // some looks
		w.settle(s)
		if got := w.view.checks[servertest.Other]; got != 0 {
			t.Errorf("messages of a deleted channel are examined until %d", got)
		}
	})
}

// TestManyModesAreTold has more channels with modes than one message or cursor names. A chat
// server that resumes is told of every one.
func TestManyModesAreTold(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, d *drive, there *servertest.Server) {
		all := servertest.AddChannels(t, d.Store, 4100)
		now := d.Store.Clock.Local()
		d.must(nil, d.Store.Write(t.Context(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
			var rows []*ent.ChatSettingsCreate
			for _, id := range all {
				rows = append(rows, tx.ChatSettings.Create().SetID(id).SetVersion(1).SetSettings(`{"values":{"slowSeconds":30}}`).SetHasChecks(true).SetChangedAt(now))
			}
			return tx.ChatSettings.CreateBulk(rows...).Exec(ctx)
		}))
		w := watch(t, there, d.service, subscriber("chat-1"), nil)
		w.settle(there)
		if len(w.view.checks) != len(all) {
			t.Errorf("the snapshot has %d channels with modes, want %d", len(w.view.checks), len(all))
		}
		_, cursor := w.stop()
		w = watch(t, d.Server, d.service, withCursor(subscriber("chat-1"), cursor), nil)
		w.settle(d.Server)
		if w.beginning.GetIsSnapshot() || w.changes != len(all) {
			t.Errorf("the stream resumes with %v and tells of %d channels, want %d", w.beginning, w.changes, len(all))
		}
	})
}
