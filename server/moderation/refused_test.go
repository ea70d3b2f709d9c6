package moderation_test

import (
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/authn"
	"github.com/moderato-live/moderato/server/servertest"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/storetest"
)

// TestMuteIsNotRefusedForMuteThatNeverHappened lets two mutes of a user share a transaction,
// and breaks its connection when the second one is refused and undone. The token of the first
// caller expires before the retry, so that only the second one can mute the user. It skips
// SQLite, where any other transaction that waits keeps the two apart.
func TestMuteIsNotRefusedForMuteThatNeverHappened(t *testing.T) {
	storetest.OneServer(t, func(t *testing.T, url store.URL) {
		gate := &storetest.Gate{}
		config := servertest.Config(url)
		config.DBLayer = gate.Layer()
		s := servertest.Start(t, config)
		s.Load(t, servertest.World()...)
		d := newDrive(t, s)
		expires := s.Token(t, authn.NewToken{
			Kind: authn.User, ClientID: servertest.Dashboard, UserID: servertest.Owner, Scopes: authn.Scopes(), Lifetime: time.Minute,
		})
		var isBroken atomic.Bool
		gate.Fail(func(query string) (int, error) {
			if !strings.HasPrefix(query, "ROLLBACK TO") || isBroken.Swap(true) {
				return 0, nil
			}
			s.Store.Clock.Advance(2 * time.Minute)
			return 0, io.ErrUnexpectedEOF
		})
		release := d.holdChannel(t)
		var all sync.WaitGroup
		// One call has its turn already: the first mute, or this one, which has no priority over
		// the mutes and changes nothing.
		all.Go(func() {
			wantReason(t, func() error { _, err := d.ban(servertest.Other, servertest.Raider); return err }(), "NOT_CHANNEL_MODERATOR")
		})
		all.Go(func() {
			_, err := d.Moderation.MuteUser(expires.Context(), &moderatov1.MuteUserRequest{
				ChannelId: servertest.Owner.String(), MutedUserId: servertest.Raider.String(),
			})
			wantReason(t, err, "TOKEN_EXPIRED")
		})
		d.waitForWaiting(t, 1)
		all.Go(func() {
			_, err := d.mute(servertest.Moderator, servertest.Raider)
			wantReason(t, err, "OK")
		})
		d.waitForWaiting(t, 2)
		release()
		all.Wait()
		if !isBroken.Load() {
			t.Error("no connection was broken")
		}
	})
}
