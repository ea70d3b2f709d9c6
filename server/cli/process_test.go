package cli_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/moderato-live/moderato/test/servertest/process"
)

func TestMain(m *testing.M) {
	if os.Getenv(asStepper) != "" {
		os.Exit(runStepped())
	}
	process.Main(m)
}

func writeFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "records.jsonl")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
