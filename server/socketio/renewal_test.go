package socketio_test

import (
	"context"
	"testing"

	"github.com/moderato-live/moderato/ent"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/servertest"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/storetest"
)

// startGated starts a server whose queries pass a gate.
func startGated(t *testing.T, url store.URL) (*servertest.Server, *storetest.Gate) {
	t.Helper()
	gate := &storetest.Gate{}
	config := servertest.Config(url)
	config.DBLayer = gate.Layer()
	s := servertest.Start(t, config)
	s.Load(t, servertest.World()...)
	return s, gate
}

func revokeToken(t *testing.T, s *servertest.Server, c servertest.Credentials) {
	t.Helper()
	_, err := s.Access.RevokeToken(s.AsService(t).Context(), &platformv1.RevokeTokenRequest{Token: c.Token})
	must(t, servertest.OutcomeOf(err))
}

// TestRenewalDuringRevocationKeepsSubscription renews a subscription after the server has read
// that its token is the one that ended, and before the server removes the subscription.
func TestRenewalDuringRevocationKeepsSubscription(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		s, gate := startGated(t, url)
		first, second := s.As(t, servertest.Owner), s.As(t, servertest.Owner)
		c := connect(t, s)
		_, o := subscribe(t, s, first, c.Session, "channel.ban", servertest.Owner)
		must(t, o)
		held := gate.Shut("WHERE `event_subscriptions`.`id` = ?")
		revokeToken(t, s, first)
		<-held
		_, o = subscribe(t, s, second, c.Session, "channel.ban", servertest.Owner)
		must(t, o)
		gate.Open()
		ban(t, s, servertest.Raider)
		if m := c.Next(t); m.Metadata.MessageType != "notification" {
			t.Errorf("got %s, want the ban", m.Raw)
		}
	})
}

// TestRenewalOfSubscriptionThatEndsSubscribesAgain has a subscription end after the call that
// renews it has found it. On SQLite, such transactions wait for each other.
func TestRenewalOfSubscriptionThatEndsSubscribesAgain(t *testing.T) {
	storetest.OneServer(t, func(t *testing.T, url store.URL) {
		s, gate := startGated(t, url)
		owner := s.As(t, servertest.Owner)
		c := connect(t, s)
		first, o := subscribe(t, s, owner, c.Session, "channel.ban", servertest.Owner)
		must(t, o)
		held := gate.Shut("AND `event_subscriptions`.`type` = ?")
		renewed := make(chan servertest.Outcome)
		go func() {
			again, o := subscribe(t, s, owner, c.Session, "channel.ban", servertest.Owner)
			if again.GetId() == first.GetId() {
				t.Error("the subscription that ended was returned")
			}
			renewed <- o
		}()
		<-held
		err := s.Store.Write(t.Context(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
			_, err := tx.EventSubscription.Delete().Exec(ctx)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		gate.Open()
		must(t, <-renewed)
		ban(t, s, servertest.Raider)
		if m := c.Next(t); m.Metadata.MessageType != "notification" {
			t.Errorf("got %s, want the ban", m.Raw)
		}
	})
}

// TestRevocationSurvivesLostCommit loses the connection in the COMMIT that removes a
// subscription. The client must still be told.
func TestRevocationSurvivesLostCommit(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		cutter := &storetest.Cutter{}
		config := servertest.Config(url)
		config.DBLayer = cutter.Layer
		s := servertest.Start(t, config)
		s.Load(t, servertest.World()...)
		c, owner := connect(t, s), s.As(t, servertest.Owner)
		_, o := subscribe(t, s, owner, c.Session, "channel.ban", servertest.Owner)
		must(t, o)
		cutter.CutNext("Sessions.RemoveSubscription", storetest.AfterCommit)
		revokeToken(t, s, owner)
		if m := c.Next(t); m.Metadata.MessageType != "revocation" || cutter.Made() != 1 {
			t.Errorf("got %q after %d cuts, want a revocation after one", m.Raw, cutter.Made())
		}
	})
}
