package storetest

import (
	"database/sql/driver"
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
	// Has is how a step begins that tells the transaction from others of the same
	// function: one without it that passes is not the one. Up to that step no one
	// can tell.
	Has string
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
func (s *Stepper) Layer(c driver.Connector) driver.Connector { return layer{c, s} }

// begin decides what becomes of a transaction that is begun now.
func (s *Stepper) begin() transaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.halt
	switch {
	case h == nil || h.Of == "":
	case h.After != "" && isOnStack(h.After):
		return awaited{s}
	case h.After == "" && isOnStack(h.Of):
		s.halt = nil
		return &steps{stepper: s, halt: *h}
	}
	return nil
}

// awaited is a transaction of Halt.After.
type awaited struct{ *Stepper }

func (awaited) at(string) error { return nil }

func (awaited) rolledBack() {}

func (a awaited) commit(do func() error) error {
	a.mu.Lock()
	if a.halt != nil {
		a.halt.After = ""
	}
	a.mu.Unlock()
	return do()
}

// steps are those of the transaction that is to be stopped.
type steps struct {
	stepper *Stepper
	halt    Halt
	n       int
	isIt    bool // it had the step Halt.Has
}

func (s *steps) at(step string) error {
	if s.n == s.halt.Step {
		s.stepper.Stands(step)
		select {}
	}
	s.isIt = s.isIt || strings.HasPrefix(step, s.halt.Has)
	s.n++
	return nil
}

// rolledBack has the next one stopped instead.
func (s *steps) rolledBack() { s.stepper.Set(s.halt) }

func (s *steps) commit(do func() error) error {
	if err := do(); err != nil {
		s.rolledBack()
		return err
	}
	_ = s.at(CommittedStep)
	if s.isIt {
		s.stepper.Passed()
	} else {
		s.stepper.Set(s.halt)
	}
	return nil
}

// CommittedStep is the step after COMMIT.
const CommittedStep = "the end"
