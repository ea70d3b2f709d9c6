package cluster_test

import (
	"context"
	"database/sql/driver"
	"io"
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
	members   [][]string // of its replication group
	status    map[string]string
	fails     error // the error of everything
	isSilent  bool
	connects  int
	executed  []string
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

// inGroup returns a member of a replication group, with the states, roles and perhaps ids
// that it sees: first its own.
func inGroup(states ...string) *fake {
	f := &fake{variables: map[string]string{
		"version": "9.7.0", "read_only": "OFF", "super_read_only": "OFF", "group_replication_group_name": "g",
		"group_replication_consistency": "EVENTUAL",
	}}
	f.sees(states...)
	return f
}

func (f *fake) sees(states ...string) {
	f.members = nil
	for i, s := range states {
		fields := append(strings.Split(s, " "), "", "")
		own := "0"
		if i == 0 {
			own = "1"
		}
		f.members = append(f.members, []string{fields[0], fields[1], own, fields[2]})
	}
}

func galeraNode(state string) *fake {
	return &fake{
		variables: map[string]string{"version": "10.11.1-MariaDB", "read_only": "OFF", "wsrep_on": "ON"},
		status:    map[string]string{"wsrep_ready": "ON", "wsrep_cluster_status": "Primary", "wsrep_local_state_comment": state},
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
	f.set(func(f *fake) { f.connects++ })
	return &fakeConn{fake: f}, nil
}

func (f *fake) Driver() driver.Driver { return nil }

type fakeConn struct {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	*fake
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
	return &fakeRows{columns: 4, rows: c.members}, nil
}

func (c *fakeConn) ExecContext(_ context.Context, text string, _ []driver.NamedValue) (driver.Result, error) {
	c.set(func(f *fake) { f.executed = append(f.executed, text) })
	return driver.ResultNoRows, nil
}

func (*fakeConn) Ping(context.Context) error         { return nil }
func (*fakeConn) ResetSession(context.Context) error { return nil }
func (*fakeConn) IsValid() bool                      { return true }
func (*fakeConn) Close() error                       { return nil }

type fakeRows struct {
	columns int
	rows    [][]string
}

func rowsOf(values map[string]string) *fakeRows {
	r := &fakeRows{columns: 2}
	for name, value := range values {
		r.rows = append(r.rows, []string{name, value})
	}
	return r
}

func (r *fakeRows) Columns() []string { return make([]string, r.columns) }
func (*fakeRows) Close() error        { return nil }

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
func connect(t *testing.T, change func(*cluster.Config), members ...*fake) *cluster.Connector {
	t.Helper()
	config := cluster.Config{}
	for i := range members {
		config.Hosts = append(config.Hosts, string(rune('a'+i))+":1")
	}
	config.Connect = func(host string) (driver.Connector, error) { return members[host[0]-'a'], nil }
	if change != nil {
		change(&config)
	}
	c, err := cluster.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}
