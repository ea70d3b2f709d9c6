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
// the rest of a word: "sub*" is in "subscribe", and "*sub*" in "unsubscribed". Scripts whose
// words are written without spaces, such as Chinese, Japanese and Thai, and Korean, whose
// particles are attached, need no *.
func Phrase(phrase string) (Matcher, error) {
	if utf8.RuneCountInString(phrase) > MaxLength {
		return nil, ErrTooLong
	}
	phrase = strings.TrimSpace(phrase)
	rest, anyStart := strings.CutPrefix(phrase, "*")
	rest, anyEnd := strings.CutSuffix(rest, "*")
	m := &phraseMatcher{plain: words{text: plainForm(rest), anyStart: anyStart, anyEnd: anyEnd}}
	// Capital and small letters of other scripts may look like different Latin letters.
	for _, spelling := range []string{rest, strings.ToLower(rest), strings.ToUpper(rest)} {
		text := []byte(Fold(spelling))
		known := slices.ContainsFunc(m.merged, func(w words) bool { return bytes.Equal(w.text, text) })
		if !known && len(text) > 0 {
			m.merged = append(m.merged, words{text: text, anyStart: anyStart, anyEnd: anyEnd})
		}
	}
	if len(m.plain.text) == 0 || len(m.merged) == 0 {
		return nil, ErrEmptyPhrase
	}
	return m, nil
}

type phraseMatcher struct {
	plain  words
	merged []words
}

func (m *phraseMatcher) Match(text string) bool {
	f := newFolder(text)
	defer folders.Put(f)
	form := f.plain()
	if m.plain.in(form) {
		return true
	}
	if !f.ascii {
		form = f.letters()
	}
	form = merge(form)
	for _, w := range m.merged {
		if w.in(form) {
			return true
		}
	}
	return false
}

// Steps is that of one search.
func (m *phraseMatcher) Steps() int { return 1 }

// Size is that of the matcher and its spellings.
func (m *phraseMatcher) Size() int {
	size := matcherSize + len(m.plain.text)
	for _, w := range m.merged {
		size += wordsSize + len(w.text)
	}
	return size
}

// About how many bytes a phraseMatcher and a spelling have without their texts.
const (
	matcherSize = 128
	wordsSize   = 64
)

func plainForm(text string) []byte {
	f := newFolder(text)
	defer folders.Put(f)
	return bytes.Clone(f.plain())
}

// words is a folded phrase.
type words struct {
	text             []byte
	anyStart, anyEnd bool // may begin or end within a word
}

// in reports whether a folded text contains the words.
func (w words) in(text []byte) bool {
	for from := 0; ; {
		i := bytes.Index(text[from:], w.text)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(w.text)
		if (w.anyStart || isStart(text, start)) && (w.anyEnd || isEnd(text, end)) {
			return true
		}
		_, size := utf8.DecodeRune(text[start:])
		from = start + size
	}
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
