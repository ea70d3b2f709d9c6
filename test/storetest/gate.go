package storetest

import (
	"context"
	"database/sql/driver"
	"strings"
	"sync"

	"github.com/moderato-live/moderato/server/store"
)

// Gate is a layer that holds back the results of queries: the database has run the
// query, and the Store has not read its rows yet.
type Gate struct {
	mu     sync.Mutex
	of     string
	opened chan struct{}
	held   chan Statement
	fail   func(query string) (after int, err error)
}

// Shut holds back queries that contain this text until Open, and sends each held query
// on the channel.
func (g *Gate) Shut(of string) <-chan Statement {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.of, g.opened, g.held = of, make(chan struct{}), make(chan Statement)
	return g.held
}

// Move releases all queries, and holds back those that contain this text instead: a call
// whose query is held cannot pass both.
func (g *Gate) Move(of string) <-chan Statement {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.opened)
	g.of, g.opened, g.held = of, make(chan struct{}), make(chan Statement)
	return g.held
}

// Open releases all queries.
func (g *Gate) Open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.opened)
	g.opened, g.held = nil, nil
}

// Fail sets the function that decides which statements fail, and after how many rows;
// nil removes it.
func (g *Gate) Fail(how func(query string) (after int, err error)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.fail = how
}

// Layer returns the layer through which to open a Store.
func (g *Gate) Layer() store.Layer {
	return func(c driver.Connector) driver.Connector { return gated{layer{c, everyone{}}, g} }
}

// pass holds a result back until Open or the end of its call.
func (g *Gate) pass(ctx context.Context, s Statement) error {
	g.mu.Lock()
	opened, held := g.opened, g.held
	if !strings.Contains(s.Text, g.of) {
		opened = nil
	}
	g.mu.Unlock()
	if opened == nil {
		return nil
	}
	select {
	case held <- s:
	case <-opened:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-opened:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// failing returns how a query fails, and reports whether it fails.
func (g *Gate) failing(query string) (failingRows, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.fail == nil {
		return failingRows{}, false
	}
	after, err := g.fail(query)
	return failingRows{left: after, err: err}, err != nil
}

// failingRows are rows that fail with err after left rows were read.
type failingRows struct {
	driver.Rows
	left int
	err  error
}

func (r *failingRows) Next(values []driver.Value) error {
	if r.left == 0 {
		return r.err
	}
	r.left--
	return r.Rows.Next(values)
}

type gated struct {
	layer
	gate *Gate
}

func (l gated) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := l.layer.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &gatedConn{conn.(*layeredConn), l.gate}, nil
}

type gatedConn struct {
	*layeredConn
	gate *Gate
}

func (c *gatedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	failing, fails := c.gate.failing(query)
	if fails && failing.left == 0 {
		return nil, failing.err
	}
	rows, err := c.layeredConn.QueryContext(ctx, query, args)
	if err != nil {
		return nil, err
	}
	if fails {
		failing.Rows = rows
		return &failing, nil
	}
	if err := c.gate.pass(ctx, statement(query, args)); err != nil {
		_ = rows.Close()
		return nil, err
	}
	return rows, nil
}

func (c *gatedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if failing, fails := c.gate.failing(query); fails {
		return nil, failing.err
	}
	return c.layeredConn.ExecContext(ctx, query, args)
}
