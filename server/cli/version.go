package cli

import (
	"cmp"
	"fmt"
	"runtime/debug"
)

// Release is the release that this code is, or will be next. CHANGELOG.md describes it.
const Release = "0.1.0"

type version struct{}

// Run prints the version of the program.
func (version) Run(s *streams) error {
	fmt.Fprintln(s.out, "moderato", buildVersion())
	return nil
}

// buildVersion returns the release with the commit and the version of Go of the build.
func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Release
	}
	var commit, changed string
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "vcs.revision":
			commit = setting.Value
		case setting.Key == "vcs.modified" && setting.Value == "true":
			changed = ", changed"
		}
	}
	return fmt.Sprintf("%s (commit %s%s, %s)", Release, cmp.Or(commit, "unknown"), changed, info.GoVersion)
}
