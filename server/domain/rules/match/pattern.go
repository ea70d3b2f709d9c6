package match

import (
	"github.com/moderato-live/moderato/internal/textmatch"
)

// Pattern is the kind of rules that match regular expressions.
const Pattern Kind = "pattern"

var pattern = kind{
	check: func(r *Rule, f *fields) {
		if f.count("patterns", len(r.Patterns), 1, maxPatterns) {
			checkTexts(f, "patterns", r.Patterns, textmatch.MaxLength)
		}
	},
	compile: func(r *Rule, b *builder) {
		var m patterns
		for i, p := range r.Patterns {
			e, err := textmatch.NewExpression(p)
			if err != nil {
				b.addEach("patterns", i, "%s", err)
				continue
			}
			m = append(m, e)
		}
		b.addMatcher(m)
	},
}

// patterns are the patterns of one rule.
type patterns []*textmatch.Expression

func (p patterns) find(t *textmatch.Text) (spans []textmatch.Span, matches bool) {
	for _, e := range p {
		if some, ok := e.Find(t, maxSpans); ok {
			spans, matches = append(spans, some...), true
		}
	}
	return spans, matches
}

func (p patterns) steps() (n int) {
	for _, e := range p {
		n += e.Steps()
	}
	return n
}

func (p patterns) size() (n int) {
	for _, e := range p {
		n += e.Size()
	}
	return n
}
