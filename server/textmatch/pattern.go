package textmatch

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
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
	if utf8.RuneCountInString(pattern) > MaxLength {
		return nil, ErrTooLong
	}
	plain, err := compile(pattern, lowered)
	if err != nil {
		return nil, err
	}
	letters, err := compile(pattern, lookAlike)
	if err != nil {
		return nil, err
	}
	if plain.MatchString("") || letters.MatchString("") {
		return nil, ErrMatchesAll
	}
	m := &patternMatcher{letters: letters}
	if plain.String() != letters.String() {
		m.plain = plain
	}
	return m, nil
}

type patternMatcher struct {
	plain   *regexp.Regexp // nil if it is the same as letters
	letters *regexp.Regexp
}

func (m *patternMatcher) Match(text string) bool {
	f := newFolder(text)
	defer folders.Put(f)
	if m.letters.Match(f.letters()) {
		return true
	}
	if m.plain != nil {
		return m.plain.Match(f.plain())
	}
	return !f.ascii && m.letters.Match(f.plain())
}

// compile compiles a pattern for a form of messages, to whose characters fold converts those
// of the pattern.
func compile(pattern string, fold func(*syntax.Regexp)) (*regexp.Regexp, error) {
	parsed, err := syntax.Parse(norm.NFC.String(pattern), syntax.Perl|syntax.FoldCase)
	if err != nil {
		return nil, syntaxError(pattern, err)
	}
	walk(parsed, fold)
	if parts(parsed) > maxParts {
		return nil, ErrTooComplex
	}
	re, err := regexp.Compile(parsed.String())
	if err != nil {
		return nil, ErrTooComplex
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil || len(program.Inst) > maxInstructions {
		return nil, ErrTooComplex
	}
	return re, nil
}

func walk(re *syntax.Regexp, visit func(*syntax.Regexp)) {
	for _, sub := range re.Sub {
		walk(sub, visit)
	}
	visit(re)
}

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

// lowered converts the literals and the classes of a pattern to the plain form.
func lowered(re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpLiteral:
		setLiteral(re, appendPlain)
	case syntax.OpCharClass:
		setClass(re, lowerImages(re.Rune))
	}
}

// lookAlike converts the literals and the classes of a pattern to the letters form.
func lookAlike(re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpLiteral:
		setLiteral(re, func(dst, normal []byte) []byte {
			dst, _ = appendLetters(dst, normal)
			return dst
		})
	case syntax.OpCharClass:
		setClass(re, append(lowerImages(re.Rune), lookAlikeImages(re.Rune)...))
	}
}

// setLiteral folds the characters of a literal. Texts are folded too, so the literal needs
// no folding while it is matched, which makes it faster to find.
func setLiteral(re *syntax.Regexp, fold func(dst, normal []byte) []byte) {
	var folded []byte
	visible, _ := appendVisible(nil, string(re.Rune))
	for i, word := range bytes.Split(norm.NFKC.Bytes(visible), []byte(" ")) {
		if i > 0 {
			folded = append(folded, ' ')
		}
		folded = append(folded, fold(nil, word)...)
	}
	re.Rune = bytes.Runes(folded)
	re.Flags &^= syntax.FoldCase
	if len(re.Rune) == 0 {
		re.Op = syntax.OpEmptyMatch
	}
}

// setClass adds to a class what its characters are in folded messages. A negated class
// remains: what it excludes must not be added.
func setClass(re *syntax.Regexp, images []rune) {
	if n := len(re.Rune); n == 0 || re.Rune[n-1] == utf8.MaxRune || len(images) == 0 {
		return
	}
	var class strings.Builder
	class.WriteByte('[')
	for i := 0; i < len(re.Rune); i += 2 {
		fmt.Fprintf(&class, `\x{%x}-\x{%x}`, re.Rune[i], re.Rune[i+1])
	}
	for _, image := range images {
		fmt.Fprintf(&class, `\x{%x}`, image)
	}
	class.WriteByte(']')
	if whole, err := syntax.Parse(class.String(), syntax.Perl); err == nil {
		*re = *whole
	}
}

// lowerImages returns the small letters of the capital ASCII letters in a class, which a
// part of a pattern that distinguishes case may have alone.
func lowerImages(class []rune) []rune {
	var images []rune
	for r := 'A'; r <= 'Z'; r++ {
		if small := r + 'a' - 'A'; contains(class, r) && !contains(class, small) {
			images = append(images, small)
		}
	}
	return images
}

// lookAlikeImages returns what the characters of a class are replaced with in messages,
// where that is one character that the class does not have.
func lookAlikeImages(class []rune) []rune {
	var images []rune
	for i := 0; i < len(class); i += 2 {
		for r := max(class[i], utf8.RuneSelf); r <= min(class[i+1], lastReplaced); r++ {
			to := replacement(r)
			image, length := utf8.DecodeRuneInString(to)
			if to != "" && length == len(to) && !contains(class, image) && !slices.Contains(images, image) {
				images = append(images, image)
			}
		}
	}
	return images
}

// lastReplaced is the last character that may have a replacement.
const lastReplaced = rune(len(pageOf)<<pageBits - 1)

func contains(ranges []rune, r rune) bool {
	for i := 0; i < len(ranges); i += 2 {
		if ranges[i] <= r && r <= ranges[i+1] {
			return true
		}
	}
	return false
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
