package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/moderato-live/moderato/server/cli"
	"github.com/moderato-live/moderato/server/store"
)

// asProgram in the environment makes the test binary be the program.
const asProgram = "TEST_RUNS_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asStepper) != "" {
		os.Exit(runStepped())
	}
	if os.Getenv(asProgram) != "" {
		os.Exit(cli.Run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// result is what a command printed, and its exit code.
type result struct {
	out, err string
	code     int
}

// moderato runs a command to its end, as its own process.
func moderato(t *testing.T, env []string, input string, args ...string) result {
	t.Helper()
	cmd := program(t, env, args...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &errs
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

func program(t *testing.T, env []string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append([]string{asProgram + "=1", "PATH=" + os.Getenv("PATH"), "HOME=" + cmd.Dir}, env...)
	return cmd
}

// dbFlag names a database as the command line does.
func dbFlag(url store.URL) string { return "--db=" + dbText(url) }

func dbText(url store.URL) string {
	if url.Path != "" {
		return "sqlite:" + url.Path
	}
	return "mysql://" + url.User + "@" + url.Host + "/" + url.Name
}

// process is a server in a process of its own.
type process struct {
	cmd               *exec.Cmd
	rest, grpc, admin string
	ended             chan struct{} // once its log was read to the end
	armed             chan struct{} // of a server that is stepped: it knows where to stop
	reached           chan string   // and the step before which it stands, none when it passed

	mu  sync.Mutex
	log bytes.Buffer
	out bytes.Buffer
}

// serve starts `moderato serve` on free ports and waits until it listens.
func serve(t *testing.T, url store.URL, args ...string) *process {
	t.Helper()
	return serveWith(t, url, nil, args...)
}

// serveWith is serve in an environment.
func serveWith(t *testing.T, url store.URL, env []string, args ...string) *process {
	t.Helper()
	args = append([]string{
		"serve", dbFlag(url), "--http-addr=127.0.0.1:0", "--grpc-addr=127.0.0.1:0", "--admin-addr=127.0.0.1:0",
		"--log-format=json", "--rate-limit=0",
	}, args...)
	p := &process{cmd: program(t, env, args...)}
	p.start(t)
	return p
}

// start starts the process and waits until it listens.
func (p *process) start(t *testing.T) {
	t.Helper()
	p.ended = make(chan struct{})
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stdout = writer(func(b []byte) (int, error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.out.Write(b)
	})
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	listening := make(chan struct{})
	go p.read(bufio.NewScanner(stderr), listening)
	select {
	case <-listening:
	case <-time.After(30 * time.Second):
		t.Fatalf("the server does not listen; it says:\n%s", p.said())
	}
}

// read keeps the log, and finds the addresses in it.
func (p *process) read(lines *bufio.Scanner, listening chan<- struct{}) {
	defer close(p.ended)
	for lines.Scan() {
		p.mu.Lock()
		p.log.Write(lines.Bytes())
		p.log.WriteByte('\n')
		p.mu.Unlock()
		var line struct{ Msg, Rest, Grpc, Admin, Step string }
		_ = json.Unmarshal(lines.Bytes(), &line)
		switch line.Msg {
		case "listening":
			p.rest, p.grpc, p.admin = line.Rest, line.Grpc, line.Admin
			close(listening)
		case armed:
			p.armed <- struct{}{}
		case stands, passed:
			p.reached <- line.Step
		}
	}
}

func (p *process) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// printed is what the process wrote to standard output, once it answers calls.
func (p *process) printed() string {
	for {
		response, err := http.Get("http://" + p.rest + "/")
		if err == nil {
			_ = response.Body.Close()
			break
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

// kill ends the process where it stands.
func (p *process) kill() {
	_ = p.cmd.Process.Signal(syscall.SIGKILL)
	<-p.ended
	_ = p.cmd.Wait()
}

// terminate asks the process to end, and answers its exit code.
func (p *process) terminate() int {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	<-p.ended // Wait would drop what is still to be read
	_ = p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode()
}

func writeFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "records.jsonl")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
