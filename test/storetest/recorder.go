package storetest

import (
	"context"
	"database/sql/driver"
	"sync"
	"testing"

	"github.com/moderato-live/moderato/server/store"
)

// Statement is a query that was sent.
type Statement struct {
	Text string
	Args []any
}

func statement(query string, args []driver.NamedValue) Statement {
	s := Statement{Text: query}
	for _, a := range args {
		s.Args = append(s.Args, a.Value)
	}
	return s
}

// Recorder records the statements that a Store sends, in transactions and outside them.
type Recorder struct {
	mu       sync.Mutex
	sent     []Statement
	executed []Statement
}

// Layer returns the layer through which to open a Store to record.
func (r *Recorder) Layer() store.Layer {
	return func(c driver.Connector) driver.Connector { return recorded{layer{c, everyone{}}, r} }
}

// OpenRecorded migrates a database, and opens a Store that records its statements.
func OpenRecorded(t *testing.T, url store.URL) (*store.Store, *Recorder) {
	t.Helper()
	Migrate(t, url)
	r := &Recorder{}
	s, err := store.OpenWith(t.Context(), url, store.Options{Layer: r.Layer()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, r
}

// Sent returns the queries sent so far.
func (r *Recorder) Sent() []Statement {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Statement(nil), r.sent...)
}

// Executed returns the statements sent so far that return no rows.
func (r *Recorder) Executed() []Statement {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Statement(nil), r.executed...)
}

// everyone is a chooser that intercepts no transaction.
type everyone struct{}

func (everyone) begin() transaction { return nil }

type recorded struct {
	layer
	recorder *Recorder
}

func (l recorded) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := l.layer.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &recordedConn{conn.(*layeredConn), l.recorder}, nil
}

type recordedConn struct {
	*layeredConn
	recorder *Recorder
}

func (c *recordedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	s := statement(query, args)
	c.recorder.mu.Lock()
	c.recorder.sent = append(c.recorder.sent, s)
	c.recorder.mu.Unlock()
	return c.layeredConn.QueryContext(ctx, query, args)
}

func (c *recordedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	s := statement(query, args)
	c.recorder.mu.Lock()
	c.recorder.executed = append(c.recorder.executed, s)
	c.recorder.mu.Unlock()
	return c.layeredConn.ExecContext(ctx, query, args)
}
