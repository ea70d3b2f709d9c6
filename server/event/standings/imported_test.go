package standings_test

import (
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/test/servertest"
)

// TestImportBeginsStreamsAgain imports a ban, a mute or a role, of which no event tells, while a
// chat server listens and while it is away. It gets a new snapshot.
func TestImportBeginsStreamsAgain(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, d *drive, there *servertest.Server) {
		past := time.Now().Add(-time.Hour)
		users := servertest.AddUsers(t, d.Store, 6)
		records := func(of []uid.ID) []*platformv1.Record {
			ban := &platformv1.BanRecord{ChannelId: servertest.Owner.String(), UserId: of[0].String(), ModeratorId: servertest.Owner.String()}
			ban.BannedAt = timestamppb.New(past)
			mute := &platformv1.MuteRecord{ChannelId: servertest.Owner.String(), UserId: of[1].String(), ModeratorId: servertest.Owner.String()}
			mute.MutedAt, mute.ExpiresAt = timestamppb.New(past), timestamppb.New(past.Add(2*time.Hour))
			role := &platformv1.RoleRecord{ChannelId: servertest.Owner.String(), UserId: of[2].String(), Role: "vip"}
			return []*platformv1.Record{
				{Kind: &platformv1.Record_Ban{Ban: ban}}, {Kind: &platformv1.Record_Mute{Mute: mute}}, {Kind: &platformv1.Record_Role{Role: role}},
			}
		}
		everyone := append(everyone, users...)
		w := watch(t, there, d.service, subscriber("chat"), nil)
		w.wantSame(d.Server, d.service, channels, everyone)
		d.Load(t, records(users[:3])...)
		if reason := w.reason(); reason != "UNAVAILABLE" {
			t.Errorf("the stream ends with %s", reason)
		}
		view, cursor := w.view, w.cursor
		for round, isSnapshot := range []bool{true, false, true} {
			if round == 2 {
				// A stream that begins before the server sees the import would end too.
				other := watch(t, there, d.service, subscriber("other"), nil)
				other.wantSame(d.Server, d.service, channels, everyone)
				d.Load(t, records(users[3:])...)
				other.reason()
			}
			w = watch(t, there, d.service, withCursor(subscriber("chat"), cursor), view)
			w.wantSame(d.Server, d.service, channels, everyone)
			if w.beginning.GetIsSnapshot() != isSnapshot {
				t.Errorf("round %d begins with %v", round, w.beginning)
			}
			view, cursor = w.stop()
		}
	})
}
