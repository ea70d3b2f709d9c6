package idempotency

import (
	"fmt"
	"testing"

	"github.com/moderato-live/moderato/test/doctest"
)

func TestDocsStateBudget(t *testing.T) {
	doctest.Want(t, "docs/idempotency.md", fmt.Sprintf("%d MiB of responses of %d KiB or more a day", dailyBudget>>20, longResponse>>10))
}
