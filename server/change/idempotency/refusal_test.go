package idempotency_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/moderato-live/moderato/ent"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// refusing returns a method that changes something, and refuses the call with a number.
func refusing(s *store.Store, calls *int) func(context.Context) (any, error) {
	return func(ctx context.Context) (any, error) {
		*calls++
		refusal := &apierr.Error{
			Reason: moderatov1.Reason_REASON_MESSAGE_BLOCKED, Message: fmt.Sprint("refused ", *calls),
			Metadata: map[string]string{apierr.MessageID: "x"}, RetryAfter: time.Second,
		}
		err := s.Write(ctx, func(ctx context.Context, _ *ent.Tx, attempt store.Attempt) error {
			if attempt.Unknown {
				return errors.New("the stored refusal does not tell that the transaction was committed")
			}
			idempotency.Refuse(ctx, refusal)
			return nil
		})
		if err != nil {
			return nil, err
		}
		return nil, refusal
	}
}

// TestRefusalThatChangesSomethingIsKept repeats a call whose refusal is stored, also if the outcome
// of its COMMIT is unknown.
func TestRefusalThatChangesSomethingIsKept(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		storetest.Migrate(t, url)
		cutter := &storetest.Cutter{}
		s := storetest.Must(store.OpenWith(t.Context(), url, store.Options{Layer: cutter.Layer}))
		t.Cleanup(s.Close)
		keys := idempotency.New(s)
		ctx := authn.NewContext(t.Context(), authn.NewCaller(authn.User, servertest.Owner))
		for _, cuts := range [][]storetest.Cut{nil, {storetest.AfterCommit}} {
			calls, key := 0, newKey()
			cutter.CutNext("refusing", cuts...)
			for i := range 2 {
				_, isReplay, err := keys.Once(ctx, banMethod, []string{key}, proto.Message(&moderatov1.BanUserRequest{}), refusing(s, &calls))
				got := apierr.Of(err)
				if got.Reason != moderatov1.Reason_REASON_MESSAGE_BLOCKED || got.Text() != "refused 1" || got.Metadata[apierr.MessageID] != "x" ||
					got.RetryAfter != time.Second || isReplay != (i == 1) || calls != 1 {
					t.Errorf("call %d: got %v, replayed is %t, after %d calls", i, err, isReplay, calls)
				}
			}
			if cutter.Made() != len(cuts) {
				t.Errorf("%d cuts were made", cutter.Made())
			}
		}
	})
}
