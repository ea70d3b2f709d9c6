package store_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestCommitEndsAtDeadline loses the network between the server and the database in COMMIT.
// The call ends at its deadline, and not when the network is back.
func TestCommitEndsAtDeadline(t *testing.T) {
	storetest.OneServer(t, func(t *testing.T, url store.URL) {
		migrate(t, url)
		proxy := storetest.NewProxy(t, url)
		s := open(t, proxy.URL)
		for name, write := range map[string]func(context.Context, func(context.Context, *ent.Tx, store.Attempt) error) error{
			"alone": func(ctx context.Context, b func(context.Context, *ent.Tx, store.Attempt) error) error {
				return s.Write(ctx, b)
			},
			"for several requests": func(ctx context.Context, b func(context.Context, *ent.Tx, store.Attempt) error) error {
				unknown, err := s.WriteOnce(ctx, b)
				if !unknown {
					t.Errorf("WriteOnce claims to know the outcome: %v", err)
				}
				return s.WriteAgain(ctx, err, unknown, b)
			},
		} {
			const patience = time.Second
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			began := time.Now()
			err := write(ctx, func(context.Context, *ent.Tx, store.Attempt) error {
				proxy.SetFault(storetest.Fault{LoseResponses: true})
				return nil
			})
			took := time.Since(began)
			cancel()
			proxy.SetFault(storetest.Fault{})
			if !errors.Is(err, store.ErrUnavailable) && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: got %v, want an error of the database or of the deadline", name, err)
			}
			if took > patience+servertest.Slack {
				t.Errorf("%s: it took %s, with a deadline of %s", name, took, patience)
			}
		}
	})
}

// TestBrokenConnectionAtDeadlineIsUnavailable has a connection break when there is no time left
// to retry.
func TestBrokenConnectionAtDeadlineIsUnavailable(t *testing.T) {
	storetest.OneServer(t, func(t *testing.T, url store.URL) {
		migrate(t, url)
		s := open(t, url)
		ctx, cancel := context.WithCancel(t.Context())
		err := s.Write(ctx, func(context.Context, *ent.Tx, store.Attempt) error {
			cancel()
			return driver.ErrBadConn
		})
		if !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("got %v, want an error of the database", err)
		}
	})
}
