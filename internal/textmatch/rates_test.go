package textmatch_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/moderato-live/moderato/internal/textmatch"
	"github.com/moderato-live/moderato/test/doctest"
)

// disguises change a text so that people still read it. Each returns the text unchanged if it
// does not apply.
var disguises = map[string]func(string) string{
	"fullwidth":     letters('a', '！'+'a'-'!', 'A', '！'+'A'-'!'),
	"mathematical":  letters('a', '𝐚', 'A', '𝐀'),
	"outlined":      func(text string) string { return letters('A', 0x1CCD6)(strings.ToUpper(text)) },
	"circled":       letters('a', 'ⓐ', 'A', 'Ⓐ'),
	"upper case":    strings.ToUpper,
	"zero-width":    between("\u200b"),
	"struck":        between("\u0336"),
	"punctuation":   func(text string) string { return strings.ReplaceAll(text, " ", ".") },
	"underscores":   func(text string) string { return strings.ReplaceAll(text, " ", "_") },
	"Markdown":      func(text string) string { return "**" + strings.ReplaceAll(text, " ", "** __") + "**" },
	"tatweel":       within(unicode.Arabic, "ـ"),
	"vowel points":  within(unicode.Arabic, "\u064e"),
	"Cyrillic":      strings.NewReplacer("a", "а", "c", "с", "e", "е", "i", "і", "j", "ј", "o", "о", "p", "р", "s", "ѕ", "x", "х", "y", "у").Replace,
	"Latin":         strings.NewReplacer("а", "a", "с", "c", "е", "e", "о", "o", "р", "p", "х", "x", "у", "y", "ο", "o", "υ", "u", "ν", "v").Replace,
	"small capital": strings.NewReplacer("a", "ᴀ", "e", "ᴇ", "i", "ɪ", "n", "ɴ", "o", "ᴏ", "r", "ʀ", "t", "ᴛ", "u", "ᴜ").Replace,
}

// letters replaces the 26 letters from one on with those from another on, for each pair.
func letters(pairs ...rune) func(string) string {
	return func(text string) string {
		return strings.Map(func(r rune) rune {
			for i := 0; i < len(pairs); i += 2 {
				if first := pairs[i]; first <= r && r < first+26 {
					return pairs[i+1] + r - first
				}
			}
			return r
		}, text)
	}
}

// between puts a text after each letter.
func between(inserted string) func(string) string {
	return func(text string) string {
		var b strings.Builder
		for _, r := range text {
			b.WriteRune(r)
			if unicode.IsLetter(r) {
				b.WriteString(inserted)
			}
		}
		return b.String()
	}
}

// within puts a text after each letter of a script.
func within(script *unicode.RangeTable, inserted string) func(string) string {
	return func(text string) string {
		if !strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(script, r) }) {
			return text
		}
		return between(inserted)(text)
	}
}

// names returns the names of countries in a language: words, and groups of words, that are
// not about the same thing.
func names(of language.Tag) (names []string) {
	for a := 'A'; a <= 'Z'; a++ {
		for b := 'A'; b <= 'Z'; b++ {
			if region, err := language.ParseRegion(string([]rune{a, b})); err == nil && region.IsCountry() && region.Canonicalize() == region {
				if name := display.Regions(of).Name(region); name != "" {
					names = append(names, name)
				}
			}
		}
	}
	return names
}

// TestRatesOfMatching disguises the names of countries in several languages, and looks for each
// name in the others. The documentation has the rates.
func TestRatesOfMatching(t *testing.T) {
	t.Parallel()
	for _, tag := range []language.Tag{
		language.Arabic, language.Chinese, language.English, language.French, language.German, language.Greek, language.Hebrew, language.Hindi, language.Japanese,
		language.Korean, language.Polish, language.BrazilianPortuguese, language.Russian, language.Spanish, language.Thai, language.Turkish, language.Vietnamese,
	} {
		names := names(tag)
		made, found, pairs, wrong := 0, 0, 0, 0
		for _, name := range names {
			m := matcher(t, name)
			for kind, disguise := range disguises {
				if text := disguise(name); text != name {
					made++
					if m.Match("so, " + text + "!") {
						found++
					} else if testing.Verbose() {
						t.Logf("%s: %q is not found in %q, folded %q: %s", tag, name, text, textmatch.Fold(text), kind)
					}
				}
			}
			for _, other := range names {
				if strings.Contains(strings.ToLower(other), strings.ToLower(name)) {
					continue // the name itself is in the other
				}
				if pairs++; m.Match(other) {
					wrong++
					t.Logf("%s: %q is found in %q", tag, name, other)
				}
			}
		}
		doctest.Want(t, "docs/moderation.md", fmt.Sprintf("| %s | %.1f %% of %d | %d of %d |",
			display.English.Tags().Name(tag), float64(found)/float64(made)*100, made, wrong, pairs))
	}
}
