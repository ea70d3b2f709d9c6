package store_test

import (
	"context"
	"errors"
	"testing"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/storetest"
)

// TestRefusalOfBrokenTransactionIsRetried has a change join a transaction and be refused
// because of the change before it. The connection breaks while the refused change is undone.
// So the first change never happens, and the reason of the refusal is gone.
func TestRefusalOfBrokenTransactionIsRetried(t *testing.T) {
	eachCrowd(t, func(c *crowd, cutter *storetest.Cutter) {
		// The statements are the INSERT of the first change, the savepoint, the look-up of the
		// second change, and its undoing.
		cutter.CutStatements("WriteShared", 3, 1)
		given, refused := errors.New("given up"), errors.New("refused")
		held, released := make(chan struct{}), make(chan struct{})
		first := c.start(c.Context(), func(ctx context.Context, tx *ent.Tx, a store.Attempt) error {
			if !a.IsFirst {
				return given
			}
			return c.create(1, func(context.Context, *ent.Tx, store.Attempt) error {
				close(held)
				<-released
				return nil
			})(ctx, tx, a)
		})
		<-held
		refusals := 0
		second := c.queue(func(ctx context.Context, tx *ent.Tx, a store.Attempt) error {
			err := store.QueryRow(ctx, tx, "SELECT id FROM categories WHERE id = ?", []any{1}, new(int64))
			if err == nil {
				refusals++
				return refused
			}
			if !errors.Is(err, store.ErrNoRows) {
				return err
			}
			return c.create(2)(ctx, tx, a)
		})
		close(released)
		c.wantSuccess(second...)
		if err := <-first; !errors.Is(err, given) {
			c.Errorf("got %v, want the error of the second attempt", err)
		}
		c.wantRows(2)
		if cutter.Made() != 1 || refusals != 1 {
			c.Errorf("%d cuts were made, and %d bodies refused, want 1 and 1", cutter.Made(), refusals)
		}
	})
}
