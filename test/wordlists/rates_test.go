package wordlists_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"github.com/moderato-live/moderato/test/doctest"
)

const record = "docs/records/2026-11-rules.md"

// The rates that matching must have.
const (
	minRecall     = 0.95
	maxFalseWords = 1.0 / 10_000
)

// wordLanguages and sentenceLanguages are those of innocent texts.
var (
	wordLanguages     = []string{"de", "en", "es", "fr", "it", "pl", "pt", "ru"}
	sentenceLanguages = []string{"de", "es", "fr", "it", "pl", "pt", "ru", "tr"}
)

// TestRecall disguises bad words of 28 languages, and counts how many are found. Nobody looked at
// these words when the matching was written.
func TestRecall(t *testing.T) {
	needLists(t)
	t.Parallel()
	allMade, allFound := 0, 0
	for _, language := range languages(t) {
		made, found := 0, 0
		r := rand.New(rand.NewPCG(1, 2))
		for _, term := range termsOf(t, language) {
			if !isHeldOut(term) {
				continue
			}
			n, missed := disguised(t, term, r)
			made, found = made+n, found+n-len(missed)
			for _, text := range missed {
				t.Logf("%s: %q is not found in %s", language, term, text)
			}
		}
		doctest.Want(t, record, fmt.Sprintf("| %s | %.1f %% of %d |", language, 100*float64(found)/float64(made), made))
		allMade, allFound = allMade+made, allFound+found
	}
	recall := float64(allFound) / float64(allMade)
	doctest.Want(t, record, fmt.Sprintf("| all | %.1f %% of %d |", 100*recall, allMade))
	if recall < minRecall {
		t.Errorf("%.1f %% are found, want %.1f %%", 100*recall, 100*minRecall)
	}
}

// disguised disguises a term in every way. It returns how many there are, and those that are not
// found.
func disguised(t *testing.T, term string, r *rand.Rand) (n int, missed []string) {
	t.Helper()
	plain, evaded := compiled(t, false, []string{term}), compiled(t, true, []string{term})
	for _, kind := range slices.Sorted(maps.Keys(disguises)) {
		if text := disguises[kind](term, r); text != term {
			if n++; len(hits(plain, "so, "+text+" ok")) == 0 {
				missed = append(missed, fmt.Sprintf("%q: %s", text, kind))
			}
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(evasions)) {
		if text := evasions[kind](term, r); text != term {
			if n++; len(hits(evaded, "so, "+text+" ok")) == 0 {
				missed = append(missed, fmt.Sprintf("%q: %s", text, kind))
			}
		}
	}
	return n, missed
}

// TestFalseMatches looks for the bad words of a language, with evasions, in ordinary words and
// sentences of this language.
func TestFalseMatches(t *testing.T) {
	needLists(t)
	t.Parallel()
	allWords, allWrong := 0, 0
	for _, language := range wordLanguages {
		texts := words(t, language, 12_500)
		n, wrong := falseMatches(t, texts, termsOf(t, language))
		doctest.Want(t, record, fmt.Sprintf("| words: %s | %d | %d | %d |", language, len(texts), n, wrong))
		allWords, allWrong = allWords+n, allWrong+wrong
	}
	if allWords < 100_000 || float64(allWrong) > maxFalseWords*float64(allWords) {
		t.Errorf("%d of %d words match", allWrong, allWords)
	}
	allWords, allWrong = 0, 0
	for _, language := range sentenceLanguages {
		file := language
		if language == "pt" {
			file = "pt-br"
		}
		texts := sentences(t, file, 2500)
		if len(texts) != 2500 {
			t.Errorf("%d sentences", len(texts))
		}
		n, wrong := falseMatches(t, texts, termsOf(t, language))
		doctest.Want(t, record, fmt.Sprintf("| sentences: %s | %d | %d | %d |", language, len(texts), n, wrong))
		allWords, allWrong = allWords+n, allWrong+wrong
	}
	if float64(allWrong) > maxFalseWords*float64(allWords) {
		t.Errorf("%d of %d words in sentences match", allWrong, allWords)
	}
}

// TestNumbersAndCodeDoNotMatch looks for the bad words of eight languages in numbers, and for those of
// English in URLs and code of English words.
func TestNumbersAndCodeDoNotMatch(t *testing.T) {
	needLists(t)
	t.Parallel()
	var lists [][]string
	for _, language := range wordLanguages {
		lists = append(lists, termsOf(t, language))
	}
	for what, texts := range map[string][]string{"times": times(), "prices": prices(), "URLs": urls(t), "lines of code": code(t)} {
		lists := lists
		if what == "URLs" || what == "lines of code" {
			lists = [][]string{termsOf(t, "en")}
		}
		if _, wrong := falseMatches(t, texts, lists...); wrong > 0 {
			t.Errorf("%d of %d %s match", wrong, len(texts), what)
		}
	}
}

// falseMatches counts the words of some texts, and the parts that match although they are none of
// the terms.
func falseMatches(t *testing.T, texts []string, lists ...[]string) (n, wrong int) {
	t.Helper()
	set := compiled(t, true, lists...)
	for _, text := range texts {
		n += len(strings.Fields(text))
		for _, h := range hits(set, text) {
			for _, s := range h.Spans {
				part := string([]rune(text)[s.Start:s.End])
				if slices.ContainsFunc(lists[h.Rule], func(term string) bool { return isSame(term, part) }) {
					continue // the text has the term itself
				}
				wrong++
				t.Logf("%q is found in %q", part, text)
			}
		}
	}
	return n, wrong
}

func isSame(a, b string) bool { return strings.EqualFold(norm.NFC.String(a), norm.NFC.String(b)) }

// times returns all times of a day, as people write them.
func times() (texts []string) {
	for minute := range 24 * 60 {
		h, m := minute/60, minute%60
		texts = append(texts, fmt.Sprintf("at %02d:%02d", h, m), fmt.Sprintf("%d.%02d", h, m), fmt.Sprintf("%dh%02d", h, m))
		if h < 12 {
			texts = append(texts, fmt.Sprintf("%d:%02dam", h, m), fmt.Sprintf("%d:%02d pm", h, m), fmt.Sprintf("%d%02dh", h, m))
		}
	}
	for h := 1; h <= 12; h++ {
		texts = append(texts, fmt.Sprintf("%dam", h), fmt.Sprintf("%d pm", h), fmt.Sprintf("in %dh, %dm, %ds", h, h, h))
	}
	return texts
}

func prices() (texts []string) {
	for cents := 1; cents < 10_000; cents += 7 {
		whole, part := cents/100, cents%100
		texts = append(texts, fmt.Sprintf("$%d.%02d", whole, part), fmt.Sprintf("%d,%02d €", whole, part), fmt.Sprintf("€%d", cents), fmt.Sprintf("$%dk", whole),
			fmt.Sprintf("%d.%03d,00€", whole, part), fmt.Sprintf("£%d", cents), fmt.Sprintf("%d$", cents), fmt.Sprintf("US$%d", cents), fmt.Sprintf("%d%%", whole))
	}
	return texts
}

// urls returns URLs of ordinary words.
func urls(t *testing.T) (texts []string) {
	t.Helper()
	some := sample(readJSON[[]string](t, "an-array-of-english-words/index.json"), 6000)
	for i, word := range some {
		other := some[(i*7+1)%len(some)]
		texts = append(texts, fmt.Sprintf("https://www.%s.com/%s/%d?%s=%x#%s", word, other, i, word[:1], i*i, other),
			fmt.Sprintf("%s-%s.co.uk:8080/a_%d/%x.html", word, other, i, i*97), fmt.Sprintf("http://cdn%d.%s.io/v1.%d/%s@%d.min.js", i, word, i, other, i))
	}
	return texts
}
