package cluster_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/moderato-live/moderato/server/store/cluster"
)

// fake is a member of a cluster.
type fake struct {
	mu        sync.Mutex
	variables map[string]string
	isOnline  bool // in the majority of its replication group
	status    map[string]string
	fails     error // the error of everything
	isSilent  bool
	executed  []string
	last      *fakeConn
}

// set changes what a member says.
func (f *fake) set(change func(f *fake)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}

func standalone(readOnly string) *fake {
	return &fake{variables: map[string]string{"version": "11.8.1-MariaDB", "read_only": readOnly}}
}

// inGroup returns a primary of a replication group.
func inGroup(isOnline bool) *fake {
	return &fake{isOnline: isOnline, variables: map[string]string{
		"version": "9.7.0", "read_only": "OFF", "group_replication_group_name": "g", "group_replication_consistency": "EVENTUAL",
	}}
}

func galeraNode(state string) *fake {
	return &fake{
		variables: map[string]string{"version": "10.11.1-MariaDB", "read_only": "OFF", "wsrep_on": "ON"},
		status:    map[string]string{"wsrep_ready": "ON", "wsrep_local_state_comment": state},
	}
}

func (f *fake) wait(ctx context.Context) error {
	f.mu.Lock()
	err, isSilent := f.fails, f.isSilent
	f.mu.Unlock()
	if isSilent {
		<-ctx.Done()
		return ctx.Err()
	}
	return err
}

func (f *fake) Connect(ctx context.Context) (driver.Conn, error) {
	if err := f.wait(ctx); err != nil {
		return nil, err
	}
	client, server := net.Pipe()
	if _, err := cluster.Dial(func(context.Context, string, string) (net.Conn, error) { return client, nil })(ctx, "", ""); err != nil {
		return nil, err
	}
	conn := &fakeConn{fake: f, client: client, server: server}
	f.set(func(f *fake) { f.last = conn })
	return conn, nil
}

func (f *fake) Driver() driver.Driver { return nil }

type fakeConn struct {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	*fake

	client, server net.Conn
}

func (c *fakeConn) QueryContext(ctx context.Context, text string, _ []driver.NamedValue) (driver.Rows, error) {
	if err := c.wait(ctx); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case strings.Contains(text, "GLOBAL VARIABLES"):
		return rowsOf(c.variables), nil
	case strings.Contains(text, "GLOBAL STATUS"):
		return rowsOf(c.status), nil
	}
	return rowsOf(map[string]string{"is online": map[bool]string{true: "1", false: "0"}[c.isOnline]}), nil
}

func (c *fakeConn) ExecContext(_ context.Context, text string, _ []driver.NamedValue) (driver.Result, error) {
	c.set(func(f *fake) { f.executed = append(f.executed, text) })
	return driver.ResultNoRows, nil
}

func (*fakeConn) CheckNamedValue(*driver.NamedValue) error { return nil }
func (*fakeConn) Ping(context.Context) error               { return nil }
func (*fakeConn) ResetSession(context.Context) error       { return nil }
func (*fakeConn) IsValid() bool                            { return true }
func (c *fakeConn) Close() error                           { return errors.Join(c.client.Close(), c.server.Close()) }

type fakeRows struct{ rows [][]string }

func rowsOf(values map[string]string) *fakeRows {
	r := &fakeRows{}
	for name, value := range values {
		r.rows = append(r.rows, []string{name, value})
	}
	return r
}

func (*fakeRows) Columns() []string { return make([]string, 2) }
func (*fakeRows) Close() error      { return nil }

func (r *fakeRows) Next(values []driver.Value) error {
	if len(r.rows) == 0 {
		return io.EOF
	}
	for i, v := range r.rows[0] {
		values[i] = []byte(v)
	}
	r.rows = r.rows[1:]
	return nil
}

var errRefused = &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}

// connect returns the Connector of members, which are named a:1, b:1 and so on.
func connect(t *testing.T, members ...*fake) *cluster.Connector {
	t.Helper()
	var hosts []string
	for i := range members {
		hosts = append(hosts, string(rune('a'+i))+":1")
	}
	c, err := cluster.New(hosts, func(host string) (driver.Connector, error) { return members[host[0]-'a'], nil }, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}
