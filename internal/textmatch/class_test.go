package textmatch_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/internal/textmatch"
)

// TestWideClassesAreRefused compiles patterns whose classes would take seconds to fold. Every
// spelling of a range counts, also within one class.
func TestWideClassesAreRefused(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{
		strings.Repeat("[B-𞥂]", 100),
		"[" + strings.Repeat("B-𞥂", 166) + "]",
		"[" + strings.Repeat(`B-\x{1e942}`, 40) + "]",
		"[" + strings.Repeat(`\x{42}-\x{1e942}`, 30) + "]",
		"[" + strings.Repeat(`\102-\x{1E942}`, 30) + "]",
		"[" + strings.Repeat(`\x42-\x{01e942}`, 30) + "]",
		"[" + strings.Repeat(`\\x{1e943}-𞥂`, 30) + "]", // a backslash, x, and so on, and a range from }
		"[" + strings.Repeat(`\-x{1e943}-𞥂`, 30) + "]",
		"[" + strings.Repeat(`--𞥂`, 100) + "]",
		"(?i:x)" + strings.Repeat("[^B-𞥂]", 60),
		"x" + strings.Repeat(`[]-𞥂]`, 60),
		strings.Repeat(`[!\pL]`, 60),
		"[" + strings.Repeat(`\PL`, 100) + "]!",
	} {
		if _, err := textmatch.Pattern(pattern); !errors.Is(err, textmatch.ErrTooComplex) {
			t.Errorf("Pattern(%.40q…): %v, want that it is too complex", pattern, err)
		}
	}
}

// TestOrdinaryClassesAreAccepted compiles patterns with more classes than most patterns have.
func TestOrdinaryClassesAreAccepted(t *testing.T) {
	t.Parallel()
	for pattern, text := range map[string]string{
		`\p{L}+\s\p{Cyrillic}+\s\P{L}!`:                                "where где ?!",
		strings.Repeat(`[^a-z0-9]`, 50):                                strings.Repeat("-", 50),
		strings.Repeat(`[а-яё]`, 60):                                   strings.Repeat("ЖЁ", 30),
		`(?i)FREE[\w-]+(?-i:S)ub`:                                      "free-and-sub",
		strings.Repeat(`[가-힣ぁ-んァ-ヶ一-龥]`, 8):                            "免费サブすクリ무료",
		`[\x{4e00}-\x{9fff}\x{3040}-\x{30ff}]{3}[\x{1f300}-\x{1faff}]`: "免费サ🎉",
		`[^\x00-\x7f]{4}[^\x{0}-\x{ff}]`:                               "免费サ免费",
		strings.Repeat(`[!-~]`, 80):                                    strings.Repeat("a-", 40),
		strings.Repeat(`(?:a-я)`, 60):                                  strings.Repeat("a-я", 60),
	} {
		if m, err := textmatch.Pattern(pattern); err != nil || !m.Match(text) {
			t.Errorf("Pattern(%.40q…) does not find %q (%v)", pattern, text, err)
		}
	}
}

// TestWrittenPatterns compares each kind of expression with the same one of package regexp, on
// texts that every form leaves as they are.
func TestWrittenPatterns(t *testing.T) {
	t.Parallel()
	texts := []string{"a", "b", "ab", "aab", "abab", "aaab b", "a b", "ba", "xaay", "b!", "-a", "c.d", "aaaaaaa", "cab"}
	for _, pattern := range []string{
		"a|b!", "a+b", "^a", "a$", `\Aa\z`, `a\b`, `a\Bb`, "(?m)^b", "(?m)a$", "(?s)a.b", "a.b", "x(a)(?P<n>a)y", "a+?b", "a??b", "(?:ab){2}", "a{2,}", "a{1,2}b",
		"(?:a|b!|c)d?b", "[ab]c|[^a]b", "[^ab]", `[\w]!`, `\W`, `\d|\.`, `c\.d`, `\Qc.d\E`, "(?U)a+b", "a(?:)b", "(?:a*)*b", "(?:a|)b", `[^\x00-\x{10ffff}]|b`, "ab|aab|abb",
		"(?:(?:a+b)+ )+", "a{0}b", `[[:alpha:]][[:^alpha:]]`, "a{3,5}", "^(?:a|b)+$", "(?:^|b)a",
	} {
		want := regexp.MustCompile(pattern)
		m, err := textmatch.Pattern(pattern)
		if err != nil {
			t.Errorf("Pattern(%q): %v", pattern, err)
			continue
		}
		for _, text := range texts {
			if got := m.Match(text); got != want.MatchString(text) {
				t.Errorf("Pattern(%q) finds %q: %t", pattern, text, got)
			}
		}
	}
}
