package prepared_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/prepared"
	"github.com/moderato-live/moderato/test/storetest"
)

// opened is a Reader of a new database, and its store.
type opened struct {
	*prepared.Reader
	store *store.Store
}

func openReader(t *testing.T, url store.URL) opened {
	t.Helper()
	storetest.Migrate(t, url)
	s, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return opened{&prepared.Reader{DB: s.DB(), IgnoreDeadlines: storetest.IsSQLite(s)}, s}
}

// TestReaderReturnsStoredValues runs its statement unprepared first, and then prepared.
func TestReaderReturnsStoredValues(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
		s := openReader(t, url)
		id := uid.New()
		_, err := s.store.DB().ExecContext(t.Context(),
			"INSERT INTO channels (id, title, bio, lang, created_at, is_live, live_started_at) VALUES (?, ?, ?, 'en', ?, ?, NULL)",
			id, "Ünïcode 🐦", "", int64(1_790_000_000_123), true)
		if err != nil {
			t.Fatal(err)
		}
		for n := range 4 {
			var got string
			err := s.Each(t.Context(), `SELECT id, title, bio, created_at, is_live, live_started_at, created_at, live_started_at,
					(SELECT SUM(viewer_count) FROM channels) FROM channels WHERE id = ?`, []any{id}, func(r *prepared.Row) error {
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

func TestWrongColumnTypeIsAnError(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
		s := openReader(t, url)
		for what, read := range map[string]func(*prepared.Row){
			"a text as an id":      func(r *prepared.Row) { r.ID() },
			"a text as an integer": func(r *prepared.Row) { r.Int() },
			"NULL as a text":       func(r *prepared.Row) { r.OptionalInt(); r.Text() },
			"NULL as a boolean":    func(r *prepared.Row) { r.Text(); r.Bool() },
		} {
			columns := "'abc', NULL"
			if what == "NULL as a text" {
				columns = "NULL, NULL"
			}
			if err := s.One(t.Context(), "SELECT "+columns, nil, read); err == nil {
				t.Errorf("%s: got no error", what)
			}
		}
	})
}

func TestOneReturnsErrNoRowsWithoutARow(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
		err := openReader(t, url).One(t.Context(), "SELECT title FROM channels WHERE id = ?", []any{uid.New()}, func(*prepared.Row) {
			t.Error("there is a row")
		})
		if !errors.Is(err, store.ErrNoRows) {
			t.Errorf("got %v, want ErrNoRows", err)
		}
	})
}

func TestEachReturnsTheErrorOfItsCallback(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
		s := openReader(t, url)
		stop := errors.New("enough")
		rows := 0
		for range 3 {
			err := s.Each(t.Context(), "SELECT 1 UNION ALL SELECT 2", nil, func(*prepared.Row) error {
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

// TestEvictedStatementsArePreparedAgain runs more different statements than a connection
// keeps, each often enough to be prepared.
func TestEvictedStatementsArePreparedAgain(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
		s := openReader(t, url)
		for range 2 {
			for run := range 3 * 200 {
				n := run / 3
				var got int64
				err := s.One(t.Context(), fmt.Sprintf("SELECT ? + %d", n), []any{int64(1000)}, func(r *prepared.Row) { got = r.Int() })
				if err != nil || got != int64(1000+n) {
					t.Fatalf("statement %d: got %d, %v", n, got, err)
				}
			}
		}
	})
}

// TestBrokenConnectionsAreReplaced makes the server end the idle connections of the pool.
func TestBrokenConnectionsAreReplaced(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
		s := openReader(t, url)
		if storetest.IsSQLite(s.store) {
			return // has no network connection
		}
		ask := func() error { return s.One(t.Context(), "SELECT 7", nil, func(r *prepared.Row) { _ = r.Int() }) }
		for range 3 { // enough executions to prepare it
			if err := ask(); err != nil {
				t.Fatal(err)
			}
		}
		other := openReader(t, url)
		cut(t, other, url.Name)
		if err := ask(); err != nil {
			t.Errorf("after its connections were cut: %v", err)
		}
	})
}

// cut ends all other connections to a database.
func cut(t *testing.T, s opened, name string) {
	t.Helper()
	var ids []int64
	err := s.Each(t.Context(), "SELECT CAST(id AS SIGNED) FROM information_schema.processlist WHERE db = ? AND id <> CONNECTION_ID()", []any{name},
		func(r *prepared.Row) error {
			ids = append(ids, r.Int())
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		_, _ = s.store.DB().ExecContext(context.Background(), fmt.Sprintf("KILL %d", id)) // the connection may have ended already
	}
}

// TestUnpreparableStatementsRunUnprepared repeats a statement that MySQL cannot prepare.
func TestUnpreparableStatementsRunUnprepared(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
		s := openReader(t, url)
		if storetest.IsSQLite(s.store) {
			return // the database can prepare every statement
		}
		conn, err := s.store.DB().Conn(t.Context())
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

// TestEachEndsWithItsContext cancels a read between rows: it returns no further row, and
// the connection stays usable.
func TestEachEndsWithItsContext(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
		s := openReader(t, url)
		for n := range 4 { // unprepared, and prepared
			ctx, cancel := context.WithCancel(t.Context())
			rows := 0
			err := s.Each(ctx, "SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3", nil, func(r *prepared.Row) error {
				rows++
				cancel()
				return nil
			})
			if !errors.Is(err, context.Canceled) || rows != 1 {
				t.Errorf("run %d: got %v after %d rows, want %v after one", n, err, rows, context.Canceled)
			}
			if err := s.Each(ctx, "SELECT 1", nil, func(*prepared.Row) error { return nil }); !errors.Is(err, context.Canceled) {
				t.Errorf("run %d: got %v, want %v before any statement", n, err, context.Canceled)
			}
		}
		if err := s.One(t.Context(), "SELECT 7", nil, func(r *prepared.Row) {
			if got := r.Int(); got != 7 {
				t.Errorf("afterwards: got %d, want 7", got)
			}
		}); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}

// TestStatementEndsAtItsDeadline runs a statement that takes longer than its call may.
func TestStatementEndsAtItsDeadline(t *testing.T) {
	storetest.EachServer(t, func(t *testing.T, url store.URL) {
		s := openReader(t, url)
		for n := range 3 { // unprepared, and prepared
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			started := time.Now()
			err := s.Each(ctx, "SELECT SLEEP(?)", []any{20}, func(*prepared.Row) error { return nil })
			cancel()
			if took := time.Since(started); !errors.Is(err, context.DeadlineExceeded) || took > 10*time.Second {
				t.Errorf("run %d: got %v after %v, want %v immediately", n, err, took, context.DeadlineExceeded)
			}
			ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
			err = s.One(ctx, "SELECT SLEEP(?)", []any{0.2}, func(r *prepared.Row) { _ = r.Int() })
			cancel()
			if err != nil {
				t.Errorf("run %d: the next one, which has time: %v", n, err)
			}
		}
	})
}
