package match

import (
	"cmp"
	"slices"
	"sort"

	"github.com/moderato-live/moderato/internal/textmatch"
)

// Hit is a rule that a message matches.
type Hit struct {
	// Rule is the place of the rule among those that were compiled.
	Rule int
	// Spans are the parts of the message that match, in order and apart from each other: at most
	// maxSpans. A rule about the whole message has none.
	Spans []textmatch.Span
}

// maxSpans is how many parts of a message a hit has.
const maxSpans = 20

// Match returns the rules that a message matches, in their order.
func (s *Set) Match(t *textmatch.Text) []Hit {
	hits := s.matchPhrases(t)
	for _, m := range s.matchers {
		if spans, ok := m.find(t); ok {
			hits = append(hits, Hit{m.rule, spans})
		}
	}
	slices.SortFunc(hits, func(a, b Hit) int { return cmp.Compare(a.Rule, b.Rule) })
	for i := range hits {
		hits[i].Spans = joined(hits[i].Spans, maxSpans)
	}
	return hits
}

// matchPhrases returns the rules whose terms a message has.
func (s *Set) matchPhrases(t *textmatch.Text) (hits []Hit) {
	if s.phrases == nil {
		return nil
	}
	var found []textmatch.Found
	cutOut := map[int][]textmatch.Span{} // what the rules allow
	s.phrases.Find(t, func(f textmatch.Found) {
		if rule, isAllowed := phraseOf(f.ID); isAllowed {
			cutOut[rule] = append(cutOut[rule], f.Span)
		} else if n := len(found); n == 0 || found[n-1] != f {
			found = append(found, f)
		}
	})
	for rule, spans := range cutOut {
		cutOut[rule] = joined(spans, len(spans))
	}
	for _, f := range found {
		rule, _ := phraseOf(f.ID)
		if overlaps(cutOut[rule], f.Span) {
			continue
		}
		if i := slices.IndexFunc(hits, func(h Hit) bool { return h.Rule == rule }); i < 0 {
			hits = append(hits, Hit{rule, []textmatch.Span{f.Span}})
		} else {
			hits[i].Spans = append(hits[i].Spans, f.Span)
		}
	}
	return hits
}

// overlaps reports whether a part of a message is partly in others, which are in order and apart.
func overlaps(others []textmatch.Span, s textmatch.Span) bool {
	i := sort.Search(len(others), func(i int) bool { return others[i].End > s.Start })
	return i < len(others) && others[i].Start < s.End
}

// Joined returns the parts of a message that some spans cover, as a Hit has them.
func Joined(spans []textmatch.Span) []textmatch.Span { return joined(spans, maxSpans) }

// joined returns the parts that some spans cover, the first ones up to a number of them.
func joined(spans []textmatch.Span, most int) []textmatch.Span {
	slices.SortFunc(spans, func(a, b textmatch.Span) int { return cmp.Compare(a.Start, b.Start) })
	apart := spans[:0]
	for _, s := range spans {
		last := len(apart) - 1
		switch {
		case s.Start == s.End:
		case last >= 0 && s.Start < apart[last].End:
			apart[last].End = max(apart[last].End, s.End)
		case len(apart) < most:
			apart = append(apart, s)
		}
	}
	return apart
}
