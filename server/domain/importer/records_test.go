package importer

import (
	"testing"

	"github.com/moderato-live/moderato/server/change/tables"
)

// TestEveryKindOfRecordIsImported fails for a kind of record that no domain stores. Follows
// are stored in bulk, without an Import.
func TestEveryKindOfRecordIsImported(t *testing.T) {
	for i := range tables.Kinds().Len() {
		kind := tables.Kinds().Get(i)
		if _, isKnown := imports[kind.Number()]; !isKnown && kind.Name() != "follow" {
			t.Errorf("no table imports the record %s; add it to the Imports of its table", kind.Name())
		}
	}
}
