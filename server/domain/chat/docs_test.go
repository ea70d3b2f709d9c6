package chat

import (
	"fmt"
	"testing"

	"github.com/moderato-live/moderato/test/doctest"
)

func TestDocumentationStatesPurgerBatch(t *testing.T) {
	doctest.Want(t, "docs/metrics.md", fmt.Sprintf("the rows of deleted messages, %d at a time", purgeBatch))
	doctest.Want(t, "docs/changes.md", fmt.Sprintf("hidden rows later, %d at a time", purgeBatch))
}
