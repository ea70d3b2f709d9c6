package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

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
		for _, number := range []uint16{1047, 1213, 1290, 1836, 2003, 2006, 2013, 3032, 3100, 3101, 3796, 3797, 3798, 3799,
			8002, 8022, 8028, 9001, 9002, 9003, 9004, 9005, 9006, 9007} {
			failures = append(failures, &mysql.MySQLError{Number: number, Message: "as in a failover"})
		}
		failures = append(failures, &mysql.MySQLError{Number: 1105, Message: "pessimistic lock retry limit reached"})
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

// TestLastingRegionErrors has each INSERT of a transaction fail as on TiDB while a region has no
// leader: the transaction is retried for some seconds.
func TestLastingRegionErrors(t *testing.T) {
	storetest.OneServer(t, func(t *testing.T, url store.URL) {
		migrate(t, url)
		var gate storetest.Gate
		s, err := store.OpenWith(t.Context(), url, store.Options{Layer: gate.Layer()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		var attempts atomic.Int32
		gate.Fail(func(query string) (int, error) {
			if !strings.Contains(query, "INSERT") {
				return 0, nil
			}
			attempts.Add(1)
			return 0, &mysql.MySQLError{Number: 9005, Message: "Region is unavailable"}
		})
		begin := time.Now()
		err = s.Write(t.Context(), createCategories(1))
		if took := time.Since(begin); !errors.Is(err, store.ErrUnavailable) || attempts.Load() < 3 || took > 10*time.Second {
			t.Errorf("got %v after %d attempts and %v, want ErrUnavailable after several", err, attempts.Load(), took)
		}
	})
}
