package textmatch

import (
	"bytes"
	"sort"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Span is a part of a text, in code points.
type Span struct{ Start, End int }

// place is what a piece of a text became in a form: bytes from one position to another. If there are
// as many bytes as characters, each byte comes from one.
type place struct {
	from, to int
	of       Span
}

func (p *place) isEven() bool { return p.to-p.from == p.of.End-p.of.Start }

// span returns the part of the text from which some bytes of a form come. Only matches need it, so
// the text is folded a second time, piece by piece, when the first match asks.
func (t *Text) span(of form, start, end int) Span {
	if of == mergedForm {
		of = lettersForm // whose bytes are as many
	}
	if t.ascii {
		of = plainForm
	}
	if len(t.places[of]) == 0 {
		t.locate(of)
		t.places[of] = t.placed[of]
	}
	places := t.places[of]
	first := sort.Search(len(places), func(i int) bool { return places[i].to > start })
	last := sort.Search(len(places), func(i int) bool { return places[i].from >= end }) - 1
	if first > last {
		return Span{}
	}
	s := Span{places[first].of.Start, places[last].of.End}
	if p := &places[first]; p.isEven() {
		s.Start += max(0, start-p.from)
	}
	if p := &places[last]; p.isEven() {
		s.End -= max(0, p.to-end)
	}
	return s
}

// locate finds the places of a form. Where the pieces do not add up to the form, because they
// become another character together, the place is the whole text.
func (t *Text) locate(of form) {
	places, ok := appendPlaces(t.placed[of][:0], t.text, of, t.form(of))
	if !ok {
		places = append(places[:0], place{0, len(t.form(of)), Span{0, utf8.RuneCountInString(t.text)}})
	}
	t.placed[of] = places
}

func appendPlaces(places []place, text string, of form, whole []byte) (_ []place, ok bool) {
	at, character := 0, 0
	var buffer [64]byte
	for text != "" {
		size, characters := pieceLength(text)
		folded := foldPiece(buffer[:0], text[:size], of)
		if len(folded) > 0 && at < len(whole) && whole[at] == ' ' {
			at++
		}
		if !bytes.HasPrefix(whole[at:], folded) {
			return places, false
		}
		if len(folded) > 0 {
			places = addPlace(places, place{at, at + len(folded), Span{character, character + characters}})
			at += len(folded)
		}
		text, character = text[size:], character+characters
	}
	return places, true
}

// addPlace adds a place, or makes the last one longer.
func addPlace(places []place, p place) []place {
	if last := len(places) - 1; last >= 0 && p.isEven() {
		if l := &places[last]; l.isEven() && l.to == p.from && l.of.End == p.of.Start {
			l.to, l.of.End = p.to, p.of.End
			return places
		}
	}
	return append(places, p)
}

// foldPiece appends a form of a piece of a text.
func foldPiece(dst []byte, piece string, of form) []byte {
	r, size := utf8.DecodeRuneInString(piece)
	switch {
	case isSpace(r) && size == len(piece):
		return dst
	case r > ' ' && r < 0x7F && size == len(piece):
		return append(dst, lower(byte(r)))
	case size < len(piece) || !isInert(r):
		t := NewText(piece)
		defer t.Release()
		return append(dst, t.form(of)...)
	case of == plainForm:
		return appendFolded(dst, r)
	}
	var normal [utf8.UTFMax]byte
	dst, _ = appendLetters(dst, utf8.AppendRune(normal[:0], r))
	return dst
}

// pieceLength returns the length of the character at the beginning of a text, with the marks and
// the invisible characters that follow it.
func pieceLength(text string) (size, characters int) {
	_, size = utf8.DecodeRuneInString(text)
	for characters = 1; size < len(text); characters++ {
		r, length := utf8.DecodeRuneInString(text[size:])
		if r < utf8.RuneSelf || isInert(r) || norm.NFKC.PropertiesString(text[size:]).BoundaryBefore() && !isMark(r) && !isInvisible(r) {
			break
		}
		size += length
	}
	return size, characters
}
