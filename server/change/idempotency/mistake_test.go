package idempotency_test

import (
	"context"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/moderato-live/moderato/ent"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestMistakesOfMethodsFail makes calls whose repeat would not be correct.
func TestMistakesOfMethodsFail(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		s := servertest.Start(t, servertest.Config(url))
		keys := idempotency.New(s.Store)
		ctx := authn.NewContext(t.Context(), authn.NewCaller(authn.User, servertest.Owner))
		write := func(ctx context.Context) error {
			return s.Store.Write(ctx, func(context.Context, *ent.Tx, store.Attempt) error { return nil })
		}
		for _, c := range []struct {
			what, method, want string
			run                func(context.Context) (any, error)
		}{
			{"declares no response", banMethod, "declares no response", func(ctx context.Context) (any, error) {
				return &moderatov1.BanUserResponse{}, write(ctx)
			}},
			{"has two transactions", moderatov1.ModerationService_RemoveBan_FullMethodName, "in an earlier transaction", func(ctx context.Context) (any, error) {
				if err := write(ctx); err != nil {
					return nil, err
				}
				return &moderatov1.RemoveBanResponse{}, write(ctx)
			}},
			{"has a very long response", banMethod, "more than 1048576", func(ctx context.Context) (any, error) {
				result := &moderatov1.BanUserResponse{BannedUserDisplayName: strings.Repeat("x", 1<<20)}
				idempotency.Result(ctx, &result)
				return result, write(ctx)
			}},
			{"is unknown", "/moderato.v1.ModerationService/Nothing", "not found", func(context.Context) (any, error) { return nil, nil }},
		} {
			_, isReplay, err := keys.Once(ctx, c.method, []string{newKey()}, proto.Message(&moderatov1.BanUserRequest{}), c.run)
			if err == nil || !strings.Contains(err.Error(), c.want) || isReplay {
				t.Errorf("a method that %s: got %v, replayed is %t; want an error with %q", c.what, err, isReplay, c.want)
			}
		}
	})
}
