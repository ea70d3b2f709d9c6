package chat

import (
	"context"
	"strings"
	"unicode"

	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
)

// HasOnlyEmotes reports whether a message has nothing but emoji, emotes that show in its
// channel, and space.
func HasOnlyEmotes(ctx context.Context, s *store.Store, m Message) (bool, error) {
	text := m.withoutRanges()
	if namedEmote.MatchString(text) {
		shown, err := readEmotes(ctx, s, m.ChannelID, m)
		if err != nil {
			return false, err
		}
		text = namedEmote.ReplaceAllStringFunc(text, func(place string) string {
			if id, err := uid.Parse(namedEmote.FindStringSubmatch(place)[1]); err == nil && shown[id] != nil {
				return " "
			}
			return place
		})
	}
	return isEmoji(text), nil
}

const (
	emojiStyle = '\uFE0F' // the character before it is an emoji
	keycap     = '\u20E3' // makes a key of a digit, # or *
)

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

// isEmoji reports whether a text has nothing but emoji and space. Any symbol is an emoji if the
// emoji style follows, and so is a digit, # or * as a keycap.
func isEmoji(text string) bool {
	runes := append([]rune(text), 0, 0) // what follows the last ones
	for i, r := range runes[:len(runes)-2] {
		isStyled, next := runes[i+1] == emojiStyle, runes[i+1]
		if isStyled {
			next = runes[i+2]
		}
		switch {
		case unicode.IsSpace(r), unicode.Is(pictures, r):
		case isStyled && r > unicode.MaxASCII && (unicode.In(r, unicode.So, unicode.Sm, unicode.Po, unicode.Pd) || r == 'ℹ'):
		case next == keycap && strings.ContainsRune("0123456789#*", r):
		default:
			return false
		}
	}
	return true
}
