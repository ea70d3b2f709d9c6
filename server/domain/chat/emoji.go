package chat

import (
	"context"
	"strings"
	"unicode"

	"github.com/moderato-live/moderato/internal/emoji"
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

const keycap = '\u20E3' // makes a key of a digit, # or *

// isEmoji reports whether a text has nothing but emoji and space. A digit, # or * is an emoji as a
// keycap.
func isEmoji(text string) bool {
	runes := append([]rune(text), 0, 0) // what follows the last ones
	for i, r := range runes[:len(runes)-2] {
		isStyled, next := runes[i+1] == emoji.Style, runes[i+1]
		if isStyled {
			next = runes[i+2]
		}
		switch {
		case unicode.IsSpace(r), emoji.Is(r, isStyled):
		case next == keycap && strings.ContainsRune("0123456789#*", r):
		default:
			return false
		}
	}
	return true
}
