package textmatch_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/moderato-live/moderato/internal/textmatch"
)

// find returns the parts of a text that are some phrases, each once and in order.
func find(t testing.TB, text string, evasions bool, phrases ...string) (parts []string) {
	t.Helper()
	var b textmatch.PhrasesBuilder
	for i, phrase := range phrases {
		if err := b.Add(uint32(i), phrase, evasions); err != nil {
			t.Fatalf("%q: %v", phrase, err)
		}
	}
	folded := textmatch.NewText(text)
	defer folded.Release()
	b.Build().Find(folded, func(f textmatch.Found) {
		part := fmt.Sprintf("%d:%s", f.ID, string([]rune(text)[f.Span.Start:f.Span.End]))
		if !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	})
	slices.Sort(parts)
	return parts
}

func TestFoundPartsOfTexts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ phrase, text, want string }{
		{"sub", "free ѕu\u200bｂ!", "0:ѕu\u200bｂ"},
		{"sub", "  a  \t sub", "0:sub"},
		{"cafe", "le cafe\u0301\u0323, oui", "0:cafe\u0301\u0323"},
		{"strasse", "in der STRAẞE", "0:STRAẞE"},
		{"ff", "ﬀ", "0:ﬀ"},
		{"הוא", "אם הוּא בא", "0:הוּא"},
		{"مجاني", "هذا مجـــاني هنا", "0:مجـــاني"},
		{"free gems", "so **free** 💎 gems", "0:free** 💎 gems"},
		{"한국", "대한국민", "0:한국"},
		{"m", "rn", "0:rn"},
		{"ダ", "タ\u3099タ", "0:タ\u3099"},
	} {
		if got := strings.Join(find(t, c.text, false, c.phrase), " "); got != c.want {
			t.Errorf("%q in %q: %q, want %q", c.phrase, c.text, got, c.want)
		}
	}
}

// TestPhrasesFindWhatEachFinds looks for the phrases of all examples at the same time.
func TestPhrasesFindWhatEachFinds(t *testing.T) {
	t.Parallel()
	var phrases, texts []string
	for _, path := range []string{"testdata/evasions.tsv", "testdata/innocent.tsv", "testdata/undetected.tsv"} {
		for _, e := range readExamples(t, path, map[string]int{"testdata/evasions.tsv": 214, "testdata/innocent.tsv": 200, "testdata/undetected.tsv": 8}[path]) {
			if !strings.HasPrefix(e.matcher, "/") {
				phrases = append(phrases, e.matcher)
			}
			texts = append(texts, e.text)
		}
	}
	slices.Sort(phrases)
	phrases = append(slices.Compact(phrases), "c++", "(sub) free", "salt & pepper", "*ee*", "*n", "born")
	texts = append(texts, "i like c++", "a (sub), free", "salt&pepper", "born", "a|free|sub", "room 101")
	for _, text := range texts {
		want := 0
		for _, phrase := range phrases {
			if matcher(t, phrase).Match(text) {
				want++
			}
		}
		ids := map[string]bool{}
		for _, part := range find(t, text, false, phrases...) {
			id, _, _ := strings.Cut(part, ":")
			ids[id] = true
		}
		if len(ids) != want {
			t.Errorf("%q has %d phrases, want %d: %v", text, len(ids), want, ids)
		}
	}
}

func TestBlankTexts(t *testing.T) {
	t.Parallel()
	for _, r := range "a0.é漢😂\ue000\u0903" {
		if textmatch.IsBlank(string(r)) {
			t.Errorf("%U is blank", r)
		}
	}
	for _, text := range []string{"", " \t\n\u00a0\u3000", "\u200b\u2060\ufeff", "\u115f\u1160\u3164\uffa0\u2800", "\u0301\u20dd", "\u202e\u2066", "\ufe0f", "\u00ad\u034f\u17b4", "\U000e0041\U000e01ef", "\U0001d159\U00013441", "ـ"} {
		if !textmatch.IsBlank(text) || textmatch.Fold(text) != "" {
			t.Errorf("%+q is not blank, and folds to %q", text, textmatch.Fold(text))
		}
	}
}

func FuzzFind(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed, "please "+seed+" please", true)
	}
	f.Add("free gems", "f.r.3.e  g€mmms", true)
	f.Add("aaa", "a a a aaaa a", true)
	f.Add("\u0345\u0301", " \u0345\u0301", false)
	f.Add("ｍ|1", "rn l", false)
	f.Fuzz(func(t *testing.T, phrase, text string, evasions bool) {
		m, err := textmatch.Phrase(phrase)
		if err != nil {
			return
		}
		found := false
		var b textmatch.PhrasesBuilder
		if err := b.Add(1, phrase, evasions); err != nil {
			t.Fatal(err)
		}
		p := b.Build()
		folded := textmatch.NewText(text)
		defer folded.Release()
		p.Find(folded, func(of textmatch.Found) {
			found = true
			if s := of.Span; s.Start < 0 || s.Start >= s.End || s.End > utf8.RuneCountInString(text) {
				t.Errorf("%+q is in %+q at %v", phrase, text, s)
			}
		})
		if matches := m.Match(text); matches && !found || found && !matches && !evasions {
			t.Errorf("%+q is found in %+q: %t, and matches: %t", phrase, text, found, matches)
		}
	})
}
