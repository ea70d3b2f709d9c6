package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// runOn runs the tests of a package with this source.
func runOn(t *testing.T, source string) (code int, out string) {
	t.Helper()
	code, out, err := runWith(t, source, "./...")
	if err != nil {
		t.Error(err)
	}
	return code, out
}

// runWith runs gotest with arguments in a package with this source.
func runWith(t *testing.T, source string, args ...string) (code int, out string, err error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example\n", "a_test.go": source} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	var b strings.Builder
	code, err = run(args, &b)
	return code, b.String(), err
}

func TestFailuresAndSlowTestsAreShown(t *testing.T) {
	code, out := runOn(t, `package a
import ("testing"; "time")
func TestSlow(t *testing.T) { t.Run("part", func(t *testing.T) { time.Sleep(30*time.Millisecond) }) }
func TestBad(t *testing.T) { t.Error("is bad") }
func TestGood(t *testing.T) { t.Log("is good") }
func TestSkip(t *testing.T) { t.Skip("has no server") }
`)
	if code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	for text, want := range map[string]bool{
		"is bad": true, "is good": false, "FAIL\texample": true, "=== RUN": false,
		"example TestSlow/part\n": true, "example TestSlow\n": false, "skipped: 1, a_test.go:6: has no server": true,
	} {
		if strings.Contains(out, text) != want {
			t.Errorf("the output has %q: %v, want %v\n%s", text, !want, want, out)
		}
	}
}

func TestPanicsAndBuildErrorsAreShown(t *testing.T) {
	for source, want := range map[string]string{
		"package a\nimport \"testing\"\nfunc TestA(t *testing.T) { panic(\"lost\") }\n": "panic: lost",
		"package a\nfunc f() { undefined() }\n":                                         "undefined: undefined",
	} {
		t.Run(want, func(t *testing.T) {
			code, out := runOn(t, source)
			if code == 0 || !strings.Contains(out, want) {
				t.Errorf("exit code %d, want a failure with %q:\n%s", code, want, out)
			}
		})
	}
}

func TestSuccessExitsZero(t *testing.T) {
	if code, out := runOn(t, "package a\nimport \"testing\"\nfunc TestA(t *testing.T) {}\n"); code != 0 || !strings.Contains(out, "ok  \texample") {
		t.Errorf("exit code %d: %s", code, out)
	}
}

func TestPatternWithoutMatchFails(t *testing.T) {
	const source = "package a\nimport \"testing\"\nfunc TestA(t *testing.T) {}\n"
	code, _, err := runWith(t, source, "-run", "NoSuch", "./...")
	if want := `no test matches -run "NoSuch" in ./...`; code != 1 || err == nil || err.Error() != want {
		t.Errorf("exit code %d, %v, want 1 and %q", code, err, want)
	}
	if code, _, err := runWith(t, source, "-run", "A", "./..."); code != 0 || err != nil {
		t.Errorf("a pattern that matches: exit code %d, %v, want 0", code, err)
	}
}
