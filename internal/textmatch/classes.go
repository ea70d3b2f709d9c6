package textmatch

import "unicode"

// isSpace reports whether a character is white space, or one of the letters and symbols
// that are blank: the Hangul fillers, the empty Braille pattern, the blanks of Egyptian
// hieroglyphs and the note without a head.
func isSpace(r rune) bool {
	switch r {
	case 0x115F, 0x1160, 0x3164, 0xFFA0, 0x2800, 0x13441, 0x13442, 0x1D159:
		return true
	}
	return unicode.IsSpace(r)
}

// tatweel only lengthens Arabic letters.
const tatweel = 0x640

// isInvisible reports whether a character is not displayed: it is a control character, or
// Unicode says that it can be ignored, such as zero-width spaces and joiners, variation
// selectors, the soft hyphen, tags, and controls of the direction of text.
func isInvisible(r rune) bool {
	switch {
	case r < 0x600:
		return r < ' ' || 0x7F <= r && r < 0xA0 || r == 0xAD || r == 0x34F
	case 0x1900 <= r && r < 0x2000, 0x2E00 <= r && r < 0xD800:
		return false
	}
	return unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// IsBlank reports whether a text has no visible character: nothing but white space, letters and
// symbols that are blank, invisible characters, and marks without a letter. A blank text folds
// to nothing.
func IsBlank(text string) bool {
	for _, r := range text {
		if !isSpace(r) && !isInvisible(r) && !isMark(r) && r != tatweel {
			return false
		}
	}
	return true
}

// isInert quickly recognizes many visible characters that NFKC leaves as they are, whatever
// is before them.
func isInert(r rune) bool {
	switch {
	case r < 0x7F:
		return r >= ' '
	case r < 0x100:
		return r >= 0xC0
	case r < 0x4E00:
		return 0x400 <= r && r < 0x460 || 0x5D0 <= r && r < 0x5EB || 0x3041 <= r && r < 0x3097 || 0x30A1 <= r && r < 0x30FB
	}
	return r < 0xA000 || 0xAC00 <= r && r < 0xD7A4 || 0x1F300 <= r && r < 0x1FB00
}

// isMark reports whether a character is a mark that does not take up space of its own.
func isMark(r rune) bool {
	switch {
	case r < 0x300, 0x370 <= r && r < 0x483, 0x48A <= r && r < 0x591, 0x1E00 <= r && r < 0x20D0,
		0x3041 <= r && r < 0x3099, 0x309B <= r && r < 0xA66F, 0xAC00 <= r && r < 0xFB1E, 0x1F000 <= r && r < 0xE0000:
		return false
	}
	return unicode.In(r, unicode.Mn, unicode.Me)
}

// decorations are the marks without which a letter of any script is still the same: the marks of
// Latin, Greek and Cyrillic letters, which are decoration on others, and the vowel points of
// Arabic and Hebrew, which most texts leave out.
var decorations = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x300, Hi: 0x36F, Stride: 1}, {Lo: 0x483, Hi: 0x489, Stride: 1}, // marks; Cyrillic ones
	{Lo: 0x5B0, Hi: 0x5BD, Stride: 1}, {Lo: 0x5BF, Hi: 0x5C1, Stride: 2}, {Lo: 0x5C2, Hi: 0x5C7, Stride: 5},
	{Lo: 0x64B, Hi: 0x652, Stride: 1}, {Lo: 0x670, Hi: 0x670, Stride: 1},
	{Lo: 0x1AB0, Hi: 0x1AFF, Stride: 1}, {Lo: 0x1DC0, Hi: 0x1DFF, Stride: 1}, // further marks
	{Lo: 0x20D0, Hi: 0x20FF, Stride: 1}, {Lo: 0xFE20, Hi: 0xFE2F, Stride: 1}, // of symbols; halves
}}

func isDecoration(r rune) bool { return unicode.Is(decorations, r) }

// isSeparator reports whether a character may stand between two words: it is white space,
// punctuation, or a symbol such as an emoji.
func isSeparator(r rune) bool {
	switch {
	case r < 0x80:
		return !isWord(r)
	case 0x400 <= r && r < 0x482, 0x4E00 <= r && r < 0xA000, 0xAC00 <= r && r < 0xD7A4: // common letters
		return false
	}
	return unicode.In(r, unicode.Z, unicode.P, unicode.S)
}

// isWord reports whether a character is part of a word.
func isWord(r rune) bool {
	if r < 0x80 {
		return isWordByte(byte(r)) || 'A' <= r && r <= 'Z'
	}
	return unicode.In(r, unicode.L, unicode.N, unicode.M)
}

// hasWords reports whether a character belongs to a word of a script whose words are
// separated. The words of the other scripts are written without spaces, or, in Korean, with
// particles attached.
func hasWords(r rune) bool {
	if r < 0x80 {
		return isWord(r)
	}
	return isWord(r) && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan) && r != 'ー'
}
