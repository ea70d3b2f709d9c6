package textmatch

import (
	"bytes"
	"sort"
	"strings"
	"unicode/utf8"
)

// A skeleton of a text has its letters only, without what stands between them. A digit or a sign
// that is used for a letter is this letter, and equal letters that follow each other are one.
// Where the skeleton of a phrase is in that of a text, the runs of both are compared.

// run is a run of equal letters of a phrase: how many there are, the bits below, and how many
// words begin within the run.
type run uint16

const (
	runLength   run = 0x3F
	runDigit    run = 0x40 // the phrase has a digit or a sign
	runNextWord run = 0x80 // the run begins a word, but not the first
	runWords        = 8    // how far the number of words is shifted
)

// stretch is a run of equal letters of a text.
type stretch struct {
	at       int32 // in the skeleton
	from, to int32 // its letters
}

// letter is a letter of a text.
type letter struct {
	start, end int32 // in the letters form
	before     gap
	isReplaced bool // a digit or a sign
	isMark     bool // which nothing separates from the letter before it
}

// gap is what stands between two letters.
type gap uint8

const (
	noGap gap = iota
	markup
	tight // a sign such as a dot
	wide  // with white space, for example
	far   // further apart than letters of one word are
)

// maxGap is how many bytes separators between letters of one word have, and maxTight those of a
// sign.
const (
	maxGap   = 8
	maxTight = 2
)

// digitLetters are the letters that digits are used for, from 0 to 9.
const digitLetters = "olzeasgtbg"

// signLetters are the signs that are used for letters. Those but @, $ and € are letters only
// within a word.
var signLetters = map[rune]rune{'@': 'a', '$': 's', '!': 'l', '|': 'l', '+': 't', '#': 'h', '€': 'e', '£': 'l', '§': 's'}

type skeleton struct {
	text      []byte
	last      rune // of the text
	letters   []letter
	stretches []stretch
}

// read makes it the skeleton of a text in the letters form. If signs are letters, they are
// replaced; otherwise they are separators.
func (s *skeleton) read(text []byte, signs bool) {
	s.text, s.letters, s.stretches = s.text[:0], s.letters[:0], s.stretches[:0]
	from := 0 // where the separators begin
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if to, isReplaced := letterOf(text, i, r, size, signs); to != 0 {
			s.add(to, letter{int32(i), int32(i + size), gapOf(text[from:i]), isReplaced, isMark(r)})
			from = i + size
		}
		i += size
	}
}

func gapOf(separators []byte) gap {
	switch {
	case len(separators) == 0:
		return noGap
	case len(separators) == 1 && separators[0] == ' ':
		return wide
	case len(separators) > maxGap || bytes.ContainsAny(separators, `%"\=<>{}[]&#`):
		return far // the signs of code
	case len(bytes.Trim(separators, "*_~|`")) == 0:
		return markup
	case len(separators) <= maxTight && bytes.IndexFunc(separators, func(r rune) bool { return !strings.ContainsRune(".-/+·'", r) }) < 0:
		return tight
	}
	return wide
}

// letterOf returns the letter that a character is or is used for; 0 if it is a separator.
func letterOf(text []byte, at int, r rune, size int, signs bool) (to rune, isReplaced bool) {
	switch {
	case '0' <= r && r <= '9':
		return rune(digitLetters[r-'0']), true
	case r == 'i':
		return 'l', false
	case !isSeparator(r):
		return r, false
	case !signs || signLetters[r] == 0:
		return 0, false
	case r == '@' || r == '$' || r == '€':
		return signLetters[r], true
	}
	before, _ := utf8.DecodeLastRune(text[:at])
	after, _ := utf8.DecodeRune(text[at+size:])
	if isPart(before) && isPart(after) {
		return signLetters[r], true
	}
	return 0, false
}

// isPart reports whether a character is a letter or is used for one.
func isPart(r rune) bool { return r != utf8.RuneError && (isWord(r) || signLetters[r] != 0) }

func (s *skeleton) add(to rune, l letter) {
	s.letters = append(s.letters, l)
	if last := len(s.stretches) - 1; last >= 0 && s.last == to {
		s.stretches[last].to++
		return
	}
	s.stretches = append(s.stretches, stretch{int32(len(s.text)), int32(len(s.letters) - 1), int32(len(s.letters))})
	s.text, s.last = utf8.AppendRune(s.text, to), to
}

// addSkeletons adds the skeletons of the spellings of a phrase.
func (b *PhrasesBuilder) addSkeletons(id uint32, phrase string) {
	rest, start, end := cutWildcards(phrase)
	var wildcards use
	if start {
		wildcards |= anyStart
	}
	if end {
		wildcards |= anyEnd
	}
	var last []byte
	for _, spelling := range spellings(rest) {
		folded := fold(spelling, lettersForm)
		s := &skeleton{}
		s.read(folded, true)
		if bytes.Equal(s.text, last) || !isDisguisable(folded, s) {
			continue
		}
		last = s.text
		b.add(keyed{entry{id: id, more: uint32(len(b.p.runs)), use: useSkeleton | wildcards}, s.text})
		for _, l := range s.stretches {
			b.p.runs = append(b.p.runs, newRun(s.letters[l.from:l.to], l.from == 0))
		}
	}
}

// isDisguisable reports whether a phrase may be disguised: it is not a number, and not one that its
// skeleton does not describe, such as c++ and s&m.
func isDisguisable(folded []byte, s *skeleton) bool {
	first, _ := utf8.DecodeRune(folded)
	last, _ := utf8.DecodeLastRune(folded)
	isShort := len(s.letters) < minDisguised && bytes.ContainsFunc(folded, isSeparator)
	return isPart(first) && isPart(last) && !isNumber(folded) && !isShort
}

// newRun returns the run of some letters of a phrase.
func newRun(letters []letter, isFirst bool) run {
	r := run(min(len(letters), int(runLength)))
	for i, l := range letters {
		if l.isReplaced {
			r |= runDigit
		}
		switch {
		case l.before == noGap:
		case i > 0:
			r += 1 << runWords
		case !isFirst:
			r |= runNextWord
		}
	}
	return r
}

// findDisguised finds the phrases in the skeletons of a text.
func (p *Phrases) findDisguised(t *Text, found func(Found)) {
	text := t.form(lettersForm)
	for _, signs := range []bool{false, true} {
		if !signs || bytes.ContainsAny(text, "@$!|+#€£§") {
			t.skeleton.read(text, signs)
			p.findInSkeleton(t, &t.skeleton, found)
		}
	}
}

func (p *Phrases) findInSkeleton(t *Text, s *skeleton, found func(Found)) {
	p.searcher.search(s.text, func(end int, from, to uint32) {
		for i := range p.entries[from:to] {
			e := &p.entries[from:to][i]
			if e.use&useSkeleton == 0 {
				continue
			}
			if start, end, ok := p.disguised(e, s, s.between(end-int(e.length), end), t.form(lettersForm)); ok {
				found(Found{e.id, t.span(lettersForm, start, end)})
			}
		}
	})
}

// between returns the stretches of a part of the skeleton.
func (s *skeleton) between(start, end int) []stretch {
	from := sort.Search(len(s.stretches), func(i int) bool { return int(s.stretches[i].at) >= start })
	to := from + sort.Search(len(s.stretches)-from, func(i int) bool { return int(s.stretches[from+i].at) >= end })
	return s.stretches[from:to]
}

// minDisguised is how many letters a phrase has at least whose letters may be replaced or
// separated: shorter ones are in too many numbers and abbreviations. Words of scripts that have
// no spaces are shorter.
const (
	minDisguised = 3
	minTight     = 2
)

// disguised reports whether some stretches of a text are a phrase, and where it is.
func (p *Phrases) disguised(e *entry, s *skeleton, some []stretch, text []byte) (start, end int, ok bool) {
	var c comparison
	first, last := int(some[0].from), 0
	for i, stretch := range some {
		r := p.runs[int(e.more)+i]
		from, isLast := int(stretch.from), i == len(some)-1
		last = int(stretch.to)
		if i == 0 && e.use&anyStart == 0 {
			from = s.cutStart(from, last, int(r&runLength))
			first = from
		}
		if isLast && e.use&anyEnd == 0 {
			last = s.cutEnd(from, last, int(r&runLength))
		}
		isOpen := i == 0 && e.use&anyStart != 0 || isLast && e.use&anyEnd != 0
		if !c.compare(s.letters[from:last], r, i == 0, isOpen) {
			return 0, 0, false
		}
	}
	start, end = int(s.letters[first].start), int(s.letters[last-1].end)
	isPart := e.use&anyStart == 0 && s.isJoined(first, first) || e.use&anyEnd == 0 && s.isJoined(last, last-1)
	return start, end, !isPart && e.isWhole(text, start, end) && c.isDisguise(text[start:end])
}

// isJoined reports whether nothing separates a letter from the one before it, and one that is next to
// this place is a sign or a digit: "@ss" is no word of "p@ss".
func (s *skeleton) isJoined(at, sign int) bool {
	return at > 0 && at < len(s.letters) && s.letters[at].before == noGap && s.letters[sign].isReplaced
}

// cutStart returns where the last n letters of a stretch begin, or more than two, if something
// separates them from the others, which then belong to the word before.
func (s *skeleton) cutStart(from, to, n int) int {
	if at := to - n; at > from && s.letters[at].before != noGap {
		return at
	}
	for at := from + 1; at <= to-minRepeated; at++ {
		if s.letters[at].before != noGap {
			return at
		}
	}
	return from
}

// cutEnd is cutStart for the end of the first letters.
func (s *skeleton) cutEnd(from, to, n int) int {
	if at := from + n; at < to && s.letters[at].before != noGap {
		return at
	}
	for at := to - 1; at >= from+minRepeated; at-- {
		if s.letters[at].before != noGap {
			return at
		}
	}
	return to
}

// minRepeated is how often a letter is repeated at least that stands for fewer.
const minRepeated = 3
