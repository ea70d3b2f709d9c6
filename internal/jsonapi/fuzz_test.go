package jsonapi_test

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/jsonapi"
)

// seeds are texts with every kind of value and of mistake.
var seeds = []string{
	`{}`, `{"id":"1","displayName":"\ud83d\ude00","slug":null,"avatarUrl":"é"}`,
	`{"category":{"id":1,"parentId":null}}`, `{"grant":{"scopes":["a","b"]}}`,
	`{"message":{"sentAt":"2026-01-31T18:00:00.123456+01:00"}}`,
	`{"isBanned":true,"roles":["ROLE_OG"],"bannedAt":"2026-01-31T18:00:00Z"}`,
	`{"aDouble":-1.5e-7,"aFloat":1e38,"anInt64":-9223372036854775808,"someBytes":"AAE=","aColor":"COLOR_RED"}`,
	`{"labels":{"a":"b"},"byInt":{"-1":"x"},"byBool":{"true":1},"nodes":{"n":{}}}`,
	`{"struct":{"a":[1,null,{"b":[]}]},"value":[true],"list":[{}]}`,
	`{"values":[null,1,"x"],"structs":[{}],"arrays":[[],[[]]],"times":["0001-01-01T00:00:00Z"]}`,
	`{"child":{"child":{"moreNodes":[{"name":"x"}]}}}`, `{"aText":"","otherFlag":false}`,
	`{"a":1,"a":2} x`, `[1,]`, `{"a":01}`, `{"a":"\ud800"}`, "{\"a\":\"\xff\"}", " ",
}

// FuzzUnmarshal checks that Unmarshal never panics, that an accepted message survives
// being written and read again, and that Unmarshal accepts only texts that encoding/json
// accepts as JSON.
func FuzzUnmarshal(f *testing.F) {
	types := allTypes()
	for _, seed := range seeds {
		for i := range types {
			f.Add([]byte(seed), uint8(i), i%2 == 0)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, choice uint8, strict bool) {
		opts := jsonapi.Options{RejectUnknown: strict}
		typ := types[int(choice)%len(types)]
		m := typ.New().Interface()
		if err := jsonapi.Unmarshal(data, m, opts); err != nil {
			if err.Error() == "" {
				t.Error("an error without a text")
			}
			return
		}
		if !json.Valid(data) {
			t.Fatalf("accepted %q, which is not JSON", data)
		}
		text := jsonapi.Marshal(m)
		if !json.Valid(text) {
			t.Fatalf("%q became %q, which is not JSON", data, text)
		}
		again := typ.New().Interface()
		if err := jsonapi.Unmarshal(text, again, jsonapi.Options{RejectUnknown: true}); err != nil {
			t.Fatalf("%q became %q, which is refused: %v", data, text, err)
		}
		canonical(m.ProtoReflect())
		if !proto.Equal(again, m) {
			t.Fatalf("%q became %q: got %v, want %v", data, text, again, m)
		}
	})
}

// FuzzWellFormed compares with encoding/json which texts are accepted as JSON, through
// types that accept any object.
func FuzzWellFormed(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		skipped := jsonapi.Unmarshal(data, &moderatov1.AddModeratorResponse{}, jsonapi.Options{})
		taken := jsonapi.Unmarshal(data, &structpb.Struct{}, jsonapi.Options{})
		if json.Valid(data) {
			return // Unmarshal may reject it for other reasons, such as a repeated name
		}
		if skipped == nil || taken == nil {
			t.Errorf("accepted %q: skipped %v, taken %v", data, skipped, taken)
		}
	})
}

// FuzzAppendString checks that encoding/json reads back what was written.
func FuzzAppendString(f *testing.F) {
	for _, seed := range []string{"", "a", "\"\\/\b\f\n\r\t\x00\x1f\x7f", "é漢😀\u2028\u2029\uFFFD", "\xff\xc3\xed\xa0\x80"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text := jsonapi.AppendString(nil, s)
		if !utf8.Valid(text) {
			t.Errorf("%q became %q, which is not UTF-8", s, text)
		}
		var got string
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("%q became %q: %v", s, text, err)
		}
		want := string([]rune(s)) // the conversion replaces invalid UTF-8
		if got != want {
			t.Errorf("%q became %q, which reads %q", s, text, got)
		}
	})
}
