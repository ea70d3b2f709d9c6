package match

import (
	"regexp"
	"unicode"
	"unicode/utf8"

	"github.com/moderato-live/moderato/internal/textmatch"
)

// Caps is the kind of rules about capital letters, and Symbols about signs and marks.
const (
	Caps    Kind = "caps"
	Symbols Kind = "symbols"
)

func caps(r *Rule, b *builder) { b.addShare(r, share{part: unicode.IsUpper, of: hasCase}) }

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
	part, of       func(rune) bool
}

// emote is the place of an emote in a text, which is a picture.
var emote = regexp.MustCompile(`\[emote:[0-9A-Fa-f-]{36}\]`)

func (s *share) find(t *textmatch.Text) ([]textmatch.Span, bool) {
	text := emote.ReplaceAllLiteralString(t.String(), "")
	all, some, marks := 0, 0, 0
	for _, r := range text {
		if s.maxMarks > 0 {
			if marks = marksAfter(marks, r); marks > s.maxMarks {
				return nil, true
			}
		}
		if s.of(r) {
			all++
			if s.part(r) {
				some++
			}
		}
	}
	return nil, all > 0 && utf8.RuneCountInString(text) >= s.least && some*100 >= s.percent*all
}

// marksAfter returns how many combining marks follow each other up to a character.
func marksAfter(before int, r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me) && !unicode.Is(unicode.Variation_Selector, r) {
		return before + 1
	}
	return 0
}

func (s *share) steps() int { return 1 }
func (s *share) size() int  { return 64 }

func hasCase(r rune) bool { return unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt) }

func isShown(r rune) bool { return !unicode.IsSpace(r) && !unicode.In(r, unicode.M, unicode.Cf) }

// isSymbol reports whether a character is punctuation or a symbol. Emoji are not: they are what
// emotes are.
func isSymbol(r rune) bool { return !isEmoji(r) && unicode.In(r, unicode.P, unicode.S) }

func isEmoji(r rune) bool { return 0x1F000 <= r && r < 0x1FB00 || 0x2600 <= r && r < 0x27C0 }
