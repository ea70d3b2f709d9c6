package socketio_test

import (
	"context"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/event/sessions"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

func TestSessionsEndWithTheirServer(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		one, two := servertest.Start(t, servertest.Config(url)), servertest.Start(t, servertest.Config(url))
		one.Load(t, servertest.World()...)
		c := connect(t, one)
		_, o := subscribe(t, one, one.As(t, servertest.Owner), c.Session, "channel.ban", servertest.Owner)
		must(t, o)
		one.Stop(t)
		if m := c.Next(t); m.Raw != "" {
			t.Errorf("got %s, want the end of the connection", m.Raw)
		}
		if n := storetest.Must(two.Store.Read.EventSession.Query().Count(t.Context())) + storetest.Must(two.Store.Read.EventSubscription.Query().Count(t.Context())); n != 0 {
			t.Errorf("%d rows are left", n)
		}
	})
}

// TestSubscriptionsOfErasedSessionsAreRemoved removes only the session, as the erasure of its
// user does. Its server does not run.
func TestSubscriptionsOfErasedSessionsAreRemoved(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		crashed := sessions.Sessions{Store: s.Store, ServerID: uid.New()}
		var ids [2]uid.ID
		for i := range ids {
			ids[i] = uid.New()
			if err := crashed.Add(t.Context(), ids[i]); err != nil {
				t.Fatal(err)
			}
			_, o := subscribe(t, s, s.As(t, servertest.Owner), ids[i].String(), "channel.ban", servertest.Owner)
			must(t, o)
		}
		err := s.Store.Write(t.Context(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
			return tx.EventSession.DeleteOneID(ids[0]).Exec(ctx)
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sessions.Tables[0].Expire(tables.Env{Store: s.Store}).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if row := storetest.Must(s.Store.Read.EventSubscription.Query().Only(t.Context())); row.SessionID != ids[1] {
			t.Errorf("the subscription of session %s is left, want that of %s", row.SessionID, ids[1])
		}
	})
}

// TestSessionsOfCrashedServersExpire has rows of a server that does not run.
func TestSessionsOfCrashedServersExpire(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		crashed := sessions.Sessions{Store: s.Store, ServerID: uid.New()}
		session := uid.New()
		if err := crashed.Add(t.Context(), session); err != nil {
			t.Fatal(err)
		}
		owner := s.As(t, servertest.Owner)
		_, o := subscribe(t, s, owner, session.String(), "channel.ban", servertest.Owner)
		must(t, o)
		s.Store.Clock.Advance(sessions.Lifetime + time.Second)
		if _, o := subscribe(t, s, owner, session.String(), "channel.unban", servertest.Owner); o.Reason != "SESSION_NOT_FOUND" {
			t.Errorf("got %+v for a session that was not confirmed", o)
		}
		s.Store.Clock.Advance(sessions.Lifetime)
		if _, err := sessions.Tables[0].Expire(tables.Env{Store: s.Store}).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := storetest.Must(s.Store.Read.EventSession.Query().Count(t.Context())) + storetest.Must(s.Store.Read.EventSubscription.Query().Count(t.Context())); n != 0 {
			t.Errorf("%d rows are left", n)
		}
	})
}
