package raid

import (
	"strings"
	"unicode"
)

// Phrase is what every message of a raid says, in some disguise. A sweep finds it.
const Phrase = "free gems"

// lines are the messages, with a placeholder for the phrase.
var lines = []string{
	"{phrase} at gems.example.com",
	"get your {phrase} now, first 100 only!!!",
	">>> {phrase} <<<",
	"this streamer is over, {phrase} at gems.example.com",
	"who wants {phrase}? no survey, no password",
	"{phrase} {phrase} {phrase}",
	"hey chat, {phrase} for everybody",
}

// disguises spell the phrase so that a comparison of characters does not find it.
var disguises = []func(string) string{
	func(text string) string { return text },
	strings.ToUpper,
	alternateCase,
	fullWidth,
	// Cyrillic letters, and a Latin script g, that look like these.
	strings.NewReplacer("e", "\u0435", "s", "\u0455", "g", "\u0261").Replace,
	strings.NewReplacer("r", "\u0433", "e", "\u0435", "m", "\u043c").Replace,
	// Accents, and a stroke through the letter.
	strings.NewReplacer("e", "\u00e9", "g", "\u011f", "s", "\u0161").Replace,
	strings.NewReplacer("r", "r\u0336", "e", "e\u0336", "m", "m\u0336").Replace,
	// Characters that are not visible: a zero-width space, a zero-width joiner, a word
	// joiner and a soft hyphen.
	func(text string) string { return spread(text, "\u200b") },
	func(text string) string { return spread(text, "\u200d") },
	func(text string) string { return spread(text, "\u2060\u00ad") },
	// Other spaces: no-break, ideographic and several.
	strings.NewReplacer(" ", "\u00a0").Replace,
	strings.NewReplacer(" ", "\u3000").Replace,
	strings.NewReplacer(" ", "   ").Replace,
	// Mathematical bold, sans-serif and monospace letters, and letters in circles.
	func(text string) string { return shift(text, '\U0001d41a') },
	func(text string) string { return shift(text, '\U0001d5ba') },
	func(text string) string { return shift(text, '\U0001d68a') },
	func(text string) string { return shift(text, '\u24d0') },
}

// message returns the message with a number. Messages of consecutive numbers differ in line
// and disguise.
func message(number int) string {
	disguise := disguises[number%len(disguises)]
	return strings.ReplaceAll(lines[number%len(lines)], "{phrase}", disguise(Phrase))
}

// alternateCase makes every second letter a capital.
func alternateCase(text string) string {
	n := 0
	return strings.Map(func(r rune) rune {
		n++
		if n%2 == 0 {
			return unicode.ToUpper(r)
		}
		return r
	}, text)
}

// fullWidth replaces the letters by their full-width forms.
func fullWidth(text string) string { return shift(text, '\uff41') }

// shift replaces the letters a to z by those of an alphabet that begins with first.
func shift(text string, first rune) string {
	return strings.Map(func(r rune) rune {
		if r < 'a' || r > 'z' {
			return r
		}
		return first + r - 'a'
	}, text)
}

// spread puts text between all letters.
func spread(text, between string) string {
	return strings.Join(strings.Split(text, ""), between)
}
