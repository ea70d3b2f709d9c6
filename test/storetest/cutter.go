package storetest

import (
	"database/sql/driver"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// lateBy is the delay of a LateCommit: longer than a retry takes to check whether the
// transaction committed.
const lateBy = 200 * time.Millisecond

// Cutter is a layer between a Store of any kind and its driver that loses the connection
// in chosen transactions.
type Cutter struct {
	// OnCut is called after each cut in a COMMIT, unless it is nil.
	OnCut func()

	mu        sync.Mutex
	of        string
	cuts      []Cut
	statement int
	made      int
	abandoned *abandoned // see Abandon
}

// CutNext applies the cuts, in this order, to the next transactions that are begun by a
// function whose name contains of.
func (c *Cutter) CutNext(of string, cuts ...Cut) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.of, c.cuts, c.statement, c.made, c.abandoned = of, cuts, 0, 0, nil
}

// CutStatements is CutNext with a number of cuts AtStatement that lose the n-th statement of
// their transactions, counted from 0. A transaction with fewer statements is not cut.
func (c *Cutter) CutStatements(of string, n, number int) {
	c.CutNext(of, slices.Repeat([]Cut{AtStatement}, number)...)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.statement = n
}

// Abandon is CutStatements with one cut, which the database does not notice: the transaction
// keeps its locks until notice is called, as after a failure of the network. lost is closed
// when the cut is made.
func (c *Cutter) Abandon(of string, n int) (lost <-chan struct{}, notice func()) {
	c.CutStatements(of, n, 1)
	c.mu.Lock()
	defer c.mu.Unlock()
	a := &abandoned{lost: make(chan struct{}), noticed: make(chan struct{})}
	c.abandoned = a
	return a.lost, sync.OnceFunc(func() { close(a.noticed) })
}

// abandoned is a cut that the database does not notice at once.
type abandoned struct {
	lost, noticed chan struct{}
}

// Made returns how many cuts were made since CutNext.
func (c *Cutter) Made() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.made
}

// Layer implements store.Layer.
func (c *Cutter) Layer(next driver.Connector) driver.Connector { return layer{next, c} }

func (c *Cutter) begin() transaction {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.cuts) == 0 || !isOnStack(c.of) {
		return nil
	}
	return &cut{cutter: c, left: c.statement, abandoned: c.abandoned}
}

func (c *Cutter) next() Cut {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.cuts) == 0 {
		return Nowhere
	}
	next := c.cuts[0]
	c.cuts = c.cuts[1:]
	if next != Nowhere {
		c.made++
	}
	return next
}

func (c *Cutter) isNext(cut Cut) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.cuts) > 0 && c.cuts[0] == cut
}

// cut is a transaction that may be cut.
type cut struct {
	cutter *Cutter
	left   int // how many statements come before the one that AtStatement loses
	// abandoned is nil if the database notices a lost statement at once.
	abandoned *abandoned
}

func (c *cut) at(step string) error {
	if step == beginStep || step == commitStep || !c.cutter.isNext(AtStatement) {
		return nil
	}
	if c.left--; c.left >= 0 {
		return nil
	}
	c.cutter.next()
	if c.abandoned != nil {
		close(c.abandoned.lost)
		return &lostError{over: c.abandoned.noticed}
	}
	lost := &lostError{over: make(chan struct{})}
	close(lost.over)
	return lost
}

func (*cut) rolledBack() {}

func (c *cut) commit(do func() error) error {
	if c.cutter.isNext(AtStatement) { // this transaction had too few statements
		return do()
	}
	lost := &lostError{over: make(chan struct{})}
	switch c.cutter.next() {
	case Nowhere:
		return do()
	case BeforeCommit:
		close(lost.over)
	case AfterCommit:
		lost.commit(do)
	case LateCommit:
		time.AfterFunc(lateBy, func() { lost.commit(do) })
	}
	if c.cutter.OnCut != nil {
		c.cutter.OnCut()
	}
	return lost
}

// lostError is the error of a lost connection.
type lostError struct {
	// over is closed when nothing uses the connection any more.
	over chan struct{}
}

func (l *lostError) commit(do func() error) {
	defer close(l.over)
	if err := do(); err != nil {
		panic(fmt.Errorf("the COMMIT that was to happen: %w", err))
	}
}

// isOver reports whether nothing uses the connection any more.
func (l *lostError) isOver() bool {
	select {
	case <-l.over:
		return true
	default:
		return false
	}
}

func (l *lostError) Error() string { return "the connection was cut" }

// Unwrap returns the error that a driver returns for a lost connection.
func (l *lostError) Unwrap() error { return io.ErrUnexpectedEOF }
