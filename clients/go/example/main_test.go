package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/server/demo"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/doctest"
	"github.com/moderato-live/moderato/test/servertest/process"
)

func TestMain(m *testing.M) { process.Main(m) }

// TestExample runs the program of the README against the demo, twice: the first time while
// the user whom it bans is banned.
func TestExample(t *testing.T) {
	t.Parallel()
	p := process.Serve(t, store.URL{Path: filepath.Join(t.TempDir(), "moderato.db")}, "--demo")
	cast := demo.People()
	token := p.DemoToken(t, "moderator")
	banned := process.Run(t, []string{"MODERATO_CLIENT=" + cast.Client, "MODERATO_TOKEN=" + token}, "", "api", "POST", "/v1/moderation/ban",
		"--server=http://"+p.REST, "-f", "channelId="+cast.Owner.ID.String(), "-f", "banUsername="+cast.Raider.Username)
	if banned.Code != 0 {
		t.Fatal(banned.Err)
	}
	for range 2 {
		testRun(t, p)
	}
	p.WantDemoToken(t)
}

// testRun runs the program once.
func testRun(t *testing.T, p *process.Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, end := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := run(ctx, "http://"+p.REST, p.GRPC, end)
		ended <- err
		_ = end.CloseWithError(err)
	}()
	expected := []string{
		"Signed in as " + demo.People().Owner.DisplayName, "Followers: ", "Banned " + demo.People().Raider.DisplayName,
		"Event channel.ban " + demo.People().Raider.DisplayName, "Muted until ", "Event channel.unban",
		"Delivery channel.update Moderated with Go", "Signed out",
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if address, ok := strings.CutPrefix(lines.Text(), "To sign in, open "); ok {
			process.ApproveDevice(t, address, demo.People().Owner.ID)
			continue
		}
		if len(expected) == 0 || !strings.HasPrefix(lines.Text(), expected[0]) {
			t.Fatalf("the program prints %q, want %q", lines.Text(), expected)
		}
		expected = expected[1:]
	}
	if err := <-ended; err != nil || len(expected) > 0 {
		t.Errorf("the program ended with %v, and did not print %q", err, expected)
	}
}

// TestReadmeModule builds the program in a module of its own, with the commands of the README.
func TestReadmeModule(t *testing.T) {
	t.Parallel()
	_, commands, _ := strings.Cut(doctest.Read(t, "clients/go/README.md"), "```sh\n")
	commands, _, _ = strings.Cut(commands, "```")
	commands = strings.ReplaceAll(commands, "PATH/moderato", doctest.Root(t))
	directory := t.TempDir()
	if err := os.WriteFile(filepath.Join(directory, "main.go"), []byte(doctest.Read(t, "clients/go/example/main.go")), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", commands+"go build -o bot .")
	// The modules are those of this project, whose go.sum has their checksums.
	cmd.Dir, cmd.Env = directory, append(os.Environ(), "GOFLAGS=", "GOSUMDB=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s\n%v\n%s", commands, err, out)
	}
}

func TestReadmeHasExample(t *testing.T) {
	t.Parallel()
	doctest.Want(t, "clients/go/README.md", "```go\n"+doctest.Read(t, "clients/go/example/main.go")+"```\n")
}
