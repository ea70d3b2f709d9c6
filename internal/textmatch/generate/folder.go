package main

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// folder decides which text replaces a character. Case and look-alikes are two relations
// that do not combine: the Greek capital letter nu looks like N, but the small one like v.
// The folder therefore prefers, in this order, what the character itself looks like in
// ASCII, what its other case looks like in ASCII, and what its small letter looks like.
type folder struct {
	prototypes map[rune]string
	punctuated map[string]string // prototypes of ASCII punctuation, by the prototype
}

func newFolder(prototypes map[rune]string) folder {
	f := folder{prototypes: prototypes, punctuated: map[string]string{}}
	for r, to := range prototypes {
		if r < unicode.MaxASCII && !alphanumeric(r) && len(to) > 1 {
			f.punctuated[to] = string(r)
		}
	}
	return f
}

// entries returns the replacement of every character beyond ASCII that is replaced with
// something other than its own case folding.
func (f folder) entries() map[rune]string {
	entries := map[rune]string{}
	for r := rune(unicode.MaxASCII + 1); r <= unicode.MaxRune; r++ {
		if f.excluded(r) {
			continue
		}
		if to := f.fold(string(r)); to != foldCase(r) && to != string(r) && to != "" {
			entries[r] = to
		}
	}
	return entries
}

// excluded reports whether a character is never looked up, or is not replaced on purpose.
func (f folder) excluded(r rune) bool {
	text := string(r)
	if r >= 0xD800 && r < 0xE000 || norm.NFKC.String(text) != text {
		return true // the text is in NFKC
	}
	if unicode.In(r, unicode.M, unicode.Cf, unicode.Z, unicode.Cc) {
		return true // is removed, or belongs to a letter
	}
	if unicode.Is(unicode.Hangul, r) {
		return true // parts of syllables, which NFKC composes
	}
	to := f.prototypes[r]
	if strings.ContainsFunc(to, unicode.IsSpace) {
		return true
	}
	// A dash or an arrow that looks like a letter of another script stays a separator of
	// words.
	return !alphanumeric(r) && !disguised(r) && !unicode.Is(unicode.Han, r) &&
		strings.ContainsFunc(to, func(r rune) bool { return r > unicode.MaxASCII && unicode.IsLetter(r) }) && f.ascii(to) == ""
}

// fold replaces the characters of a text until nothing changes.
func (f folder) fold(text string) string {
	for range 8 {
		var b strings.Builder
		for _, r := range text {
			b.WriteString(f.replacement(r))
		}
		next := norm.NFKC.String(withoutMarks(b.String()))
		if next == text {
			return next
		}
		text = next
	}
	return ""
}

func (f folder) replacement(r rune) string {
	if r <= unicode.MaxASCII {
		return foldCase(r)
	}
	if letter, ok := letterIn(r); ok {
		return letter
	}
	if base := withoutMarks(norm.NFD.String(string(r))); base != string(r) && base != "" {
		return base
	}
	if to := f.ascii(f.prototypes[r]); to != "" {
		return f.asLetter(r, to)
	}
	other := otherCase(r)
	if to := f.ascii(f.prototypes[other]); to != "" {
		return f.asLetter(other, to)
	}
	if small := foldCase(r); small != string(r) {
		return small
	}
	for _, of := range []rune{r, other} {
		if to := f.prototypes[of]; to != "" && to != string(r) && to != string(other) && !strings.ContainsRune(to, 'ß') {
			return to
		}
	}
	return string(r)
}

// ascii returns what a prototype looks like in ASCII, in small letters. It returns "" if it
// looks like something else.
func (f folder) ascii(prototype string) string {
	if c := f.punctuated[prototype]; c != "" {
		return c
	}
	if strings.ContainsRune(prototype, 'ß') {
		return "" // the case folding of the prototype of beta is ss, which beta is not
	}
	var b strings.Builder
	for _, r := range withoutMarks(norm.NFD.String(prototype)) {
		letter, ok := letterIn(r)
		if !ok {
			letter = foldCase(r)
		}
		b.WriteString(letter)
	}
	to := b.String()
	if strings.ContainsFunc(to, func(r rune) bool { return r > unicode.MaxASCII }) {
		return ""
	}
	return to
}

// asLetter corrects what a character looks like in ASCII where confusables.txt has one
// prototype for several ASCII characters: rn for m, and l for I and for the vertical bar.
func (f folder) asLetter(r rune, to string) string {
	switch {
	case to == "rn":
		return "m"
	case to == "l" && unicode.IsUpper(r) && f.ascii(f.prototypes[unicode.ToLower(r)]) == "i":
		return "i"
	case strings.Trim(to, "l") == "" && !alphanumeric(r):
		return strings.Repeat("|", len(to))
	case alphanumeric(r) && strings.ContainsFunc(to, unicode.IsLetter):
		return strings.ReplaceAll(to, "'", "") // the hook of a letter
	}
	return to
}

// otherCase returns the small letter of a capital letter, and the other way round.
func otherCase(r rune) rune {
	if lower := unicode.ToLower(r); lower != r {
		return lower
	}
	return unicode.ToUpper(r)
}

// foldCase returns the case folding of a character.
func foldCase(r rune) string {
	if r == 'ß' || r == 'ẞ' {
		return "ss"
	}
	return string(unicode.ToLower(unicode.ToUpper(r)))
}

// withoutMarks removes the marks from letters of scripts in which marks only decorate.
func withoutMarks(text string) string {
	var b strings.Builder
	var base rune
	for _, r := range text {
		if unicode.In(r, unicode.Mn, unicode.Me) {
			if base < 0x590 || unicode.In(base, unicode.Latin, unicode.Greek, unicode.Cyrillic) || !unicode.IsLetter(base) {
				continue
			}
		} else {
			base = r
		}
		b.WriteRune(r)
	}
	return b.String()
}

func alphanumeric(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
