package textmatch

import (
	"math/rand/v2"
	"regexp/syntax"
	"strings"
	"testing"
)

func program(t *testing.T, pattern string) *syntax.Prog {
	t.Helper()
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	p, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestStepsOfPatterns(t *testing.T) {
	t.Parallel()
	for pattern, most := range map[string]int{
		"buy followers":                          4,
		strings.Repeat("abcdefghi ", 50):         51, // a text can have read many of its repetitions
		"buy (cheap|fast) followers":             8,
		`\bfree\s+(gift|nitro|robux|v-?bucks)\b`: 14,
		`discord\.gg/\w+`:                        6,
		`(a?){100}`:                              1000, // all, because it takes too long to say
	} {
		p := program(t, pattern)
		if got := stepsOf(p); got > most || most == 1000 && got != len(p.Inst) {
			t.Errorf("%s: %d of %d instructions, want at most %d", pattern, got, len(p.Inst), most)
		}
	}
}

// TestStepsAreABound searches texts with patterns, and counts what it tries at each position.
func TestStepsAreABound(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for _, pattern := range []string{
		"aaaa", "abab", "a*b", "(a|b)*abb", "a.b.a", `\ba+\b|b`, "(ab?){3,5}", "[ab]{2}c", "(?:a[ -]*?){3,4}", "(a+)+b", "^a|b$", "a(?:bc|b(?:a|c))*c", "",
	} {
		p := program(t, pattern)
		most := stepsOf(p)
		for range 200 {
			text := make([]byte, 30)
			for i := range text {
				text[i] = "aaabbc -"[random.IntN(8)]
			}
			if tried := mostTried(p, string(text)); tried > most {
				t.Errorf("%q tries %d instructions at a position of %q, the bound is %d", pattern, tried, text, most)
			}
		}
	}
}

// mostTried returns the largest number of instructions that a search tries at one position of a
// text.
func mostTried(p *syntax.Prog, text string) (most int) {
	s := &reachability{program: p, ready: map[uint32][]uint32{}}
	at := map[uint32]bool{uint32(p.Start): true}
	for _, r := range text {
		next, tried := map[uint32]bool{uint32(p.Start): true}, map[uint32]bool{}
		for i := range at {
			for _, j := range s.reach(i) {
				tried[j] = true
				in := &p.Inst[j]
				if ranges, isAny := characters(in); isAny || len(ranges) > 0 && in.MatchRune(r) {
					next[in.Out] = true
				}
			}
		}
		most, at = max(most, len(tried)), next
	}
	return most
}
