package clients_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"
)

// TestOpenAPIDocumentHasNoProblems checks the document with the recommended rules of a
// linter, and its examples against its schemas.
func TestOpenAPIDocumentHasNoProblems(t *testing.T) {
	needClients(t)
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "node", "node_modules/@redocly/cli/bin/cli.js", "lint", "--extends=recommended", "--format=json", "../docs/openapi/openapi.json")
	cmd.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
	cmd.Stderr = os.Stderr
	out, _ := cmd.Output() // its exit code says only whether there are errors
	var report struct {
		Totals   *struct{ Errors, Warnings, Ignored int }
		Problems []struct {
			RuleID, Message string
			Location        []struct{ Pointer string }
		}
	}
	if err := json.Unmarshal(out, &report); err != nil || report.Totals == nil {
		t.Fatalf("the linter printed no report: %v\n%s", err, out)
	}
	for _, p := range report.Problems {
		t.Errorf("%s: %s at %v", p.RuleID, p.Message, p.Location)
	}
	if n := report.Totals; n.Errors+n.Warnings+n.Ignored != len(report.Problems) || n.Ignored != 0 {
		t.Errorf("the linter reports %+v and shows %d", *n, len(report.Problems))
	}
}
