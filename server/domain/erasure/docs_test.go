package erasure

import (
	"fmt"
	"testing"

	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/test/doctest"
)

func TestDocumentationStatesEraserBatch(t *testing.T) {
	doctest.Want(t, "docs/metrics.md", fmt.Sprintf("removes or anonymizes the rows of deleted users and channels, %d rows at a time", tables.EraseBatch))
}
