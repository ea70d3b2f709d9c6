package authn_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

func TestExpiredTokensAreRemovedInBatches(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store) {
		const many = 700 // more than a batch
		addTokens(t, s, many, time.Hour)
		lives := issued(t, s, authn.NewToken{Kind: authn.App, Lifetime: 1000 * time.Hour})
		endless := issued(t, s, authn.NewToken{Kind: authn.Service})
		expired := issued(t, s, authn.NewToken{Kind: authn.App, Lifetime: 3 * time.Hour})
		expire := authn.ExpireTokens(s)
		count := func() int { return storetest.Must(s.Read.Token.Query().Count(t.Context())) }
		before := count()
		for _, step := range []struct {
			after time.Duration
			gone  int
		}{{0, 0}, {2 * time.Hour, 0}, {24 * time.Hour, many}} {
			s.Clock.Advance(step.after)
			for more := true; more; {
				var err error
				if more, err = expire.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if gone := before - count(); gone != step.gone {
				t.Errorf("%s later: %d tokens are gone, want %d", step.after, gone, step.gone)
			}
		}
		a := authn.NewAuthenticator(s)
		if _, err := authenticate(a, lives); err != nil {
			t.Errorf("a token that lives: %v", err)
		}
		if row, err := authn.Introspect(t.Context(), s, endless); err != nil || row == nil {
			t.Errorf("a token without an end: got %v, %v", row, err)
		}
		if _, err := authenticate(a, expired); !errors.Is(err, apierr.New(moderatov1.Reason_REASON_TOKEN_EXPIRED)) {
			t.Errorf("a token that expired a short while ago: got %v, want TOKEN_EXPIRED", err)
		}
	})
}

// addTokens stores n unknown tokens.
func addTokens(t *testing.T, s *store.Store, n int, lifetime time.Duration) {
	t.Helper()
	err := s.Write(t.Context(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		now, err := s.Clock.Now(ctx, tx)
		if err != nil {
			return err
		}
		rows := make([]*ent.TokenCreate, n)
		for i := range rows {
			rows[i] = tx.Token.Create().SetID(digest.Of(fmt.Sprint(i))).SetKind(string(authn.App)).SetClientID(servertest.Dashboard).
				SetScopes("").SetIssuedAt(now).SetExpiresAt(now.Add(lifetime))
		}
		return tx.Token.CreateBulk(rows...).Exec(ctx)
	})
	if err != nil {
		t.Fatal(err)
	}
}
