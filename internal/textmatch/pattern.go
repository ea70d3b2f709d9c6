package textmatch

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Bounds of the size of a pattern, and with it of the time that a message takes: each
// character of it may need every part of the pattern. Most instructions of long literals are
// never reached, so the number of parts, which repetitions multiply, is bounded more
// strictly.
const (
	maxInstructions = 1000
	maxParts        = 128
)

// Errors of a pattern. A pattern that is no regular expression has a *SyntaxError, and one
// that is too long ErrTooLong.
var (
	ErrTooComplex = errors.New("is too complex: use fewer alternatives, or * and + instead of counts")
	ErrMatchesAll = errors.New("must not match an empty text, as .* does, because it would match every message; add a part that only the meant messages have")
)

// SyntaxError describes why a pattern is not a regular expression.
type SyntaxError struct {
	// Problem is what is wrong, such as "missing closing )".
	Problem string
	// Part is the part of the pattern that is wrong.
	Part string
	// Position is the number of the first character of Part in the pattern, from 1. It is 0
	// if it is not known.
	Position int
}

// Error describes the problem in the form that follows the name of a field.
func (e *SyntaxError) Error() string {
	switch {
	case e.Part == "":
		return "does not compile: " + e.Problem
	case e.Position == 0:
		return fmt.Sprintf("does not compile, “%s”: %s", e.Part, e.Problem)
	default:
		return fmt.Sprintf("does not compile at character %d, “%s”: %s", e.Position, e.Part, e.Problem)
	}
}

// Pattern returns a Matcher for messages that contain what an RE2 regular expression
// describes. Case never matters. The pattern is tried on two forms of the message: after
// NFKC, case folding and the removal of invisible characters; and after look-alikes beyond
// ASCII were replaced and accents removed as well. Unlike a phrase, it distinguishes what
// looks alike within ASCII, so that \d and [a-z] have their usual meaning. A pattern that
// matches an empty message is refused, because it matches every message.
func Pattern(pattern string) (Matcher, error) {
	m, err := NewExpression(pattern)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// NewExpression is Pattern for a matcher of folded texts.
func NewExpression(pattern string) (*Expression, error) {
	if utf8.RuneCountInString(pattern) > MaxLength {
		return nil, ErrTooLong
	}
	normal := norm.NFC.String(pattern)
	if classesWidth(normal) > maxClassesWidth {
		return nil, ErrTooComplex
	}
	parsed, err := syntax.Parse(normal, syntax.Perl|syntax.FoldCase)
	if err != nil {
		return nil, syntaxError(pattern, err)
	}
	if parts(parsed) > maxParts {
		return nil, ErrTooComplex
	}
	plain, letters := write(parsed, plainWriter), write(parsed, lettersWriter)
	m := &Expression{}
	if m.letters, err = m.compile(letters); err != nil {
		return nil, err
	}
	if plain == letters {
		m.steps *= 2
	} else if m.plain, err = m.compile(plain); err != nil {
		return nil, err
	}
	if m.letters.MatchString("") || m.plain != nil && m.plain.MatchString("") {
		return nil, ErrMatchesAll
	}
	return m, nil
}

// Expression is the Matcher of a pattern.
type Expression struct {
	plain   *regexp.Regexp // nil if it is the same as letters
	letters *regexp.Regexp
	steps   int
	size    int
}

// Steps returns the number of the instructions of both forms that may be tried for one character.
func (m *Expression) Steps() int { return m.steps }

// Size returns that of the texts and instructions of both forms.
func (m *Expression) Size() int { return m.size }

// Match reports whether a message matches.
func (m *Expression) Match(text string) bool {
	t := NewText(text)
	defer t.Release()
	if m.letters.Match(t.form(lettersForm)) {
		return true
	}
	re := m.inPlain(t)
	return re != nil && re.Match(t.form(plainForm))
}

// Find returns the first parts of a text that match, up to a number of them, and whether there is
// one. A part may be empty.
func (m *Expression) Find(t *Text, n int) ([]Span, bool) {
	if spans := findAll(m.letters, t, lettersForm, n); spans != nil {
		return spans, true
	}
	if re := m.inPlain(t); re != nil {
		spans := findAll(re, t, plainForm, n)
		return spans, spans != nil
	}
	return nil, false
}

func findAll(re *regexp.Regexp, t *Text, of form, n int) (spans []Span) {
	if !re.Match(t.form(of)) { // is faster if nothing matches
		return nil
	}
	for _, at := range re.FindAllIndex(t.form(of), n) {
		spans = append(spans, t.span(of, at[0], at[1]))
	}
	return spans
}

// inPlain returns the expression to try on the plain form of a text; nil if it was tried.
func (m *Expression) inPlain(t *Text) *regexp.Regexp {
	if m.plain == nil && !t.ascii {
		return m.letters
	}
	return m.plain
}

// compile compiles what write returned, and adds to the steps and the size of the matcher.
func (m *Expression) compile(written string) (*regexp.Regexp, error) {
	parsed, err := syntax.Parse(written, syntax.Perl)
	if err != nil {
		return nil, ErrTooComplex
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil || len(program.Inst) > maxInstructions {
		return nil, ErrTooComplex
	}
	re, err := regexp.Compile(written)
	if err != nil {
		return nil, ErrTooComplex
	}
	m.steps += stepsOf(program)
	m.size += len(written)
	for _, instruction := range program.Inst {
		m.size += instructionSize + 4*len(instruction.Rune)
	}
	return re, nil
}

// instructionSize is how many bytes an instruction of a program has, without the characters of
// its class.
const instructionSize = 40

// parts returns the number of literals, classes and operators of an expression, after
// repetitions are expanded.
func parts(re *syntax.Regexp) int {
	n := 0
	for _, sub := range re.Sub {
		n += parts(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(1, re.Min, re.Max)
	}
	return min(n+1, maxParts+1) // nested repetitions must not overflow
}

func syntaxError(pattern string, err error) error {
	var problem *syntax.Error
	if !errors.As(err, &problem) {
		return err
	}
	if problem.Code == syntax.ErrLarge || problem.Code == syntax.ErrNestingDepth {
		return ErrTooComplex
	}
	e := &SyntaxError{Problem: problem.Code.String(), Part: problem.Expr}
	if i := strings.LastIndex(pattern, problem.Expr); i >= 0 && problem.Expr != "" {
		e.Position = utf8.RuneCountInString(pattern[:i]) + 1
	}
	return e
}
