package gateway

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/rpc/apierr"
)

// For any query, the parser either reports which field is wrong, or sets exactly the
// fields that the query names.
func FuzzQueryParser(f *testing.F) {
	for _, query := range []string{
		"", "isLive=true&pageLimit=20&bigNumber=-1&text=a", "slug[]=a&slug=b&categoryId[]=1", "flags=false",
		"isLive=x&pageLimit=&text=%ff", "text=a&text=b", "inner=1&inners[]=2", "is_live=true&unknown=1&=&[]=",
	} {
		f.Add(query)
	}
	descriptor := everyKind(f)
	f.Fuzz(func(t *testing.T, query string) {
		values, err := url.ParseQuery(query)
		if err != nil {
			return // rejected before the query reaches the parser
		}
		m := dynamicpb.NewMessage(descriptor)
		err = queryParser{}.Parse(m, values, nil)
		fault := new(apierr.Error)
		if err != nil && !errors.As(err, &fault) {
			t.Fatalf("got the error %v, want violations", err)
		}
		for _, v := range fault.Violations {
			if len(values[v.Field]) == 0 || v.Description == "" {
				t.Fatalf("%q %q is no violation by %q", v.Field, v.Description, query)
			}
		}
		if err != nil {
			return
		}
		fields := descriptor.Fields()
		for i := range fields.Len() {
			field := fields.Get(i)
			given := len(values[field.JSONName()])
			if field.IsList() {
				if given += len(values[field.JSONName()+"[]"]); m.Get(field).List().Len() != given {
					t.Fatalf("%s: got %d values of %d by %q", field.Name(), m.Get(field).List().Len(), given, query)
				}
				continue
			}
			if given == 0 && m.Has(field) {
				t.Fatalf("%s is set by %q", field.Name(), query)
			}
			if text := values.Get(field.JSONName()); given == 1 && !holds(m.Get(field), text) {
				t.Fatalf("%s: got %v by %q", field.Name(), m.Get(field), query)
			}
			if given > 1 {
				t.Fatalf("%s is taken %d times by %q", field.Name(), given, query)
			}
		}
	})
}

// holds reports whether a value equals its text.
func holds(value protoreflect.Value, text string) bool {
	switch v := value.Interface().(type) {
	case int32, int64:
		n, err := strconv.ParseInt(text, 10, 64)
		return err == nil && value.Int() == n
	default:
		return fmt.Sprint(v) == text
	}
}

// Any body is either read or rejected with violations.
func FuzzBody(f *testing.F) {
	for _, body := range []string{
		"", "{}", "null", "[]", `"x"`, `{"channelId":"a","banUsername":"b"}`, `{"channelId":1}`, `{"channelId":null}`,
		`{"channelId":"a","channelId":"b"}`, `{"x":[{"y":[]}]}`, `{"x":"\ud800"}`, "{\"channelId\":\"\xff\"}",
		`{"channelId":"a"}{}`, strings.Repeat("[", 100), `{"grant":{"scopes":["a",1]}}`, `{"message":{"sentAt":"2026-01-31T18:00:00.000Z"}}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, m := range []proto.Message{&moderatov1.BanUserRequest{}, &moderatov1.AddModeratorRequest{}, &platformv1.Record{}} {
			err := (marshaler{}).Unmarshal(body, m)
			if err == nil {
				if !utf8.Valid(body) {
					t.Fatalf("%q is taken, and is not UTF-8", body)
				}
				if _, err := (marshaler{}).Marshal(m); err != nil {
					t.Fatalf("%q was read, and cannot be written: %v", body, err)
				}
				continue
			}
			var fault *apierr.Error
			if !errors.As(err, &fault) || len(fault.Violations) == 0 {
				t.Fatalf("%q: got the error %v, want violations", body, err)
			}
			for _, v := range fault.Violations {
				if v.Description == "" {
					t.Fatalf("%q: the violation of %q has no description", body, v.Field)
				}
			}
			if proto.Size(m) != 0 {
				t.Fatalf("%q is refused, and the request is not empty", body)
			}
		}
	})
}
