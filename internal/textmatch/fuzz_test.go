package textmatch_test

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/moderato-live/moderato/internal/textmatch"
)

// maxGrowth is the documented bound on the length of a folded text, by that of the text.
const maxGrowth = 11

var seeds = []string{
	"", "free sub", "ｆrее ѕub", "f̶r̶e̶e̶ s̵u̵b̵", "fr\u200bee", "ФРИ САБ", "हिन्दी में", "ฟรี", "ダダ", "卜゙", "가각", "ΝΊΚΗ νίκη",
	"\ufdfa\ufdfa", "a||b|", "rn m RN", "ß ẞ β", "\xff\xfe", "e\u0301\u0323", "\u0345\u0301", "ဪ", "ًا", "👩‍👩‍👧‍👦 1️⃣", "ŸſÅ",
}

func FuzzFold(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		folded := textmatch.Fold(text)
		if again := textmatch.Fold(folded); again != folded {
			t.Errorf("Fold(%+q) = %+q, which folds to %+q", text, folded, again)
		}
		if len(folded) > maxGrowth*len(text) {
			t.Errorf("Fold(%+q) has %d bytes, more than %d times %d", text, len(folded), maxGrowth, len(text))
		}
		if !utf8.ValidString(folded) {
			t.Errorf("Fold(%+q) = %q is not UTF-8", text, folded)
		}
	})
}

func FuzzPhrase(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed, "please "+seed+" please")
	}
	f.Fuzz(func(t *testing.T, phrase, text string) {
		m, err := textmatch.Phrase(phrase)
		if err != nil {
			return
		}
		m.Match(text)
		if exact := strings.TrimSpace(phrase); !strings.Contains(exact, "*") && !m.Match(exact) {
			t.Errorf("the phrase %+q does not find itself", phrase)
		}
	})
}

func FuzzPattern(f *testing.F) {
	for _, seed := range append(seeds, `free\s+sub`, `(a?){50}`, `[^a]`, `\p{Cyrillic}{3}`, `(?-i:[A-Z]+)`, `(a|b)*c{3,}`, `[а-я]+!`, `(`) {
		f.Add(seed, "please "+seed+" please")
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		start := time.Now()
		m, err := textmatch.Pattern(pattern)
		var syntaxErr *textmatch.SyntaxError
		if errors.As(err, &syntaxErr) && syntaxErr.Position > utf8.RuneCountInString(pattern)+1 {
			t.Errorf("%+q: position %d is not in the pattern", pattern, syntaxErr.Position)
		}
		if err == nil {
			m.Match(text[:min(len(text), 2000)])
		}
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("%+q took %s", pattern, took)
		}
	})
}
