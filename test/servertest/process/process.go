// Package process runs moderato in a separate process, for tests that kill it or observe
// it from outside. The program is the test binary itself, whose TestMain must call Main.
package process

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/moderato-live/moderato/server/cli"
	"github.com/moderato-live/moderato/server/store"
)

// AsProgram is the environment variable that makes the test binary run the program.
const AsProgram = "TEST_RUNS_AS_PROGRAM"

// startTimeout is how long a server may take to listen.
const startTimeout = 30 * time.Second

// Main runs the program if the environment has AsProgram, a probe if a test runs one, or
// else the tests.
func Main(m *testing.M) {
	if os.Getenv(asProbe) != "" {
		os.Exit(runProbe())
	}
	if os.Getenv(AsProgram) != "" {
		os.Exit(cli.Run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// Result holds the output of a command and its exit code.
type Result struct {
	Out, Err string
	Code     int
}

// Run runs a command of the program and waits until it exits.
func Run(t *testing.T, env []string, input string, args ...string) Result {
	t.Helper()
	cmd := Command(t, env, args...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &errs
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return Result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// Command returns a command of the program. It runs in an empty directory, which is also
// its home. Its environment is env, PATH, HOME and AsProgram. Nobody chats in a demo, unless env
// or the flags say so.
func Command(t *testing.T, env []string, args ...string) *exec.Cmd {
	t.Helper()
	return TestBinary(t, append([]string{AsProgram + "=1", "MODERATO_DEMO_CHAT=off"}, env...), args...)
}

// TestBinary returns a command that runs this test binary in an empty directory, which is
// also its home. Its environment is env, PATH and HOME.
func TestBinary(t *testing.T, env []string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + cmd.Dir}, env...)
	return cmd
}

// DBFlag returns the flag that names a database.
func DBFlag(url store.URL) string { return "--db=" + DBText(url) }

// DBText returns the name of a database on the command line.
func DBText(url store.URL) string {
	if url.Path != "" {
		return "sqlite:" + url.Path
	}
	account := url.User
	if url.Password != "" {
		account += ":" + url.Password
	}
	return "mysql://" + account + "@" + url.Host + "/" + url.Name
}

// Line holds some fields of a line of a server's log.
type Line struct {
	Msg, Rest, Grpc, Admin, Step string
}

// Server is a server in a separate process.
type Server struct {
	// Cmd is the process.
	Cmd *exec.Cmd
	// REST, GRPC and Admin are the addresses on which the server listens.
	REST, GRPC, Admin string
	// OnLine, if not nil, is called for each line of the server's log.
	OnLine func(Line)

	ended chan struct{} // closed when the log was read to its end

	mu  sync.Mutex
	log bytes.Buffer
	out bytes.Buffer
}

// Serve starts `moderato serve` on free ports and waits until the server listens.
func Serve(t *testing.T, url store.URL, args ...string) *Server {
	t.Helper()
	return ServeWith(t, url, nil, args...)
}

// ServeWith is Serve with environment variables.
func ServeWith(t *testing.T, url store.URL, env []string, args ...string) *Server {
	t.Helper()
	args = append([]string{
		"serve", DBFlag(url), "--http-addr=127.0.0.1:0", "--grpc-addr=127.0.0.1:0", "--admin-addr=127.0.0.1:0",
		"--log-format=json", "--rate-limit=0", "--chat-rate=0",
	}, args...)
	s := &Server{Cmd: Command(t, env, args...)}
	s.Start(t)
	return s
}

// Start starts the process and waits until the server listens. The process is killed when
// the test ends.
func (s *Server) Start(t *testing.T) {
	t.Helper()
	s.ended = make(chan struct{})
	stderr, err := s.Cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.Cmd.Stdout = writer(func(b []byte) (int, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.out.Write(b)
	})
	if err := s.Cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	listening := make(chan struct{})
	go s.read(bufio.NewScanner(stderr), listening)
	select {
	case <-listening:
	case <-time.After(startTimeout):
		t.Fatalf("the server does not listen; it says:\n%s", s.Log())
	}
}

// read stores the log and takes the addresses from it.
func (s *Server) read(lines *bufio.Scanner, listening chan<- struct{}) {
	defer close(s.ended)
	for lines.Scan() {
		s.mu.Lock()
		s.log.Write(lines.Bytes())
		s.log.WriteByte('\n')
		s.mu.Unlock()
		var line Line
		_ = json.Unmarshal(lines.Bytes(), &line)
		if line.Msg == "listening" {
			s.REST, s.GRPC, s.Admin = line.Rest, line.Grpc, line.Admin
			close(listening)
		}
		if s.OnLine != nil {
			s.OnLine(line)
		}
	}
}

// Log returns what the server has logged so far.
func (s *Server) Log() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

// Printed waits until the server responds to requests. It returns what the process has
// written to standard output.
func (s *Server) Printed() string {
	for {
		r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://"+s.REST+"/", http.NoBody)
		if err != nil {
			return err.Error()
		}
		response, err := http.DefaultClient.Do(r)
		if err == nil {
			_ = response.Body.Close()
			break
		}
		select {
		case <-s.ended: // it will never respond
			return s.Log()
		default:
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.String()
}

// Dial returns a connection to the server over gRPC, which ends with the test.
func (s *Server) Dial(t testing.TB) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(s.GRPC, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// Kill kills the process with SIGKILL and waits until it has ended.
func (s *Server) Kill() {
	_ = s.Cmd.Process.Signal(syscall.SIGKILL)
	<-s.ended
	_ = s.Cmd.Wait()
}

// Terminate sends SIGTERM to the process, waits until it has ended, and returns its exit
// code.
func (s *Server) Terminate() int {
	_ = s.Cmd.Process.Signal(syscall.SIGTERM)
	<-s.ended // Wait would discard unread output
	_ = s.Cmd.Wait()
	return s.Cmd.ProcessState.ExitCode()
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }
