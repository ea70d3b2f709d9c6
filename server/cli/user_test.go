package cli_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/servertest/process"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestUserIsShownExportedAndErased follows a person from the look-up to the erasure.
func TestUserIsShownExportedAndErased(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		prepare(t, url)
		run := func(args ...string) process.Result {
			return process.Run(t, nil, "", append(args, process.DBFlag(url))...)
		}
		id := servertest.Owner.String()
		for _, name := range []string{id, strings.ToUpper(id), "Ines", "ines", "@Ines"} {
			got := run("user", "show", name, "--json")
			var user struct{ ID, Username, DisplayName, Channel string }
			if err := json.Unmarshal([]byte(got.Out), &user); err != nil || user.ID != id || user.Username != "Ines" || user.Channel == "" {
				t.Errorf("show %s: %+v, %v", name, got, err)
			}
		}
		if got := run("user", "show", "nobody"); got.Code != 1 || !strings.Contains(got.Err, `There is no user "nobody"`) {
			t.Errorf("show nobody: %+v", got)
		}
		exported := run("user", "export", "ines")
		tables := map[string]int{}
		for line := range strings.Lines(exported.Out) {
			var row struct {
				Table string
				Row   map[string]any
			}
			if err := json.Unmarshal([]byte(line), &row); err != nil || len(row.Row) == 0 {
				t.Errorf("%v in %q", err, line)
			}
			tables[row.Table]++
		}
		if exported.Code != 0 || tables["users"] != 1 || tables["channels"] != 1 || tables["roles"] != 0 {
			t.Errorf("the export has the rows %v: %s", tables, exported.Err)
		}
		file := filepath.Join(t.TempDir(), "export.jsonl")
		if got := run("user", "export", id, "--output", file); got.Code != 0 || got.Out != "" {
			t.Errorf("export to a file: %+v", got)
		}
		text, err := os.ReadFile(file)
		if info, _ := os.Stat(file); err != nil || string(text) != exported.Out || info.Mode().Perm() != 0o600 {
			t.Errorf("the file has %s (%v), want %s", text, err, exported.Out)
		}
		if got := run("user", "export", id, "--output", file); got.Code != 1 || !strings.Contains(got.Err, "the file exists") {
			t.Errorf("export to a file that exists: %+v", got)
		}
		if got := run("user", "erase", id); got.Code != 1 || !strings.Contains(got.Err, "--yes") {
			t.Errorf("erase without --yes: %+v", got)
		}
		if got := run("user", "erase", "Ines", "--yes"); got.Code != 0 || !strings.Contains(got.Err, "is erased for every caller") {
			t.Errorf("erase: %+v", got)
		}
		if got := run("user", "show", "Ines"); got.Code != 1 {
			t.Errorf("show after the erasure: %+v", got)
		}
		if got := run("user", "erase", id, "--yes"); got.Code != 0 || !strings.Contains(got.Err, "Servers remove the rest") {
			t.Errorf("erase again: %+v", got)
		}
		db, err := store.Open(context.Background(), url)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if row, err := db.Read.Erasure.Get(t.Context(), servertest.Owner); err != nil || !row.IsUser {
			t.Errorf("got the erasure %v, %v", row, err)
		}
		if got := run("user", "erase", servertest.Nobody.String(), "--yes"); got.Code != 0 || !strings.Contains(got.Err, "no trace") {
			t.Errorf("erase nobody: %+v", got)
		}
	})
}

// TestTokensAreListedAndRevoked lists the tokens of clients and users, and revokes some.
func TestTokensAreListedAndRevoked(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		prepare(t, url)
		run := func(args ...string) process.Result {
			return process.Run(t, nil, "", append(args, process.DBFlag(url))...)
		}
		count := func(args ...string) int {
			t.Helper()
			got := run(append([]string{"token", "list", "--json"}, args...)...)
			if got.Code != 0 || strings.Contains(got.Out, `"token"`) {
				t.Errorf("token list %v: %+v", args, got)
			}
			return strings.Count(got.Out, "\n")
		}
		owner, viewer := servertest.Owner.String(), servertest.Viewer.String()
		before := count()
		for _, args := range [][]string{
			{"--client", servertest.Dashboard, "--user", owner}, {"--client", servertest.OtherDashboard, "--user", owner},
			{"--client", servertest.Dashboard, "--user", viewer}, {"--client", servertest.Dashboard, "--app"},
		} {
			var issued struct{ Token, Kind, ClientID string }
			got := run(append([]string{"token", "issue", "--json"}, args...)...)
			if err := json.Unmarshal([]byte(got.Out), &issued); err != nil || !strings.HasPrefix(issued.Token, "md") || issued.ClientID != args[1] {
				t.Errorf("token issue: %+v, %v", got, err)
			}
		}
		if n, ofOwner := count()-before, count("--user", "ines"); n != 4 || ofOwner != 2 {
			t.Errorf("%d tokens more are listed, %d of the owner, want 4 and 2", n, ofOwner)
		}
		for _, c := range []struct {
			args []string
			left int
		}{
			{[]string{"--client", servertest.Dashboard, "--user", owner}, 3}, {[]string{"--user", owner}, 2}, {[]string{"--client", servertest.Dashboard}, 0},
		} {
			if got := run(append([]string{"token", "revoke"}, c.args...)...); got.Code != 0 {
				t.Errorf("%v: %+v", c.args, got)
			}
			if left := count() - before; left != c.left {
				t.Errorf("after %v: %d tokens are left, want %d", c.args, left, c.left)
			}
		}
		for _, args := range [][]string{nil, {"--client", "x", "mdu_x"}} {
			if got := run(append([]string{"token", "revoke"}, args...)...); got.Code != 2 || !strings.Contains(got.Err, "either a token") {
				t.Errorf("%v: %+v", args, got)
			}
		}
		if got := run("token", "revoke", "--client", "nobody"); got.Code != 1 || !strings.Contains(got.Err, "no client") {
			t.Errorf("an unknown client: %+v", got)
		}
	})
}
