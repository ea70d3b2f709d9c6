// Package doctest lets tests check that the documentation agrees with the code.
package doctest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Root returns the directory of the project.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	t.Fatalf("no go.mod above the working directory: %v", err)
	return ""
}

// Read returns the text of a document. The path is relative to the project's directory.
func Read(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(Root(t), path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Want checks that a document contains facts as the code defines them.
func Want(t testing.TB, path string, facts ...string) {
	t.Helper()
	text := Read(t, path)
	for _, fact := range facts {
		if !strings.Contains(text, fact) {
			t.Errorf("%s does not say %q", path, fact)
		}
	}
}

// Duration formats a duration as the documents do: 30 s, 2 minutes, 7 days.
func Duration(d time.Duration) string {
	for _, unit := range []struct {
		d    time.Duration
		name string
	}{{24 * time.Hour, "days"}, {time.Hour, "hours"}, {time.Minute, "minutes"}, {time.Second, "s"}} {
		if d >= 2*unit.d && d%unit.d == 0 {
			return fmt.Sprintf("%d %s", d/unit.d, unit.name)
		}
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}
