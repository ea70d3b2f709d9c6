package authn

import (
	"fmt"
	"testing"

	"github.com/moderato-live/moderato/test/doctest"
)

func TestDocumentationStatesTokenRemoval(t *testing.T) {
	doctest.Want(t, "docs/metrics.md",
		fmt.Sprintf("expired more than %d hours ago are removed", int(keptAfterExpiry.Hours())))
}
