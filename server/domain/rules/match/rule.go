// Package match finds the rules of a chat that a message matches. It knows nothing of databases. It
// compiles rules to a Set, which is kept in memory, and matches folded texts with it.
package match

import (
	"fmt"
	"time"

	"github.com/moderato-live/moderato/server/rpc/apierr"
)

// Kind is a kind of rule.
type Kind string

// Rule is what a rule matches. The fields of other kinds are ignored.
type Rule struct {
	Kind Kind

	Terms     []string // phrases
	Allow     []string // phrases of which no part matches
	Evasions  bool     // also disguises that are guesses: see textmatch.PhrasesBuilder
	Patterns  []string // RE2
	Mode      Mode     // of links
	Allowed   []string // domains
	Blocked   []string // domains
	MinLength int      // in code points, of texts that caps and symbols look at
	Percent   int      // of caps and symbols
	MaxMarks  int      // on one letter
	Max       int      // mentions

	SameSender int           // how often one user repeats a text; 0 if it does not matter
	Senders    int           // how many users repeat a text; 0 if it does not matter
	Within     time.Duration // of the repetition
}

// Bounds of rules and of what a channel has.
const (
	maxTerms      = 1000
	maxTermLength = 100
	maxPatterns   = 10
	maxDomains    = 1000
	maxSteps      = 250_000
	costLength    = 1000 // bytes of a folded text that may take maxSteps

	// MaxRules, MaxChannelTerms and MaxChannelText are how much a channel has.
	MaxRules        = 100
	MaxChannelTerms = 10_000
	MaxChannelText  = 512 << 10
)

// LimitError is the error for rules that exceed a limit of a channel together.
type LimitError string

// The limits, as clients read them.
const (
	ErrTooManyRules LimitError = "rules" // MaxRules
	ErrTooManyTerms LimitError = "terms" // MaxChannelTerms
	ErrTooMuchText  LimitError = "text"  // MaxChannelText
)

// Error names the limit.
func (l LimitError) Error() string { return "the rules exceed a limit of a channel: " + string(l) }

// TooCostlyError is the error for rules that take too many steps together. It names the one that takes
// the most.
type TooCostlyError struct {
	Rule  int    // its place among the rules
	Field string // of the pattern that takes the most; empty if it has no patterns
}

// Error names the rule.
func (e *TooCostlyError) Error() string {
	return fmt.Sprintf("the rules take too many steps for each message, and rule %d the most", e.Rule)
}

// fields collects violations.
type fields struct{ violations []apierr.Violation }

func (f *fields) add(field, format string, values ...any) {
	f.violations = append(f.violations, apierr.Violation{Field: field, Description: fmt.Sprintf(format, values...)})
}

// addEach is add for an element of a list.
func (f *fields) addEach(field string, n int, format string, values ...any) {
	f.add(fmt.Sprintf("%s[%d]", field, n), format, values...)
}

func (f *fields) number(field string, value, least, most int) {
	if value < least || value > most {
		f.add(field, "must be %d to %d", least, most)
	}
}

// count checks how many elements a list has. It reports whether they are few enough to compile.
func (f *fields) count(field string, n, least, most int) bool {
	if n < least || n > most {
		f.add(field, "must have %d to %d elements", least, most)
	}
	return n <= most
}
