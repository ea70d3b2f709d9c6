package rules

import (
	"slices"
	"testing"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

// TestEveryFieldHasItsKind compares the fields of a rule with kindFields: those after the message
// belong to some kind.
func TestEveryFieldHasItsKind(t *testing.T) {
	fields := (*moderatov1.ChatRule)(nil).ProtoReflect().Descriptor().Fields()
	last := fields.ByJSONName("message").Number()
	for i := range fields.Len() {
		name, isOfKind := fields.Get(i).JSONName(), false
		for _, of := range kindFields {
			isOfKind = isOfKind || slices.Contains(of, name)
		}
		if isOfKind != (fields.Get(i).Number() > last) {
			t.Errorf("%s is of a kind: %t", name, isOfKind)
		}
	}
}
