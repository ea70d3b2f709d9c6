package chat

import (
	"fmt"
	"unicode/utf8"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/rpc/validate"
)

// EmoteRange is a part of a text that stands for an emote, in code points.
type EmoteRange struct {
	Start, End int // End is exclusive
}

// parseRanges returns the parts of a text that stand for emotes.
func parseRanges(f *validate.Fields, text string, given []*platformv1.EmoteRange) []EmoteRange {
	if len(given) == 0 || text == "" || !f.AtMost("emotes", len(given)) {
		return nil
	}
	ranges := make([]EmoteRange, len(given))
	length, before := utf8.RuneCountInString(text), 0
	for i, g := range given {
		e := f.Element("emotes", i, g)
		r := EmoteRange{int(g.GetStart()), int(g.GetEnd())}
		e.Text("id", g.GetId())
		switch {
		case r.Start < before:
			e.Add("start", "must not be before the text or inside of the emote before")
		case r.End <= r.Start:
			e.Add("end", "must be after start")
		case r.End > length:
			e.Add("end", fmt.Sprintf("must not be after the end of the text, which is at %d as it is stored", length))
		}
		f.Include(e)
		before = max(before, r.End)
		ranges[i] = r
	}
	return ranges
}

// withoutRanges returns the text of a message with space in place of the emotes that the chat
// server named.
func (m *Message) withoutRanges() string {
	runes := []rune(m.Text)
	for _, r := range m.Emotes {
		for i := r.Start; i < r.End; i++ {
			runes[i] = ' '
		}
	}
	return string(runes)
}
