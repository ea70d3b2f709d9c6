package storetest

import (
	"bytes"
	"database/sql"
	"testing"
	"time"

	"github.com/moderato-live/moderato/server/store"
)

// AwaitStatement waits until a connection to a database server executes a statement that
// contains a text. MySQL cannot compare the statements itself, because they contain ids.
func AwaitStatement(t *testing.T, s *store.Store, text string) {
	t.Helper()
	var name string
	if err := s.DB().QueryRowContext(t.Context(), "SELECT DATABASE()").Scan(&name); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); !executes(t, s, name, text); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no connection executes %s", text)
		}
	}
}

// executes reports whether a connection to a database executes a statement that contains a
// text.
func executes(t *testing.T, s *store.Store, name, text string) bool {
	t.Helper()
	rows, err := s.DB().QueryContext(t.Context(), "SHOW FULL PROCESSLIST")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	values := make([]any, len(columns))
	for i := range values {
		values[i] = new(sql.RawBytes)
	}
	isFound := false
	for rows.Next() {
		if err := rows.Scan(values...); err != nil {
			t.Fatal(err)
		}
		db, info := *values[3].(*sql.RawBytes), *values[7].(*sql.RawBytes)
		isFound = isFound || string(db) == name && bytes.Contains(info, []byte(text))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return isFound
}
