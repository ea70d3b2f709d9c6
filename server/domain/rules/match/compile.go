package match

import (
	"maps"
	"slices"
	"strings"
	"unsafe"

	"github.com/moderato-live/moderato/internal/textmatch"
)

// kind is what a kind of rule does. A new kind is one file, with a line in kinds.
type kind struct {
	// check reports what is wrong with the fields of the rule.
	check func(r *Rule, f *fields)
	// compile adds a rule to a set, and reports what is wrong with what it compiles; nil if the
	// rule is not decided by the text of one message.
	compile func(r *Rule, b *builder)
}

// kinds are all kinds of rules.
var kinds = map[Kind]kind{
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
	text    int // bytes of text so far
}

// addMatcher adds a matcher of the present rule.
func (b *builder) addMatcher(m matcher) {
	b.set.matchers = append(b.set.matchers, numbered{b.rule, m})
	b.set.steps += m.steps()
	b.set.size += m.size() + int(unsafe.Sizeof(numbered{}))
}

// Compile compiles rules. The error is an InvalidError, ErrTooMany or ErrTooCostly.
func Compile(rules []Rule) (*Set, error) {
	b := &builder{}
	if len(rules) > MaxRules {
		return nil, ErrTooMany
	}
	for i := range rules {
		b.rule = i
		b.add(&rules[i])
		if len(b.violations) > 0 {
			return nil, &InvalidError{Rule: i, Violations: b.violations}
		}
		if b.terms > MaxChannelTerms || b.text > MaxChannelText {
			return nil, ErrTooMany
		}
	}
	return b.build()
}

func (b *builder) add(r *Rule) {
	k, ok := kinds[r.Kind]
	if !ok {
		b.fields.add("kind", "must be one of %s", kindNames())
		return
	}
	for _, texts := range [][]string{r.Terms, r.Allow, r.Patterns, r.Allowed, r.Blocked} {
		for _, text := range texts {
			b.text += len(text)
		}
	}
	if k.check(r, &b.fields); len(b.violations) == 0 && k.compile != nil {
		k.compile(r, b)
	}
}

func kindNames() string {
	var names []string
	for _, k := range slices.Sorted(maps.Keys(kinds)) {
		names = append(names, string(k))
	}
	return strings.Join(names, ", ")
}

func (b *builder) build() (*Set, error) {
	s := b.set // a copy, so that the builder is not kept
	if b.terms > 0 {
		s.phrases = b.phrases.Build()
		s.steps += s.phrases.Steps()
		s.size += s.phrases.Size()
	}
	s.size += int(unsafe.Sizeof(s))
	s.matchers = slices.Clone(s.matchers)
	if s.steps*costLength > maxSteps {
		return nil, ErrTooCostly
	}
	return &s, nil
}

// Steps returns how many steps Match takes at most for each byte of a folded text.
func (s *Set) Steps() int { return s.steps }

// Size returns about how many bytes of memory the set has.
func (s *Set) Size() int { return s.size }
