package match

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Terms is the kind of rules that match phrases.
const Terms Kind = "terms"

func terms(r *Rule, b *builder) {
	b.addPhrases("terms", r.Terms, 1, uint32(b.rule)<<1, r.Evasions)
	b.addPhrases("allow", r.Allow, 0, uint32(b.rule)<<1|allowed, false)
	b.terms += len(r.Terms)
}

// allowed is the bit of the ids of phrases that a rule allows.
const allowed = 1

// phraseOf returns what the id of a phrase says.
func phraseOf(id uint32) (rule int, isAllowed bool) { return int(id >> 1), id&allowed != 0 }

func (b *builder) addPhrases(field string, phrases []string, least int, id uint32, evasions bool) {
	if b.count(field, len(phrases), least, maxTerms) {
		b.addTexts(field, phrases, maxTermLength, func(phrase string) error { return b.phrases.Add(id, phrase, evasions) })
	}
}

// addTexts adds the texts of a list, and reports those that are too long or that add does not accept.
func (b *builder) addTexts(field string, texts []string, longest int, add func(string) error) {
	for i, text := range texts {
		switch {
		case utf8.RuneCountInString(text) > longest:
			b.addEach(field, i, "must be 1 to %d characters", longest)
		case strings.ContainsFunc(text, unicode.IsControl):
			b.addEach(field, i, "must not contain control characters")
		default:
			if err := add(text); err != nil {
				b.addEach(field, i, "%s", err)
			}
		}
	}
}
