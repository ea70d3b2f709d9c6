package moderation_test

import (
	"context"
	"testing"
	"time"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/moderation"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestRaidDoesNotDelayLapsesOfOtherChannels has many mutes lapse in a channel whose
// changes are blocked, and one mute in another channel.
func TestRaidDoesNotDelayLapsesOfOtherChannels(t *testing.T) {
	const raiders = 150 // more than one batch of a channel
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		s := servertest.Start(t, servertest.Config(url))
		s.Load(t, servertest.World()...)
		var mutes []uid.ID
		for range raiders {
			id := uid.New()
			s.Load(t, &platformv1.Record{Kind: &platformv1.Record_User{User: &platformv1.UserRecord{Id: id.String(), Username: "u" + id.String()}}})
			mutes = append(mutes, id)
		}
		mute := func(channel, user uid.ID) {
			t.Helper()
			body := `{"channelId":"` + channel.String() + `","mutedUserId":"` + user.String() + `"}`
			if r := s.REST(t, s.As(t, channel), "POST", "/v1/moderation/mute", body); r.Status != 200 {
				t.Fatal(r.Body)
			}
		}
		for _, user := range mutes {
			mute(servertest.Owner, user)
		}
		mute(servertest.Other, servertest.Raider)
		turn, err := s.Store.ChangeQueues.Acquire(t.Context(), servertest.Owner) // blocks the changes of the raided channel
		if err != nil {
			t.Fatal(err)
		}
		s.Store.Clock.Advance(moderation.MuteDuration + time.Second)
		left := func(channel uid.ID) (n int) {
			t.Helper()
			err := store.QueryRow(context.Background(), s.Store.Read, "SELECT COUNT(*) FROM mutes WHERE channel_id = ?", []any{channel}, &n)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		wantNone := func(channel uid.ID, within time.Duration) {
			t.Helper()
			for late := time.Now().Add(within); left(channel) > 0; time.Sleep(10 * time.Millisecond) {
				if time.Now().After(late) {
					t.Fatalf("%d mutes that lapsed are left", left(channel))
				}
			}
		}
		wantNone(servertest.Other, 3*time.Second)
		if n := left(servertest.Owner); n != raiders {
			t.Errorf("%d mutes are left in the channel whose changes wait, want %d", n, raiders)
		}
		turn.Release()
		wantNone(servertest.Owner, 20*time.Second)
	})
}
