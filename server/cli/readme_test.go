package cli_test

import (
	"bufio"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/moderato-live/moderato/server"
	"github.com/moderato-live/moderato/server/store"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestReadmeCommandsAnswerAsTheReadmeSays pastes the README's commands into a
// shell beside a demo server.
func TestReadmeCommandsAnswerAsTheReadmeSays(t *testing.T) {
	blocks := readmeBlocks(t, "A raid drill", 2)
	drill, standing := blocks[0], blocks[1]
	directory := demoDirectory(t)
	p := serve(t, store.URL{Path: filepath.Join(directory, "moderato.db")}, "--demo")
	pasted := strings.NewReplacer(server.DefaultHTTPAddr, p.rest, server.DefaultGRPCAddr, p.grpc).Replace(drill + standing)
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", pasted)
	cmd.Dir = directory
	cmd.Env = append(os.Environ(), "GOFLAGS=")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, stderrOf(err))
	}
	if *update {
		if err := os.WriteFile("testdata/readme.golden", []byte(withoutVolatile(string(out))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/readme.golden")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), withoutVolatile(string(out))); diff != "" {
		t.Errorf("the commands of the README print (-want +got):\n%s", diff)
	}
}

// TestTourCommandsWork pastes what the demo prints.
func TestTourCommandsWork(t *testing.T) {
	directory := demoDirectory(t)
	p := serve(t, store.URL{Path: filepath.Join(directory, "moderato.db")}, "--demo")
	tour := p.printed()
	commands := regexp.MustCompile(`(?m)^(curl|go tool) .*$`).FindAllString(tour, -1)
	if len(commands) < 4 {
		t.Fatalf("the demo prints %d commands:\n%s", len(commands), tour)
	}
	for _, address := range []string{p.rest, p.grpc, p.admin} {
		if !strings.Contains(tour, address) {
			t.Errorf("the demo does not print its address %s", address)
		}
	}
	for _, command := range commands {
		cmd := exec.CommandContext(t.Context(), "bash", "-c", command)
		cmd.Dir = directory
		out, err := cmd.Output()
		worked := strings.Contains(string(out), `"success":true`) || strings.Contains(string(out), `"canPost": true`)
		if err != nil || !worked {
			t.Errorf("%s\nprints %s (%v) %s", command, out, err, stderrOf(err))
		}
	}
}

// TestReadmeListensAsTheReadmeSays pastes the stream of the README, for a moment,
// and bans meanwhile.
func TestReadmeListensAsTheReadmeSays(t *testing.T) {
	listen := readmeBlocks(t, "Hear of it", 1)[0]
	drill := readmeBlocks(t, "A raid drill", 2)[0]
	directory := demoDirectory(t)
	p := serve(t, store.URL{Path: filepath.Join(directory, "moderato.db")}, "--demo")
	addresses := strings.NewReplacer(server.DefaultHTTPAddr, p.rest, "curl -N", "exec curl -sN")
	stream := exec.CommandContext(t.Context(), "bash", "-euc", addresses.Replace(listen))
	stream.Dir = directory
	out, err := stream.StdoutPipe()
	if err == nil {
		err = stream.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Process.Kill(); _ = stream.Wait() }()
	lines := bufio.NewScanner(out)
	wait := func(text string) {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), text) {
				return
			}
		}
		t.Fatalf("the stream ended without %q", text)
	}
	wait(": listening")
	ban := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", strings.NewReplacer(server.DefaultHTTPAddr, p.rest).Replace(drill))
	ban.Dir = directory
	if text, err := ban.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, kind := range []string{"channel.ban", "channel.chat.clear_user_messages", "channel.unban", "channel.mute"} {
		wait(`"subscriptionType":"` + kind + `"`)
	}
}

// readmeBlocks are the shell blocks of a section of the README.
func readmeBlocks(t *testing.T, heading string, want int) []string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## "+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var blocks []string
	for _, found := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(section, -1) {
		blocks = append(blocks, found[1])
	}
	if len(blocks) != want {
		t.Fatalf("%q has %d shell blocks, want %d", heading, len(blocks), want)
	}
	return blocks
}

// demoDirectory is a directory that looks to the commands like the project's:
// with bin/moderato and tools/go.mod.
func demoDirectory(t *testing.T) string {
	t.Helper()
	directory := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(directory, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\n" + asProgram + "=1 exec " + self + ` "$@"` + "\n"
	if err := os.WriteFile(filepath.Join(directory, "bin", "moderato"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tools", "go.mod", "go.sum"} {
		if err := os.Symlink(filepath.Join(root, name), filepath.Join(directory, name)); err != nil {
			t.Fatal(err)
		}
	}
	return directory
}

var volatile = []struct {
	pattern *regexp.Regexp
	by      string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "TIME"},
	{regexp.MustCompile(`"requestId":"[^"]+"`), `"requestId":"ID"`},
	{regexp.MustCompile(`"nextCursor": "[^"]+"`), `"nextCursor": "CURSOR"`},
}

func withoutVolatile(text string) string {
	for _, v := range volatile {
		text = v.pattern.ReplaceAllString(text, v.by)
	}
	return text
}

func stderrOf(err error) string {
	if exit, ok := err.(*exec.ExitError); ok { //nolint:errorlint // as exec returns it
		return string(exit.Stderr)
	}
	return ""
}
