// Package clients tests the client libraries for TypeScript and Python. Their READMEs run as
// they are, each beside a demo server of its own.
package clients_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
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

func TestMain(m *testing.M) { process.Main(m) }

const (
	// programTimeout bounds a program that a test runs.
	programTimeout = time.Minute
	// receiverAddress is where the READMEs receive deliveries.
	receiverAddress = "127.0.0.1:9911"
	// largestPage is the number of followers in a page.
	largestPage = 100
	// steps is the number of steps of the tour of a README.
	steps = 12
)

// library is a client library.
type library struct {
	directory, fence string
	// needs are what must be installed.
	needs []string
}

var (
	typescript = library{"typescript", "js", []string{"node", "npm", "typescript/node_modules/.package-lock.json"}}
	python     = library{"python", "python", []string{"python3"}}
)

// need skips the test if something is not installed. In CI the test fails.
func (l library) need(t *testing.T) {
	t.Helper()
	var missing []string
	for _, name := range l.needs {
		_, noProgram := exec.LookPath(name)
		if _, noFile := os.Stat(name); noProgram != nil && noFile != nil {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return
	}
	err := fmt.Errorf("clients/%s is not tested without %s; tools/install-test-tools installs it", l.directory, strings.Join(missing, ", "))
	if testdb.IsRequired() {
		t.Fatal(err)
	}
	storetest.Announce(err)
	t.Skip(err)
}

// tour returns the steps of the README as one program.
func (l library) tour(t *testing.T) string {
	t.Helper()
	readme := doctest.Read(t, "clients/"+l.directory+"/README.md")
	blocks := regexp.MustCompile("(?s)\\*\\*(\\d+)\\. [^\n]*\n\n```"+l.fence+"\n(.*?)```").FindAllStringSubmatch(readme, -1)
	var program strings.Builder
	for i, block := range blocks {
		if block[1] != fmt.Sprint(i+1) {
			t.Errorf("step %d has the number %s", i+1, block[1])
		}
		program.WriteString(block[2])
	}
	if len(blocks) != steps || strings.Count(readme, "```"+l.fence+"\n") != steps {
		t.Fatalf("the README has %d steps and %d blocks, want %d", len(blocks), strings.Count(readme, "```"+l.fence+"\n"), steps)
	}
	return program.String()
}

// site is a demo server, and the addresses that replace those of the READMEs.
type site struct {
	*process.Server

	receiver string
}

func serve(t *testing.T) site {
	t.Helper()
	s := process.Serve(t, store.URL{Path: filepath.Join(t.TempDir(), "moderato.db")}, "--demo")
	s.Printed() // once it is loaded
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	return site{s, l.Addr().String()}
}

// write writes a program to a directory, with the addresses of the site, and returns its path.
func (s site) write(t *testing.T, directory, name, program string) string {
	t.Helper()
	port := func(address string) string { _, port, _ := net.SplitHostPort(address); return port }
	program = strings.NewReplacer(server.DefaultHTTPAddr, s.REST, receiverAddress, s.receiver, port(receiverAddress), port(s.receiver)).Replace(program)
	path := filepath.Join(directory, name)
	if err := os.WriteFile(path, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// run runs a command, which may ask a user to sign in, and returns what it prints. A program
// that signs in a user in a browser reads where the browser returns.
func run(t *testing.T, user demo.Person, cmd *exec.Cmd) string {
	t.Helper()
	var printed, errs bytes.Buffer
	cmd.Stderr = &errs
	in, _ := cmd.StdinPipe()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(programTimeout, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	for lines := bufio.NewScanner(out); lines.Scan(); {
		fmt.Fprintln(&printed, lines.Text())
		if address, ok := strings.CutPrefix(lines.Text(), "To sign in, open "); ok {
			_, at := process.Approve(t, address, user.ID.String())
			_, _ = io.WriteString(in, at+"\n")
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %v\n%s\n%s", cmd.Args, err, printed.String(), errs.String())
	}
	return printed.String()
}

// command returns a command that runs in a directory.
func command(t *testing.T, directory, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = directory
	return cmd
}

// testTour runs the tour twice, the first time while the user whom it bans is banned.
func testTour(t *testing.T, s site, command func() *exec.Cmd) {
	t.Helper()
	cast := demo.People()
	token := s.DemoToken(t, "moderator")
	banned := process.Run(t, []string{"MODERATO_CLIENT=" + cast.Client, "MODERATO_TOKEN=" + token}, "", "api", "POST", "/v1/moderation/ban",
		"--server=http://"+s.REST, "-f", "channelId="+cast.Owner.ID.String(), "-f", "banUsername="+cast.Raider.Username)
	if banned.Code != 0 {
		t.Fatal(banned.Err)
	}
	for range 2 {
		wantTour(t, run(t, cast.Owner, command()))
	}
	s.WantDemoToken(t)
}

// wantTour checks what the tour prints.
func wantTour(t *testing.T, printed string) {
	t.Helper()
	cast := demo.People()
	at := 0
	for _, want := range []string{
		"Signed in as " + cast.Owner.DisplayName, " followers, the latest: ", "Posted ",
		"Banned: " + cast.Raider.DisplayName, "Muted until 20", "Unbanned: " + cast.Raider.DisplayName,
		"Delivered: VIP " + cast.Raider.ID.String(), "Done\n",
	} {
		found := strings.Index(printed[at:], want)
		if found < 0 {
			t.Fatalf("the tour does not print %q here:\n%s", want, printed[at:])
		}
		at += found
	}
	followers := 0
	for _, r := range demo.Records(0, "") {
		if r.GetFollow().GetChannelId() == cast.Owner.ID.String() {
			followers++
		}
	}
	if want := fmt.Sprintf("\n%d followers, the latest: ", followers); followers <= largestPage || !strings.Contains(printed, want) {
		t.Errorf("the tour does not print %q, the followers of several pages:\n%s", want, printed)
	}
}

func TestTypeScript(t *testing.T) {
	t.Parallel()
	typescript.need(t)
	cast := demo.People()
	directory := pack(t)
	s := serve(t)
	tour := typescript.tour(t)
	program := s.write(t, directory, "tour.mjs", tour)
	s.write(t, directory, "tour.mts", tour)
	t.Run("readme", func(t *testing.T) {
		t.Parallel()
		testTour(t, s, func() *exec.Cmd { return command(t, directory, "node", program) })
	})
	t.Run("types", func(t *testing.T) {
		t.Parallel()
		checkTypes(t, directory)
	})
	t.Run("sign-in", func(t *testing.T) {
		t.Parallel()
		testSignIn(t, s, command(t, directory, "node", s.write(t, directory, "sign-in.mjs", read(t, "typescript/test/sign-in.mjs"))))
	})
	t.Run("browser", func(t *testing.T) {
		t.Parallel()
		testBrowser(t, s, directory)
	})
	t.Run("units", func(t *testing.T) {
		t.Parallel()
		run(t, cast.Owner, command(t, "typescript", "npm", "test", "--silent"))
	})
}

// pack builds the package, and installs it in a new directory.
func pack(t *testing.T) string {
	t.Helper()
	directory := t.TempDir()
	output := func(cmd *exec.Cmd) {
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
		}
	}
	output(command(t, "typescript", "npm", "pack", "--silent", "--pack-destination", directory))
	packed, _ := filepath.Glob(filepath.Join(directory, "*.tgz"))
	if len(packed) != 1 {
		t.Fatalf("npm pack made %q, want one file", packed)
	}
	output(command(t, directory, "npm", "install", "--silent", "--offline", "--no-audit", "--no-fund", packed[0]))
	installed := filepath.Join(directory, "node_modules", "@moderato-live", "client")
	for _, name := range []string{"dist/index.js", "dist/index.d.ts", "README.md", "LICENSE"} {
		if _, err := os.Stat(filepath.Join(installed, name)); err != nil {
			t.Errorf("the package is not complete: %v", err)
		}
	}
	return directory
}

// checkTypes checks the tour and a program against the types of the installed package.
func checkTypes(t *testing.T, directory string) {
	t.Helper()
	modules, err := filepath.Abs("typescript/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(directory, "types.mts")
	if err := os.WriteFile(program, []byte(read(t, "typescript/test/types.mts")), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := command(t, directory, filepath.Join(modules, ".bin", "tsc"), "--noEmit", "--strict", "--target", "ES2022",
		"--module", "NodeNext", "--exactOptionalPropertyTypes", "--types", "node", "--typeRoots", filepath.Join(modules, "@types"), "tour.mts", "types.mts").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestPython(t *testing.T) {
	t.Parallel()
	python.need(t)
	cast := demo.People()
	s, directory := serve(t), t.TempDir()
	script := func(t *testing.T, name, program string) *exec.Cmd {
		t.Helper()
		library, err := filepath.Abs("python")
		if err != nil {
			t.Fatal(err)
		}
		cmd := command(t, directory, "python3", s.write(t, directory, name, program))
		cmd.Env = append(os.Environ(), "PYTHONPATH="+library, "PYTHONDONTWRITEBYTECODE=1")
		return cmd
	}
	t.Run("readme", func(t *testing.T) {
		t.Parallel()
		testTour(t, s, func() *exec.Cmd { return script(t, "tour.py", python.tour(t)) })
	})
	t.Run("sign-in", func(t *testing.T) {
		t.Parallel()
		testSignIn(t, s, script(t, "sign_in.py", read(t, "python/tests/sign_in.py")))
	})
	t.Run("units", func(t *testing.T) {
		t.Parallel()
		cmd := command(t, "python", "python3", "-m", "unittest", "discover", "-s", "tests", "-t", ".")
		cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
		run(t, cast.Owner, cmd)
	})
}

// testSignIn runs a program that signs in a user in a browser, and then has a refused access
// token renewed by several calls at the same moment.
func testSignIn(t *testing.T, s site, cmd *exec.Cmd) {
	t.Helper()
	cmd.Args = append(cmd.Args, "http://"+s.REST+demo.SignedInPath)
	want := demo.People().Moderator.DisplayName
	if printed := run(t, demo.People().Moderator, cmd); !strings.Contains(printed, "Signed in as "+want+"\nRefreshed once\nSigned out\n") {
		t.Errorf("the program prints\n%s", printed)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	return doctest.Read(t, "clients/"+path)
}
