package storetest

import (
	"context"
	"database/sql/driver"
	"runtime"
	"strings"
	"sync"
)

// Halt is where a Stepper stops.
type Halt struct {
	// Of is what begins the transaction, as a part of the name of a function
	// that is on the stack then.
	Of string
	// After, if given, lets pass whatever is begun before a transaction of this
	// function commits.
	After string
	// Step is the step of the first such transaction before which to stop. BEGIN
	// is 0; one more than COMMIT stops after it.
	Step int
}

// Stepper is between a Store and its driver, and stops a transaction at a step:
// whoever runs it goes no further. To kill the process then is to kill it just
// there.
type Stepper struct {
	// Stands is told before which step the transaction stands.
	Stands func(step string)
	// Passed is told that the transaction has fewer steps than that.
	Passed func()

	mu   sync.Mutex
	halt *Halt
}

// Set says where to stop next.
func (s *Stepper) Set(h Halt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.halt = &h
}

// Layer is the Stepper as a store.Layer.
func (s *Stepper) Layer(c driver.Connector) driver.Connector { return steppedConnector{c, s} }

// begin decides what becomes of a transaction that is begun now.
func (s *Stepper) begin() *steps {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.halt
	switch {
	case h == nil || h.Of == "":
		return nil
	case h.After != "" && isOnStack(h.After):
		return &steps{stepper: s, opens: true}
	case h.After == "" && isOnStack(h.Of):
		s.halt = nil
		return &steps{stepper: s, halt: *h}
	}
	return nil
}

// open ends the wait for a transaction of Halt.After.
func (s *Stepper) open() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.halt != nil {
		s.halt.After = ""
	}
}

func isOnStack(function string) bool {
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers)])
	for {
		frame, more := frames.Next()
		if strings.Contains(frame.Function, function) {
			return true
		}
		if !more {
			return false
		}
	}
}

// steps are those of one transaction; of nil nothing is wanted.
type steps struct {
	stepper *Stepper
	halt    Halt
	opens   bool // it is the one to wait for
	n       int
}

// at is called before each step.
func (s *steps) at(step string) {
	if s == nil || s.opens {
		return
	}
	if s.n == s.halt.Step {
		s.stepper.Stands(step)
		select {}
	}
	s.n++
}

type steppedConnector struct {
	driver.Connector
	stepper *Stepper
}

func (c steppedConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &steppedConn{Conn: conn, stepper: c.stepper}, nil
}

// The steps that no statement names.
const (
	beginStep  = "BEGIN"
	commitStep = "COMMIT"
	// CommittedStep is the step after COMMIT.
	CommittedStep = "the end"
)

// steppedConn hands everything on. The drivers of both kinds of store have the
// interfaces that it takes for granted.
type steppedConn struct {
	driver.Conn
	stepper *Stepper
	steps   *steps // of the transaction that is under way
}

func (c *steppedConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	c.steps = c.stepper.begin()
	c.steps.at(beginStep)
	tx, err := c.Conn.(driver.ConnBeginTx).BeginTx(ctx, o)
	if err != nil {
		c.again()
		return nil, err
	}
	return &steppedTx{tx, c}, nil
}

// again has the next transaction stopped instead of one that was rolled back.
func (c *steppedConn) again() {
	if s := c.steps; s != nil && !s.opens {
		c.stepper.Set(s.halt)
	}
	c.steps = nil
}

func (c *steppedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	c.steps.at(query)
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
}

func (c *steppedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.steps.at(query)
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
}

func (c *steppedConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	return c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, query)
}

func (c *steppedConn) Ping(ctx context.Context) error { return c.Conn.(driver.Pinger).Ping(ctx) }

func (c *steppedConn) ResetSession(ctx context.Context) error {
	return c.Conn.(driver.SessionResetter).ResetSession(ctx)
}

func (c *steppedConn) IsValid() bool { return c.Conn.(driver.Validator).IsValid() }

func (c *steppedConn) CheckNamedValue(v *driver.NamedValue) error {
	if checker, ok := c.Conn.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

type steppedTx struct {
	driver.Tx
	conn *steppedConn
}

func (t *steppedTx) Commit() error {
	s := t.conn.steps
	s.at(commitStep)
	if s != nil && s.opens {
		s.stepper.open()
	}
	if err := t.Tx.Commit(); err != nil {
		t.conn.again()
		return err
	}
	s.at(CommittedStep)
	if s != nil && !s.opens {
		s.stepper.Passed()
	}
	t.conn.steps = nil
	return nil
}

func (t *steppedTx) Rollback() error {
	t.conn.again()
	return t.Tx.Rollback()
}
