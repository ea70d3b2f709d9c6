package idempotency_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
)

// TestLongResponsesOfOwnerAreBounded stores long responses until those of a day are used up.
func TestLongResponsesOfOwnerAreBounded(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		now, err := s.Store.Clock.Now(t.Context(), s.Store.Read)
		if err != nil {
			t.Fatal(err)
		}
		s.Store.Clock.Freeze(now)
		keys := idempotency.New(s.Store)
		keys.SetDailyBudget(3 << 20)
		owner := authn.NewCaller(authn.User, servertest.Owner)
		stores := func(caller *authn.Caller, key string, size int) error {
			_, _, err := keys.Once(authn.NewContext(t.Context(), caller), banMethod, []string{key}, &moderatov1.BanUserRequest{}, func(ctx context.Context) (any, error) {
				result := &moderatov1.BanUserResponse{BannedUserDisplayName: strings.Repeat("x", size)}
				idempotency.Result(ctx, &result)
				return result, s.Store.Write(ctx, func(context.Context, *ent.Tx, store.Attempt) error { return nil })
			})
			return err
		}
		const long = 1_000_000
		first := newKey()
		for i, key := range []string{first, newKey(), newKey(), first} { // the last one is a repeat
			if err := stores(owner, key, long); err != nil {
				t.Fatalf("response %d: %v", i, err)
			}
		}
		before := count(t, s, "idempotency_keys")
		var refusal *apierr.Error
		if err := stores(owner, newKey(), long); !errors.As(err, &refusal) || refusal.Reason != moderatov1.Reason_REASON_RATE_LIMITED || refusal.RetryAfter <= 0 {
			t.Fatalf("a response too many: got %v, want RATE_LIMITED with a RetryAfter", err)
		}
		if n := count(t, s, "idempotency_keys") - before; n != 0 {
			t.Errorf("%d keys of refused calls are stored", n)
		}
		for what, err := range map[string]error{
			"a short response":                   stores(owner, newKey(), 900),
			"the long response of another user":  stores(authn.NewCaller(authn.User, servertest.Moderator), newKey(), long),
			"the long response of another owner": stores(&authn.Caller{Kind: authn.User, ClientID: servertest.OtherDashboard, UserID: servertest.Owner}, newKey(), long),
		} {
			if err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		for range 5 {
			if err := stores(authn.NewCaller(authn.Service, servertest.Owner), newKey(), long); err != nil {
				t.Errorf("a backend: %v", err)
			}
		}
		s.Store.Clock.Freeze(now.Add(refusal.RetryAfter + time.Second))
		if err := stores(owner, newKey(), long); err != nil {
			t.Errorf("after RetryAfter: %v", err)
		}
	})
}
