package match

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Terms is the kind of rules that match phrases.
const Terms Kind = "terms"

var terms = kind{
	check: func(r *Rule, f *fields) {
		if f.count("terms", len(r.Terms), 1, maxTerms) {
			checkTexts(f, "terms", r.Terms, maxTermLength)
		}
		if f.count("allow", len(r.Allow), 0, maxTerms) {
			checkTexts(f, "allow", r.Allow, maxTermLength)
		}
	},
	compile: func(r *Rule, b *builder) {
		b.addPhrases("terms", r.Terms, uint32(b.rule)<<1, r.Evasions)
		b.addPhrases("allow", r.Allow, uint32(b.rule)<<1|allowed, false)
		b.terms += len(r.Terms)
	},
}

// allowed is the bit of the ids of phrases that a rule allows.
const allowed = 1

// phraseOf returns what the id of a phrase says.
func phraseOf(id uint32) (rule int, isAllowed bool) { return int(id >> 1), id&allowed != 0 }

func checkTexts(f *fields, field string, texts []string, longest int) {
	for i, text := range texts {
		switch {
		case utf8.RuneCountInString(text) > longest:
			f.addEach(field, i, "must be 1 to %d characters", longest)
		case strings.ContainsFunc(text, unicode.IsControl):
			f.addEach(field, i, "must not contain control characters")
		}
	}
}

func (b *builder) addPhrases(field string, phrases []string, id uint32, evasions bool) {
	for i, phrase := range phrases {
		if err := b.phrases.Add(id, phrase, evasions); err != nil {
			b.addEach(field, i, "%s", err)
		}
	}
}
