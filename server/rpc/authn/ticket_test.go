package authn_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
)

func TestCallerOfTokenNeedsAValidToken(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store) {
		now := freeze(t, s)
		of := func(text string, user uid.ID) (*authn.Caller, error) {
			return authn.NewAuthenticator(s).CallerOf(context.Background(), digest.Of(text), user)
		}
		text := issued(t, s, authn.NewToken{Kind: authn.User, Scopes: []string{authn.UsersRead}, Lifetime: time.Hour})
		// A user token acts for its own user.
		if c, err := of(text, servertest.Owner); err != nil || c.UserID != servertest.Viewer || !c.HasScope(authn.UsersRead) || c.HasScope(authn.ChannelModerate) {
			t.Errorf("a user token: got %+v and %v", c, err)
		}
		if c, err := of(issued(t, s, authn.NewToken{Kind: authn.Service}), servertest.Owner); err != nil || c.UserID != servertest.Owner {
			t.Errorf("a service token that acts for a user: got %+v and %v", c, err)
		}
		s.Clock.Freeze(now.Add(time.Hour))
		if _, err := of(text, uid.ID{}); !errors.Is(err, errExpired) {
			t.Errorf("an expired token: got %v", err)
		}
		s.Clock.Freeze(now)
		if _, err := authn.Revoke(context.Background(), s, text, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := of(text, uid.ID{}); !errors.Is(err, errInvalid) {
			t.Errorf("a revoked token: got %v", err)
		}
	})
}
