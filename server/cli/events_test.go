package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"log/slog"
	"strings"
	"syscall"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/event/outbox/outboxtest"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/servertest/process"
	"github.com/moderato-live/moderato/test/storetest"
)

// writeEvents writes an event of each type, and assigns their positions.
func writeEvents(t *testing.T, db *store.Store, q *outbox.Sequencer, kinds ...eventtype.Type) {
	t.Helper()
	for _, kind := range kinds {
		err := change.ApplyUnattended(t.Context(), db, servertest.Owner, func(_ context.Context, c *change.Change) error {
			c.Emit(kind, servertest.Viewer, outboxtest.Payload(kind))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := q.Turn(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// tail runs `events tail` until it has printed n lines, and returns its output. It calls
// happen once the command is listening.
func tail(t *testing.T, url store.URL, n int, happen func(), args ...string) (lines []string, said string) {
	t.Helper()
	cmd := process.Command(t, nil, append([]string{"events", "tail", process.DBFlag(url)}, args...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	says := bufio.NewScanner(errs)
	for says.Scan() && !strings.HasPrefix(says.Text(), "listening") {
		all.WriteString(says.Text() + "\n")
	}
	happen()
	printed := bufio.NewScanner(out)
	for len(lines) < n && printed.Scan() {
		lines = append(lines, printed.Text())
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	for says.Scan() {
		all.WriteString(says.Text() + "\n")
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v; output:\n%s", err, &all)
	}
	return lines, all.String()
}

func TestTailPrintsNewEvents(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		db := prepare(t, url)
		q := outbox.NewSequencer(db, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
		writeEvents(t, db, q, "channel.unban") // before it listens
		lines, said := tail(t, url, 1, func() { writeEvents(t, db, q, "channel.ban", "channel.unban") }, "--json", "--type=channel.unban")
		if len(lines) != 1 || !strings.HasPrefix(lines[0], `{"cursor":"`) || !strings.Contains(lines[0], `"sequence":3`) {
			t.Fatalf("it prints %q and says %s", lines, said)
		}
		_, cursor, found := strings.Cut(said, "--cursor ")
		if !found {
			t.Fatalf("it does not say how to go on: %s", said)
		}
		writeEvents(t, db, q, "channel.ban")
		lines, _ = tail(t, url, 1, func() {}, "--channel="+servertest.Owner.String(), "--cursor="+strings.TrimSpace(cursor))
		if len(lines) != 1 || !strings.Contains(lines[0], "#4  channel.ban ") {
			t.Errorf("from there it prints %q, want the fourth event", lines)
		}
		for flag, want := range map[string]string{
			"--cursor=x": "--cursor", "--channel=x": "--channel", "--type=x": "channel.ban",
			"--channel=" + servertest.Nobody.String(): "--channel " + servertest.Nobody.String() + ": There is no channel",
		} {
			if got := process.Run(t, nil, "", "events", "tail", process.DBFlag(url), flag); got.Code == 0 || !strings.Contains(got.Err, want) {
				t.Errorf("%s: got %+v", flag, got)
			}
		}
	})
}

func TestFsckExitCode(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		db := prepare(t, url)
		if got := process.Run(t, nil, "", "fsck", process.DBFlag(url)); got.Code != 0 || got.Out != "" {
			t.Errorf("a consistent database: got %+v", got)
		}
		if _, err := db.DB().Exec("UPDATE channels SET follower_count = 99"); err != nil {
			t.Fatal(err)
		}
		got := process.Run(t, nil, "", "fsck", process.DBFlag(url))
		if got.Code != 1 || !strings.Contains(got.Out, "follower_count is that of the rows: ") || !strings.Contains(got.Err, "findings") {
			t.Errorf("a counter that does not count: got %+v", got)
		}
	})
}
