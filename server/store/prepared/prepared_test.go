package prepared_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/moderato-live/moderato/server/store/prepared"
)

// unpreparing is a database that fails every PREPARE, and counts the statements that run as
// text.
type unpreparing struct {
	driver.Conn
	driver.ConnBeginTx
	driver.QueryerContext
	driver.SessionResetter

	failure     error
	isForbidden bool // the connections run statements unprepared
	texts       int
	prepares    int
}

func (u *unpreparing) Connect(ctx context.Context) (driver.Conn, error) {
	if u.isForbidden {
		prepared.RunUnprepared(ctx)
	}
	return u, nil
}

func (*unpreparing) Driver() driver.Driver              { return nil }
func (*unpreparing) Close() error                       { return nil }
func (*unpreparing) Ping(context.Context) error         { return nil }
func (*unpreparing) ResetSession(context.Context) error { return nil }
func (*unpreparing) IsValid() bool                      { return true }

func (u *unpreparing) PrepareContext(context.Context, string) (driver.Stmt, error) {
	u.prepares++
	return nil, u.failure
}

func (u *unpreparing) ExecContext(context.Context, string, []driver.NamedValue) (driver.Result, error) {
	u.texts++
	return driver.ResultNoRows, nil
}

// TestStatementRunsAsTextOnlyIfItCannotBePrepared has PREPARE fail. After most errors the
// server has rolled back the transaction, outside of which the statement must not run.
func TestStatementRunsAsTextOnlyIfItCannotBePrepared(t *testing.T) {
	for name, test := range map[string]struct {
		number uint16
		runs   bool
	}{
		"the server does not support it": {1295, true},
		"too many prepared statements":   {1461, true},
		"deadlock":                       {1213, false},
		"lock wait":                      {1205, false},
		"a node that is not ready":       {1047, false},
	} {
		t.Run(name, func(t *testing.T) {
			u := &unpreparing{failure: &mysql.MySQLError{Number: test.number}}
			db := sql.OpenDB(prepared.Connector(u))
			t.Cleanup(func() { _ = db.Close() })
			db.SetMaxOpenConns(1)
			if _, err := db.ExecContext(t.Context(), "UPDATE x"); err != nil { // the first run is as text
				t.Fatal(err)
			}
			_, err := db.ExecContext(t.Context(), "UPDATE x")
			if runs := u.texts == 2; runs != test.runs || (err == nil) != test.runs {
				t.Errorf("the statement ran: %t, %v", runs, err)
			}
		})
	}
}

// TestConnectionsCanRunAllUnprepared repeats a statement on a connection whose connector
// forbids PREPARE.
func TestConnectionsCanRunAllUnprepared(t *testing.T) {
	u := &unpreparing{isForbidden: true}
	db := sql.OpenDB(prepared.Connector(u))
	t.Cleanup(func() { _ = db.Close() })
	for range 3 {
		if _, err := db.ExecContext(t.Context(), "UPDATE x"); err != nil {
			t.Fatal(err)
		}
	}
	if u.prepares != 0 || u.texts != 3 {
		t.Errorf("%d statements were prepared, and %d ran as text", u.prepares, u.texts)
	}
}
