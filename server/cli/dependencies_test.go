package cli_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestServerDoesNotDependOnMigrate fails if the server imports ent/migrate, whose
// dependencies would make a first build slower.
func TestServerDoesNotDependOnMigrate(t *testing.T) {
	const module = "github.com/moderato-live/moderato"
	out, err := exec.Command("go", "list", "-deps", module+"/cmd/moderato").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(out))
	if !slices.Contains(packages, module+"/ent") {
		t.Fatalf("got %d packages without ent, want the dependencies of the server", len(packages))
	}
	if slices.Contains(packages, module+"/ent/migrate") {
		t.Error("the server depends on ent/migrate; only ent/migrations and tests should import it")
	}
}
