package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/storetest"
	"github.com/moderato-live/moderato/server/uid"
)

func migrated(t *testing.T, url store.URL) *store.Store {
	t.Helper()
	migrate(t, url)
	return open(t, url)
}

// TestEachReadsWhatWasWritten runs its statement again and again: as a text first,
// and then prepared.
func TestEachReadsWhatWasWritten(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
		s := migrated(t, url)
		id := uid.New()
		_, err := s.DB().ExecContext(t.Context(),
			"INSERT INTO channels (id, title, bio, lang, created_at, is_live, live_started_at) VALUES (?, ?, ?, 'en', ?, ?, NULL)",
			id, "Ünïcode 🐦", "", int64(1_790_000_000_123), true)
		if err != nil {
			t.Fatal(err)
		}
		for n := range 4 {
			var got string
			err := s.Each(t.Context(), `SELECT id, title, bio, created_at, is_live, live_started_at, created_at, live_started_at,
					(SELECT SUM(viewer_count) FROM channels) FROM channels WHERE id = ?`, []any{id}, func(r *store.Row) error {
				got = fmt.Sprint(r.ID(), " ", r.Text(), " ", r.Text(), " ", r.Int(), " ", r.Bool(), " ", r.OptionalInstant() == nil, " ",
					*r.OptionalInt(), " ", r.OptionalInt() == nil, " ", r.Int())
				return nil
			})
			want := fmt.Sprint(id, " Ünïcode 🐦  1790000000123 true true 1790000000123 true 0")
			if err != nil || got != want {
				t.Errorf("run %d: got %q, %v, want %q", n, got, err, want)
			}
		}
	})
}

func TestEachFailsWhereATypeIsAnother(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
		s := migrated(t, url)
		for what, read := range map[string]func(*store.Row){
			"a text as an id":      func(r *store.Row) { r.ID() },
			"a text as an integer": func(r *store.Row) { r.Int() },
			"nothing as a text":    func(r *store.Row) { r.OptionalInt(); r.Text() },
			"nothing as a boolean": func(r *store.Row) { r.Text(); r.Bool() },
		} {
			columns := "'abc', NULL"
			if what == "nothing as a text" {
				columns = "NULL, NULL"
			}
			if err := s.One(t.Context(), "SELECT "+columns, nil, read); err == nil {
				t.Errorf("%s: got no error", what)
			}
		}
	})
}

func TestOneWantsARow(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
		err := migrated(t, url).One(t.Context(), "SELECT title FROM channels WHERE id = ?", []any{uid.New()}, func(*store.Row) {
			t.Error("there is a row")
		})
		if !errors.Is(err, store.ErrNoRows) {
			t.Errorf("got %v, want ErrNoRows", err)
		}
	})
}

func TestEachEndsWithTheErrorOfItsReader(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
		s := migrated(t, url)
		stop := errors.New("enough")
		rows := 0
		for range 3 {
			err := s.Each(t.Context(), "SELECT 1 UNION ALL SELECT 2", nil, func(*store.Row) error {
				rows++
				return stop
			})
			if !errors.Is(err, stop) {
				t.Errorf("got %v, want %v", err, stop)
			}
		}
		if rows != 3 {
			t.Errorf("read %d rows in three runs, want the first of each", rows)
		}
	})
}

// TestAConnectionKeepsFewStatements runs more different ones than it keeps, each
// often enough to be prepared: those that are pushed out are prepared again.
func TestAConnectionKeepsFewStatements(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
		s := migrated(t, url)
		for range 2 {
			for run := range 3 * 200 {
				n := run / 3
				var got int64
				err := s.One(t.Context(), fmt.Sprintf("SELECT ? + %d", n), []any{int64(1000)}, func(r *store.Row) { got = r.Int() })
				if err != nil || got != int64(1000+n) {
					t.Fatalf("statement %d: got %d, %v", n, got, err)
				}
			}
		}
	})
}

// TestEachTakesAnotherConnection has the server cut those that wait in the pool.
func TestEachTakesAnotherConnection(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
		s := migrated(t, url)
		if s.IsEmbedded() {
			return // has no connection to lose
		}
		ask := func() error { return s.One(t.Context(), "SELECT 7", nil, func(r *store.Row) { _ = r.Int() }) }
		for range 3 { // so that it is prepared
			if err := ask(); err != nil {
				t.Fatal(err)
			}
		}
		other := migrated(t, url)
		cut(t, other, url.Name)
		if err := ask(); err != nil {
			t.Errorf("after its connections were cut: %v", err)
		}
	})
}

// cut ends all other connections to a database.
func cut(t *testing.T, s *store.Store, name string) {
	t.Helper()
	var ids []int64
	err := s.Each(t.Context(), "SELECT CAST(id AS SIGNED) FROM information_schema.processlist WHERE db = ? AND id <> CONNECTION_ID()", []any{name},
		func(r *store.Row) error {
			ids = append(ids, r.Int())
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		_, _ = s.DB().ExecContext(context.Background(), fmt.Sprintf("KILL %d", id)) // it may be gone
	}
}

// TestWhatCannotBePreparedRunsAsAText has a statement that MySQL does not take
// prepared, more often than once.
func TestWhatCannotBePreparedRunsAsAText(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
		s := migrated(t, url)
		if s.IsEmbedded() {
			return // prepares whatever it runs
		}
		conn, err := s.DB().Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		for range 3 {
			for _, statement := range []string{"LOCK TABLES channels READ", "UNLOCK TABLES"} {
				if _, err := conn.ExecContext(t.Context(), statement); err != nil {
					t.Errorf("%s: %v", statement, err)
				}
			}
		}
	})
}

// A reader who is gone gets no further row, and the connection is as good as before.
func TestEachEndsWithItsContext(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
		s := migrated(t, url)
		for n := range 4 { // as a text, and prepared
			ctx, cancel := context.WithCancel(t.Context())
			rows := 0
			err := s.Each(ctx, "SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3", nil, func(r *store.Row) error {
				rows++
				cancel()
				return nil
			})
			if !errors.Is(err, context.Canceled) || rows != 1 {
				t.Errorf("run %d: got %v after %d rows, want %v after one", n, err, rows, context.Canceled)
			}
			if err := s.Each(ctx, "SELECT 1", nil, func(*store.Row) error { return nil }); !errors.Is(err, context.Canceled) {
				t.Errorf("run %d: got %v, want %v before any statement", n, err, context.Canceled)
			}
		}
		if err := s.One(t.Context(), "SELECT 7", nil, func(r *store.Row) {
			if got := r.Int(); got != 7 {
				t.Errorf("afterwards: got %d, want 7", got)
			}
		}); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}

// TestAStatementEndsAtItsDeadline has the server think for longer than the call may
// take.
func TestAStatementEndsAtItsDeadline(t *testing.T) {
	storetest.EachServer(t, func(t *testing.T, url store.URL) {
		s := migrated(t, url)
		for n := range 3 { // as a text, and prepared
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			started := time.Now()
			err := s.Each(ctx, "SELECT SLEEP(?)", []any{20}, func(*store.Row) error { return nil })
			cancel()
			if took := time.Since(started); !errors.Is(err, context.DeadlineExceeded) || took > 10*time.Second {
				t.Errorf("run %d: got %v after %v, want %v at once", n, err, took, context.DeadlineExceeded)
			}
			ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
			err = s.One(ctx, "SELECT SLEEP(?)", []any{0.2}, func(r *store.Row) { _ = r.Int() })
			cancel()
			if err != nil {
				t.Errorf("run %d: the next one, which has time: %v", n, err)
			}
		}
	})
}
