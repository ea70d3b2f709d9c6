package storetest

import (
	"context"
	"database/sql"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/server/store"
)

// Explain returns the plan of a statement, with one line for each step. On a database server, a
// line has the columns table, type, key, rows and Extra of EXPLAIN, in the form
// "table=users type=range ". Every line ends with a space.
func Explain(t *testing.T, s *store.Store, q Statement) string {
	t.Helper()
	verb := "EXPLAIN FORMAT=TRADITIONAL "
	if IsSQLite(s) {
		verb = "EXPLAIN QUERY PLAN "
	}
	rows, err := s.DB().QueryContext(context.Background(), verb+q.Text, q.Args...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var plan []string
	for rows.Next() {
		values, columns := make([]sql.NullString, len(names)), make([]any, len(names))
		for n := range values {
			columns[n] = &values[n]
		}
		if err := rows.Scan(columns...); err != nil {
			t.Fatal(err)
		}
		plan = append(plan, step(names, values))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(plan, "\n")
}

func step(names []string, values []sql.NullString) string {
	var parts []string
	for n, name := range names {
		switch {
		case name == "detail": // the whole step on SQLite
			return values[n].String + " "
		case slices.Contains([]string{"table", "type", "key", "rows", "Extra"}, name):
			parts = append(parts, name+"="+values[n].String)
		}
	}
	return strings.Join(parts, " ") + " "
}

var (
	// plannedVerb matches the statements that read rows, and so may scan a table.
	plannedVerb = regexp.MustCompile(`(?s)^\s*(SELECT|UPDATE|DELETE|INSERT .* SELECT)\b`)
	// scan matches a step that reads every row, or every entry of an index, of a table that
	// grows with the platform.
	scan = regexp.MustCompile(`table=(channels|users|u|tokens|t) type=(ALL|index) `)
)

// WantByKey checks that a statement reads channels, users and tokens by a key.
func WantByKey(t *testing.T, s *store.Store, q Statement) {
	t.Helper()
	if !plannedVerb.MatchString(q.Text) {
		return
	}
	for step := range strings.Lines(Explain(t, s, q)) {
		if scan.MatchString(step) {
			t.Errorf("the plan of %s has the step %s", q.Text, step)
		}
	}
}
