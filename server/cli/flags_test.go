package cli_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/test/doctest"
	"github.com/moderato-live/moderato/test/servertest/process"
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
	const page = "docs/flags.md"
	documented := doctest.Read(t, page)
	for _, flag := range flags {
		if want := variableOf(flag[1]); flag[3] != want {
			t.Errorf("--%s has the variable %s, and %s says %s", flag[1], flag[3], page, want)
		}
		row := fmt.Sprintf("| `--%s` | ", flag[1])
		_, after, found := strings.Cut(documented, row)
		if !found {
			t.Errorf("%s has no row %q", page, row)
			continue
		}
		value := strings.Trim(strings.TrimPrefix(flag[2], "="), `"`)
		isDefault := value != "" && value != strings.ToUpper(value) && !strings.Contains(value, ",") && !strings.HasSuffix(value, "...")
		if stated, _, _ := strings.Cut(after, " |"); isDefault && stated != "`"+value+"`" {
			t.Errorf("%s gives --%s the default %s, want `%s`", page, flag[1], stated, value)
		}
	}
	for _, row := range regexp.MustCompile("(?m)^\\| `--([a-z-]+)` \\| ").FindAllStringSubmatch(documented, -1) {
		if !strings.Contains(text, "--"+row[1]) {
			t.Errorf("%s has --%s, which does not exist", page, row[1])
		}
	}
}

// variableOf returns the environment variable of a flag, by the documented rule.
func variableOf(flag string) string {
	return "MODERATO_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// TestURLsAreChecked starts servers with values that would become part of URLs.
func TestURLsAreChecked(t *testing.T) {
	for _, flag := range []string{
		"--default-avatar-url=cdn.example.com/a.png", "--default-avatar-url=ftp://cdn.example.com/a.png", "--default-avatar-url=//cdn.example.com/a.png",
	} {
		if got := process.Run(t, nil, "", "serve", flag); got.Code == 0 || !strings.Contains(got.Err, "must be a URL such as") {
			t.Errorf("%s: exit code %d, prints %s", flag, got.Code, got.Err)
		}
	}
	for _, flag := range []string{
		"--public-url=api.example.com", "--public-url=https://api.example.com/", "--public-url=https://api.example.com/v1",
		"--public-url=ftp://api.example.com", "--public-url=https://a\"b",
	} {
		if got := process.Run(t, nil, "", "serve", flag); got.Code == 0 || !strings.Contains(got.Err, "must be an origin") {
			t.Errorf("%s: exit code %d, prints %s", flag, got.Code, got.Err)
		}
	}
}

// TestShortMessageRetentionIsRefused starts servers that would remove messages that chatters,
// sweeps and undos still need.
func TestShortMessageRetentionIsRefused(t *testing.T) {
	for _, value := range []string{"29d", "719h59m", "-1d", "30", "d"} {
		got := process.Run(t, nil, "", "serve", "--message-retention="+value)
		if want := fmt.Sprintf("%q must be 0, which keeps all messages, or at least 30 days, such as 180d", value); got.Code != 2 || !strings.Contains(got.Err, want) {
			t.Errorf("%s: exit code %d, %s", value, got.Code, got.Err)
		}
	}
}
