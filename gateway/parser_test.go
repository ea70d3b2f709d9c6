package gateway

import (
	"errors"
	"maps"
	"net/url"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/rpc/apierr"
)

// everyKind returns a message type with a field of each kind that queries support (bool,
// int32, int64 and string, each also repeated) and a message field.
func everyKind(t testing.TB) protoreflect.MessageDescriptor {
	t.Helper()
	field := func(number int32, name string, kind descriptorpb.FieldDescriptorProto_Type, label descriptorpb.FieldDescriptorProto_Label) *descriptorpb.FieldDescriptorProto {
		f := &descriptorpb.FieldDescriptorProto{
			Name: proto.String(name), Number: proto.Int32(number), Type: kind.Enum(), Label: label.Enum(),
		}
		if kind == descriptorpb.FieldDescriptorProto_TYPE_MESSAGE {
			f.TypeName = proto.String(".test.Query")
		}
		return f
	}
	const (
		one  = descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL
		many = descriptorpb.FieldDescriptorProto_LABEL_REPEATED
	)
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: proto.String("test.proto"), Package: proto.String("test"), Syntax: proto.String("proto3"),
		MessageType: []*descriptorpb.DescriptorProto{{
			Name: proto.String("Query"),
			Field: []*descriptorpb.FieldDescriptorProto{
				field(1, "is_live", descriptorpb.FieldDescriptorProto_TYPE_BOOL, one),
				field(2, "page_limit", descriptorpb.FieldDescriptorProto_TYPE_INT32, one),
				field(3, "big_number", descriptorpb.FieldDescriptorProto_TYPE_INT64, one),
				field(4, "text", descriptorpb.FieldDescriptorProto_TYPE_STRING, one),
				field(5, "slug", descriptorpb.FieldDescriptorProto_TYPE_STRING, many),
				field(6, "category_id", descriptorpb.FieldDescriptorProto_TYPE_INT64, many),
				field(7, "flags", descriptorpb.FieldDescriptorProto_TYPE_BOOL, many),
				field(8, "inner", descriptorpb.FieldDescriptorProto_TYPE_MESSAGE, one),
				field(9, "inners", descriptorpb.FieldDescriptorProto_TYPE_MESSAGE, many),
			},
		}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return file.Messages().Get(0)
}

// parse parses a query string and returns the values it set, by JSON name, and the names
// of the invalid parameters.
func parse(t testing.TB, query string) (set map[string]any, wrong []string) {
	t.Helper()
	values, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	m := dynamicpb.NewMessage(everyKind(t))
	err = queryParser{}.Parse(m, values, nil)
	fault := new(apierr.Error)
	if err != nil && !errors.As(err, &fault) {
		t.Fatalf("%s: got %v, want violations", query, err)
	}
	for _, v := range fault.Violations {
		wrong = append(wrong, v.Field)
	}
	set = map[string]any{}
	for field, value := range m.Range {
		set[field.JSONName()] = plainValue(field, value)
	}
	return set, wrong
}

func plainValue(field protoreflect.FieldDescriptor, value protoreflect.Value) any {
	if !field.IsList() {
		return value.Interface()
	}
	var all []any
	for i := range value.List().Len() {
		all = append(all, value.List().Get(i).Interface())
	}
	return all
}

func TestQueryParserSetsFields(t *testing.T) {
	t.Parallel()
	list := func(values ...any) any { return values }
	for _, c := range []struct {
		query string
		want  map[string]any
	}{
		{"", map[string]any{}},
		{"isLive=true", map[string]any{"isLive": true}},
		{"flags=true&flags=false", map[string]any{"flags": list(true, false)}},
		{"pageLimit=20", map[string]any{"pageLimit": int32(20)}},
		{"pageLimit=20.0", map[string]any{"pageLimit": int32(20)}},
		{"pageLimit=2e1", map[string]any{"pageLimit": int32(20)}},
		{"pageLimit=-2147483648", map[string]any{"pageLimit": int32(-2147483648)}},
		{"bigNumber=9223372036854775807", map[string]any{"bigNumber": int64(9223372036854775807)}},
		{"bigNumber=-9223372036854775808", map[string]any{"bigNumber": int64(-9223372036854775808)}},
		{"text=%F0%9F%8E%AE+a%26b", map[string]any{"text": "🎮 a&b"}},
		{"slug[]=a&slug[]=b&slug[]=a", map[string]any{"slug": list("a", "b", "a")}},
		{"slug%5B%5D=a", map[string]any{"slug": list("a")}},
		{"slug=a", map[string]any{"slug": list("a")}},
		{"slug=a&slug=b", map[string]any{"slug": list("a", "b")}},
		{"slug[]=", map[string]any{"slug": list("")}},
		{"slug[1]=b&slug[0]=a&slug[10]=c", map[string]any{"slug": list("a", "b", "c")}},
		{"slug[0]=a&slug[0]=b", map[string]any{"slug": list("a", "b")}},
		{"slug=a,b", map[string]any{"slug": list("a,b")}},
		{"categoryId[]=1&categoryId[]=-2", map[string]any{"categoryId": list(int64(1), int64(-2))}},
		// Parameters without a field.
		{"slug]=a&[]=a&=a&[0]=a", map[string]any{}},
		{"inner.text=a&page=1&isLives2=true", map[string]any{}},
	} {
		set, wrong := parse(t, c.query)
		if len(wrong) > 0 {
			t.Errorf("%s: got violations of %q, want none", c.query, wrong)
		}
		if !maps.EqualFunc(set, c.want, equal) {
			t.Errorf("%s: got %v, want %v", c.query, set, c.want)
		}
	}
}

// TestQueryParserReadsTimes uses a request of the contract, because the message of everyKind has no
// time. A plus that is not percent-encoded is a space.
func TestQueryParserReadsTimes(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"since=2026-01-31T18:00:00Z":                            "2026-01-31T18:00:00Z",
		"since=2026-01-31T18:00:00.5%2B01:00":                   "2026-01-31T17:00:00.5Z",
		"since=2026-01-31T18:00:00+01:00":                       "",
		"since=2026-01-31T18:00:00":                             "",
		"since=2026-01-31":                                      "",
		"since=":                                                "",
		"since=2026-01-31T18:00:00Z&since=2026-01-31T18:00:00Z": "",
	} {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		var request moderatov1.RevertModeratorRequest
		err = queryParser{}.Parse(&request, values, nil)
		if want == "" {
			if fault := new(apierr.Error); !errors.As(err, &fault) || len(fault.Violations) != 1 || fault.Violations[0].Field != "since" {
				t.Errorf("%s: got %v, want a violation of since", query, err)
			}
		} else if got := request.GetSince().AsTime().Format(time.RFC3339Nano); err != nil || got != want {
			t.Errorf("%s: got %s and %v, want %s", query, got, err, want)
		}
	}
}

func equal(x, y any) bool {
	xs, isList := x.([]any)
	if !isList {
		return x == y
	}
	ys, isList := y.([]any)
	return isList && slices.Equal(xs, ys)
}

func TestQueryParserAcceptsAllListSpellings(t *testing.T) {
	t.Parallel()
	set, wrong := parse(t, "slug[]=a&slug=b&slug[0]=c")
	got, _ := set["slug"].([]any)
	for _, want := range []any{"a", "b", "c"} { // in whatever order
		if len(got) != 3 || !slices.Contains(got, want) {
			t.Errorf("got %v, want a, b and c", set)
		}
	}
	if len(wrong) > 0 {
		t.Errorf("got violations of %q, want none", wrong)
	}
}

func TestQueryParserReportsViolations(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		query string
		wrong []string
	}{
		{"isLive=1", []string{"isLive"}},
		{"isLive=True", []string{"isLive"}},
		{"isLive=", []string{"isLive"}},
		{"isLive", []string{"isLive"}},
		{"isLive=true&isLive=true", []string{"isLive"}},
		{"pageLimit=", []string{"pageLimit"}},
		{"pageLimit=x", []string{"pageLimit"}},
		{"pageLimit=1.5", []string{"pageLimit"}},
		{"pageLimit=1e-1", []string{"pageLimit"}},
		{"pageLimit=0x10", []string{"pageLimit"}},
		{"pageLimit=1_0", []string{"pageLimit"}},
		{"pageLimit=+1", []string{"pageLimit"}}, // a space
		{"pageLimit=1%20", []string{"pageLimit"}},
		{"pageLimit=%2B5", []string{"pageLimit"}},
		{"pageLimit=01", []string{"pageLimit"}},
		{"pageLimit=007", []string{"pageLimit"}},
		{"bigNumber=00", []string{"bigNumber"}},
		{"pageLimit=2147483648", []string{"pageLimit"}},
		{"pageLimit=1&pageLimit=2", []string{"pageLimit"}},
		{"bigNumber=9223372036854775808", []string{"bigNumber"}},
		{"text=%ff", []string{"text"}},
		{"text=a&text=a", []string{"text"}},
		{"slug[]=a&slug[]=%ff", []string{"slug[]"}},
		{"slug=%ff&slug[]=%ff", []string{"slug", "slug[]"}},
		{"categoryId[]=1&categoryId[]=x", []string{"categoryId[]"}},
		{"flags=true&flags=yes", []string{"flags"}},
		{"inner=x", []string{"inner"}},
		{"inners[]=x", []string{"inners[]"}},
		// Misspelled names.
		{"is_live=true&page_limit=1&category_id[]=1", []string{"category_id[]", "is_live", "page_limit"}},
		{"IsLive=true&ISLIVE=true", []string{"ISLIVE", "IsLive"}},
		{"isLive[]=true&pageLimit[]=x&text[0]=x", []string{"isLive[]", "pageLimit[]", "text[0]"}},
		{"slugs[]=a&slugs=a&categoryIds=1", []string{"categoryIds", "slugs", "slugs[]"}},
		{"slug[][]=a&slug[a]=a&slug[00000]=a", []string{"slug[a]", "slug[][]", "slug[00000]"}},
		{"inner[text]=a&flag=true", []string{"flag", "inner[text]"}},
		{"text=%ff&pageLimit=x&isLive=x&slug=a", []string{"isLive", "pageLimit", "text"}},
	} {
		if _, wrong := parse(t, c.query); !slices.Equal(wrong, c.wrong) {
			t.Errorf("%s: got violations of %q, want %q", c.query, wrong, c.wrong)
		}
	}
}
