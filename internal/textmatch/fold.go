package textmatch

import (
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A text is compared in three forms. Each one equates more texts than the one before.
//
//   - plain: NFKC, case folding, without invisible characters, each run of white space one
//     space;
//   - letters: also, look-alikes beyond ASCII replaced, and marks on Latin, Greek and
//     Cyrillic letters removed;
//   - merged: also, what looks alike within ASCII is the same: i, l, 1 and |; o and 0; rn
//     and m.
//
// A phrase is compared in the plain and in the merged form. A pattern is compared in the
// plain form and in the letters form, because its author decides what ASCII it matches.

// Fold returns the merged form of a text. Two texts that look alike have the same form,
// with exceptions: see the package comment. The form is for comparison and not for people.
// Folding it again does not change it, and its length is at most 11 times that of the text
// in bytes, which is the bound of NFKC.
func Fold(text string) string {
	f := newFolder(text)
	defer folders.Put(f)
	return string(merge(f.letters()))
}

// FoldedLength returns the length of a text in NFKC without invisible characters in bytes,
// which is at most 11 times that of the text.
func FoldedLength(text string) int {
	f := newFolder(text)
	defer folders.Put(f)
	if f.ascii {
		return len(text)
	}
	return len(f.normal)
}

// folder folds a text. Its buffers are kept, so that Match does not allocate.
type folder struct {
	text  string
	ascii bool
	// normal is the text in NFKC without invisible characters, unless it is in ASCII.
	normal []byte

	visible, nfkc, out, composed []byte
}

var folders = sync.Pool{New: func() any { return new(folder) }}

// newFolder returns a folder for a text, which the caller puts back.
func newFolder(text string) *folder {
	f := folders.Get().(*folder)
	f.text, f.ascii = text, isASCII(text)
	if f.ascii {
		return f
	}
	var plain bool
	f.visible, plain = appendVisible(f.visible[:0], text)
	f.normal = f.visible
	if !plain && !norm.NFKC.IsNormal(f.visible) {
		f.nfkc = norm.NFKC.Append(f.nfkc[:0], f.visible...)
		f.normal = f.nfkc
	}
	return f
}

// plain returns the plain form of the text, which is valid until the next form.
func (f *folder) plain() []byte {
	if f.ascii {
		f.out = appendASCII(f.out[:0], f.text)
	} else {
		f.out = appendPlain(f.out[:0], f.normal)
	}
	return f.out
}

// letters returns the letters form of the text, which is valid until the next form.
func (f *folder) letters() []byte {
	if f.ascii {
		return f.plain()
	}
	var marked bool
	f.out, marked = appendLetters(f.out[:0], f.normal)
	// A replaced letter and the mark after it may be one character.
	for range maxCompositions {
		if !marked || norm.NFC.IsNormal(f.out) {
			break
		}
		f.composed = norm.NFC.Append(f.composed[:0], f.out...)
		f.out, marked = appendLetters(f.out[:0], f.composed)
	}
	return f.out
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

// appendASCII appends the plain form of a text in ASCII, which is its letters form too.
func appendASCII(dst []byte, text string) []byte {
	start := len(dst)
	for i := range len(text) {
		switch c := text[i]; {
		case 'A' <= c && c <= 'Z':
			dst = append(dst, c+'a'-'A')
		case c > ' ' && c < 0x7F:
			dst = append(dst, c)
		case c == ' ' || '\t' <= c && c <= '\r':
			dst = appendSpace(dst, start)
		}
	}
	return trimSpace(dst, start)
}

// appendSpace appends a space unless the text since start is empty or has one at its end.
func appendSpace(dst []byte, start int) []byte {
	if len(dst) == start || dst[len(dst)-1] == ' ' {
		return dst
	}
	return append(dst, ' ')
}

func trimSpace(dst []byte, start int) []byte {
	if len(dst) > start && dst[len(dst)-1] == ' ' {
		return dst[:len(dst)-1]
	}
	return dst
}

// The fullwidth forms of ASCII, which are common in Chinese and Japanese, and the outlined
// letters and digits, which are newer than the tables of NFKC.
const (
	firstFullwidth = '！'
	lastFullwidth  = '～'
	outlinedA      = 0x1CCD6
	outlinedZero   = 0x1CCF0
)

// appendVisible appends the visible characters and white space of a text. It replaces
// characters that are letters but blank with spaces. It reports whether all characters are
// inert, so that the text is in NFKC.
func appendVisible(dst []byte, text string) (_ []byte, inert bool) {
	inert = true
	for _, r := range text {
		switch {
		case r > ' ' && isInert(r):
			dst = utf8.AppendRune(dst, r)
		case firstFullwidth <= r && r <= lastFullwidth:
			dst = append(dst, byte(r-firstFullwidth)+'!') // as NFKC has it
		case outlinedA <= r && r < outlinedA+26:
			dst = append(dst, byte(r-outlinedA)+'A')
		case outlinedZero <= r && r < outlinedZero+10:
			dst = append(dst, byte(r-outlinedZero)+'0')
		case isSpace(r):
			dst = append(dst, ' ')
		case !isInvisible(r):
			dst = utf8.AppendRune(dst, r)
			inert = false
		}
	}
	return dst, inert
}

func appendPlain(dst, normal []byte) []byte {
	for len(normal) > 0 {
		r, size := utf8.DecodeRune(normal)
		normal = normal[size:]
		switch r {
		case ' ':
			dst = appendSpace(dst, 0)
		case tatweel:
		default:
			dst = appendFolded(dst, r)
		}
	}
	return trimSpace(dst, 0)
}

// appendLetters appends the letters form of a text in NFKC. It reports whether the form has
// marks, and may therefore not be in NFC.
func appendLetters(dst, normal []byte) (_ []byte, marked bool) {
	for len(normal) > 0 {
		r, size := utf8.DecodeRune(normal)
		normal = normal[size:]
		switch {
		case r == ' ':
			dst = appendSpace(dst, 0)
		case r < utf8.RuneSelf:
			dst = append(dst, lower(byte(r)))
		case r == tatweel:
		case isMark(r):
			if !isDecoration(r) && needsMark(dst) {
				dst = utf8.AppendRune(dst, r)
				marked = true
			}
		default:
			to := replacement(r)
			if to == "" {
				dst = appendFolded(dst, r)
				continue
			}
			dst = append(dst, to...)
			marked = marked || len(to) > utf8.UTFMax // other scripts have marks in replacements
		}
	}
	return trimSpace(dst, 0), marked
}

// needsMark reports whether a mark at the end of a folded text belongs to a letter of a
// script in which marks are more than decoration, as in Hindi, Thai or Arabic.
func needsMark(folded []byte) bool {
	base, _ := utf8.DecodeLastRune(folded)
	if base < 0x300 {
		return false
	}
	if isMark(base) {
		return true
	}
	return unicode.IsLetter(base) && !unicode.In(base, unicode.Latin, unicode.Greek, unicode.Cyrillic) || unicode.Is(unicode.Mc, base)
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// appendFolded appends the case folding of a character.
func appendFolded(dst []byte, r rune) []byte {
	switch {
	case r < utf8.RuneSelf:
		return append(dst, lower(byte(r)))
	case r == 'ß' || r == 'ẞ':
		return append(dst, "ss"...)
	case hasNoCase(r):
		return utf8.AppendRune(dst, r)
	}
	return utf8.AppendRune(dst, unicode.ToLower(unicode.ToUpper(r)))
}

// hasNoCase quickly recognizes many characters of scripts without case.
func hasNoCase(r rune) bool {
	return 0x590 <= r && r < 0x10A0 || 0x2E00 <= r && r < 0xA640 || 0xAC00 <= r && r < 0xFB00 || 0x1F000 <= r
}

// merge makes what looks alike within ASCII the same, in place.
func merge(text []byte) []byte {
	merged := text[:0]
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case 'i', '1':
			merged = append(merged, 'l')
		case '0':
			merged = append(merged, 'o')
		case 'n':
			if last := len(merged) - 1; last >= 0 && merged[last] == 'r' {
				merged[last] = 'm'
			} else {
				merged = append(merged, 'n')
			}
		case '|':
			bars := barsAt(text[i:])
			replaced := byte('|')
			if len(merged) > 0 && isWordByte(merged[len(merged)-1]) && i+bars < len(text) && isWordByte(text[i+bars]) {
				replaced = 'l' // within a word; elsewhere it separates words
			}
			for range bars {
				merged = append(merged, replaced)
			}
			i += bars - 1
		default:
			merged = append(merged, c)
		}
	}
	return merged
}

// barsAt returns the number of vertical bars at the beginning of a text.
func barsAt(text []byte) int {
	if n := slices.IndexFunc(text, func(c byte) bool { return c != '|' }); n >= 0 {
		return n
	}
	return len(text)
}

func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9'
}
