package match

import (
	"regexp"
	"unicode"
	"unicode/utf8"

	"github.com/moderato-live/moderato/internal/emoji"
	"github.com/moderato-live/moderato/internal/textmatch"
)

// Caps is the kind of rules about capital letters, and Symbols about signs and marks.
const (
	Caps    Kind = "caps"
	Symbols Kind = "symbols"
)

func caps(r *Rule, b *builder) {
	b.addShare(r, share{part: func(r, _ rune) bool { return unicode.IsUpper(r) }, of: hasCase})
}

func symbols(r *Rule, b *builder) {
	if r.MaxMarks != 0 {
		b.number("maxMarks", r.MaxMarks, 1, 20)
	}
	b.addShare(r, share{maxMarks: r.MaxMarks, part: isSymbol, of: isShown})
}

func (b *builder) addShare(r *Rule, s share) {
	b.number("minLength", r.MinLength, 1, 500)
	b.number("percent", r.Percent, 1, 100)
	s.least, s.percent = r.MinLength, r.Percent
	b.addMatcher(&s)
}

// share matches texts in which some characters are a part of all.
type share struct {
	least, percent int
	maxMarks       int // 0 if it does not matter
	part           func(r, next rune) bool
	of             func(rune) bool
}

// emote is the place of an emote in a text, which is a picture.
var emote = regexp.MustCompile(`\[emote:[0-9A-Fa-f-]{36}\]`)

func (s *share) find(t *textmatch.Text) ([]textmatch.Span, bool) {
	text := emote.ReplaceAllLiteralString(t.String(), "")
	all, some, marks := 0, 0, 0
	for i, r := range text {
		if s.maxMarks > 0 {
			if marks = marksAfter(marks, r); marks > s.maxMarks {
				return nil, true
			}
		}
		if s.of(r) {
			all++
			if s.part(r, runeAfter(text[i:])) {
				some++
			}
		}
	}
	return nil, all > 0 && utf8.RuneCountInString(text) >= s.least && some*100 >= s.percent*all
}

// runeAfter returns the second character of a text.
func runeAfter(text string) rune {
	_, size := utf8.DecodeRuneInString(text)
	r, _ := utf8.DecodeRuneInString(text[size:])
	return r
}

// marksAfter returns how many combining marks follow each other up to a character. Joiners and the like
// may be between them.
func marksAfter(before int, r rune) int {
	switch {
	case unicode.In(r, unicode.Cf, unicode.Variation_Selector):
		return before
	case unicode.In(r, unicode.Mn, unicode.Me):
		return before + 1
	}
	return 0
}

func (s *share) steps() int { return 1 }
func (s *share) size() int  { return 64 }

func hasCase(r rune) bool { return unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt) }

func isShown(r rune) bool { return !unicode.IsSpace(r) && !unicode.In(r, unicode.M, unicode.Cf) }

// isSymbol reports whether a character before another one is punctuation or a symbol. Emoji are not:
// they are what emotes are.
func isSymbol(r, next rune) bool {
	return unicode.In(r, unicode.P, unicode.S) && !emoji.Is(r, next == emoji.Style)
}
