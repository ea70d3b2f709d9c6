package storetest

import (
	"cmp"
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
// "table=users type=range ". On TiDB these are made from its own columns. Every line ends with a
// space.
func Explain(t *testing.T, s *store.Store, q Statement) string {
	t.Helper()
	verb := "EXPLAIN FORMAT=TRADITIONAL "
	if IsSQLite(s) {
		verb = "EXPLAIN QUERY PLAN "
	}
	isTiDB := IsTiDB(t, s)
	conn, err := s.DB().Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if isTiDB { // it would run subqueries that depend on no row, and leave them out of the plan
		if _, err := conn.ExecContext(context.Background(), "SET SESSION tidb_opt_enable_non_eval_scalar_subquery = ON"); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := conn.QueryContext(context.Background(), verb+q.Text, q.Args...)
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
		if step := step(q, names, values); step != "" {
			plan = append(plan, step)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(plan, "\n")
}

func step(q Statement, names []string, values []sql.NullString) string {
	var parts []string
	for n, name := range names {
		switch {
		case name == "detail": // the whole step on SQLite
			return values[n].String + " "
		case name == "access object":
			return access(q, values[0].String, values[n].String)
		case slices.Contains([]string{"table", "type", "key", "rows", "Extra"}, name):
			parts = append(parts, name+"="+values[n].String)
		}
	}
	return strings.Join(parts, " ") + " "
}

// accessed matches the table and, unless the table itself is read, the index in TiDB's
// description of a step.
var accessed = regexp.MustCompile(`^table:(\w+)(?:.*index:(\w+))?`)

// access returns a step of TiDB that reads a table, in MySQL's form; empty for other steps, and
// for the rows of the entries of an index, which a step of its own reads.
func access(q Statement, operator, object string) string {
	found := accessed.FindStringSubmatch(object)
	kind, extra := "range", ""
	switch {
	case found == nil, strings.Contains(operator, "TableRowIDScan"):
		return ""
	case strings.Contains(operator, "TableFullScan"):
		kind = "ALL"
	case strings.Contains(operator, "IndexFullScan"):
		kind = "index"
	case strings.Contains(operator, "IndexRangeScan") && !strings.Contains(operator, "(Build)"):
		extra = "Extra=Using index " // the rows themselves are not looked up
	case strings.Contains(operator, "Point_Get"): // has the table's name, also if the statement gives it another
		if alias := regexp.MustCompile(`\b` + found[1] + ` ([a-z]\w{0,2})\b`).FindStringSubmatch(q.Text); alias != nil {
			found[1] = alias[1]
		}
	}
	return "table=" + found[1] + " type=" + kind + " key=" + cmp.Or(found[2], "PRIMARY") + " " + extra
}

// RowsReadByTiDB runs a statement, and returns how many rows and entries of indexes it read.
func RowsReadByTiDB(t *testing.T, s *store.Store, q Statement) (sum int) {
	t.Helper()
	err := store.QueryEach(t.Context(), s.DB(), "EXPLAIN ANALYZE "+q.Text, q.Args, func(scan func(...any) error) error {
		var object string
		var rows int
		var other any
		err := scan(&other, &other, &rows, &other, &object, &other, &other, &other, &other)
		if object != "" {
			sum += rows
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sum
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
