package store_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/storetest"
)

// openNumbers returns a database with a table of numbers that fills many pages.
func openNumbers(t *testing.T) (*store.Store, store.URL) {
	t.Helper()
	url := storetest.SQLite(t)
	s, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	for _, statement := range []string{
		"CREATE TABLE numbers (n INTEGER PRIMARY KEY, filler BLOB)",
		"INSERT INTO numbers WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 4000) SELECT n, ZEROBLOB(3000) FROM r",
	} {
		if _, err := s.DB().ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	return s, url
}

// files returns the names of the files in a directory.
func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestBackupIsOneState changes the database after each step of a backup. The copy must
// have the rows from before the backup, and no others.
func TestBackupIsOneState(t *testing.T) {
	s, url := openNumbers(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "copy of numbers.db")
	steps := 0
	err := store.BackUp(t.Context(), url, file, func() {
		if steps++; steps > 100 {
			t.Fatal("the backup begins anew after each change")
		}
		if _, err := s.DB().ExecContext(t.Context(), "INSERT INTO numbers (filler) VALUES (ZEROBLOB(3000))"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.DB().ExecContext(t.Context(), "DELETE FROM numbers WHERE n = (SELECT MIN(n) FROM numbers)"); err != nil {
			t.Fatal(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if steps < 2 {
		t.Fatalf("the backup took %d steps: the database is too small for the test", steps)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v (%v), want a file that only its owner can read", info.Mode(), err)
	}
	if got := files(t, dir); len(got) != 1 {
		t.Errorf("the directory has %q", got)
	}
	backup, err := store.Open(t.Context(), store.URL{Path: file})
	if err != nil {
		t.Fatal(err)
	}
	defer backup.Close()
	var count, first, last int
	var verdict string
	if err := backup.DB().QueryRowContext(t.Context(), "SELECT COUNT(*), MIN(n), MAX(n) FROM numbers").Scan(&count, &first, &last); err != nil {
		t.Fatal(err)
	}
	if count != 4000 || first != 1 || last != 4000 {
		t.Errorf("the copy has %d rows from %d to %d, want 1 to 4000", count, first, last)
	}
	if err := backup.DB().QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("the copy is damaged: %s (%v)", verdict, err)
	}
}

// TestFailedBackupLeavesNothing interrupts a backup, and makes one to a file that exists.
func TestFailedBackupLeavesNothing(t *testing.T) {
	_, url := openNumbers(t)
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if err := store.BackUp(ctx, url, filepath.Join(dir, "interrupted.db"), cancel); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: got %v", err)
	}
	if got := files(t, dir); len(got) != 0 {
		t.Errorf("an interrupted backup leaves %q", got)
	}
	existing := filepath.Join(dir, "existing.db")
	if err := os.WriteFile(existing, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := store.BackUp(t.Context(), url, existing, func() {}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("existing file: got %v", err)
	}
	// The file appears while the backup runs.
	late := filepath.Join(dir, "late.db")
	err := store.BackUp(t.Context(), url, late, func() {
		if err := os.WriteFile(late, []byte("precious"), 0o600); err != nil {
			t.Fatal(err)
		}
	})
	if !errors.Is(err, fs.ErrExist) {
		t.Errorf("late file: got %v", err)
	}
	for _, file := range []string{existing, late} {
		if text, err := os.ReadFile(file); err != nil || string(text) != "precious" {
			t.Errorf("%s was replaced (%v)", file, err)
		}
	}
	if err := store.BackUp(t.Context(), url, filepath.Join(dir, "none", "x.db"), func() {}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing directory: got %v", err)
	}
}
