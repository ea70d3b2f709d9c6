package validate

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/moderato-live/moderato/internal/jsonapi"
)

// Struct validates an object with contents of the caller's choice: its size, its depth,
// and that its numbers keep their digits.
func (f *Fields) Struct(field string, value *structpb.Struct) {
	maxBytes, maxDepth := int(f.bounds(field).GetMaxBytes()), int(f.bounds(field).GetMaxDepth())
	switch {
	case value == nil:
	case depth(structpb.NewStructValue(value), maxDepth) > maxDepth:
		f.Add(field, fmt.Sprintf("must be at most %d levels deep", maxDepth))
	// The size of the message is at most 5.5 times that of its JSON, and is known
	// without encoding it.
	case proto.Size(value) > 6*maxBytes, len(jsonapi.Marshal(value)) > maxBytes:
		f.Add(field, fmt.Sprintf("must be at most %d KiB of JSON", maxBytes>>10))
	default:
		f.numbers(field, structpb.NewStructValue(value))
	}
}

// depth returns the nesting depth of the objects and arrays of a value. It descends at
// most one level below limit.
func depth(v *structpb.Value, limit int) int {
	deepest := 0
	below := func(child *structpb.Value) {
		if limit > 0 {
			deepest = max(deepest, depth(child, limit-1))
		}
	}
	switch kind := v.GetKind().(type) {
	case *structpb.Value_StructValue:
		for _, child := range kind.StructValue.GetFields() {
			below(child)
		}
	case *structpb.Value_ListValue:
		for _, child := range kind.ListValue.GetValues() {
			below(child)
		}
	default:
		return 0
	}
	return deepest + 1
}

// numbers refuses numbers that could have lost digits, because the numbers of a Struct
// are doubles.
func (f *Fields) numbers(field string, v *structpb.Value) {
	switch kind := v.GetKind().(type) {
	case *structpb.Value_NumberValue:
		if math.IsNaN(kind.NumberValue) || math.Abs(kind.NumberValue) > MaxInteger {
			f.Add(field, fmt.Sprintf("must be a number of at most %d, so that it keeps its digits", int64(MaxInteger)))
		}
	case *structpb.Value_StructValue:
		for _, name := range slices.Sorted(maps.Keys(kind.StructValue.GetFields())) {
			f.numbers(field+"."+name, kind.StructValue.GetFields()[name])
		}
	case *structpb.Value_ListValue:
		for _, value := range kind.ListValue.GetValues() {
			f.numbers(field, value)
		}
	}
}
