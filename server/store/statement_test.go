package store_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/storetest"
	"github.com/moderato-live/moderato/server/uid"
)

// titles selects the titles of a channel.
var titles = store.Declare("titles", func(_ *store.Dialect, id uid.ID) (string, []any) {
	return "SELECT title FROM channels WHERE id = ?", []any{id}
}, uid.ID{})

// separateTitles is titles without coalescing.
var separateTitles = store.DeclareSeparate("separate titles", func(_ *store.Dialect, id uid.ID) (string, []any) {
	return "SELECT title FROM channels WHERE id = ?", []any{id}
})

// TestStoreRejectsDeclaredStatements declares statements whose restrictions are violated:
// by the only example, by a further one, and in one of the dialects.
func TestStoreRejectsDeclaredStatements(t *testing.T) {
	for want, texts := range map[string]func(d *store.Dialect) []string{
		"DISTINCT": func(*store.Dialect) []string { return []string{"SELECT DISTINCT id FROM follows", "SELECT 1"} },
		"LIMIT":    func(*store.Dialect) []string { return []string{"SELECT 1", "SELECT id FROM follows ORDER BY id"} },
		"mysql":    func(d *store.Dialect) []string { return []string{"SELECT id FROM follows" + d.ForUpdate(), "SELECT 1"} },
	} {
		err := store.VerifyDeclaration("the page", func(d *store.Dialect, example int) (string, []any) {
			return texts(d)[example], nil
		}, 0, 1)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `"the page"`) {
			t.Errorf("got %v, want an error about %s that names the statement", err, want)
		}
	}
}

// TestOpenVerifiesDeclaredStatements opens a store while a declared statement is refused.
func TestOpenVerifiesDeclaredStatements(t *testing.T) {
	refused := errors.New("refused")
	defer store.RefuseDeclared(refused)()
	if s, err := store.Open(t.Context(), storetest.SQLite(t)); !errors.Is(err, refused) {
		if err == nil {
			s.Close()
		}
		t.Errorf("got %v, want the refusal", err)
	}
}

// TestStatementsRunWithoutCoalescing holds more reads of a statement than may be in
// flight before others wait. Each must be sent separately.
func TestStatementsRunWithoutCoalescing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
		migrate(t, url)
		gate := &storetest.Gate{}
		s, err := store.OpenWith(t.Context(), url, store.Options{Layer: gate.Layer(), DisableCoalescing: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		const reads = 4 // the minimum number of SQLite connections
		wantSeparate(t, s, titles, gate, reads)
		if !storetest.IsSQLite(s) {
			wantSeparate(t, s, titles, gate, 20)
		}
	})
}

// TestSeparateStatementsAreNotCoalesced is TestStatementsRunWithoutCoalescing for a
// Statement that is never coalesced, in a store that coalesces others.
func TestSeparateStatementsAreNotCoalesced(t *testing.T) {
	storetest.EachServer(t, func(t *testing.T, url store.URL) {
		migrate(t, url)
		gate := &storetest.Gate{}
		s, err := store.OpenWith(t.Context(), url, store.Options{Layer: gate.Layer()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		wantSeparate(t, s, separateTitles, gate, 20)
	})
}

func wantSeparate(t *testing.T, s *store.Store, title store.Statement[uid.ID], gate *storetest.Gate, reads int) {
	t.Helper()
	held := gate.Shut("title FROM channels")
	done := make(chan error, reads)
	for range reads {
		go func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			done <- title.One(ctx, s, uid.New(), func(*store.Row) {})
		}()
	}
	for range reads {
		select {
		case sent := <-held:
			if len(sent.Args) != 1 || strings.Contains(sent.Text, "UNION") {
				t.Errorf("got %q, want each read by itself", sent.Text)
			}
		case <-time.After(30 * time.Second):
			t.Fatal("fewer statements than reads were sent")
		}
	}
	gate.Open()
	for range reads {
		if err := <-done; !errors.Is(err, store.ErrNoRows) {
			t.Errorf("got %v, want %v", err, store.ErrNoRows)
		}
	}
}
