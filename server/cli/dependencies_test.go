package cli_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestServerDoesNotDependOnTools fails if the server imports ent/migrate, whose dependencies
// would make a first build slower, or what only tests and generators need.
func TestServerDoesNotDependOnTools(t *testing.T) {
	const module = "github.com/moderato-live/moderato"
	out, err := exec.Command("go", "list", "-deps", module+"/cmd/moderato").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(out))
	if !slices.Contains(packages, module+"/ent") {
		t.Fatalf("got %d packages without ent, want the dependencies of the server", len(packages))
	}
	for _, p := range packages {
		for _, tool := range []string{module + "/ent/migrate", "github.com/getkin/kin-openapi", "go.yaml.in/yaml"} {
			if p == tool || strings.HasPrefix(p, tool+"/") {
				t.Errorf("the server depends on %s; only tests and generators should import it", p)
			}
		}
	}
}
