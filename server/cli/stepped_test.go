package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/server"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/servertest/process"
	"github.com/moderato-live/moderato/test/storetest"
)

// asStepper is the environment variable that makes the test binary a server whose
// transactions stop where its standard input says.
const asStepper = "TEST_RUNS_AS_STEPPER"

// Messages that such a server logs.
const (
	armed  = "armed"
	stands = "stands"
	passed = "passed"
)

// runStepped serves the database named by the first argument, until it is killed.
func runStepped() int {
	ctx := context.Background()
	log := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	stepper := &storetest.Stepper{
		Stands: func(step string) { log.InfoContext(ctx, stands, "step", strings.Join(strings.Fields(step), " ")) },
		Passed: func() { log.InfoContext(ctx, passed) },
	}
	url, err := store.ParseURL(os.Args[1])
	if err == nil {
		err = serveStepped(ctx, url, stepper, log)
	}
	log.ErrorContext(ctx, "ended", "error", err)
	return 1
}

func serveStepped(ctx context.Context, url store.URL, stepper *storetest.Stepper, log *slog.Logger) error {
	input := bufio.NewScanner(os.Stdin)
	arm := func() bool {
		var halt storetest.Halt
		if !input.Scan() || json.Unmarshal(input.Bytes(), &halt) != nil {
			return false
		}
		stepper.Set(halt)
		return true
	}
	arm() // before the server does anything
	config := servertest.Config(url)
	config.DBLayer, config.WebhookAllowPrivate, config.Log = stepper.Layer, true, log
	s, err := server.New(ctx, config)
	if err != nil {
		return err
	}
	log.InfoContext(ctx, "listening", "rest", s.HTTPAddr, "grpc", s.GRPCAddr, "admin", s.AdminAddr)
	go func() {
		for arm() {
			log.InfoContext(ctx, armed)
		}
	}()
	return s.Serve(ctx)
}

// stepped is a server that stops at chosen steps.
type stepped struct {
	*process.Server

	input   io.Writer
	armed   chan struct{} // the server knows where to stop
	reached chan string   // the step before which the server stopped; empty if it passed
}

// serveUpTo starts a server that stops at halt from its start on, and waits until the
// server is listening.
func serveUpTo(t *testing.T, url store.URL, halt storetest.Halt) *stepped {
	t.Helper()
	cmd := process.TestBinary(t, []string{asStepper + "=1"}, process.DBText(url))
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	p := &stepped{Server: &process.Server{Cmd: cmd}, input: input, armed: make(chan struct{}), reached: make(chan string, 1)}
	p.OnLine = func(line process.Line) {
		switch line.Msg {
		case armed:
			p.armed <- struct{}{}
		case stands, passed:
			p.reached <- line.Step
		}
	}
	go p.send(halt)
	p.Start(t)
	return p
}

func (p *stepped) send(halt storetest.Halt) {
	_ = json.NewEncoder(p.input).Encode(halt)
}

// stopAt makes the server stop at halt from now on.
func (p *stepped) stopAt(t *testing.T, halt storetest.Halt) {
	t.Helper()
	p.send(halt)
	select {
	case <-p.armed:
	case <-time.After(patience):
		t.Error("the server does not take the place to stop at")
	}
}

// stepReached returns the step before which the server stopped; empty if it passed.
func (p *stepped) stepReached(t *testing.T) string {
	t.Helper()
	select {
	case step := <-p.reached:
		return step
	case <-time.After(patience):
		t.Fatalf("the server made no progress; log:\n%s", p.Log())
		return ""
	}
}
