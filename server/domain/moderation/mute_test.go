package moderation_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/mute"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/server/domain/moderation"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

func newExpirer(d *drive) *moderation.Expirer { return &moderation.Expirer{Store: d.Store} }

// frozen freezes the server's clock at the current time of the database.
func frozen(t *testing.T, d *drive) instant.Instant {
	t.Helper()
	now, err := d.Store.Clock.Now(context.Background(), d.Store.Read)
	if err != nil {
		t.Fatal(err)
	}
	d.Store.Clock.Freeze(now)
	return now
}

func TestMuteLastsExactlyTenMinutes(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		d.mustPost(servertest.Raider, "before")
		start := frozen(t, d)
		mute := d.mustMute(servertest.Moderator, servertest.Raider)
		end := start.Add(10 * time.Minute)
		if got := instant.OfProto(mute.GetMuteExpiresAt()); got != end {
			t.Errorf("the mute ends at %s, want %s", got, end)
		}
		d.wantVisible()

		d.Store.Clock.Freeze(end - 1)
		err := d.post(servertest.Raider, "too early")
		wantReason(t, err, "USER_MUTED")
		if got := metadataOf(err)["muteExpiresAt"]; got != end.String() {
			t.Errorf("the error has the expiration %q, want %q", got, end)
		}
		if st := d.standing(servertest.Raider); st.GetCanPost() || !st.GetMuteExpiresAt().AsTime().Equal(end.Time()) {
			t.Errorf("standing in the last millisecond: %v", st)
		}

		d.Store.Clock.Freeze(end)
		d.mustPost(servertest.Raider, "free again")
		if st := d.standing(servertest.Raider); !st.GetCanPost() || st.GetMuteExpiresAt() != nil {
			t.Errorf("standing after the lapse: %v", st)
		}
		d.wantVisible("free again")
	})
}

func metadataOf(err error) map[string]string {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			return info.GetMetadata()
		}
	}
	return nil
}

func TestMuteOfMutedUserReportsExpiration(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		d.mustMute(servertest.Moderator, servertest.Raider)
		end := start.Add(10 * time.Minute)
		d.Store.Clock.Freeze(end - 1)
		r := d.REST(t, d.creds[servertest.Owner], http.MethodPost, "/v1/moderation/mute", channelBody(`"mutedUserId":"`+servertest.Raider.String()+`"`))
		if r.Status != http.StatusConflict || !strings.Contains(r.Body, `"muteExpiresAt":"`+end.String()+`"`) {
			t.Errorf("got %d %s", r.Status, r.Body)
		}
		if got := r.Header.Get("Retry-After"); got != "1" { // one millisecond, rounded up
			t.Errorf("Retry-After is %q, want 1", got)
		}
		d.wantEvents("channel.mute", "channel.chat.clear_user_messages")
	})
}

func TestMuteSucceedsFromExpirationOn(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		d.mustMute(servertest.Moderator, servertest.Raider)
		end := start.Add(10 * time.Minute)
		d.Store.Clock.Freeze(end)
		mute := d.mustMute(servertest.Owner, servertest.Raider)
		if got, want := instant.OfProto(mute.GetMuteExpiresAt()), end.Add(10*time.Minute); got != want {
			t.Errorf("the second mute ends at %s, want %s", got, want)
		}
		// The lapse is emitted before the new mute, by whichever notices it first.
		d.wantEvents("channel.mute", "channel.chat.clear_user_messages", "channel.mute.expire",
			"channel.mute", "channel.chat.clear_user_messages")
		expire := d.events()[2]
		got := payload(t, expire)
		if got["mutedUserId"] != servertest.Raider.String() || got["moderatorId"] != servertest.Moderator.String() || got["muteExpiredAt"] != end.String() {
			t.Errorf("payload of channel.mute.expire: %v", got)
		}
	})
}

func TestMuteLapseIsEmittedOnceBySeveralExpirers(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		frozen(t, d)
		d.mustMute(servertest.Moderator, servertest.Raider)
		d.mustMute(servertest.Moderator, servertest.Viewer)
		d.Store.Clock.Freeze(instant.Of(d.Store.Clock.Local().Time().Add(10 * time.Minute)))
		sweeps := make(chan error)
		for range 4 {
			go func() {
				sweeps <- newExpirer(d).ExpireMutes(context.Background())
			}()
		}
		for range 4 {
			if err := <-sweeps; err != nil {
				t.Error(err)
			}
		}
		d.wantEvents("channel.mute", "channel.chat.clear_user_messages", "channel.mute", "channel.chat.clear_user_messages",
			"channel.mute.expire", "channel.mute.expire")
		if left, err := d.Store.Read.Mute.Query().Count(context.Background()); err != nil || left != 0 {
			t.Errorf("%d mutes are left (%v)", left, err)
		}
		// The lapse has no actor; the event is found by the moderator who applied the
		// mute.
		if e := d.events()[4]; e.ActorID == nil || *e.ActorID != servertest.Moderator || e.ClientID != "" {
			t.Errorf("got actor %v and client %q, want the moderator and no client", e.ActorID, e.ClientID)
		}
	})
}

func TestExpirerKeepsActiveMutes(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		d.mustMute(servertest.Moderator, servertest.Raider)
		if err := newExpirer(d).ExpireMutes(context.Background()); err != nil {
			t.Fatal(err)
		}
		wantReason(t, d.post(servertest.Raider, "still muted"), "USER_MUTED")
		d.wantEvents("channel.mute", "channel.chat.clear_user_messages")
	})
}

// TestFailedLapseDoesNotDelayOthers breaks the sequence of one channel, so that no event
// can be written there.
func TestFailedLapseDoesNotDelayOthers(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		ctx := context.Background()
		frozen(t, d)
		d.mustMute(servertest.Owner, servertest.Viewer)
		now := d.Store.Clock.Local()
		err := d.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
			return tx.Mute.Create().SetChannelID(servertest.Other).SetUserID(servertest.Raider).SetModeratorID(servertest.Other).
				SetMutedAt(now).SetExpiresAt(now.Add(10*time.Minute + time.Second)). // after the other
				Exec(ctx)
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Store.DB().Exec("UPDATE channels SET event_sequence = 0"); err != nil {
			t.Fatal(err)
		}
		d.Store.Clock.Freeze(now.Add(11 * time.Minute))
		if err := newExpirer(d).ExpireMutes(ctx); err == nil {
			t.Error("the failure is not reported")
		}
		if n := storetest.Must(d.Store.Read.Mute.Query().Where(mute.ChannelID(servertest.Other)).Count(ctx)); n != 0 {
			t.Error("the other channel waits for it")
		}
	})
}
