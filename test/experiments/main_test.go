// Package experiments_test runs servers as processes, changes channels through them at a
// bounded rate, and meanwhile does them harm: it kills processes, cuts connections, stops the
// database, fills the disk, moves clocks. Afterwards a journal of the clients decides what
// the database and the subscribers must have; see docs/reliability.md.
//
// The scale is small in `make test`; `make soak` (MODERATO_SOAK=1) uses the figures of the
// documentation.
package experiments_test

import (
	"flag"
	"os"
	"testing"
	"time"

	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/servertest/process"
)

var soakFor = flag.Duration("for", 2*time.Hour, "how long TestSoak runs in a soak")

func TestMain(m *testing.M) {
	process.Main(m)
}

// isSoak reports whether the experiments run at full scale.
func isSoak() bool { return os.Getenv("MODERATO_SOAK") != "" }

// scaled returns the small figure, or the full one in a soak.
func scaled[T any](small, full T) T {
	if isSoak() {
		return full
	}
	return small
}

// patience is how long a check waits for what must happen, such as the delivery of events.
const patience = 30 * time.Second

// within returns a bound as promised in a soak, and with a reserve for a busy machine otherwise.
func within(promised time.Duration) time.Duration {
	return scaled(promised+servertest.Slack, promised)
}

// eventually waits until a condition holds, and reports whether it does in time.
func eventually(limit time.Duration, holds func() bool) bool {
	for deadline := time.Now().Add(limit); ; time.Sleep(20 * time.Millisecond) {
		if holds() {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
	}
}
