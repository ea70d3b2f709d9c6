package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/moderato-live/moderato/test/servertest/process"

	"github.com/moderato-live/moderato/server"
	"github.com/moderato-live/moderato/server/store"
)

// TestTourCommandsWork runs the commands that the demo prints.
func TestTourCommandsWork(t *testing.T) {
	t.Parallel()
	directory := demoDirectory(t)
	p := process.Serve(t, store.URL{Path: filepath.Join(directory, "moderato.db")}, "--demo")
	tour := p.Printed()
	commands := regexp.MustCompile(`(?m)^(curl|go tool) .*$`).FindAllString(tour, -1)
	if len(commands) < 4 {
		t.Fatalf("the demo prints %d commands:\n%s", len(commands), tour)
	}
	if first, _, _ := strings.Cut(strings.TrimSpace(tour), "\n"); first != "Console: http://"+p.REST+"/console/" {
		t.Errorf("the demo begins with %q, want the address of the console", first)
	}
	for _, address := range []string{p.REST, p.GRPC, p.Admin} {
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

// TestViewersOfDemoChat starts a demo, waits for what its viewers say, and stops it meanwhile.
func TestViewersOfDemoChat(t *testing.T) {
	t.Parallel()
	p := process.Serve(t, store.URL{Path: filepath.Join(t.TempDir(), "moderato.db")}, "--demo", "--demo-chat=on")
	count := func() string {
		out, err := exec.CommandContext(t.Context(), "curl", "-s", "http://"+p.REST+"/v1/chats/messages?channelId="+demoOwner+"&limit=1",
			"-H", "client-id: demo-dashboard", "-H", "Authorization: Bearer "+p.DemoToken(t, "viewer")).Output()
		if err != nil || !strings.Contains(string(out), `"success":true`) {
			t.Fatalf("got %s, %v", out, err)
		}
		return string(out)
	}
	for first, deadline := count(), time.Now().Add(30*time.Second); count() == first; time.Sleep(200 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nobody chats")
		}
	}
	begun := time.Now()
	if code := p.Terminate(); code != 0 || time.Since(begun) > 5*time.Second {
		t.Errorf("exit code %d after %s", code, time.Since(begun))
	}
}

// TestTourSignInWorks signs in with the URL that the demo prints, as a person would, and
// gives the code to the command that exchanges it.
func TestTourSignInWorks(t *testing.T) {
	t.Parallel()
	p := process.Serve(t, store.URL{Path: filepath.Join(t.TempDir(), "moderato.db")}, "--demo")
	tour := p.Printed()
	page, _ := process.Approve(t, regexp.MustCompile(`(?m)^http://\S+/oauth2/authorize\S+$`).FindString(tour), demoOwner)
	m := regexp.MustCompile(`The code is <code>(.*)</code>`).FindStringSubmatch(page)
	if m == nil {
		t.Fatalf("the page has no code:\n%s", page)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-c", regexp.MustCompile(`(?m)^printf .*$`).FindString(tour))
	cmd.Stdin = strings.NewReader(m[1] + "\n")
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), `"accessToken":"mdu_`) || !strings.Contains(string(out), `"refreshToken":"mdr_`) {
		t.Errorf("the exchange prints %s (%v)", out, err)
	}
}

// TestDocumentedListeners runs the listeners of docs/events.md, each like in its own terminal,
// and meanwhile bans a user. Then it resumes each listener.
func TestDocumentedListeners(t *testing.T) {
	t.Parallel()
	w := newWorkplace(t)
	var blocks []string
	for i := range 3 {
		blocks = append(blocks, block(t, fmt.Sprintf("docs/events.md: Receive events/%d", i+1)))
	}
	// The command is built at its first use, which takes longer than the test waits for
	// its output.
	w.run(t, "go tool -modfile=tools/go.mod grpcurl -version")
	var all []*listener
	for i, ready := range []string{`"cursor":`, ": listening", "Ctrl-C deletes it"} {
		l := listen(t, w.command(t, blocks[i]))
		l.until(t, ready)
		all = append(all, l)
	}
	w.run(t, block(t, "docs/moderation.md: Examples/1"))
	var cursors []string
	for _, l := range all {
		cursors = append(cursors, lastCursor(t, l.until(t, "channel.ban")))
		for _, kind := range []string{"channel.chat.clear_user_messages", "channel.unban", "channel.mute"} {
			l.until(t, kind)
		}
	}
	if cursors[0] != cursors[1] || cursors[1] != cursors[2] {
		t.Errorf("the ban has the cursors %q, want one", cursors)
	}
	if code := all[2].signal(syscall.SIGINT); code != 0 {
		t.Errorf("the receiver's exit code is %d", code)
	}
	var resumed []string
	for i, again := range []string{
		strings.Replace(blocks[0], server.DefaultGRPCAddr, `-d '{"cursor":"`+cursors[0]+`"}' `+server.DefaultGRPCAddr, 1),
		strings.TrimSpace(blocks[1]) + ` -H 'Last-Event-ID: ` + cursors[1] + `'`,
		"bin/moderato events tail --cursor " + cursors[2],
	} {
		l := listen(t, w.command(t, again))
		if read := l.until(t, "channel.chat.clear_user_messages"); strings.Contains(strings.Join(read, ""), "channel.ban") {
			t.Errorf("listener %d receives the ban again:\n%s", i, read)
		}
		resumed = append(resumed, lastCursor(t, l.until(t, "channel.unban")))
	}
	if resumed[0] != resumed[1] || resumed[1] != resumed[2] {
		t.Errorf("the end of the ban has the cursors %q, want one", resumed)
	}
}

var printedCursor = regexp.MustCompile(`(?:"cursor": "|^id: |channel\.[a-z._]+ +)([\w-]+)`)

// lastCursor returns the last cursor in lines.
func lastCursor(t *testing.T, lines []string) (cursor string) {
	t.Helper()
	for _, line := range lines {
		if found := printedCursor.FindStringSubmatch(line); found != nil {
			cursor = found[1]
		}
	}
	if cursor == "" {
		t.Errorf("there is no cursor in %q", lines)
	}
	return cursor
}

// demoDirectory returns a directory that looks like the project's to the commands: with
// bin/moderato and tools/go.mod.
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
	script := "#!/bin/sh\n" + process.AsProgram + "=1 exec " + self + ` "$@"` + "\n"
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

func stderrOf(err error) string {
	if exit, ok := err.(*exec.ExitError); ok { //nolint:errorlint // as exec returns it
		return string(exit.Stderr)
	}
	return ""
}
