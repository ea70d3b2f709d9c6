package match

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/moderato-live/moderato/internal/textmatch"
)

// Pattern is the kind of rules that match regular expressions.
const Pattern Kind = "pattern"

func pattern(r *Rule, b *builder) {
	if !b.count("patterns", len(r.Patterns), 1, maxPatterns) {
		return
	}
	var m patterns
	b.addTexts("patterns", r.Patterns, textmatch.MaxLength, func(text string) error {
		e, err := textmatch.NewExpression(text)
		if err == nil {
			m = append(m, e)
		}
		return err
	})
	b.addMatcher(m)
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

// costliest returns the field of the pattern that takes the most steps.
func (p patterns) costliest() string {
	most := slices.MaxFunc(p, func(a, b *textmatch.Expression) int { return cmp.Compare(a.Steps(), b.Steps()) })
	return fmt.Sprintf("patterns[%d]", slices.Index(p, most))
}

func (p patterns) size() (n int) {
	for _, e := range p {
		n += e.Size()
	}
	return n
}
