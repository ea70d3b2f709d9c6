// Package emoji tells which characters are emoji.
package emoji

import "unicode"

// Style is the variation selector that makes an emoji of the symbol before it.
const Style = '\uFE0F'

// Is reports whether a character is an emoji, or part of one. isStyled says whether Style follows:
// then any symbol is one.
func Is(r rune, isStyled bool) bool {
	return unicode.Is(pictures, r) || isStyled && r > unicode.MaxASCII && (unicode.In(r, unicode.So, unicode.Sm, unicode.Po, unicode.Pd) || r == 'ℹ')
}

// pictures are the characters that are emoji by themselves, or part of one: the planes of
// pictographs without the letters in circles and squares, regional indicators, and the symbols
// with the property Emoji_Presentation elsewhere.
var pictures = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x200D, 0x200D, 1}, {0x20E3, 0x20E3, 1}, {0x231A, 0x231B, 1}, {0x23E9, 0x23EC, 1}, {0x23F0, 0x23F3, 3}, {0x25FD, 0x25FE, 1},
		{0x2614, 0x2615, 1}, {0x2648, 0x2653, 1}, {0x267F, 0x2693, 20}, {0x26A1, 0x26A1, 1}, {0x26AA, 0x26AB, 1}, {0x26BD, 0x26BE, 1},
		{0x26C4, 0x26C5, 1}, {0x26CE, 0x26D4, 6}, {0x26EA, 0x26EA, 1}, {0x26F2, 0x26F3, 1}, {0x26F5, 0x26FA, 5}, {0x26FD, 0x2705, 8},
		{0x270A, 0x270B, 1}, {0x2728, 0x2728, 1}, {0x274C, 0x274E, 2}, {0x2753, 0x2755, 1}, {0x2757, 0x2757, 1}, {0x2795, 0x2797, 1},
		{0x27B0, 0x27BF, 15}, {0x2B1B, 0x2B1C, 1}, {0x2B50, 0x2B55, 5}, {0xFE0F, 0xFE0F, 1},
	},
	R32: []unicode.Range32{
		{0x1F004, 0x1F004, 1}, {0x1F0CF, 0x1F0CF, 1}, {0x1F18E, 0x1F18E, 1}, {0x1F191, 0x1F19A, 1}, {0x1F1E6, 0x1F1FF, 1}, {0x1F201, 0x1F265, 1},
		{0x1F300, 0x1F64F, 1}, {0x1F680, 0x1F6FF, 1}, {0x1F7E0, 0x1F7F0, 1}, {0x1F90C, 0x1F9FF, 1}, {0x1FA70, 0x1FAFF, 1}, {0xE0020, 0xE007F, 1},
	},
}
