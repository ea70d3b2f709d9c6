package cli_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/server/doctest"
	"github.com/moderato-live/moderato/server/servertest/process"
)

// TestFlagsAreDocumented compares the table of flags with what `serve --help` prints.
func TestFlagsAreDocumented(t *testing.T) {
	help, err := process.Command(t, nil, "serve", "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(string(help)), " ")
	var flags [][]string
	for _, flag := range strings.Split(text, " --") {
		flags = append(flags, regexp.MustCompile(`^([a-z-]+)(=\S+)? .*\(\$(MODERATO_[A-Z_]+)\)`).FindAllStringSubmatch(flag, 1)...)
	}
	if len(flags) < 20 {
		t.Fatalf("found %d flags in %s", len(flags), help)
	}
	documented := doctest.Read(t, "docs/operations.md")
	for _, flag := range flags {
		row := fmt.Sprintf("| `--%s` | `%s` | ", flag[1], flag[3])
		_, after, found := strings.Cut(documented, row)
		if !found {
			t.Errorf("docs/operations.md has no row %q", row)
			continue
		}
		value := strings.Trim(strings.TrimPrefix(flag[2], "="), `"`)
		isDefault := value != "" && value != strings.ToUpper(value) && !strings.Contains(value, ",") && !strings.HasSuffix(value, "...")
		if stated, _, _ := strings.Cut(after, " |"); isDefault && stated != "`"+value+"`" {
			t.Errorf("docs/operations.md gives --%s the default %s, want `%s`", flag[1], stated, value)
		}
	}
	for _, row := range regexp.MustCompile("(?m)^\\| `--([a-z-]+)` \\| `MODERATO_").FindAllStringSubmatch(documented, -1) {
		if !strings.Contains(text, "--"+row[1]) {
			t.Errorf("docs/operations.md has --%s, which does not exist", row[1])
		}
	}
}
