package validate

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/moderato-live/moderato/server/jsonapi"
)

// Bounds of an object that a caller chooses freely.
const (
	// MaxStructBytes is its length in JSON.
	MaxStructBytes = 8 << 10
	// MaxStructDepth is how deep its objects and arrays lie in each other; the object
	// itself is the first level.
	MaxStructDepth = 16
)

// Struct checks an object that a caller chooses freely: its size, its depth, and that
// its numbers keep their digits.
func (f *Fields) Struct(field string, value *structpb.Struct) {
	switch {
	case value == nil:
	case depth(structpb.NewStructValue(value), MaxStructDepth) > MaxStructDepth:
		f.Add(field, fmt.Sprintf("must be at most %d levels deep", MaxStructDepth))
	// Its size as a message is at most 5.5 times that in JSON, and known at once.
	case proto.Size(value) > 6*MaxStructBytes, len(jsonapi.Marshal(value)) > MaxStructBytes:
		f.Add(field, fmt.Sprintf("must be at most %d KiB of JSON", MaxStructBytes>>10))
	default:
		f.numbers(field, structpb.NewStructValue(value))
	}
}

// depth returns how deep the objects and arrays of a value lie in each other. It looks
// no deeper than one level below limit.
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

// numbers refuses numbers that lose digits on their way: those of a Struct are
// doubles.
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
