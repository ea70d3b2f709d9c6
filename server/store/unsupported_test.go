package store_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/storetest"
)

// answers is a layer that answers queries in place of the server: those that contain a key, with
// the rows of its value.
type answers map[string][][]string

func (a answers) Layer(next driver.Connector) driver.Connector { return answering{next, a} }

type answering struct {
	driver.Connector
	answers answers
}

func (a answering) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := a.Connector.Connect(ctx)
	return &answeringConn{conn, a.answers}, err
}

type answeringConn struct {
	driver.Conn
	answers answers
}

func (c *answeringConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	for part, rows := range c.answers {
		if strings.Contains(query, part) {
			return &answer{rows}, nil
		}
	}
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
}

type answer struct{ rows [][]string }

func (a *answer) Columns() []string {
	if len(a.rows) == 0 {
		return nil
	}
	return make([]string, len(a.rows[0]))
}

func (a *answer) Next(values []driver.Value) error {
	if len(a.rows) == 0 {
		return io.EOF
	}
	for n, value := range a.rows[0] {
		values[n] = value
	}
	a.rows = a.rows[1:]
	return nil
}

func (*answer) Close() error { return nil }

// TestUnsupportedServers has servers say that they are of other engines.
func TestUnsupportedServers(t *testing.T) {
	version := func(version string, more answers) answers {
		more["VERSION()"] = [][]string{{version}}
		return more
	}
	tidb := func(mode, promotion string) answers {
		return version("8.0.11-TiDB-v8.5.0", answers{
			"'tidb_txn_mode'":                     {{"tidb_txn_mode", mode}},
			"'tidb_enable_shared_lock_promotion'": {{"tidb_enable_shared_lock_promotion", promotion}},
		})
	}
	old := tidb("pessimistic", "ON")
	old["'tidb_enable_shared_lock_promotion'"] = nil
	storetest.OneServer(t, func(t *testing.T, url store.URL) {
		for name, c := range map[string]struct {
			answers answers
			want    string // empty if the server can be used
		}{
			"itself":              {answers{}, ""},
			"TiDB":                {tidb("pessimistic", "ON"), ""},
			"optimistic TiDB":     {tidb("optimistic", "ON"), "SET GLOBAL tidb_txn_mode = 'pessimistic'"},
			"TiDB by default":     {tidb("pessimistic", "OFF"), "SET GLOBAL tidb_enable_shared_lock_promotion = 'ON'"},
			"an old TiDB":         {old, "too old"},
			"Vitess":              {version("8.0.30-Vitess", answers{"VITESS_SHARDS": {{url.Name + "/0"}, {"other/-80"}, {"other/80-"}}}), ""},
			"Vitess with shards":  {version("8.0.30-Vitess", answers{"VITESS_SHARDS": {{url.Name + "/-80"}, {url.Name + "/80-"}}}), "has 2 shards"},
			"a read-only server":  {answers{"'read_only'": {{"read_only", "ON"}}}, "name the primary in --db"},
			"a table of Spider":   {answers{"'SPIDER'": {{"bans"}}}, "the table bans is of the engine Spider"},
			"a read-only cluster": {answers{"'read_only'": {{"tidb_super_read_only", "ON"}}}, "tidb_super_read_only is ON"},
		} {
			s, err := store.OpenWith(t.Context(), url, store.Options{Layer: c.answers.Layer})
			if err == nil {
				err = s.CheckServer(t.Context())
				s.Close()
			}
			if c.want == "" && err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if c.want != "" && (!errors.Is(err, store.ErrUnsupported) || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s: got %v, want %q", name, err, c.want)
			}
		}
	})
}

// TestVitessKeyspaceIsRecognized names a database with a kind of tablets, or a shard.
func TestVitessKeyspaceIsRecognized(t *testing.T) {
	storetest.OneServer(t, func(t *testing.T, url store.URL) {
		sharded := answers{"VITESS_SHARDS": {{"chat/-80"}, {"chat/80-"}}}
		for _, name := range []string{"chat", "chat@primary", "chat:-80", "chat:-80@primary"} {
			s := storetest.Must(store.OpenWith(t.Context(), url, store.Options{Layer: sharded.Layer}))
			if err := s.CheckVitess(t.Context(), name); !errors.Is(err, store.ErrUnsupported) {
				t.Errorf("the database %s: %v", name, err)
			}
			s.Close()
		}
	})
}
