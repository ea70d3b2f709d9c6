package textmatch

import (
	"slices"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Text is a message that was folded once, for any number of matchers. It is not for concurrent
// use.
type Text struct {
	text  string
	ascii bool
	// normal is the text in NFKC without invisible characters, unless it is in ASCII.
	normal []byte
	// forms are the forms that were made so far; nil is one that was not.
	forms [formCount][]byte
	// places are where the bytes of a form come from; see span.
	places [formCount][]place

	skeleton                skeleton
	visible, nfkc, composed []byte
	buffers                 [formCount][]byte
	placed                  [formCount][]place
}

// form is one of the forms of a text.
type form int

const (
	plainForm form = iota
	lettersForm
	mergedForm
	formCount
)

var texts = sync.Pool{New: func() any { return new(Text) }}

// NewText folds a text. The caller releases it.
func NewText(text string) *Text {
	t := texts.Get().(*Text)
	t.text, t.ascii, t.normal = text, isASCII(text), nil
	t.forms, t.places = [formCount][]byte{}, [formCount][]place{}
	if t.ascii {
		return t
	}
	var plain bool
	t.visible, plain = appendVisible(t.visible[:0], text)
	t.normal = t.visible
	if !plain && !norm.NFKC.IsNormal(t.visible) {
		t.nfkc = norm.NFKC.Append(t.nfkc[:0], t.visible...)
		t.normal = t.nfkc
	}
	return t
}

// maxKept is the size of the buffers that are kept.
const maxKept = 64 << 10

// Release returns the buffers of a Text, which must not be used any more.
func (t *Text) Release() {
	if cap(t.visible)+cap(t.nfkc)+cap(t.buffers[mergedForm])+len(t.skeleton.letters) < maxKept {
		t.text = ""
		texts.Put(t)
	}
}

// Len returns the length of the text in NFKC without invisible characters in bytes, which is
// at most 11 times that of the text.
func (t *Text) Len() int {
	if t.ascii {
		return len(t.text)
	}
	return len(t.normal)
}

// form returns a form of the text.
func (t *Text) form(of form) []byte {
	if t.ascii && of == lettersForm {
		of = plainForm
	}
	if t.forms[of] == nil {
		t.buffers[of] = t.fold(of, t.buffers[of][:0])
		t.forms[of] = slices.Clip(t.buffers[of])
		if t.forms[of] == nil {
			t.forms[of] = []byte{}
		}
	}
	return t.forms[of]
}

func (t *Text) fold(of form, dst []byte) []byte {
	switch {
	case of == mergedForm:
		return appendMerged(dst, t.form(lettersForm))
	case t.ascii:
		return appendASCII(dst, t.text)
	case of == plainForm:
		return appendPlain(dst, t.normal)
	}
	dst, marked := appendLetters(dst, t.normal)
	// A replaced letter and the mark after it may be one character.
	for range maxCompositions {
		if !marked || norm.NFC.IsNormal(dst) {
			break
		}
		t.composed = norm.NFC.Append(t.composed[:0], dst...)
		dst, marked = appendLetters(dst[:0], t.composed)
	}
	return dst
}

// maxCompositions bounds how often a text is composed and folded anew.
const maxCompositions = 4

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// String returns the text as it was.
func (t *Text) String() string { return t.text }

// Plain returns the text in NFKC and case-folded, without invisible characters, until Release.
func (t *Text) Plain() []byte { return t.form(plainForm) }

// PlainSpan returns the part of the text from which some bytes of Plain come.
func (t *Text) PlainSpan(start, end int) Span { return t.span(plainForm, start, end) }
