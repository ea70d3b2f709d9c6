package textmatch

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Errors of a phrase.
var (
	ErrTooLong     = fmt.Errorf("has more than %d characters", MaxLength)
	ErrEmptyPhrase = errors.New("has no visible characters")
)

// Phrase returns a Matcher for messages that contain a phrase as whole words: "sub" is in
// "a sub!" and not in "subscribe". A * at the start or at the end of the phrase stands for
// the rest of a word: "sub*" is in "subscribe", and "*sub*" in "unsubscribed". Any separators
// may stand between two words: "free sub" is in "free_sub". Scripts whose words are written
// without spaces, such as Chinese, Japanese and Thai, and Korean, whose particles are attached,
// need no *.
func Phrase(phrase string) (Matcher, error) {
	m, err := parsePhrase(phrase)
	if err != nil {
		return nil, err
	}
	return m, nil
}

func parsePhrase(phrase string) (*phraseMatcher, error) {
	if utf8.RuneCountInString(phrase) > MaxLength {
		return nil, ErrTooLong
	}
	rest, anyStart, anyEnd := cutWildcards(phrase)
	folded := fold(rest, plainForm)
	if len(folded) == 0 {
		return nil, ErrEmptyPhrase
	}
	m := &phraseMatcher{plain: newWords(folded, anyStart, anyEnd), size: matcherSize + len(folded)}
	for _, spelling := range spellings(rest) {
		text := fold(spelling, mergedForm)
		// A message may have rn for m. The opposite is not meant: dot com is no corn.
		for _, text := range [][]byte{text, bytes.ReplaceAll(text, []byte("m"), []byte("rn"))} {
			w := newWords(text, anyStart, anyEnd)
			if len(text) > 0 && !slices.ContainsFunc(m.merged, w.equal) {
				m.merged = append(m.merged, w)
				m.size += len(text)
			}
		}
	}
	if len(m.merged) == 0 {
		return nil, ErrEmptyPhrase
	}
	words := len(m.plain.parts)
	m.size += (1 + len(m.merged)) * words * partSize
	return m, nil
}

// cutWildcards removes a * at the start and at the end of a phrase.
func cutWildcards(phrase string) (rest string, anyStart, anyEnd bool) {
	rest, anyStart = strings.CutPrefix(strings.TrimSpace(phrase), "*")
	rest, anyEnd = strings.CutSuffix(rest, "*")
	return rest, anyStart, anyEnd
}

// spellings returns the spellings of a phrase of which each may look different: capital and small
// letters of other scripts may look like different Latin letters.
func spellings(phrase string) []string {
	return slices.Compact([]string{phrase, strings.ToLower(phrase), strings.ToUpper(phrase)})
}

type phraseMatcher struct {
	plain  words
	merged []words
	size   int
}

func (m *phraseMatcher) Match(text string) bool {
	t := NewText(text)
	defer t.Release()
	if m.plain.in(t.form(plainForm)) {
		return true
	}
	for _, w := range m.merged {
		if w.in(t.form(mergedForm)) {
			return true
		}
	}
	return false
}

// Steps is the number of words: each may be compared at each character.
func (m *phraseMatcher) Steps() int { return len(m.plain.parts) }

// Size is that of the spellings and their words.
func (m *phraseMatcher) Size() int { return m.size }

// About how many bytes a phraseMatcher and a word have without their texts.
const (
	matcherSize = 256
	partSize    = 24
)

// fold returns a form of a text.
func fold(text string, of form) []byte {
	t := NewText(text)
	defer t.Release()
	return bytes.Clone(t.form(of))
}

// words is a folded phrase.
type words struct {
	parts            [][]byte // which separators separate in a text
	anyStart, anyEnd bool     // may begin or end within a word
}

func newWords(folded []byte, anyStart, anyEnd bool) words {
	return words{parts: bytes.Split(folded, []byte(" ")), anyStart: anyStart, anyEnd: anyEnd}
}

func (w words) equal(other words) bool { return slices.EqualFunc(w.parts, other.parts, bytes.Equal) }

// in reports whether a folded text contains the words.
func (w words) in(text []byte) bool {
	for from := 0; ; {
		i := bytes.Index(text[from:], w.parts[0])
		if i < 0 {
			return false
		}
		start := from + i
		end := w.endAt(text, start)
		if end >= 0 && (w.anyStart || isStart(text, start)) && (w.anyEnd || isEnd(text, end)) {
			return true
		}
		_, size := utf8.DecodeRune(text[start:])
		from = start + size
	}
}

// endAt returns where the words end if the first of them begins at a position of a text; -1 if
// the others do not follow.
func (w words) endAt(text []byte, start int) (end int) {
	end = start + len(w.parts[0])
	for _, part := range w.parts[1:] {
		run := separators(text[end:])
		if run == 0 {
			return -1
		}
		// A part such as (sub) begins within the run of separators.
		_, first := utf8.DecodeRune(text[end:])
		i := bytes.Index(text[end+first:min(end+run+len(part), len(text))], part)
		if i < 0 {
			return -1
		}
		end += first + i + len(part)
	}
	return end
}

// separators returns the length of the separators at the beginning of a text.
func separators(text []byte) int {
	if i := bytes.IndexFunc(text, func(r rune) bool { return !isSeparator(r) }); i >= 0 {
		return i
	}
	return len(text)
}

// isStart reports whether no word continues at a position of a text.
func isStart(text []byte, at int) bool { return at == 0 || !withinWord(text, at) }

func isEnd(text []byte, at int) bool { return at == len(text) || !withinWord(text, at) }

// withinWord reports whether the characters before and after a position are parts of one
// word.
func withinWord(text []byte, at int) bool {
	before, _ := utf8.DecodeLastRune(text[:at])
	after, _ := utf8.DecodeRune(text[at:])
	return hasWords(before) && hasWords(after)
}
