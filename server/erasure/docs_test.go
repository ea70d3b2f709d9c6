package erasure

import (
	"fmt"
	"testing"

	"github.com/moderato-live/moderato/server/doctest"
)

func TestOperationsStateTheBatchOfTheEraser(t *testing.T) {
	doctest.Want(t, "docs/operations.md", fmt.Sprintf("what deleted users and channels leave, %d rows at a time", batch))
}
