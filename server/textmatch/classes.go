package textmatch

import "unicode"

// isSpace reports whether a character is white space, or one of the letters and symbols
// that are blank: the Hangul fillers and the empty Braille pattern.
func isSpace(r rune) bool {
	switch r {
	case 0x115F, 0x1160, 0x3164, 0xFFA0, 0x2800:
		return true
	}
	return unicode.IsSpace(r)
}

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
