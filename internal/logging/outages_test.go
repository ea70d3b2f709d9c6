package logging_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/moderato-live/moderato/internal/logging"
)

var errDatabase = errors.New("no connection")

// TestOutageIsLoggedOnce checks that an outage is two lines, whatever fails meanwhile.
func TestOutageIsLoggedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		text := slog.NewTextHandler(&out, nil)
		outages := logging.NewOutages(text, func(err error) bool { return errors.Is(err, errDatabase) })
		log := slog.New(outages.Handler(text)).With("server", "a").WithGroup("x")
		lines := func() (found []string) {
			for line := range strings.Lines(out.String()) {
				_, line, _ = strings.Cut(line, "msg=")
				found = append(found, strings.TrimSpace(line))
			}
			out.Reset()
			return found
		}
		want := func(want ...string) {
			t.Helper()
			if got := lines(); strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("got %q, want %q", got, want)
			}
		}
		ctx := t.Context()
		late := context.DeadlineExceeded
		const begins = `"the database fails; calls and jobs that fail because of it are not logged until it works again" error=`

		outages.Works(ctx)
		log.Warn("a job", "error", late) // of something else
		want(`"a job" server=a x.error="context deadline exceeded"`)
		for range 100 {
			log.Error("call", "error", fmt.Errorf("query: %w", errDatabase))
			log.Info("call", "error", late)
		}
		want(begins + `"query: no connection"`)
		log.Warn("another failure", "error", errors.New("NATS"))
		log.Info("another line")
		want(`"another failure" server=a x.error=NATS`, `"another line" server=a`)

		// A database without room still answers.
		for range 10 {
			time.Sleep(2 * time.Second)
			outages.Works(ctx)
			log.Error("call", "error", errDatabase)
		}
		want()
		time.Sleep(10 * time.Second)
		outages.Works(ctx)
		outages.Works(ctx)
		want(`"the database works again" failed_for_ms=20000 failures=210`)

		outages.Failed(ctx, late)
		log.Error("call", "error", late)
		want(begins + `"context deadline exceeded"`)
	})
}

// TestOutageKeepsDebuggingInformation checks that the level debug shows each failure.
func TestOutageKeepsDebuggingInformation(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	text := slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})
	log := slog.New(logging.NewOutages(text, func(error) bool { return true }).Handler(text))
	log.Error("call", "error", errDatabase, "request_id", 7)
	if want := `level=DEBUG msg=call error="no connection" request_id=7`; !strings.Contains(out.String(), want) {
		t.Errorf("got %s, want %s", out.String(), want)
	}
}
