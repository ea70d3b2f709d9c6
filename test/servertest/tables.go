package servertest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/storetest"
)

// Row is a row of a table as it is stored in the database.
type Row struct {
	Table   string
	Columns []string
	Values  [][]byte // nil is NULL
}

// String returns the row in a readable form.
func (r Row) String() string {
	var b strings.Builder
	b.WriteString(r.Table)
	for i, column := range r.Columns {
		if r.Values[i] == nil {
			fmt.Fprintf(&b, " %s=NULL", column)
			continue
		}
		fmt.Fprintf(&b, " %s=%q", column, r.Values[i])
	}
	return b.String()
}

// Rows returns all rows of all tables except some. It reads the names of the tables from
// the database, so that no table is forgotten.
func Rows(t *testing.T, s *store.Store, except ...string) []Row {
	t.Helper()
	tables := "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()"
	if storetest.IsSQLite(s) {
		tables = "SELECT name FROM sqlite_master WHERE type = 'table'"
	}
	var names []string
	err := store.QueryEach(context.Background(), s.Read, tables, nil, func(scan func(...any) error) error {
		var name string
		err := scan(&name)
		names = append(names, name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	var rows []Row
	for _, name := range names {
		if name != "event_sequencers" && name != "retentions" && !slices.Contains(except, name) { // leases are taken at any time
			rows = append(rows, rowsOf(t, s, name)...)
		}
	}
	return rows
}

func rowsOf(t *testing.T, s *store.Store, table string) []Row {
	t.Helper()
	found, err := s.Read.QueryContext(context.Background(), "SELECT * FROM "+table)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = found.Close() }()
	columns, err := found.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var rows []Row
	for found.Next() {
		r := Row{Table: table, Columns: columns, Values: make([][]byte, len(columns))}
		targets := make([]any, len(columns))
		for i := range targets {
			targets[i] = &r.Values[i]
		}
		if err := found.Scan(targets...); err != nil {
			t.Fatal(err)
		}
		if at := slices.Index(columns, "position"); at >= 0 {
			r.Values[at] = nil // the sequencer can set the position of an event at any time
		}
		if at := slices.Index(columns, "rights_version"); at >= 0 {
			r.Values[at] = nil // a former moderator's version increases when a channel is erased
		}
		rows = append(rows, r)
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// Dump returns Rows as sorted lines of text, for comparisons. It leaves out the metrics of
// channels, which a server writes some seconds after the change that they count.
func Dump(t *testing.T, s *store.Store, except ...string) []string {
	t.Helper()
	var lines []string
	for _, r := range Rows(t, s, append([]string{"channel_metrics"}, except...)...) {
		lines = append(lines, r.String())
	}
	slices.Sort(lines)
	return lines
}
