package textmatch

import (
	"bytes"
	"fmt"
	"regexp/syntax"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// writer writes a parsed pattern as a regular expression for one form of messages, which
// is case-folded. Regexp.String would write one too, but it folds each character of each
// class, to find the shortest flags, which takes milliseconds for a class such as [^a].
// Captures are left out.
type writer struct {
	strings.Builder

	literal func(dst, normal []byte) []byte // converts literals to the form
	images  func(class []rune) []rune       // returns what characters of a class are in the form
}

// plainWriter writes patterns for the plain form of messages.
func plainWriter() *writer { return &writer{literal: appendPlain, images: lowerImages} }

// lettersWriter writes patterns for the letters form of messages.
func lettersWriter() *writer {
	return &writer{
		literal: func(dst, normal []byte) []byte {
			dst, _ = appendLetters(dst, normal)
			return dst
		},
		images: func(class []rune) []rune { return append(lowerImages(class), lookAlikeImages(class)...) },
	}
}

// write writes a pattern with a new writer.
func write(re *syntax.Regexp, newWriter func() *writer) string {
	w := newWriter()
	w.group(re)
	return w.String()
}

// noMatch is an expression that matches nothing.
const noMatch = `[^\x{0}-\x{10FFFF}]`

// group writes an expression as a group, so that the operators around it need no
// precedence.
func (w *writer) group(re *syntax.Regexp) {
	w.WriteString("(?:")
	defer w.WriteByte(')')
	switch re.Op {
	case syntax.OpNoMatch:
		w.WriteString(noMatch)
	case syntax.OpEmptyMatch:
	case syntax.OpLiteral:
		w.writeLiteral(re.Rune)
	case syntax.OpCharClass:
		w.writeClass(re.Rune)
	case syntax.OpAnyCharNotNL:
		w.WriteString("(?-s:.)")
	case syntax.OpAnyChar:
		w.WriteString("(?s:.)")
	case syntax.OpBeginLine:
		w.WriteString("(?m:^)")
	case syntax.OpEndLine:
		w.WriteString("(?m:$)")
	case syntax.OpBeginText:
		w.WriteString(`\A`)
	case syntax.OpEndText:
		w.WriteString(`\z`)
	case syntax.OpWordBoundary:
		w.WriteString(`\b`)
	case syntax.OpNoWordBoundary:
		w.WriteString(`\B`)
	case syntax.OpCapture:
		w.group(re.Sub[0])
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		w.group(re.Sub[0])
		w.WriteString(operator(re))
	case syntax.OpConcat, syntax.OpAlternate:
		for i, sub := range re.Sub {
			if i > 0 && re.Op == syntax.OpAlternate {
				w.WriteByte('|')
			}
			w.group(sub)
		}
	}
}

// operator returns the operator of a repetition. Whether it is greedy makes no difference
// to what matches.
func operator(re *syntax.Regexp) string {
	switch {
	case re.Op == syntax.OpStar:
		return "*"
	case re.Op == syntax.OpPlus:
		return "+"
	case re.Op == syntax.OpQuest:
		return "?"
	case re.Max < 0:
		return fmt.Sprintf("{%d,}", re.Min)
	}
	return fmt.Sprintf("{%d,%d}", re.Min, re.Max)
}

// writeLiteral writes a literal in the form of messages, so that it needs no folding while
// it is matched, which makes it faster to find.
func (w *writer) writeLiteral(literal []rune) {
	var folded []byte
	visible, _ := appendVisible(nil, string(literal))
	for i, word := range bytes.Split(norm.NFKC.Bytes(visible), []byte(" ")) {
		if i > 0 {
			folded = append(folded, ' ')
		}
		folded = append(folded, w.literal(nil, word)...)
	}
	for _, r := range string(folded) {
		fmt.Fprintf(w, `\x{%x}`, r)
	}
}

// writeClass writes a class with what its characters are in the form of messages. A
// negated class remains: what it excludes must not be added.
func (w *writer) writeClass(class []rune) {
	if len(class) == 0 {
		w.WriteString(noMatch)
		return
	}
	w.WriteByte('[')
	for i := 0; i < len(class); i += 2 {
		fmt.Fprintf(w, `\x{%x}-\x{%x}`, class[i], class[i+1])
	}
	if !isNegated(class) {
		for _, image := range w.images(class) {
			fmt.Fprintf(w, `\x{%x}`, image)
		}
	}
	w.WriteByte(']')
}
