package validate_test

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/types/known/structpb"

	optionsv1 "github.com/moderato-live/moderato/gen/moderato/options/v1"
	"github.com/moderato-live/moderato/server/rpc/validate"
)

// nested returns an object with this number of levels; every second level is an array.
func nested(t *testing.T, levels int) *structpb.Struct {
	t.Helper()
	var inner any = "x"
	for level := levels; level > 1; level-- {
		if level%2 == 0 {
			inner = []any{inner}
		} else {
			inner = map[string]any{"k": inner}
		}
	}
	s, err := structpb.NewStruct(map[string]any{"k": inner})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestObjectLimits(t *testing.T) {
	t.Parallel()
	text := func(n int) *structpb.Struct {
		return &structpb.Struct{Fields: map[string]*structpb.Value{"k": structpb.NewStringValue(strings.Repeat("x", n))}}
	}
	numbers := func(n int) *structpb.Struct {
		list := make([]*structpb.Value, n)
		for i := range list {
			list[i] = structpb.NewNumberValue(1)
		}
		return &structpb.Struct{Fields: map[string]*structpb.Value{"k": structpb.NewListValue(&structpb.ListValue{Values: list})}}
	}
	number := &structpb.Struct{Fields: map[string]*structpb.Value{"a": structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{"b": structpb.NewNumberValue(1e16)}})}}
	for _, c := range []struct {
		name  string
		value *structpb.Struct
		want  string
	}{
		{"nothing", nil, ""},
		{"empty object", &structpb.Struct{}, ""},
		{"8 KiB", text(8<<10 - len(`{"k":""}`)), ""},
		{"a byte more", text(8<<10 - len(`{"k":""}`) + 1), "action must be at most 8 KiB of JSON"},
		{"a megabyte", text(1 << 20), "action must be at most 8 KiB of JSON"},
		{"4,000 numbers", numbers(4000), ""},
		{"4,100 numbers", numbers(4100), "action must be at most 8 KiB of JSON"},
		{"16 levels", nested(t, 16), ""},
		{"17 levels", nested(t, 17), "action must be at most 16 levels deep"},
		{"5,000 levels", nested(t, 5000), "action must be at most 16 levels deep"},
		{"a number that loses digits", number, "action.a.b must be a number of at most 9007199254740991, so that it keeps its digits"},
	} {
		var f validate.Fields
		f.Bind("action", &optionsv1.Bounds{Format: optionsv1.Format_FORMAT_OBJECT}).Struct("action", c.value)
		got := ""
		for _, v := range violations(t, &f) {
			got += v.Field + " " + v.Description
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
