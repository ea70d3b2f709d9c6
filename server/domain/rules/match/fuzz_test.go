package match_test

import (
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/internal/textmatch"
	"github.com/moderato-live/moderato/server/domain/rules/match"
)

// FuzzCompile compiles rules of every kind with a text, and matches another text with them.
func FuzzCompile(f *testing.F) {
	f.Add("free gems\nsub*", "f.r.e.e gems http://ex%61mple.com/a @b", uint16(10))
	f.Add("evil.com\nbücher.de", "evil dot com xn--bcher-kva.de ://", uint16(1))
	f.Add(`a+b\n[а-я]{3}`, "e\u0301\u0301\u0301 %25%32%65 。。", uint16(70))
	f.Add("\u0345\u0301\n|", "\xff @@@ ||a||", uint16(50))
	f.Fuzz(func(t *testing.T, given, text string, n uint16) {
		lists, most := strings.Split(given, "\n"), int(n)
		for _, r := range []match.Rule{
			{Kind: match.Terms, Terms: lists, Allow: lists[:len(lists)/2], Evasions: true},
			{Kind: match.Pattern, Patterns: lists},
			{Kind: match.Links, Mode: match.AllLinks, Allowed: lists},
			{Kind: match.Links, Mode: match.ListedLinks, Blocked: lists},
			{Kind: match.Caps, MinLength: most, Percent: most},
			{Kind: match.Symbols, MinLength: most, Percent: most, MaxMarks: most % 21},
			{Kind: match.Mentions, Max: most},
			{Kind: match.Repetition, Senders: most, Within: time.Duration(n) * time.Second},
		} {
			s, err := match.Compile([]match.Rule{r})
			if err != nil {
				continue
			}
			folded := textmatch.NewText(text)
			for _, h := range s.Match(folded) {
				end := 0
				for _, span := range h.Spans {
					if span.Start < end || span.Start >= span.End || span.End > len([]rune(text)) {
						t.Errorf("%s %q in %+q: %v", r.Kind, given, text, h.Spans)
					}
					end = span.End
				}
			}
			folded.Release()
		}
	})
}
