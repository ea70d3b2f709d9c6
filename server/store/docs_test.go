package store

import (
	"fmt"
	"testing"

	"github.com/moderato-live/moderato/server/store/prepared"
	"github.com/moderato-live/moderato/test/doctest"
)

func TestDocumentationStatesStoreLimits(t *testing.T) {
	doctest.Want(t, "docs/operations.md",
		fmt.Sprintf("opens up to %d connections", maxConnections),
		fmt.Sprintf("keeps up to %d prepared statements on each connection", prepared.StatementsKept),
		fmt.Sprintf("a lock timeout of %s", doctest.Duration(lockWaitTimeout)),
		fmt.Sprintf("a statement timeout of %s", doctest.Duration(statementTimeout)))
	if servers := 16_382 / (maxConnections * prepared.StatementsKept); servers != 1 {
		t.Errorf("%d servers fit into MySQL's prepared statements, and operations.md says that two do not", servers)
	}
}
