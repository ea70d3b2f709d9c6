package doctest_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/test/doctest"
)

// source returns the Go code of the project: the tests, or everything else. It also returns
// the paths of the files, each in a line.
func source(t *testing.T, tests bool) (text, paths string) {
	t.Helper()
	var all, names strings.Builder
	for _, dir := range []string{"docs", "gateway", "server", "internal", "console", "test"} {
		err := filepath.WalkDir(filepath.Join(doctest.Root(t), dir), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") != tests {
				return err
			}
			text, err := os.ReadFile(path)
			all.Write(text)
			names.WriteString(filepath.ToSlash(path) + "\n")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all.String(), names.String()
}

// TestDocumentedCodeExists checks the tests and the files that pages name. A page may leave
// out the folders above a package.
func TestDocumentedCodeExists(t *testing.T) {
	tests, testFiles := source(t, true)
	_, paths := source(t, false)
	paths += testFiles
	pages, err := filepath.Glob(filepath.Join(doctest.Root(t), "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, page := range append(pages, filepath.Join(doctest.Root(t), "SECURITY.md")) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile("`(Test[A-Za-z0-9]+)`").FindAllStringSubmatch(string(text), -1) {
			if count++; !strings.Contains(tests, "func "+name[1]+"(") {
				t.Errorf("%s names %s, which is no test", filepath.Base(page), name[1])
			}
		}
		for _, name := range regexp.MustCompile("`([a-z]+(?:/[a-z_]+)+\\.go)`").FindAllStringSubmatch(string(text), -1) {
			if count++; !strings.Contains(paths, "/"+name[1]+"\n") {
				t.Errorf("%s names %s, which is no file", filepath.Base(page), name[1])
			}
		}
	}
	if count < 100 {
		t.Errorf("found %d names in the pages", count)
	}
}

func TestMetricsAreDocumented(t *testing.T) {
	const path = "docs/metrics.md"
	inCode, documented := map[string]bool{}, map[string]bool{}
	code, _ := source(t, false)
	for _, name := range regexp.MustCompile(`"(moderato_[a-z_]*[a-z])"`).FindAllStringSubmatch(code, -1) {
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
