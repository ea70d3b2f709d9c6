package watch

import (
	"fmt"
	"testing"

	"github.com/moderato-live/moderato/test/doctest"
)

func TestDocsStateIntervals(t *testing.T) {
	doctest.Want(t, "docs/metrics.md", fmt.Sprintf("polls the database for events of other servers, every %s.", doctest.Duration(pollInterval)))
	doctest.Want(t, "docs/events.md", fmt.Sprintf("no event to send for %s", doctest.Duration(HeartbeatInterval)))
}
