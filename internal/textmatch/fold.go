package textmatch

import (
	"unicode"
	"unicode/utf8"
)

// A text is compared in three forms. Each one equates more texts than the one before.
//
//   - plain: NFKC, case folding, without invisible characters, each run of white space one
//     space;
//   - letters: also, look-alikes beyond ASCII replaced, and marks on Latin, Greek and
//     Cyrillic letters removed;
//   - merged: also, in words, what looks alike within ASCII is the same: i, l, 1 and |; o and
//     0.
//
// A phrase is compared in the plain and in the merged form. A pattern is compared in the
// plain form and in the letters form, because its author decides what ASCII it matches.

// Fold returns the merged form of a text. Two texts that look alike have the same form,
// with exceptions: see the package comment. The form is for comparison and not for people.
// Folding it again does not change it, and its length is at most 11 times that of the text
// in bytes, which is the bound of NFKC.
func Fold(text string) string {
	t := NewText(text)
	defer t.Release()
	return string(t.form(mergedForm))
}

// FoldedLength returns the length of a text in NFKC without invisible characters in bytes,
// which is at most 11 times that of the text.
func FoldedLength(text string) int {
	t := NewText(text)
	defer t.Release()
	return t.Len()
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

// appendMerged appends a text in which what looks alike within ASCII is the same. Digits remain in
// numbers, which are not words: 101 is not lol. Each byte becomes one.
func appendMerged(dst, text []byte) []byte {
	for i := 0; i < len(text); {
		end := wordEnd(text, i)
		if end == i {
			dst = append(dst, text[i])
			i++
			continue
		}
		isWord := !isNumber(text[i:end])
		for ; i < end; i++ {
			if isWord {
				dst = append(dst, mergedByte(text[i]))
			} else {
				dst = append(dst, text[i])
			}
		}
	}
	return dst
}

func mergedByte(c byte) byte {
	switch c {
	case 'i', '1', '|':
		return 'l'
	case '0':
		return 'o'
	}
	return c
}

// wordEnd returns where a word ends that may begin at a position of a folded text. A vertical bar
// belongs to a word if it is within one; elsewhere it separates words.
func wordEnd(text []byte, from int) int {
	end := from
	for i := from; i < len(text); i++ {
		switch c := text[i]; {
		case isWordByte(c) || c >= utf8.RuneSelf && end == i:
			end = i + 1
		case c != '|' || end == from || end == i && !isWordByte(text[i-1]):
			return end
		}
	}
	return end
}

// isNumber reports whether a word has digits, and no letters of scripts whose words are separated.
func isNumber(word []byte) bool {
	digits := false
	for i := 0; i < len(word); {
		r, size := utf8.DecodeRune(word[i:])
		switch {
		case '0' <= r && r <= '9':
			digits = true
		case r != '|' && hasWords(r):
			return false
		}
		i += size
	}
	return digits
}

func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9'
}
