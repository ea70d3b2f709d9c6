package cli_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/ent/ban"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/certificates/certtest"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/doctest"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/servertest/process"
	"github.com/moderato-live/moderato/test/storetest"
	"github.com/moderato-live/moderato/test/testdb"
)

// TestDumpUnderLoad runs the documented commands that dump and restore a database of the
// MySQL family while a server writes to it. The restored database must be consistent, and
// have every change that was acknowledged before the dump began.
func TestDumpUnderLoad(t *testing.T) {
	dump, restore := dumpCommands(t)
	if _, err := exec.LookPath("mariadb-dump"); err != nil && !testdb.IsRequired() {
		t.Skip("mariadb-dump is missing; it is in the package mariadb-client")
	}
	storetest.EachNewOnServer(t, func(t *testing.T, url store.URL) {
		db := prepare(t, url)
		users := servertest.AddUsers(t, db, 5000)
		restored := url
		restored.Name += "_restored"
		if _, err := db.DB().ExecContext(t.Context(), "CREATE DATABASE "+restored.Name); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = db.DB().ExecContext(context.Background(), "DROP DATABASE "+restored.Name) })
		p := process.Serve(t, url)
		conn := p.Dial(t)
		ctx, cancel := context.WithCancel(callerContext(t, db))
		var acknowledged banned
		wait := acknowledged.banAll(ctx, t, moderatov1.NewModerationServiceClient(conn), users)
		defer wait()
		defer cancel()
		waitForBans(t, &acknowledged, 20)

		before := acknowledged.all()
		dir := t.TempDir()
		runInShell(t, dir, url, dump)
		if len(acknowledged.all()) == len(before) {
			t.Error("no ban was acknowledged during the dump")
		}
		cancel()
		wait()
		runInShell(t, dir, restored, restore)
		if got := process.Run(t, nil, "", "fsck", process.DBFlag(restored)); got.Code != 0 {
			t.Fatalf("fsck of the restored database: %+v", got)
		}
		copied, err := store.Open(t.Context(), restored)
		if err != nil {
			t.Fatal(err)
		}
		defer copied.Close()
		for _, id := range before {
			isBanned, err := copied.Read.Ban.Query().Where(ban.ChannelID(servertest.Owner), ban.UserID(id)).Exist(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if !isBanned {
				t.Fatalf("the dump has no ban of %s, which was acknowledged before", id)
			}
		}
	})
}

// dumpCommands returns the commands of docs/operations.md.
func dumpCommands(t *testing.T) (dump, restore string) {
	t.Helper()
	found := regexp.MustCompile(`(?m)^mariadb(-dump)? --defaults-extra-file=.*$`).FindAllString(doctest.Read(t, "docs/operations.md"), -1)
	if len(found) != 2 {
		t.Fatalf("docs/operations.md has the commands %q, want one that dumps and one that restores", found)
	}
	return found[0], found[1]
}

// runInShell runs a documented command in a directory, with the account and the name of a
// database.
func runInShell(t *testing.T, dir string, url store.URL, command string) {
	t.Helper()
	host, port, err := net.SplitHostPort(url.Host)
	if err != nil {
		t.Fatal(err)
	}
	certtest.Write(t, filepath.Join(dir, "backup.cnf"), fmt.Appendf(nil, "[client]\nhost=%s\nport=%s\nuser=%s\n", host, port, url.User))
	command = regexp.MustCompile(` moderato(_restored)? `).ReplaceAllString(command, " "+url.Name+" ")
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", command)
	cmd.Dir, cmd.Env = dir, os.Environ()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, strings.TrimSpace(string(out)))
	}
}
