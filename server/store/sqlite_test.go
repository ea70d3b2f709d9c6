package store_test

import (
	"context"
	"log/slog"
	"os"
	"testing"

	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/storetest"
)

func TestImportHasLargerCacheThanServer(t *testing.T) {
	url := storetest.SQLite(t)
	cacheSize := func(open func(context.Context, store.URL) (*store.Store, error)) (size int) {
		s, err := open(context.Background(), url)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if err := s.DB().QueryRowContext(context.Background(), "PRAGMA cache_size").Scan(&size); err != nil {
			t.Fatal(err)
		}
		return -size
	}
	if server, load := cacheSize(store.Open), cacheSize(store.OpenForImport); server != 8192 || load != 32768 {
		t.Errorf("a server has a cache of %d KiB, an import one of %d", server, load)
	}
}

func TestDatabaseFilesArePrivate(t *testing.T) {
	url := storetest.SQLite(t)
	if err := store.Migrate(context.Background(), url, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	// As an earlier version created it.
	if err := os.Chmod(url.Path, 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, suffix := range []string{"", "-wal", "-shm", ".migrate.lock"} {
		info, err := os.Stat(url.Path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != 0o600 {
			t.Errorf("%s: got the mode %o, want 600", info.Name(), got)
		}
	}
}
