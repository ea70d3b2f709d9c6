package cli

import (
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

const variablePrefix = "MODERATO_"

// foreignVariables are variables with the prefix that belong to the project's tools.
var foreignVariables = []string{"MODERATO_CACHE", "MODERATO_SOAK", "MODERATO_REQUIRE_MYSQL", "MODERATO_TEST_MYSQL", "MODERATO_TEST_SQLITE", "MODERATO_TEST_ALL", "MODERATO_TEST_TIDB"}

// kubernetes matches the variables that Kubernetes sets in containers for a service
// named moderato.
var kubernetes = regexp.MustCompile(`^MODERATO_(SERVICE|PORT)(_|$)`)

// unknownVariables returns the environment variables that have the prefix of settings
// but are not settings: a misspelled variable would otherwise silently mean the default.
func unknownVariables(app *kong.Application) []string {
	known := slices.Clone(foreignVariables)
	_ = kong.Visit(app, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok {
			known = append(known, flag.Envs...)
		}
		return next(nil)
	})
	var unknown []string
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, variablePrefix) && !kubernetes.MatchString(name) && !slices.Contains(known, name) {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	return unknown
}
