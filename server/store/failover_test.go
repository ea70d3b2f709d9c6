package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/cluster"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestErrorsOfFailoverAreRetried has a statement fail once as it does while the primary of a
// cluster changes. Such an error in a read is UNAVAILABLE.
func TestErrorsOfFailoverAreRetried(t *testing.T) {
	storetest.EachServer(t, func(t *testing.T, url store.URL) {
		migrate(t, url)
		var gate storetest.Gate
		s, err := store.OpenWith(t.Context(), url, store.Options{Layer: gate.Layer()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		failures := []error{fmt.Errorf("connect: %w", cluster.ErrNoPrimary)}
		for _, number := range []uint16{1047, 1213, 1290, 1836, 3032, 3100, 3101, 3796, 3797, 3798, 3799} {
			failures = append(failures, &mysql.MySQLError{Number: number, Message: "as in a failover"})
		}
		for i, failure := range failures {
			if err := s.Classify(failure); !errors.Is(err, store.ErrUnavailable) {
				t.Errorf("%v is classified as %v", failure, err)
			}
			var once atomic.Bool
			gate.Fail(func(query string) (int, error) {
				if strings.Contains(query, "INSERT") && once.CompareAndSwap(false, true) {
					return 0, failure
				}
				return 0, nil
			})
			if err := s.Write(context.Background(), createCategories(int64(i+1))); err != nil || !once.Load() {
				t.Errorf("%v: %v", failure, err)
			}
		}
		if got := count(t, s); got != len(failures) {
			t.Errorf("%d rows, want %d", got, len(failures))
		}
	})
}
