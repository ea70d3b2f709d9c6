package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
)

// Release is the release that this code is, or will be next. CHANGELOG.md describes it.
const Release = "0.1.0"

type version struct {
	JSON bool `name:"json" help:"Print the version as one line of JSON."`
}

// Run prints the version of the program.
func (c version) Run(s *streams) error {
	b := currentBuild()
	if c.JSON {
		return printJSON(s.out, b)
	}
	fmt.Fprintln(s.out, "moderato", b)
	return nil
}

// build describes how the program was built.
type build struct {
	Release string `json:"release"`
	Commit  string `json:"commit"`
	// Changed is whether the files differed from those of the commit.
	Changed bool   `json:"changed"`
	Go      string `json:"go"`
}

// String returns the release with the commit and the version of Go.
func (b build) String() string {
	changed := ""
	if b.Changed {
		changed = ", changed"
	}
	return fmt.Sprintf("%s (commit %s%s, %s)", b.Release, b.Commit, changed, b.Go)
}

// currentBuild returns the build of the running program.
func currentBuild() build {
	b := build{Release: Release, Commit: "unknown", Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			b.Commit = cmp.Or(setting.Value, b.Commit)
		case "vcs.modified":
			b.Changed = setting.Value == "true"
		}
	}
	return b
}
