package match

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unsafe"

	"github.com/moderato-live/moderato/internal/textmatch"
	"github.com/moderato-live/moderato/server/rpc/apierr"
)

// kinds add rules to a set, and report everything that is wrong with their fields. A new kind is one
// file, with a line here.
var kinds = map[Kind]func(*Rule, *builder){
	Terms: terms, Pattern: pattern, Links: links, Caps: caps, Symbols: symbols, Mentions: mentions, Repetition: repetition,
}

// matcher looks at a text for one rule.
type matcher interface {
	// find returns the parts that match, and whether the text does.
	find(t *textmatch.Text) ([]textmatch.Span, bool)
	// steps is as of textmatch.Matcher, and size is about how many bytes the matcher has.
	steps() int
	size() int
}

// Set is a compiled set of rules. It can be used concurrently.
type Set struct {
	phrases  *textmatch.Phrases // the terms of all rules; nil if there are none
	matchers []numbered
	steps    int
	size     int
}

// numbered is a matcher of a rule.
type numbered struct {
	rule int
	matcher
}

// builder collects what the rules of a set have.
type builder struct {
	fields

	set     Set
	rule    int
	phrases textmatch.PhrasesBuilder
	terms   int // phrases so far
}

// addMatcher adds a matcher of the present rule.
func (b *builder) addMatcher(m matcher) {
	b.set.matchers = append(b.set.matchers, numbered{b.rule, m})
	b.set.steps += m.steps()
	b.set.size += m.size() + int(unsafe.Sizeof(numbered{}))
}

// Check returns what is wrong with a rule itself, whatever other rules a channel has.
func Check(r Rule) []apierr.Violation {
	b := &builder{}
	b.addRule(&r)
	return b.violations
}

// Compile compiles rules that Check accepts. It does not check their limits: rules that are stored were
// checked, perhaps by a version that had other limits.
func Compile(rules []Rule) (*Set, error) {
	b := &builder{}
	for i := range rules {
		b.rule = i
		b.addRule(&rules[i])
		if len(b.violations) > 0 {
			return nil, fmt.Errorf("rule %d: %s %s", i, b.violations[0].Field, b.violations[0].Description)
		}
	}
	return b.build(), nil
}

// CheckLimits returns a LimitError or a TooCostlyError if rules are too many or too costly together.
func CheckLimits(rules []Rule) error {
	if err := CheckCounts(rules); err != nil {
		return err
	}
	s, err := Compile(rules)
	if err == nil && s.steps*costLength > maxSteps {
		return costliest(rules)
	}
	return err
}

// CheckCounts is CheckLimits without that of the steps. So it compiles nothing.
func CheckCounts(rules []Rule) error {
	terms, text := 0, 0
	for i := range rules {
		terms += len(rules[i].Terms)
		text += rules[i].text()
	}
	switch {
	case len(rules) > MaxRules:
		return ErrTooManyRules
	case terms > MaxChannelTerms:
		return ErrTooManyTerms
	case text > MaxChannelText:
		return ErrTooMuchText
	}
	return nil
}

// text returns how many bytes of text a rule has.
func (r *Rule) text() (n int) {
	for _, texts := range [][]string{r.Terms, r.Allow, r.Patterns, r.Allowed, r.Blocked} {
		for _, text := range texts {
			n += len(text)
		}
	}
	return n
}

// costliest returns the error that names the rule that takes the most steps if it is alone.
func costliest(rules []Rule) *TooCostlyError {
	e, most := &TooCostlyError{}, 0
	for i := range rules {
		b := &builder{}
		b.addRule(&rules[i])
		s := b.build()
		if s.steps <= most {
			continue
		}
		*e, most = TooCostlyError{Rule: i}, s.steps
		if rules[i].Kind == Pattern {
			e.Field = s.matchers[0].matcher.(patterns).costliest()
		}
	}
	return e
}

func (b *builder) addRule(r *Rule) {
	compile, ok := kinds[r.Kind]
	if !ok {
		b.add("kind", "must be one of %s", kindNames())
		return
	}
	compile(r, b)
}

func kindNames() string {
	var names []string
	for _, k := range slices.Sorted(maps.Keys(kinds)) {
		names = append(names, string(k))
	}
	return strings.Join(names, ", ")
}

func (b *builder) build() *Set {
	s := b.set // a copy, so that the builder is not kept
	if b.terms > 0 {
		s.phrases = b.phrases.Build()
		s.steps += s.phrases.Steps()
		s.size += s.phrases.Size()
	}
	s.size += int(unsafe.Sizeof(s))
	s.matchers = slices.Clone(s.matchers)
	return &s
}

// Steps returns how many steps Match takes at most for each byte of a folded text.
func (s *Set) Steps() int { return s.steps }

// Size returns about how many bytes of memory the set has.
func (s *Set) Size() int { return s.size }
