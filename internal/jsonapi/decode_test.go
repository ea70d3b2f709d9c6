package jsonapi_test

import (
	"errors"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/jsonapi"
)

func TestUnmarshal(t *testing.T) {
	tests := []struct {
		name, text string
		want       proto.Message
	}{
		{"names in lower camel case", `{"channelId":"c","banUserId":"u"}`,
			&moderatov1.BanUserRequest{ChannelId: "c", BanUserId: "u"}},
		{"an empty object", `{}`, &moderatov1.BanUserRequest{}},
		{"white space around", " \t\r\n{ \"slug\" : \"s\" }\n", &moderatov1.UserSummary{Slug: "s"}},
		{"null as not set", `{"id":1,"parentId":null,"name":null}`, &platformv1.CategoryRecord{Id: 1}},
		{"null for fields of all kinds",
			`{"isBanned":null,"bannedAt":null,"roles":null}`, &platformv1.GetStandingResponse{}},
		{"zero with presence", `{"parentId":0}`, &platformv1.CategoryRecord{ParentId: proto.Int64(0)}},
		{"the bounds of 64 bits", `{"id":9223372036854775807,"parentId":-9223372036854775808}`,
			&platformv1.CategoryRecord{Id: 1<<63 - 1, ParentId: proto.Int64(-1 << 63)}},
		{"minus zero", `{"id":-0}`, &platformv1.CategoryRecord{}},
		{"whole numbers with a fraction", `{"id":600.0,"parentId":-9223372036854775807.00}`,
			&platformv1.CategoryRecord{Id: 600, ParentId: proto.Int64(-1<<63 + 1)}},
		{"whole numbers with an exponent", `{"id":0.06e+4,"parentId":9007199254740993000e-3}`,
			&platformv1.CategoryRecord{Id: 600, ParentId: proto.Int64(9007199254740993)}},
		{"zero with an exponent", `{"id":0.00e99999999999999999999,"parentId":-0.0}`, &platformv1.CategoryRecord{ParentId: proto.Int64(0)}},
		{"arrays of strings", `{"scopes":["a","b"]}`, &platformv1.GrantRecord{Scopes: []string{"a", "b"}}},
		{"arrays of enums", `{"roles":["ROLE_VIP","ROLE_UNSPECIFIED"]}`,
			&platformv1.GetStandingResponse{Roles: []platformv1.Role{3, 0}}},
		{"arrays of messages", `{"moderators":[{"id":"1"},{}]}`,
			&moderatov1.ListModeratorsResponse{Moderators: []*moderatov1.UserSummary{{Id: "1"}, {}}}},
		{"a member of a oneof", `{"client":{"id":"x","service":true}}`,
			&platformv1.Record{Kind: &platformv1.Record_Client{Client: &platformv1.ClientRecord{Id: "x", Service: true}}}},
		{"null for the other members of a oneof", `{"user":null,"client":{},"role":null}`,
			&platformv1.Record{Kind: &platformv1.Record_Client{Client: &platformv1.ClientRecord{}}}},
		{"escapes", `{"slug":"\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00é😀"}`,
			&moderatov1.UserSummary{Slug: "\"\\/\b\f\n\r\té😀é😀"}},
		{"escapes in names", `{"s\u006cug":"s"}`, &moderatov1.UserSummary{Slug: "s"}},
		{"a timestamp with milliseconds", `{"sentAt":"2026-01-31T18:00:00.123Z"}`,
			&platformv1.MessageRecord{SentAt: at("2026-01-31T18:00:00.123Z")}},
		{"a timestamp without fraction", `{"sentAt":"2026-01-31T18:00:00Z"}`,
			&platformv1.MessageRecord{SentAt: at("2026-01-31T18:00:00Z")}},
		{"a timestamp with letters in lower case", `{"sentAt":"2026-01-31t18:00:00.5z"}`,
			&platformv1.MessageRecord{SentAt: at("2026-01-31T18:00:00.5Z")}},
		{"a timestamp with nanoseconds and an offset", `{"sentAt":"2026-01-31T18:00:00.123456789+05:30"}`,
			&platformv1.MessageRecord{SentAt: at("2026-01-31T12:30:00.123456789Z")}},
		{"a timestamp with more digits than are kept", `{"sentAt":"2026-01-31T18:00:00.9999999999999Z"}`,
			&platformv1.MessageRecord{SentAt: at("2026-01-31T18:00:00.999999999Z")}},
		{"a timestamp on a leap day", `{"sentAt":"2024-02-29T00:00:00.5-23:59"}`,
			&platformv1.MessageRecord{SentAt: at("2024-02-29T23:59:00.5Z")}},
		{"the first and the last timestamp", `{"bannedAt":"0001-01-01T00:00:00Z","muteExpiresAt":"9999-12-31T23:59:59.999999999Z"}`,
			&platformv1.GetStandingResponse{
				BannedAt:      &timestamppb.Timestamp{Seconds: -62135596800},
				MuteExpiresAt: &timestamppb.Timestamp{Seconds: 253402300799, Nanos: 999999999},
			}},
		{"unknown fields passed over", `{"ban_user_id":"x","new":{"a":[1,-2.5e+3,"\n",true,false,null,{}]},"banUserId":"u"}`,
			&moderatov1.BanUserRequest{BanUserId: "u"}},
		{"a Struct by itself", `{"a":[null,{"b":0.5}]}`, &structpb.Struct{Fields: map[string]*structpb.Value{
			"a": structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{
				structpb.NewNullValue(),
				structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{"b": structpb.NewNumberValue(0.5)}}),
			}}),
		}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := test.want.ProtoReflect().New().Interface()
			if err := jsonapi.Unmarshal([]byte(test.text), got, jsonapi.Options{}); err != nil {
				t.Fatal(err)
			}
			if !proto.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func TestUnmarshalResetsTheMessage(t *testing.T) {
	m := &moderatov1.UserSummary{Id: "1", Slug: "s"}
	if err := jsonapi.Unmarshal([]byte(`{"slug":"t"}`), m, jsonapi.Options{}); err != nil {
		t.Fatal(err)
	}
	if m.Id != "" || m.Slug != "t" {
		t.Errorf("got %v", m)
	}
	if err := jsonapi.Unmarshal([]byte(`{"slug":"u","id":1}`), m, jsonapi.Options{}); err == nil || m.Slug != "" {
		t.Errorf("got %v, %v", m, err)
	}
}

// whole returns a violation of the whole text.
func whole(description string) []jsonapi.Violation {
	return []jsonapi.Violation{{Description: description}}
}

func TestUnmarshalRequiresOneObject(t *testing.T) {
	const single = "must be a single JSON object, without anything after it"
	deep := func(n int) string { return strings.Repeat(`{"a":`, n-1) + `{"a":1}` + strings.Repeat("}", n-1) }
	tests := []struct {
		name, text, want string
	}{
		{"empty", "", "a JSON object is required"},
		{"white space only", " \n", "a JSON object is required"},
		{"an array", `[{}]`, "must be a JSON object"},
		{"null", `null`, "must be a JSON object"},
		{"a string", `"a"`, "must be a JSON object"},
		{"two objects", `{} {}`, single},
		{"rubbish after the object", `{}x`, single},
		{"a zero byte after the object", "{}\x00", single},
		{"a zero byte", "\x00", "is not well-formed JSON (line 1, column 1)"},
		{"a byte order mark", "\ufeff{}", "is not well-formed JSON (line 1, column 1)"},
		{"no JSON", `hello`, "is not well-formed JSON (line 1, column 1)"},
		{"an object that does not end", `{`, "is not well-formed JSON (line 1, column 2)"},
		{"a name that does not end", `{"slu`, "is not well-formed JSON (line 1, column 6)"},
		{"a name without value", `{"slug"}`, "is not well-formed JSON (line 1, column 8)"},
		{"a name without quotes", `{slug:"a"}`, "is not well-formed JSON (line 1, column 2)"},
		{"a comma before the end", `{"slug":"a", }`, "is not well-formed JSON (line 1, column 14)"},
		{"an error in a later line", "{\n  \"slug\": \"é\", \"x\": }", "is not well-formed JSON (line 2, column 21)"},
		{"a missing comma", `{"slug":"a" "id":"b"}`, "is not well-formed JSON (line 1, column 13)"},
		{"the wrong bracket", `{"slug":"a"]`, "is not well-formed JSON (line 1, column 12)"},
		{"single quotes", `{"slug":'a'}`, "is not well-formed JSON (line 1, column 9)"},
		{"a control character in a string", "{\"slug\":\"a\nb\"}", "is not well-formed JSON (line 1, column 11)"},
		{"an unknown escape", `{"slug":"\x41"}`, "is not well-formed JSON (line 1, column 11)"},
		{"an escape that does not end", `{"slug":"\`, "is not well-formed JSON (line 1, column 11)"},
		{"an escape with a wrong digit", `{"slug":"\u00g0"}`, "is not well-formed JSON (line 1, column 14)"},
		{"invalid word", `{"slug":nul}`, "is not well-formed JSON (line 1, column 9)"},
		{"a number with a leading zero", `{"x":01}`, "is not well-formed JSON (line 1, column 7)"},
		{"a number with a plus", `{"x":+1}`, "is not well-formed JSON (line 1, column 6)"},
		{"a number without fraction digits", `{"x":1.}`, "is not well-formed JSON (line 1, column 8)"},
		{"a number without exponent digits", `{"x":1e+}`, "is not well-formed JSON (line 1, column 9)"},
		{"NaN", `{"x":NaN}`, "is not well-formed JSON (line 1, column 6)"},
		{"a comment", `{} // {}`, single},
		{"bytes that are not UTF-8", "{\"slug\":\"é\xff\"}", "is not valid Unicode (line 1, column 11)"},
		{"a surrogate in UTF-8", "{\"slug\":\"\xed\xa0\x80\"}", "is not valid Unicode (line 1, column 10)"},
		{"half a surrogate pair", `{"slug":"a\ud800"}`, "is not valid Unicode (line 1, column 11)"},
		{"the other half", `{"slug":"\udc00"}`, "is not valid Unicode (line 1, column 10)"},
		{"two first halves", `{"slug":"\ud800\ud800"}`, "is not valid Unicode (line 1, column 10)"},
		{"half a pair in an unknown field", `{"x":["\udfff"]}`, "is not valid Unicode (line 1, column 8)"},
		{"half a pair and a broken escape", `{"slug":"\ud800\u"}`, "is not well-formed JSON (line 1, column 18)"},
		{"33 levels", deep(33), "is nested deeper than 32 levels (line 1, column 162)"},
		{"very many levels", strings.Repeat(`{"a":`, 100_000), "is nested deeper than 32 levels (line 1, column 162)"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			checkViolations(t, &moderatov1.UserSummary{}, test.text, jsonapi.Options{}, whole(test.want))
		})
	}
	if err := jsonapi.Unmarshal([]byte(deep(32)), &moderatov1.UserSummary{}, jsonapi.Options{}); err != nil {
		t.Errorf("32 levels: %v", err)
	}
}

func checkViolations(t *testing.T, m proto.Message, text string, opts jsonapi.Options, want []jsonapi.Violation) {
	t.Helper()
	err := jsonapi.Unmarshal([]byte(text), m, opts)
	var refused *jsonapi.Error
	if !errors.As(err, &refused) {
		t.Fatalf("got %v, want an *Error", err)
	}
	if len(refused.Violations) != len(want) {
		t.Fatalf("got %q, want %q", refused.Violations, want)
	}
	for i, v := range refused.Violations {
		if v != want[i] {
			t.Errorf("violation %d: got %q, want %q", i, v, want[i])
		}
	}
}

func TestUnmarshalListsAllViolations(t *testing.T) {
	text := `{"channelId":5,"banUserId":["a"],"banUsername":null,"ban_user_id":"x","channelId":"c"}`
	checkViolations(t, &moderatov1.BanUserRequest{}, text, jsonapi.Options{RejectUnknown: true}, []jsonapi.Violation{
		{Field: "channelId", Description: "must be a string"},
		{Field: "banUserId", Description: "must be a string"},
		{Field: "ban_user_id", Description: "is not a known field"},
		{Field: "channelId", Description: "is given more than once"},
	})
}

func TestUnmarshalListsViolationsBeforeASyntaxError(t *testing.T) {
	checkViolations(t, &moderatov1.BanUserRequest{}, `{"channelId":5,"banUserId":}`, jsonapi.Options{}, []jsonapi.Violation{
		{Field: "channelId", Description: "must be a string"},
		{Description: "is not well-formed JSON (line 1, column 28)"},
	})
}

func TestUnmarshalListsAtMost100Violations(t *testing.T) {
	text := `{"scopes":[` + strings.Repeat("1,", 10_000) + `1]} x`
	err := jsonapi.Unmarshal([]byte(text), &platformv1.GrantRecord{}, jsonapi.Options{})
	var refused *jsonapi.Error
	if !errors.As(err, &refused) || len(refused.Violations) != 101 {
		t.Fatalf("got %v", err)
	}
	if last := refused.Violations[100]; last.Field != "" {
		t.Errorf("the violation of the text is missing: %q", last)
	}
}

func TestErrorStringIsOneLine(t *testing.T) {
	err := jsonapi.Unmarshal([]byte(`{"slug":1,"a\nb\u2028":2} x`), &moderatov1.UserSummary{}, jsonapi.Options{RejectUnknown: true})
	want := "slug must be a string; a\uFFFDb\uFFFD is not a known field; " +
		"the text must be a single JSON object, without anything after it"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	err = jsonapi.Unmarshal(nil, &moderatov1.UserSummary{}, jsonapi.Options{})
	if err == nil || err.Error() != "a JSON object is required" {
		t.Errorf("got %v", err)
	}
}
