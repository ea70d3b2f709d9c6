package storetest

import (
	"database/sql/driver"
	"strings"
	"sync"
)

// Halt is the place at which a Stepper stops.
type Halt struct {
	// Of is a part of the name of a function that is on the stack when the transaction
	// begins.
	Of string
	// After, if not empty, is a part of the name of another function: transactions pass
	// until a transaction of that function commits.
	After string
	// Has is the prefix of a step that distinguishes the transaction from others of the
	// same function: a transaction that commits without such a step is another one.
	// Before that step, the transactions cannot be distinguished.
	Has string
	// Step is the number of the step before which to stop, in the first such
	// transaction. BEGIN is 0; the number after that of COMMIT stops after the COMMIT.
	Step int
}

// Stepper is a layer between a Store and its driver that stops a transaction before a
// step: the goroutine of the transaction blocks forever. A test can then kill the
// process at exactly that step.
type Stepper struct {
	// Stands is called with the step before which the transaction has stopped.
	Stands func(step string)
	// Passed is called when the transaction had fewer steps than Halt.Step.
	Passed func()

	mu   sync.Mutex
	halt *Halt
}

// Set sets where to stop next.
func (s *Stepper) Set(h Halt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.halt = &h
}

// Layer implements store.Layer.
func (s *Stepper) Layer(c driver.Connector) driver.Connector { return layer{c, s} }

// begin selects a transaction that begins now, if it matches the Halt.
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

// awaited is a transaction of the function Halt.After.
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

// steps counts the steps of the transaction to stop.
type steps struct {
	stepper *Stepper
	halt    Halt
	n       int
	isIt    bool // the transaction had the step Halt.Has
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

// rolledBack makes the Stepper stop the next matching transaction instead.
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
