package main

import (
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
	isPaused          bool // by SIGSTOP, while another is measured
	db                string
	owners            []credentials // of the owners of the first channels
	service           credentials
}

// startModerato starts a program as it is deployed, but without a rate limit.
func (b *bench) startModerato(ctx context.Context, name, program, db string) (*server, error) {
	return b.launch(ctx, name, program, db, "serve", "--db", db, "--rate-limit", "0", "--log-format", "json")
}

func (b *bench) launch(ctx context.Context, name, program, db string, args ...string) (*server, error) {
	s := &server{name: name, db: db}
	for flag, addr := range map[string]*string{"--http-addr": &s.http, "--grpc-addr": &s.grpc, "--admin-addr": &s.admin} {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0") // finds a free port
		if err != nil {
			return nil, err
		}
		*addr = l.Addr().String()
		args = append(args, flag, *addr)
		_ = l.Close()
	}
	logFile, err := os.Create(filepath.Join(b.dir, name+".log"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = logFile.Close() }()
	s.process = exec.CommandContext(context.WithoutCancel(ctx), program, args...)
	s.process.Stderr, s.process.Stdout = logFile, logFile
	s.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.process.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	b.running = append(b.running, s)
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if _, err = get(ctx, "http://"+s.admin+"/metrics", credentials{}); err == nil {
			return s, nil
		}
		if time.Now().After(deadline) || s.process.Process.Signal(syscall.Signal(0)) != nil {
			text, _ := os.ReadFile(logFile.Name())
			return nil, fmt.Errorf("%s does not start: %w: %s", name, err, bytes.TrimSpace(text))
		}
	}
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
func (s *server) pause(isPaused bool) {
	if s.isPaused == isPaused {
		return
	}
	s.isPaused = isPaused
	signal := syscall.SIGCONT
	if isPaused {
		signal = syscall.SIGSTOP
	}
	_ = s.process.Process.Signal(signal)
}

// processorTime returns the CPU time that the server has used so far.
func (s *server) processorTime() (used time.Duration, err error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.process.Process.Pid))
	if err != nil {
		return 0, err
	}
	// The fields after the name, which is in parentheses. A tick is 10 ms.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	for _, i := range []int{11, 12} {
		ticks, err := strconv.Atoi(fields[i])
		if err != nil {
			return 0, err
		}
		used += time.Duration(ticks) * 10 * time.Millisecond
	}
	return used, nil
}

// get returns the body of a page. A status other than 200 is an error.
func get(ctx context.Context, url string, as credentials) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Client-Id", as.client)
	req.Header.Set("Authorization", "Bearer "+as.token)
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
