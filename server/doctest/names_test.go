package doctest_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/server/doctest"
)

// source returns the Go code of the project: the tests, or everything else.
func source(t *testing.T, tests bool) string {
	t.Helper()
	var all strings.Builder
	for _, dir := range []string{"gateway", "server", "experiments"} {
		err := filepath.WalkDir(filepath.Join(doctest.Root(t), dir), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") != tests {
				return err
			}
			text, err := os.ReadFile(path)
			all.Write(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all.String()
}

func TestDocumentedTestsExist(t *testing.T) {
	tests := source(t, true)
	for _, path := range []string{"SECURITY.md", "docs/architecture.md", "docs/decisions.md", "docs/reliability.md"} {
		for _, name := range regexp.MustCompile("`(Test[A-Za-z0-9]+)`").FindAllStringSubmatch(doctest.Read(t, path), -1) {
			if !strings.Contains(tests, "func "+name[1]+"(") {
				t.Errorf("%s names %s, which is no test", path, name[1])
			}
		}
	}
}

func TestMetricsAreDocumented(t *testing.T) {
	const path = "docs/metrics.md"
	inCode, documented := map[string]bool{}, map[string]bool{}
	for _, name := range regexp.MustCompile(`"(moderato_[a-z_]*[a-z])"`).FindAllStringSubmatch(source(t, false), -1) {
		inCode[name[1]] = true
	}
	for _, name := range regexp.MustCompile("`(moderato_[a-z_]+)`").FindAllStringSubmatch(doctest.Read(t, path), -1) {
		documented[name[1]] = true
	}
	for name := range inCode {
		if !documented[name] {
			t.Errorf("%s does not have the metric %s", path, name)
		}
	}
	for name := range documented {
		if !inCode[name] {
			t.Errorf("%s has the metric %s, which does not exist", path, name)
		}
	}
	if len(inCode) < 10 {
		t.Errorf("found %d metrics in the code", len(inCode))
	}
}
