package idempotency

import (
	"fmt"
	"testing"

	"github.com/moderato-live/moderato/test/doctest"
)

func TestDocsStateBudget(t *testing.T) {
	doctest.Want(t, "docs/idempotency.md", fmt.Sprintf("A response of %d KiB or more is long.", longResponse>>10))
	doctest.Want(t, "docs/idempotency.md", fmt.Sprintf("may store %d MiB of long responses a day", dailyBudget>>20))
}
