package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// server is a process that is measured: Moderato or the floor.
type server struct {
	name              string
	process           *exec.Cmd
	http, grpc, admin string
	started, ready    time.Time
	stopped           bool // by SIGSTOP, while another is measured
	readyPath         string
	profiles          string   // a directory for CPU profiles; empty: none
	mariadb           *mariadb // its database server; nil on SQLite
}

// startModerato starts the program as it is deployed, but without a rate limit, and with
// further flags.
func (b *bench) startModerato(ctx context.Context, db string, flags ...string) (*server, error) {
	args := append([]string{"serve", "--db", db, "--rate-limit", "0", "--log-format", "json"}, flags...)
	s, err := b.launch(ctx, "moderato", db, "/readyz", args...)
	if err == nil {
		s.profiles = b.profiles
	}
	return s, err
}

func (b *bench) startFloor(ctx context.Context, db string) (*server, error) {
	return b.launch(ctx, "floor", db, "/metrics", "-db", db)
}

func (b *bench) launch(ctx context.Context, name, db, readyPath string, args ...string) (*server, error) {
	s := &server{name: name, readyPath: readyPath}
	if strings.HasPrefix(db, "mysql:") {
		s.mariadb = b.mariadb
	}
	for _, addr := range []*string{&s.http, &s.grpc, &s.admin} {
		var err error
		if *addr, err = freeAddr(ctx); err != nil {
			return nil, err
		}
	}
	args = append(args, "--http-addr", s.http, "--grpc-addr", s.grpc, "--admin-addr", s.admin)
	logFile, err := os.Create(filepath.Join(b.dir, name+".log"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = logFile.Close() }()
	s.process = exec.CommandContext(context.WithoutCancel(ctx), filepath.Join(b.dir, name), args...)
	s.process.Stderr, s.process.Stdout = logFile, logFile
	s.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	s.started = time.Now()
	if err := s.process.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	b.running = append(b.running, s)
	if err := s.waitReady(ctx); err != nil {
		s.stop()
		text, _ := os.ReadFile(logFile.Name())
		return nil, fmt.Errorf("%w: %s", err, bytes.TrimSpace(text))
	}
	return s, nil
}

func freeAddr(ctx context.Context) (string, error) {
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

func (s *server) waitReady(ctx context.Context) error {
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if _, err := get(ctx, "http://"+s.admin+s.readyPath, nil); err == nil {
			s.ready = time.Now()
			return nil
		}
		if err := s.process.Process.Signal(syscall.Signal(0)); err != nil {
			break
		}
	}
	return fmt.Errorf("%s does not get ready", s.name)
}

// stop terminates the process and waits for its end.
func (s *server) stop() {
	if s.process.ProcessState != nil {
		return
	}
	s.pause(false)
	_ = s.process.Process.Signal(syscall.SIGTERM)
	_ = s.process.Wait()
}

// pause stops a server while another one is measured, or resumes it.
func (s *server) pause(stopped bool) {
	if s.stopped == stopped {
		return
	}
	s.stopped = stopped
	signal := syscall.SIGCONT
	if stopped {
		signal = syscall.SIGSTOP
	}
	_ = s.process.Process.Signal(signal)
}

// cost is the CPU time and the number of allocations of a process, and the CPU time of its
// database server.
type cost struct {
	cpu, database time.Duration
	mallocs       float64
}

func (c cost) minus(d cost) cost {
	return cost{c.cpu - d.cpu, c.database - d.database, c.mallocs - d.mallocs}
}

// cost returns what the server has used so far.
func (s *server) cost(ctx context.Context) (cost, error) {
	var c cost
	var err error
	if c.cpu, err = processorTime(s.process.Process.Pid); err != nil {
		return c, err
	}
	if s.mariadb != nil {
		if c.database, err = s.mariadb.processorTime(ctx); err != nil {
			return c, err
		}
	}
	c.mallocs, err = s.metric(ctx, "go_memstats_mallocs_total")
	return c, err
}

// processorTime returns the CPU time that a process has used.
func processorTime(pid int) (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The fields after the name, which is in parentheses. A tick is 10 ms.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	var used time.Duration
	for _, i := range []int{11, 12} {
		ticks, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return 0, err
		}
		used += time.Duration(ticks) * 10 * time.Millisecond
	}
	return used, nil
}

// metric returns the value of a metric of the server that has no labels.
func (s *server) metric(ctx context.Context, name string) (float64, error) {
	text, err := get(ctx, "http://"+s.admin+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), name+" "); ok {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, fmt.Errorf("%s has no metric %s", s.name, name)
}

// memory returns the anonymous memory of the process, in MiB. It excludes the pages
// of the program file, which belong to the page cache.
func (s *server) memory() (float64, error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", s.process.Process.Pid))
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), "RssAnon:"); ok {
			kib, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 64)
			return kib / 1024, err
		}
	}
	return 0, fmt.Errorf("%s shows no memory", s.name)
}

// get returns the body of a page. A status other than 200 is an error.
func get(ctx context.Context, url string, header map[string]string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	for k, v := range header {
		req.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %s", url, res.Status, body)
	}
	return body, err
}

// profile takes a CPU profile in the background, if profiles are wanted and d is 2 s
// or more.
func (s *server) profile(ctx context.Context, d time.Duration) <-chan error {
	done := make(chan error, 1)
	if s.profiles == "" || d < 2*time.Second {
		close(done)
		return done
	}
	go func() {
		profile, err := get(ctx, fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", s.admin, int(d.Seconds())-1), nil)
		if err == nil {
			err = os.WriteFile(filepath.Join(s.profiles, fmt.Sprintf("cpu-%d.pprof", time.Now().UnixMilli())), profile, 0o600)
		}
		done <- err
	}()
	return done
}
