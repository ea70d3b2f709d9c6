package cli_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/moderato-live/moderato/server"
	"github.com/moderato-live/moderato/server/demo"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/doctest"
	"github.com/moderato-live/moderato/test/servertest/process"
)

// documented returns the blocks of commands in the documents, and the test that runs each. Most
// tests take a block by its name, so that they fail if it disappears.
func documented() map[string]func(*testing.T) {
	return map[string]func(*testing.T){
		"README.md: Moderato/1":                                  TestDocumentedTargetsExist,
		"README.md: Your first ban/1":                            TestReadmeFirstBan,
		"docs/feed.md: Import what exists/1":                     TestFeedWalkThrough,
		"docs/feed.md: Call the feed with grpcurl/1":             TestFeedWalkThrough,
		"docs/feed.md: Call the feed from Go/1":                  TestFeedWalkThrough,
		"docs/feed.md: Call the feed from Go/2":                  TestFeedWalkThrough,
		"docs/start.md: A bot in Python/1":                       TestStartPage,
		"docs/start.md: A bot in Python/2":                       TestStartPage,
		"docs/start.md: An overlay in TypeScript/1":              TestStartPage,
		"docs/start.md: An overlay in TypeScript/2":              TestStartPage,
		"docs/start.md: Sign in with curl/1":                     TestStartPage,
		"docs/start.md: Sign in with curl/2":                     TestStartPage,
		"docs/start.md: Sign in with curl/3":                     TestStartPage,
		"docs/events.md: Receive events/1":                       TestDocumentedListeners,
		"docs/events.md: Receive events/2":                       TestDocumentedListeners,
		"docs/events.md: Receive events/3":                       TestDocumentedListeners,
		"docs/moderation.md: The raid drill/1":                   TestDocumentedRaidDrill,
		"docs/moderation.md: Preview/1":                          TestDocumentedRaidDrill,
		"docs/moderation.md: Commit/1":                           TestDocumentedRaidDrill,
		"docs/moderation.md: The evidence/1":                     TestDocumentedRaidDrill,
		"docs/moderation.md: Undo/1":                             TestDocumentedRaidDrill,
		"docs/moderation.md: Examples/1":                         TestModerationExamples,
		"docs/moderation.md: Examples/2":                         TestModerationExamples,
		"docs/webhooks.md: A first delivery/1":                   TestWebhookCommands,
		"docs/webhooks.md: The delivery/1":                       TestWebhookCommands,
		"docs/webhooks.md: The delivery/2":                       TestWebhookCommands,
		"docs/webhooks.md: The delivery/3":                       TestWebhookCommands,
		"docs/webhooks.md: A receiver in JavaScript/1":           TestWebhookCommands,
		"docs/webhooks.md: A receiver in JavaScript/2":           TestWebhookCommands,
		"docs/webhooks.md: A receiver in Python/1":               TestWebhookCommands,
		"docs/webhooks.md: A receiver in Python/2":               TestWebhookCommands,
		"docs/idempotency.md: Idempotency keys/1":                TestIdempotencyCommand,
		"docs/chat-rules.md: Examples/1":                         TestChatRulesExamples,
		"docs/chat-rules.md: Rules/1":                            TestChatRulesExamples,
		"docs/chat-rules.md: Shield/1":                           TestChatRulesExamples,
		"docs/moderation.md: Search among people/1":              TestModerationExamples,
		"docs/moderation.md: The log/1":                          TestModerationExamples,
		"docs/moderation.md: Metrics/1":                          TestModerationExamples,
		"docs/moderation.md: A rogue moderator/1":                TestRogueModeratorCommands,
		"docs/moderation.md: A rogue moderator/2":                TestRogueModeratorCommands,
		"docs/getting-started.md: Getting started: a chat bot/1": TestDocumentedTargetsExist,
		"docs/getting-started.md: JavaScript/1":                  TestGettingStartedPrograms,
		"docs/getting-started.md: Python/1":                      TestGettingStartedPrograms,
		"docs/getting-started.md: Shell with curl/1":             TestGettingStartedPrograms,
		"docs/getting-started.md: Try the bot/1":                 TestGettingStartedPrograms,
		"docs/getting-started.md: Try the bot/2":                 TestGettingStartedPrograms,
		"docs/getting-started.md: Lift the ban/1":                TestGettingStartedPrograms,
		"docs/oauth.md: Clients/1":                               TestOperatorCommands,
		"docs/overlay.md: Use it on your platform/1":             TestOperatorCommands,
		"docs/oauth.md: Sign in on a command line/1":             TestSignInCommands,
		"docs/oauth.md: Sign in on a command line/2":             TestSignInCommands,
		"docs/oauth.md: Refresh tokens/1":                        TestSignInCommands,
		"docs/oauth.md: A sample page/1":                         TestSampleSignInPage,
		"docs/retention.md: Archives/1":                          TestDocumentedArchive,
		"docs/retention.md: Archives/2":                          TestDocumentedArchive,
		"docs/operations.md: Create the database/1":              TestDatabaseCommands,
		"docs/operations.md: Create the database/2":              TestDatabaseCommands,
		"docs/replication.md: MySQL group replication/1":         TestFailoverKeepsAcknowledgedChanges,
		"docs/replication.md: MySQL group replication/2":         TestFailoverKeepsAcknowledgedChanges,
		"docs/replication.md: MySQL group replication/3":         TestFailoverKeepsAcknowledgedChanges,
		"docs/replication.md: MySQL group replication/4":         TestFailoverKeepsAcknowledgedChanges,
		"docs/replication.md: MySQL group replication/5":         TestFailoverKeepsAcknowledgedChanges,
		"docs/replication.md: MySQL group replication/6":         TestFailoverKeepsAcknowledgedChanges,
		"docs/replication.md: MySQL group replication/7":         TestFailoverKeepsAcknowledgedChanges,
		"docs/replication.md: Rejoin a member/1":                 TestFailoverKeepsAcknowledgedChanges,
		"docs/replication.md: TiDB/1":                            TestDocumentedTargetsExist,
		"docs/replication.md: Behind MySQL Router/1":             TestFailoverBehindRouter,
		"docs/replication.md: Behind MySQL Router/2":             TestFailoverBehindRouter,
		"docs/replication.md: Behind MySQL Router/3":             TestFailoverBehindRouter,
		"docs/operations.md: Create clients and tokens/1":        TestOperatorCommands,
		"docs/operations.md: Export a user's data/1":             TestOperatorCommands,
		"docs/operations.md: Delete a user or a channel/1":       TestOperatorCommands,
		"docs/operations.md: Serve TLS/1":                        TestDocumentedTLSSettings,
		"docs/operations.md: Serve TLS/2":                        TestDocumentedTLSSettings,
		"docs/tracing.md: Turn tracing on/1":                     TestDocumentedTracingSettings,
		"docs/operations.md: Back up SQLite/1":                   TestOperatorCommands,
		"docs/operations.md: Back up MySQL and MariaDB/1":        TestDumpUnderLoad,
		"docs/operations.md: Restore/1":                          TestDumpUnderLoad,
		"docs/operations.md: Check and repair the data/1":        TestOperatorCommands,
		"docs/operations.md: Check the health/1":                 TestOperatorCommands,
		"docs/command-line.md: Call the API/1":                   TestAPICommands,
		"docs/command-line.md: Watch events/1":                   TestEventCommands,
		"docs/coming-from-blaze.md: Check the server/1":          TestConformanceOfDemo,
		"docs/conformance.md: Conformance/1":                     TestConformanceOfDemo,
		"docs/reliability.md: Failover/1":                        TestDocumentedTargetsExist,
		"docs/reliability.md: Requests/1":                        TestDocumentedTargetsExist,
		"docs/performance.md: Reproduce it/1":                    TestDocumentedTargetsExist,
		"docs/reliability.md: How the experiments work/1":        TestDocumentedTargetsExist,
	}
}

// TestCommandBlocksAreTested finds the blocks of all documents.
func TestCommandBlocksAreTested(t *testing.T) {
	found, tests := map[string]bool{}, documented()
	documents, err := filepath.Glob(filepath.Join(doctest.Root(t), "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(documents, filepath.Join(doctest.Root(t), "README.md")) {
		path, _ = filepath.Rel(doctest.Root(t), path)
		for name := range blocksOf(t, path) {
			found[name] = true
			if tests[name] == nil {
				t.Errorf("no test is known to run the block %q", name)
			}
		}
	}
	for name := range documented() {
		if !found[name] {
			t.Errorf("there is no block %q", name)
		}
	}
}

// blocksOf returns the blocks of commands and programs in a document by "path: heading/n".
func blocksOf(t *testing.T, path string) map[string]string {
	t.Helper()
	return blocksIn(path, doctest.Read(t, path))
}

// blocksIn returns the blocks in the text of a document.
func blocksIn(path, text string) map[string]string {
	blocks := map[string]string{}
	heading, name, n := "", "", 0
	for line := range strings.Lines(text) {
		switch {
		case name != "" && strings.HasPrefix(line, "```"):
			name = ""
		case name != "":
			blocks[name] += line
		case regexp.MustCompile("^```(sh|bash|sql|ini|js|ts|python|go)\n").MatchString(line):
			n++
			name = fmt.Sprintf("%s: %s/%d", path, heading, n)
		case strings.HasPrefix(line, "#"):
			heading, n = strings.TrimSpace(strings.TrimLeft(line, "#")), 0
		}
	}
	return blocks
}

// block returns a block of commands by its name in documented().
func block(t *testing.T, name string) string {
	t.Helper()
	path, _, _ := strings.Cut(name, ":")
	found := blocksOf(t, path)
	if found[name] == "" {
		t.Fatalf("there is no block %q; there are %q", name, slices.Sorted(maps.Keys(found)))
	}
	return found[name]
}

var demoOwner = demo.People().Owner.ID.String()

// workplace is a directory that looks like the project's, beside a demo server. The program
// `moderato` is in the search path.
type workplace struct {
	*process.Server

	directory string
	environ   []string
}

func newWorkplace(t *testing.T, flags ...string) *workplace {
	t.Helper()
	directory := demoDirectory(t)
	return newWorkplaceOn(t, directory, store.URL{Path: filepath.Join(directory, "moderato.db")}, flags...)
}

// newWorkplaceOn is newWorkplace with any database.
func newWorkplaceOn(t *testing.T, directory string, url store.URL, flags ...string) *workplace {
	t.Helper()
	w := &workplace{directory: directory}
	w.Server = process.Serve(t, url, append(flags, "--demo")...)
	w.Printed() // once it is loaded
	w.environ = append(os.Environ(), "GOFLAGS=", "MODERATO_SERVER=http://"+w.REST, "MODERATO_GRPC_SERVER="+w.GRPC,
		"PATH="+filepath.Join(w.directory, "bin")+":"+os.Getenv("PATH"))
	return w
}

// command returns a command that runs text in a shell, with the addresses of the server.
func (w *workplace) command(t *testing.T, text string) *exec.Cmd {
	t.Helper()
	text = strings.NewReplacer(server.DefaultHTTPAddr, w.REST, server.DefaultGRPCAddr, w.GRPC).Replace(text)
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", text)
	cmd.Dir, cmd.Env = w.directory, w.environ
	return cmd
}

// run runs text in a shell, and returns what it prints.
func (w *workplace) run(t *testing.T, text string) string {
	t.Helper()
	out, err := w.command(t, text).Output()
	if err != nil {
		t.Fatalf("%s\n%v\n%s%s", text, err, out, stderrOf(err))
	}
	return string(out)
}

// TestDocumentedTargetsExist looks for the targets of make that the documents name. The blocks
// have no other commands. CI runs the targets of README.md.
func TestDocumentedTargetsExist(t *testing.T) {
	makefile, found := doctest.Read(t, "Makefile"), 0
	run := reflect.ValueOf(TestDocumentedTargetsExist).Pointer()
	for name, test := range documented() {
		if reflect.ValueOf(test).Pointer() != run {
			continue
		}
		for line := range strings.Lines(block(t, name)) {
			m := regexp.MustCompile(`^make ([\w-]+)`).FindStringSubmatch(line)
			if found++; m == nil || !strings.Contains(makefile, "\n"+m[1]+":") {
				t.Errorf("%s: %q is no target of the Makefile", name, strings.TrimSpace(line))
			}
		}
	}
	if found == 0 {
		t.Error("no block runs make")
	}
}

func TestReadmeFirstBan(t *testing.T) {
	t.Parallel()
	out := newWorkplace(t).run(t, block(t, "README.md: Your first ban/1"))
	for _, want := range []string{`"success":true`, `"isBanned": true`, `"canPost": false`} {
		if !strings.Contains(out, want) {
			t.Errorf("the commands do not print %q:\n%s", want, out)
		}
	}
}

// TestRogueModeratorCommands runs the commands of a rogue moderator, and those of the owner.
func TestRogueModeratorCommands(t *testing.T) {
	t.Parallel()
	w := newWorkplace(t)
	out := w.run(t, block(t, "docs/moderation.md: A rogue moderator/1")+block(t, "docs/moderation.md: A rogue moderator/2"))
	lines := strings.Split(strings.TrimSpace(out), "\n")
	results := regexp.MustCompile(`"status":"\w+"`).FindAllString(lines[len(lines)-2], -1)
	want := []string{`"status":"UNBANNED"`, `"status":"UNBANNED"`, `"status":"UNMUTED"`, `"status":"UNBANNED"`}
	if len(lines) != 7 || strings.Count(out, `"success":true`) != 7 || !slices.Equal(results, want) || lines[4] != lines[5] {
		t.Errorf("the commands print\n%s", out)
	}
}

// TestOperatorCommands runs the commands for clients, tokens, imports, backups and health
// checks.
func TestOperatorCommands(t *testing.T) {
	t.Parallel()
	w := newWorkplace(t)
	if err := os.WriteFile(filepath.Join(w.directory, "records.jsonl"),
		[]byte(`{"user":{"id":"0b6f0001-0000-4000-8000-00000000000a","username":"operated","displayName":"Operated"}}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.run(t, "moderato import records.jsonl") // has the user of the tokens
	token := strings.TrimSpace(w.run(t, "moderato token issue --client demo-chat --service"))
	commands := strings.ReplaceAll(block(t, "docs/operations.md: Create clients and tokens/1"), "mdu_…", token)
	out := w.run(t, commands)
	if n := len(regexp.MustCompile(`(?m)^md[uas]_`).FindAllString(out, -1)); n < 3 {
		t.Errorf("the commands print %d tokens, want 3:\n%s", n, out)
	}
	w.run(t, block(t, "docs/operations.md: Export a user's data/1"))
	w.run(t, block(t, "docs/operations.md: Delete a user or a channel/1"))
	w.run(t, block(t, "docs/oauth.md: Clients/1"))
	w.run(t, block(t, "docs/overlay.md: Use it on your platform/1"))
	w.run(t, strings.ReplaceAll(block(t, "docs/operations.md: Back up SQLite/1"), "/var/backups", w.directory))
	w.run(t, block(t, "docs/operations.md: Check and repair the data/1"))
	if out := w.run(t, block(t, "docs/operations.md: Check the health/1")); !strings.Contains(out, "moderato.v1.ModerationService") || !strings.Contains(out, `"SERVING"`) {
		t.Errorf("the health check prints %s", out)
	}
}

// TestSignInCommands signs a user in on a command line, as the document says, and refreshes
// the token.
func TestSignInCommands(t *testing.T) {
	t.Parallel()
	w := newWorkplace(t)
	var device struct {
		Address string `json:"verification_uri_complete"`
	}
	if err := json.Unmarshal([]byte(w.run(t, block(t, "docs/oauth.md: Sign in on a command line/1"))), &device); err != nil {
		t.Fatal(err)
	}
	process.ApproveDevice(t, device.Address, demo.People().Owner.ID)
	tokens := regexp.MustCompile(`"access_token":"mdu_\w+".*"refresh_token":"(mdr_\w+)","expires_in":86400,"scope":"offline.access users.read"}`)
	first := tokens.FindStringSubmatch(w.run(t, block(t, "docs/oauth.md: Sign in on a command line/2")))
	second := tokens.FindStringSubmatch(w.run(t, block(t, "docs/oauth.md: Refresh tokens/1")))
	if first == nil || second == nil || first[1] == second[1] {
		t.Errorf("got the tokens %q and then %q, want two pairs", first, second)
	}
}

// TestEventCommands runs each line of the block on events. Each `tail` also gets a cursor,
// so that there is an event for it to print.
func TestEventCommands(t *testing.T) {
	t.Parallel()
	w := newWorkplace(t)
	stream := listen(t, w.command(t, block(t, "docs/events.md: Receive events/2")))
	stream.until(t, ": listening")
	drill := block(t, "docs/moderation.md: Examples/1")
	w.run(t, drill)
	cursor := lastCursor(t, stream.until(t, "channel.ban"))
	w.run(t, drill) // bans again, after the cursor
	service := strings.TrimSpace(w.run(t, "moderato token issue --client demo-chat --service"))
	values := strings.NewReplacer("UUID", demoOwner, " --cursor CURSOR", "", "events tail", "events tail --cursor "+cursor,
		"trigger --client ID", "trigger --client demo-chat --token "+service+" --grpc-server "+w.GRPC,
		"--client ID", "--client demo-dashboard --token "+w.owner(t))
	for line := range strings.Lines(block(t, "docs/command-line.md: Watch events/1")) {
		line = values.Replace(line)
		want := "channel.ban"
		switch {
		case strings.HasPrefix(line, "moderato events trigger"):
			if out := w.run(t, line); strings.Count(out, want) != 5 {
				t.Errorf("%s prints %s, want five bans", line, out)
			}
			continue
		case strings.HasPrefix(line, "moderato events receive"):
			want = "Ctrl-C deletes it"
		}
		l := listen(t, w.command(t, "exec "+line))
		l.until(t, want)
		if code := l.signal(syscall.SIGINT); code != 0 {
			t.Errorf("%s ends with exit code %d", line, code)
		}
	}
}

// owner issues a token for the owner of the demo's channel.
func (w *workplace) owner(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(w.run(t, "moderato token issue --client demo-dashboard --user "+demoOwner+" --scope channel.moderate --scope users.read"))
}

func TestAPICommands(t *testing.T) {
	t.Parallel()
	w := newWorkplace(t)
	w.environ = append(w.environ, "MODERATO_CLIENT=demo-dashboard", "MODERATO_TOKEN="+w.owner(t))
	out := w.run(t, strings.ReplaceAll(block(t, "docs/command-line.md: Call the API/1"), "UUID", demoOwner))
	if !strings.Contains(out, `"isFollower":true`) || !strings.Contains(out, `"bannedUserDisplayName":"LootGoblin77"`) {
		t.Errorf("the commands print %s", out)
	}
}
