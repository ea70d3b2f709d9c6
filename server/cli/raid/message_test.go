package raid

import (
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/textmatch"
	"github.com/moderato-live/moderato/server/demo"
)

// TestPhraseFindsRaidersOnly compares what the raiders write, and the demo's chat, with the
// phrase.
func TestPhraseFindsRaidersOnly(t *testing.T) {
	matcher, err := textmatch.Phrase(Phrase)
	if err != nil {
		t.Fatal(err)
	}
	texts, plain := map[string]bool{}, 0
	for number := range len(lines) * len(disguises) {
		text := message(number)
		texts[text] = true
		if strings.Contains(text, Phrase) {
			plain++
		}
		if !matcher.Match(text) {
			t.Errorf("%q does not match", text)
		}
	}
	if want := len(lines) * len(disguises); len(texts) != want || plain != len(lines) {
		t.Errorf("there are %d messages, %d of them without a disguise; want %d and %d", len(texts), plain, want, len(lines))
	}
	chat := 0
	for _, record := range demo.Records(instant.Of(time.Now()), "") {
		if m := record.GetMessage(); m != nil {
			chat++
			if matcher.Match(m.GetText()) {
				t.Errorf("%q of the demo's chat matches", m.GetText())
			}
		}
	}
	if chat == 0 {
		t.Error("the demo has no chat")
	}
}

func TestRaidersAreNew(t *testing.T) {
	known := map[string]bool{}
	for range 2 {
		for _, raider := range newRaiders(100) {
			known[raider.GetUsername()], known[raider.GetId()] = true, true
		}
	}
	if len(known) != 400 {
		t.Errorf("200 raiders have %d names and ids, want 400", len(known))
	}
}
