package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/moderato-live/moderato/server"
	"github.com/moderato-live/moderato/server/demo"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/doctest"
	"github.com/moderato-live/moderato/test/servertest/process"
	"github.com/moderato-live/moderato/test/storetest"
	"github.com/moderato-live/moderato/test/testdb"
)

// program is a program of docs/getting-started.md.
type program struct {
	fence, file string
	// command runs the program; needs are what must be installed.
	command string
	needs   []string
}

var programs = []program{
	{"js", "bot.mjs", "node", []string{"node", "npm"}},
	{"python", "bot.py", "python3", []string{"python3"}},
	{"bash", "bot.sh", "bash", []string{"bash", "curl", "jq"}},
}

// TestGettingStartedPrograms runs the programs of docs/getting-started.md as they are, each
// beside a demo server of its own. All of them sign in before the first is tested: a device
// waits for five seconds before it asks for its tokens.
func TestGettingStartedPrograms(t *testing.T) {
	type running struct {
		site *demoSite
		bot  *bot
	}
	var all []running
	for _, p := range programs {
		r := running{site: newDemoSite(t, "--user-token-lifetime="+tokenLifetime.String())}
		if p.isInstalled(t) {
			r.bot = r.site.signIn(t, p)
		}
		all = append(all, r)
	}
	for i, p := range programs {
		t.Run(p.fence, func(t *testing.T) {
			t.Parallel()
			if all[i].bot == nil {
				t.Skip("a program that it needs is missing")
			}
			testProgram(t, all[i].site, all[i].bot)
		})
	}
}

// testProgram has a program answer and ban, and kills its server.
func testProgram(t *testing.T, d *demoSite, b *bot) {
	t.Helper()
	cast := demo.People()
	b.until(t, "Moderating the channel of "+cast.Owner.DisplayName)
	d.greet(t, cast.Viewer, cast.Owner)
	d.tryBot(t)
	d.untilBanned(t, cast.Viewer) // the bot may be connecting, with a new token, when the commands run
	d.readAnswer(t)
	b.until(t, "channel.ban.*"+cast.Viewer.ID.String())
	d.liftBan(t)
	b.until(t, "channel.unban.*"+cast.Viewer.ID.String())

	d.ban(t, d.users[0])
	cursor := d.listen(t, "", `^id: (\S+)`)
	// The program is suspended so that it cannot connect again before the second ban is
	// delivered: a program that does not resume from its cursor must miss it.
	b.suspend(t, true)
	d.Kill()
	d.serve(t)
	d.ban(t, d.users[1])
	d.listen(t, cursor, "channel.ban.*"+d.users[1])
	b.suspend(t, false)
	for _, user := range d.users[:2] {
		b.until(t, "channel.ban.*"+user)
	}
	d.untilRefreshed(t)
	d.greet(t, cast.Moderator, cast.Owner)
}

func TestGettingStartedNamesTestedPackage(t *testing.T) {
	var manifest struct {
		Dependencies map[string]string `json:"dependencies"`
	}
	if err := json.Unmarshal([]byte(doctest.Read(t, "docs/getting-started/package.json")), &manifest); err != nil {
		t.Fatal(err)
	}
	for name, version := range manifest.Dependencies {
		doctest.Want(t, "docs/getting-started.md", "`npm install "+name+"@"+version+"`")
	}
}

// isInstalled reports whether everything is installed that the program needs. In CI the
// test fails otherwise.
func (p program) isInstalled(t *testing.T) bool {
	t.Helper()
	var missing []string
	for _, name := range p.needs {
		if _, err := exec.LookPath(name); err != nil {
			missing = append(missing, name)
		}
	}
	if p.fence == "js" {
		if _, err := os.Stat(nodeModules(t)); err != nil {
			missing = append(missing, nodeModules(t))
		}
	}
	if len(missing) == 0 {
		return true
	}
	err := fmt.Errorf("%s is not tested without %s; tools/install-test-tools installs it", p.file, strings.Join(missing, ", "))
	if testdb.IsRequired() {
		t.Fatal(err)
	}
	storetest.Announce(err)
	return false
}

func nodeModules(t *testing.T) string {
	t.Helper()
	return filepath.Join(doctest.Root(t), "docs", "getting-started", "node_modules")
}

// source returns the only block of the document in the program's language.
func (p program) source(t *testing.T) string {
	t.Helper()
	blocks := regexp.MustCompile("(?s)```"+p.fence+"\n(.*?)```").FindAllStringSubmatch(doctest.Read(t, "docs/getting-started.md"), -1)
	if len(blocks) != 1 {
		t.Fatalf("docs/getting-started.md has %d blocks of %s, want 1", len(blocks), p.fence)
	}
	return blocks[0][1]
}

// tokenLifetime is so short that the programs must refresh their tokens.
const tokenLifetime = 6 * time.Second

// demoSite is a demo server that keeps its database and address when it is restarted.
type demoSite struct {
	*process.Server

	// directory is where `make run` would have been run.
	directory string
	url       store.URL
	// moderator and service are tokens that the demo printed.
	moderator, service string
	// users are not banned, and play no other part in the demo.
	users []string
	args  []string
}

func newDemoSite(t *testing.T, args ...string) *demoSite {
	t.Helper()
	directory := demoDirectory(t)
	d := &demoSite{directory: directory, url: store.URL{Path: filepath.Join(directory, "moderato.db")}, args: append([]string{"--demo"}, args...)}
	cast := demo.People()
	taken := []string{cast.Owner.ID.String(), cast.Moderator.ID.String(), cast.Viewer.ID.String(), cast.Raider.ID.String()}
	for _, b := range demo.Bans() {
		// The demo bans User at each start, in the name of Moderator.
		taken = append(taken, b.User.String(), b.Moderator.String())
	}
	for _, r := range demo.Records(0, "") {
		if id := r.GetUser().GetId(); id != "" && !slices.Contains(taken, id) {
			d.users = append(d.users, id)
		}
	}
	d.serve(t)
	d.args = append(d.args, "--http-addr="+d.REST)
	return d
}

// serve starts the server, the second time at its former address.
func (d *demoSite) serve(t *testing.T) {
	t.Helper()
	d.Server = process.Serve(t, d.url, d.args...)
	tokens := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^  (moderator|service) +(\S+)`).FindAllStringSubmatch(d.Printed(), -1) {
		tokens[m[1]] = m[2]
	}
	d.moderator, d.service = tokens["moderator"], tokens["service"]
}

// signIn starts a program, and approves its sign-in as the owner, as a person would.
func (d *demoSite) signIn(t *testing.T, p program) *bot {
	t.Helper()
	directory := t.TempDir()
	source := strings.ReplaceAll(p.source(t), server.DefaultHTTPAddr, d.REST)
	if err := os.WriteFile(filepath.Join(directory, p.file), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(nodeModules(t), filepath.Join(directory, "node_modules")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), p.command, p.file)
	cmd.Dir = directory
	b := &bot{listener: listen(t, cmd)}
	process.ApproveDevice(t, b.until(t, `To sign in, open (\S+)`)[1], demo.People().Owner.ID)
	return b
}

// tryBot runs the commands of the document that write in the chat.
func (d *demoSite) tryBot(t *testing.T) {
	t.Helper()
	_, section, _ := strings.Cut(doctest.Read(t, "docs/getting-started.md"), "## Try the bot\n")
	_, commands, _ := strings.Cut(section, "```sh\n")
	commands, _, _ = strings.Cut(commands, "```")
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", strings.ReplaceAll(commands, server.DefaultHTTPAddr, d.REST))
	cmd.Dir = d.directory
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(out), `"success":true`) != 2 {
		t.Errorf("the commands print %s (%v)", out, err)
	}
}

// readAnswer runs the commands of the document that list the bot's answer.
func (d *demoSite) readAnswer(t *testing.T) {
	t.Helper()
	d.wantPrinted(t, `"message":"Hello, `, "Try the bot/2")
}

// liftBan runs the commands of the document that lift the viewer's ban.
func (d *demoSite) liftBan(t *testing.T) {
	t.Helper()
	d.wantPrinted(t, `{"success":true,"message":"success"}`, "Try the bot/2", "Lift the ban/1")
}

// wantPrinted runs blocks of the document in one terminal, and checks what they print.
func (d *demoSite) wantPrinted(t *testing.T, want string, names ...string) {
	t.Helper()
	cast := demo.People()
	commands := "channel=" + cast.Owner.ID.String() + " viewer=" + cast.Viewer.ID.String() + "\n"
	for _, name := range names {
		commands += block(t, "docs/getting-started.md: "+name)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", strings.ReplaceAll(commands, server.DefaultHTTPAddr, d.REST))
	cmd.Dir = d.directory
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), want) {
		t.Errorf("the commands print %s (%v), without %s", out, err, want)
	}
}

// bot is a program that runs.
type bot struct{ *listener }

// suspend suspends the processes of the program, or continues them.
func (b *bot) suspend(t *testing.T, isSuspended bool) {
	t.Helper()
	signal := syscall.SIGCONT
	if isSuspended {
		signal = syscall.SIGSTOP
	}
	if err := syscall.Kill(-b.cmd.Process.Pid, signal); err != nil {
		t.Fatal(err)
	}
}

// until reads up to a line that matches a pattern, and returns its parts.
func (b *bot) until(t *testing.T, pattern string) []string {
	t.Helper()
	re, deadline := regexp.MustCompile(pattern), time.After(patience)
	var read []string
	for {
		line, ok := b.before(t, deadline)
		if !ok {
			t.Fatalf("%v ended without %q:\n%s", b.cmd.Args, pattern, strings.Join(read, "\n"))
		}
		read = append(read, line)
		if found := re.FindStringSubmatch(line); found != nil {
			return found
		}
	}
}
