package textmatch_test

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/internal/textmatch"
)

// example is a line of a table in testdata.
type example struct {
	matcher, text, why string
}

// readExamples reads a table of n examples.
func readExamples(t *testing.T, path string, n int) []example {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	var examples []example
	seen := map[[2]string]bool{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		fields := strings.Split(lines.Text(), "\t")
		if len(fields) != 3 {
			t.Fatalf("%s: %q has %d fields", path, lines.Text(), len(fields))
		}
		text, err := strconv.Unquote(`"` + fields[1] + `"`)
		if err != nil {
			t.Fatalf("%s: %q: %v", path, fields[1], err)
		}
		if key := [2]string{fields[0], text}; seen[key] {
			t.Errorf("%s has %q twice", path, lines.Text())
		} else {
			seen[key] = true
		}
		examples = append(examples, example{fields[0], text, fields[2]})
	}
	if len(examples) != n {
		t.Errorf("%s has %d examples", path, len(examples))
	}
	return examples
}

// matcher returns the Matcher of a phrase, or of a /pattern/.
func matcher(t *testing.T, of string) textmatch.Matcher {
	t.Helper()
	compile := textmatch.Phrase
	if len(of) > 1 && strings.HasPrefix(of, "/") && strings.HasSuffix(of, "/") {
		of, compile = of[1:len(of)-1], textmatch.Pattern
	}
	m, err := compile(of)
	if err != nil {
		t.Fatalf("%q: %v", of, err)
	}
	return m
}

func TestEvasionsMatch(t *testing.T) {
	t.Parallel()
	for _, e := range readExamples(t, "testdata/evasions.tsv", 214) {
		if !matcher(t, e.matcher).Match(e.text) {
			t.Errorf("%q does not find %q (%+q), folded %q: %s", e.matcher, e.text, e.text, textmatch.Fold(e.text), e.why)
		}
	}
}

func TestInnocentTextsDoNotMatch(t *testing.T) {
	t.Parallel()
	wantNoMatch(t, readExamples(t, "testdata/innocent.tsv", 200))
}

// TestLimitsOfMatching has the evasions that docs/moderation.md says are not found.
func TestLimitsOfMatching(t *testing.T) {
	t.Parallel()
	wantNoMatch(t, readExamples(t, "testdata/undetected.tsv", 8))
}

func wantNoMatch(t *testing.T, examples []example) {
	t.Helper()
	for _, e := range examples {
		if matcher(t, e.matcher).Match(e.text) {
			t.Errorf("%q finds %q, folded %q: %s", e.matcher, e.text, textmatch.Fold(e.text), e.why)
		}
	}
}
