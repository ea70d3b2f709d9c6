// Package requests_test sends a server requests that no well-behaved client sends, or that
// the caller has no right to send. `make test` runs the short form of each experiment, and
// `make soak` (MODERATO_SOAK=1) the long one. docs/reliability.md lists them.
package requests_test

import (
	"os"
	"testing"

	"github.com/moderato-live/moderato/test/servertest/process"
)

func TestMain(m *testing.M) { process.Main(m) }

// isSoak reports whether the experiments run at full scale.
func isSoak() bool { return os.Getenv("MODERATO_SOAK") != "" }

// scaled returns the small figure, or the full one in a soak.
func scaled[T any](small, full T) T {
	if isSoak() {
		return full
	}
	return small
}
