package authn

import (
	"fmt"
	"testing"

	"github.com/moderato-live/moderato/test/doctest"
)

func TestDocumentationStatesTokenRemoval(t *testing.T) {
	doctest.Want(t, "docs/metrics.md",
		fmt.Sprintf("removes tokens that expired more than %d hours ago", int(keptAfterExpiry.Hours())))
}
