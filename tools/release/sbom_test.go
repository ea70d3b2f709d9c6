package main

import (
	"debug/buildinfo"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// TestBOMListsEveryModule compares the bill of materials of this test's binary with what
// `go version -m` prints about it.
func TestBOMListsEveryModule(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := newBOM(self)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "version", "-m", self).Output()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"std"}
	for _, line := range regexp.MustCompile(`(?m)^\tdep\t(\S+)`).FindAllStringSubmatch(string(out), -1) {
		want = append(want, line[1])
	}
	var got []string
	for _, c := range b.Components {
		got = append(got, c.Name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	file := filepath.Join(t.TempDir(), "bom.json")
	if err := b.write(file); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil || !json.Valid(text) {
		t.Errorf("not JSON (%v): %s", err, text)
	}
	if pattern := `"serialNumber": "urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"`; !regexp.MustCompile(pattern).Match(text) {
		t.Errorf("the serial number does not match %s: %s", pattern, b.SerialNumber)
	}
}

// TestBOMNamesWhatIsLinked checks the components of replaced modules and of versions with
// build metadata.
func TestBOMNamesWhatIsLinked(t *testing.T) {
	info := &buildinfo.BuildInfo{
		GoVersion: "go1.26.8", Main: debug.Module{Path: "example.com/main", Version: "v1.2.3+dirty"},
		Deps: []*debug.Module{
			{Path: "example.com/a", Version: "v1.0.0", Sum: "h1:x="},
			{Path: "example.com/b", Version: "v1.0.0", Replace: &debug.Module{Path: "example.com/fork", Version: "v2.0.0"}},
		},
	}
	b := describe(info, strings.Repeat("0b", 32))
	got := []string{b.Metadata.Component.PURL}
	for _, c := range b.Components {
		got = append(got, c.PURL)
	}
	want := []string{"pkg:golang/example.com/main@v1.2.3%2Bdirty", "pkg:golang/std@1.26.8", "pkg:golang/example.com/a@v1.0.0", "pkg:golang/example.com/fork@v2.0.0"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestVerifyRejectsOtherBinaries(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := verify(target{"plan9", "mips"}, self); err == nil || !strings.Contains(err.Error(), "build setting") {
		t.Errorf("got %v, want an error about the build settings of a test binary", err)
	}
}
