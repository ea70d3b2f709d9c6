package textmatch_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/internal/textmatch"
)

func TestFold(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"ｆrее ѕub":              "free sub",
		"  FREE\t\n sub ":       "free sub",
		"fr\u200bee\u00adsub":   "freesub",
		"f\u0336r\u0301\u0323é": "fre",
		"mail Mall 1iI|l":       "mall mall lllll",
		"c0rn com":              "corn com",
		"101 l0l 10l я1":        "101 lol lol ᴙl",
		"a|b || c|d|":           "alb || cld|",
		"Straße βιβλίο":         "strasse blbʌlo",
		"हिन्दी กำ ば أ":         "हिन्दी กํา ば أ",
		"각 각":                   "각 각",
		"\x00\x7f\u2066\ufe0f":  "",
		"\u3164a\u2800\u3000b":  "a b",
		"\xff":                  "\ufffd",
	} {
		if got := textmatch.Fold(text); got != want {
			t.Errorf("Fold(%+q) = %+q, not %+q", text, got, want)
		}
	}
}

// Folding equates texts that are innocent, which the package comment says.
func TestKnownCollisions(t *testing.T) {
	t.Parallel()
	for phrase, text := range map[string]string{
		"mail": "the mall", "com": "the corn", "ano": "feliz año", "god": "g0d", "lo": "וס", "o": "🅾",
	} {
		if !matcher(t, phrase).Match(text) {
			t.Errorf("%q does not find %q", phrase, text)
		}
	}
}

func TestPhraseWildcards(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		phrase, text string
		want         bool
	}{
		{"sub", "a sub!", true}, {"sub", "subs", false}, {"sub", "sub2", false}, {"sub", "_sub_", true},
		{"sub*", "subs", true}, {"sub*", "resub", false}, {"*sub", "resub", true}, {"*sub", "subs", false},
		{"*sub*", "resubs", true}, {"* sub *", "resubs", true}, {"a*b", "a*b", true}, {"a*b", "axb", false},
		{"*night", "overnight", true}, {"ove*", "overnight", true}, {"for*", "fornight", true},
		{"sub", "subs are not a sub", true}, {"$$$", "win$$$$now", true}, {"免费", "很免费吗", true}, {"free", "免费free订阅", true},
		{"free sub", "|free sub|", true}, {"free sub", "you|free sub", true},
		{"cocos (keeling) islands", "Cocos - (Keeling)_Islands", true}, {"salt & pepper", "salt && pepper", true}, {"salt & pepper", "salt pepper", false},
		{"buy 💎 now", "buy now", false}, {"$$$ now", "win $$$$ now", true}, {"$$$ now", "now", false}, {"free sub", "free 1 sub", false}, {"free sub", "freesub", false},
	} {
		if got := matcher(t, c.phrase).Match(c.text); got != c.want {
			t.Errorf("%q finds %q: %t", c.phrase, c.text, got)
		}
	}
}

func TestBadPhrases(t *testing.T) {
	t.Parallel()
	for phrase, want := range map[string]error{
		"": textmatch.ErrEmptyPhrase, " \n": textmatch.ErrEmptyPhrase, "*": textmatch.ErrEmptyPhrase, "* *": textmatch.ErrEmptyPhrase,
		"\u200b\u0301": textmatch.ErrEmptyPhrase, strings.Repeat("ß", 501): textmatch.ErrTooLong,
	} {
		if _, err := textmatch.Phrase(phrase); !errors.Is(err, want) {
			t.Errorf("Phrase(%+q): %v", phrase, err)
		}
	}
	if _, err := textmatch.Phrase(strings.Repeat("ß", 500)); err != nil {
		t.Error(err)
	}
}

func TestBadPatterns(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{
		"":                        "must not match an empty text, as .* does",
		"a*":                      "must not match an empty text, as .* does",
		"$|free":                  "must not match an empty text, as .* does",
		"фри[a-":                  "does not compile at character 4, “[a-”: missing closing ]",
		"free(sub":                "does not compile at character 1, “free(sub”: missing closing )",
		"free*+":                  "does not compile at character 5, “*+”: invalid nested repetition operator",
		`a\`:                      `does not compile: trailing backslash at end of expression`,
		`(?=a)b`:                  "does not compile at character 1, “(?=”: invalid or unsupported Perl syntax",
		`(a)\1`:                   `does not compile at character 4, “\1”: invalid escape sequence`,
		"a{1001}":                 "does not compile at character 2, “{1001}”: invalid repeat count",
		"(a{1,50}){1,10}":         "is too complex: use fewer alternatives, or * and + instead of counts",
		"(a{1,50}){1,50}":         "does not compile at character 10, “{1,50}”: invalid repeat count",
		strings.Repeat("a?", 100): "is too complex: use fewer alternatives, or * and + instead of counts",
		strings.Repeat("(", 501):  "has more than 500 characters",
		"free\xff":                "does not compile",
	} {
		if _, err := textmatch.Pattern(pattern); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("Pattern(%q): %v, not %s", pattern, err, want)
		}
	}
	if _, err := textmatch.Pattern(strings.Repeat("é", 500)); err != nil {
		t.Error(err)
	}
}

// TestSizeIsAboutTheMemory compares the sizes of matchers with how much the heap grows.
func TestSizeIsAboutTheMemory(t *testing.T) {
	for pattern, compile := range map[string]func(string) (textmatch.Matcher, error){
		strings.Repeat(`\PL`, 8) + strings.Repeat(`\pL`, 7): textmatch.Pattern,
		`(?:free|cheap)\s+(?:subs?|viewers)`:                textmatch.Pattern,
		`.{0,60}.{0,60}!!`:                                  textmatch.Pattern,
		strings.Repeat("free ", 90):                         textmatch.Phrase,
	} {
		const n = 50
		matchers := make([]textmatch.Matcher, n)
		before := heap()
		for i := range matchers {
			m, err := compile(pattern)
			if err != nil {
				t.Fatal(err)
			}
			matchers[i] = m
		}
		grown := int(heap()-before) / n
		if size := matchers[0].Size(); grown > 2*size+1000 || size > 2*grown {
			t.Errorf("%s: the size is %d, and the heap grows by %d", pattern, size, grown)
		}
		runtime.KeepAlive(matchers)
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC() // what the first one found is freed by the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
