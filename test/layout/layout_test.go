// Package layout_test checks the folders of the project.
package layout_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/test/doctest"
)

const module = "github.com/moderato-live/moderato/"

// floors are the folders from the lowest to the highest. A package imports packages of its own
// floor and of those below it.
var floors = []string{
	"proto", "gen", "internal", "ent",
	"server/store", "server/rpc", "server/change", "server/event", "server/domain", "server/middleware",
	"gateway", "clients", "docs", "console",
	"server", "server/cli", "cmd", "test",
}

// helpers are packages for tests that lie beside what they help to test.
func isHelper(path string) bool {
	return strings.HasSuffix(path, "test") || path == "docs/generate" || path == "deploy" || path == "server/demo" || strings.HasPrefix(path, "ent/migrations/")
}

// floorOf returns the floor of a package: that of the longest name that contains it.
func floorOf(path string) int {
	floor := -1
	for i, name := range floors {
		if (path == name || strings.HasPrefix(path, name+"/")) && (floor < 0 || len(name) > len(floors[floor])) {
			floor = i
		}
	}
	return floor
}

func TestNoPackageImportsUpward(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...")
	cmd.Dir = doctest.Root(t)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for line := range strings.Lines(string(out)) {
		packages := strings.Fields(line)
		importer := strings.TrimPrefix(packages[0], module)
		if isHelper(importer) {
			continue
		}
		floor := floorOf(importer)
		if floor < 0 {
			t.Errorf("%s is in no folder that this test knows", importer)
		}
		seen[floor] = true
		for _, imported := range packages[1:] {
			path, isOurs := strings.CutPrefix(imported, module)
			if isOurs && floorOf(path) > floor {
				t.Errorf("%s imports %s, which is above it", importer, path)
			}
		}
	}
	if len(seen) < len(floors)-2 {
		t.Errorf("found packages on %d floors, want about %d", len(seen), len(floors))
	}
}

// TestEveryFolderSaysWhatItHolds looks for the note of each folder. A reader finds a package by
// them alone.
func TestEveryFolderSaysWhatItHolds(t *testing.T) {
	const most = 10 // lines
	root := doctest.Root(t)
	for _, folder := range slices.Concat(floors, []string{"tools", "deploy"}) {
		note, err := os.ReadFile(filepath.Join(root, folder, "README.md"))
		switch folder {
		case "gen": // is removed, and generated again
			continue
		case "docs": // a README would be a page
			note, err = os.ReadFile(filepath.Join(root, folder, "doc.go"))
			note, _, _ = bytes.Cut(note, []byte("package docs\n"))
		}
		if err != nil {
			t.Error(err)
			continue
		}
		if n := strings.Count(strings.TrimSpace(string(note)), "\n") + 1; folder != "deploy" && n > most {
			t.Errorf("%s/README.md has %d lines, want at most %d", folder, n, most)
		}
	}
}
