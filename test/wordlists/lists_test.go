// Package wordlists_test measures how right the matching of rules is, with lists of npm that are
// not part of Moderato. `make clients` installs them.
package wordlists_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/moderato-live/moderato/internal/textmatch"
	"github.com/moderato-live/moderato/server/domain/rules/match"
	"github.com/moderato-live/moderato/test/storetest"
)

// needLists skips the test if the lists are not installed. With CI=true the test fails.
func needLists(t testing.TB) {
	t.Helper()
	_, err := os.Stat("testdata/node_modules/.package-lock.json")
	switch missing := fmt.Errorf("no test with lists of words: %w\n`make clients` installs them", err); {
	case err == nil:
	case os.Getenv("CI") == "true":
		t.Fatal(missing)
	default:
		storetest.Announce(missing)
		t.Skip(missing)
	}
}

// readJSON reads a file of a package.
func readJSON[T any](t testing.TB, path string) (value T) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata/node_modules", path))
	if err == nil {
		err = json.Unmarshal(data, &value)
	}
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// termsOf returns the bad words of a language.
func termsOf(t testing.TB, language string) []string {
	return readJSON[[]string](t, "naughty-words/"+language+".json")
}

// languages returns the languages of the lists of bad words.
func languages(t testing.TB) (names []string) {
	t.Helper()
	files, err := filepath.Glob("testdata/node_modules/naughty-words/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".json")
		if name != "package" && name != "package-lock" && name != "bower" {
			names = append(names, name)
		}
	}
	return names
}

// isHeldOut reports whether a term is in the half that nobody looked at when the matching was
// written.
func isHeldOut(term string) bool {
	h := fnv.New32a()
	h.Write([]byte(term))
	return h.Sum32()%2 == 1
}

// compiled compiles a rule for each of some lists of terms.
func compiled(t testing.TB, evasions bool, lists ...[]string) *match.Set {
	t.Helper()
	var rules []match.Rule
	for _, terms := range lists {
		rules = append(rules, match.Rule{Kind: match.Terms, Terms: terms, Evasions: evasions})
	}
	s, err := match.Compile(rules)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// hits returns what some rules match in a text.
func hits(s *match.Set, text string) []match.Hit {
	folded := textmatch.NewText(text)
	defer folded.Release()
	return s.Match(folded)
}

// sample returns n elements at equal distances.
func sample[T any](all []T, n int) []T {
	some := make([]T, 0, n)
	for i := range min(n, len(all)) {
		some = append(some, all[i*len(all)/min(n, len(all))])
	}
	return some
}

// words returns ordinary words of a language.
func words(t testing.TB, language string, n int) []string {
	t.Helper()
	if language == "en" {
		return sample(readJSON[[]string](t, "an-array-of-english-words/index.json"), n)
	}
	data, err := os.ReadFile("testdata/node_modules/dictionary-" + language + "/index.dic")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	lines := bufio.NewScanner(strings.NewReader(string(data)))
	for lines.Scan() {
		word, _, _ := strings.Cut(lines.Text(), "/")
		word, _, _ = strings.Cut(word, "\t")
		if word = strings.TrimSpace(word); word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' && r != '\'' }) {
			all = append(all, word)
		}
	}
	return sample(all, n)
}

// sentences returns sentences of a language: what a code editor says to its users.
func sentences(t testing.TB, language string, n int) []string {
	t.Helper()
	seen := map[string]bool{}
	collect(readJSON[any](t, "monaco-editor-nls/locale/"+language+".json"), seen)
	return sample(slices.Sorted(maps.Keys(seen)), n)
}

// collect collects texts of more than three words.
func collect(value any, into map[string]bool) {
	switch v := value.(type) {
	case map[string]any:
		for _, element := range v {
			collect(element, into)
		}
	case string:
		if len(strings.Fields(v)) > 3 {
			into[v] = true
		}
	}
}

// code returns lines of code: those of Moderato and of its clients.
func code(t testing.TB) (lines []string) {
	t.Helper()
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		switch name := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && (name == "testdata/node_modules" || name == ".git" || name == "bin" || name == "textmatch" || name == "rules" || name == "wordlists"):
			return filepath.SkipDir
		case entry.IsDir() || !slices.Contains([]string{".go", ".mjs", ".ts", ".py", ".sql"}, filepath.Ext(name)):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line != "" && len(line) < 500 {
				lines = append(lines, line)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return sample(lines, 50_000)
}

// TestNaughtyStrings matches texts that break programs.
func TestNaughtyStrings(t *testing.T) {
	needLists(t)
	t.Parallel()
	set := compiled(t, true, termsOf(t, "en"), termsOf(t, "ja"))
	texts := readJSON[[]string](t, "blns/resources/blns.json")
	for _, text := range texts {
		for _, h := range hits(set, text) {
			for _, s := range h.Spans {
				if s.Start < 0 || s.Start >= s.End || s.End > len([]rune(text)) {
					t.Errorf("%q: %v", text, s)
				}
			}
		}
	}
	if len(texts) < 400 {
		t.Errorf("%d texts", len(texts))
	}
}
