package watch

import (
	"fmt"
	"testing"

	"github.com/moderato-live/moderato/test/doctest"
)

func TestDocsStateIntervals(t *testing.T) {
	t.Parallel()
	doctest.Want(t, "docs/metrics.md", fmt.Sprintf("| `read events for listeners` | %s |", doctest.Duration(pollInterval)))
	doctest.Want(t, "docs/events.md", fmt.Sprintf("no event to send for %s", doctest.Duration(HeartbeatInterval)))
}
