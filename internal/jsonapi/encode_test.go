package jsonapi_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/jsonapi"
)

func at(text string) *timestamppb.Timestamp {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		panic(err)
	}
	return timestamppb.New(t)
}

// parsed returns a message of a test type, read from JSON.
func parsed(t *testing.T, typ protoreflect.MessageType, text string) proto.Message {
	t.Helper()
	m := empty(typ)
	if err := jsonapi.Unmarshal([]byte(text), m, jsonapi.Options{RejectUnknown: true}); err != nil {
		t.Fatalf("Unmarshal(%s): %v", text, err)
	}
	return m
}

// set returns a message of a test type with one field set.
func set(typ protoreflect.MessageType, name protoreflect.Name, v any) proto.Message {
	m := typ.New()
	m.Set(m.Descriptor().Fields().ByName(name), protoreflect.ValueOf(v))
	return m.Interface()
}

func TestMarshal(t *testing.T) {
	const zeroScalars = `{"aString":"","aDouble":0,"aFloat":0,"aBool":false,"anInt32":0,"anInt64":0,"aUint32":0,` +
		`"aUint64":0,"aSint32":0,"aSint64":0,"aFixed32":0,"aFixed64":0,"anSfixed32":0,"anSfixed64":0,` +
		`"someBytes":"","aColor":"COLOR_UNSPECIFIED"}`
	tests := []struct {
		name string
		m    proto.Message
		want string
	}{
		{"every field in the order of declaration",
			&moderatov1.UserSummary{Id: "1", DisplayName: "Ann", Slug: "ann", AvatarUrl: "https://x/a?b&c"},
			`{"id":"1","displayName":"Ann","slug":"ann","avatarUrl":"https://x/a?b&c"}`},
		{"zero values without presence", &moderatov1.UserSummary{},
			`{"id":"","displayName":"","slug":"","avatarUrl":""}`},
		{"a nil pointer as an empty message", (*moderatov1.UserSummary)(nil),
			`{"id":"","displayName":"","slug":"","avatarUrl":""}`},
		{"a nil interface as null", nil, `null`},
		{"a message without fields", &moderatov1.AddModeratorResponse{}, `{}`},
		{"a timestamp with exactly three fraction digits",
			&moderatov1.BanUserResponse{ChannelId: "c", BannedAt: at("2026-01-31T18:00:00Z")},
			`{"channelId":"c","moderatorId":"","bannedUserId":"","bannedUserDisplayName":"","bannedAt":"2026-01-31T18:00:00.000Z"}`},
		{"unset message field as null", &moderatov1.BanUserResponse{},
			`{"channelId":"","moderatorId":"","bannedUserId":"","bannedUserDisplayName":"","bannedAt":null}`},
		{"an empty list", &moderatov1.ListModeratorsResponse{}, `{"moderators":[],"pagination":null}`},
		{"a list of messages",
			&moderatov1.ListModeratorsResponse{Moderators: []*moderatov1.UserSummary{{Id: "1"}, nil, {Id: "2"}}},
			`{"moderators":[{"id":"1","displayName":"","slug":"","avatarUrl":""},` +
				`{"id":"","displayName":"","slug":"","avatarUrl":""},{"id":"2","displayName":"","slug":"","avatarUrl":""}],"pagination":null}`},
		{"unset scalar with presence as null", &platformv1.ListMessagesRequest{},
			`{"channelId":"","cursor":"","limit":null}`},
		{"scalar with presence set to zero", &platformv1.ListMessagesRequest{Limit: proto.Int32(0)},
			`{"channelId":"","cursor":"","limit":0}`},
		{"64-bit integers as numbers",
			&platformv1.CategoryRecord{Id: math.MaxInt64, ParentId: proto.Int64(math.MinInt64)},
			`{"id":9223372036854775807,"parentId":-9223372036854775808,"name":"","slug":"","imageUrl":""}`},
		{"an integer that its field declares as a string", &moderatov1.ThanksEvent{Amount: math.MaxInt64},
			`{"channelId":"","clientId":"","userId":"","userDisplayName":"","userSlug":"","key":"","amount":"9223372036854775807",` +
				`"message":"","thankedAt":null,"sender":null,"thanksId":"","messageId":"","createdAt":null}`},
		{"repeated enums by name",
			&platformv1.GetStandingResponse{Roles: []platformv1.Role{platformv1.Role_ROLE_OWNER, platformv1.Role_ROLE_OG}},
			`{"isBanned":false,"bannedAt":null,"muteExpiresAt":null,"roles":["ROLE_OWNER","ROLE_OG"],"canPost":false}`},
		{"an enum value without a name by number",
			&platformv1.GetStandingResponse{Roles: []platformv1.Role{99}},
			`{"isBanned":false,"bannedAt":null,"muteExpiresAt":null,"roles":[99],"canPost":false}`},
		{"repeated strings", &platformv1.GrantRecord{Scopes: []string{"users.read", "channel.moderate"}},
			`{"clientId":"","userId":"","scopes":["users.read","channel.moderate"]}`},
		{"only the set member of a oneof",
			&platformv1.Record{Kind: &platformv1.Record_Role{Role: &platformv1.RoleRecord{Role: "vip"}}},
			`{"role":{"channelId":"","userId":"","role":"vip"}}`},
		{"unset oneof", &platformv1.Record{}, `{}`},
		{"oneof member set to zero", set(choiceType, "a_number", int32(0)),
			`{"before":"","aNumber":0,"after":""}`},
		{"oneofs among other fields, none set", empty(choiceType), `{"before":"","after":""}`},
		{"zero values of all kinds", empty(scalarType), zeroScalars},
		{"fields with presence of all kinds, none set", empty(optType),
			`{"text":null,"count":null,"flag":null,"color":null,"bytes":null,"ratio":null,"at":null,"node":null}`},
		{"empty lists of all kinds", empty(listType),
			`{"strings":[],"ints":[],"colors":[],"nodes":[],"times":[],"bytes":[],"bools":[],"doubles":[],"values":[],"structs":[],"arrays":[]}`},
		{"empty maps", empty(mapType), `{"labels":{},"byInt":{},"byUint":{},"byBool":{},"nodes":{}}`},
		{"unset Struct as an object", empty(freeType), `{"struct":{},"value":null,"list":null}`},
		{"bytes in base64", set(scalarType, "some_bytes", []byte{0xFF, 0xFE, 0}),
			strings.Replace(zeroScalars, `"someBytes":""`, `"someBytes":"//4A"`, 1)},
		{"the largest unsigned integer", set(scalarType, "a_uint64", uint64(math.MaxUint64)),
			strings.Replace(zeroScalars, `"aUint64":0`, `"aUint64":18446744073709551615`, 1)},
		{"NaN as null", set(scalarType, "a_double", math.NaN()),
			strings.Replace(zeroScalars, `"aDouble":0`, `"aDouble":null`, 1)},
		{"an infinite number as null", set(scalarType, "a_float", float32(math.Inf(-1))),
			strings.Replace(zeroScalars, `"aFloat":0`, `"aFloat":null`, 1)},
		{"a Struct by itself", structOf(t, map[string]any{"b": []any{1, "x", nil, true}, "a": map[string]any{}}),
			`{"a":{},"b":[1,"x",null,true]}`},
		{"a Value of no kind as null", &structpb.Value{}, `null`},
		{"a timestamp by itself", at("0001-01-01T00:00:00Z"), `"0001-01-01T00:00:00.000Z"`},
		{"a timestamp after year 9999 as null", &timestamppb.Timestamp{Seconds: 253402300800}, `null`},
		{"a timestamp before year 1 as null", &timestamppb.Timestamp{Seconds: -62135596801}, `null`},
		{"a timestamp with wrong nanoseconds as null", &timestamppb.Timestamp{Nanos: -1}, `null`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := string(jsonapi.Marshal(test.m))
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if !json.Valid([]byte(got)) {
				t.Errorf("not JSON: %s", got)
			}
		})
	}
}

func structOf(t *testing.T, members map[string]any) *structpb.Struct {
	t.Helper()
	s, err := structpb.NewStruct(members)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestMarshalSortsKeys(t *testing.T) {
	m := parsed(t, mapType, `{"labels":{"b":"2","a":"1","B":"3"},"byInt":{"10":"x","9":"y","-1":"z"},`+
		`"byUint":{"18446744073709551615":true,"2":false},"byBool":{"true":1,"false":2},"nodes":{"n":{},"m":{"name":"x"}}}`)
	want := `{"labels":{"B":"3","a":"1","b":"2"},"byInt":{"-1":"z","9":"y","10":"x"},` +
		`"byUint":{"2":false,"18446744073709551615":true},"byBool":{"false":2,"true":1},` +
		`"nodes":{"m":{"name":"x","child":null,"moreNodes":[],"extra":{}},"n":{"name":"","child":null,"moreNodes":[],"extra":{}}}}`
	for range 20 { // the order of Go maps is random
		if got := string(jsonapi.Marshal(m)); got != want {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	}
}

func TestMarshalUsesShortestFloats(t *testing.T) {
	for _, f := range []float64{0, math.Copysign(0, -1), 1, -1.5, 0.1, 1e-6, 9.9e-7, 1e-9, 1e20, 1e21, 1.5e300, 5e-324, math.MaxFloat64} {
		want, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(jsonapi.Marshal(structpb.NewNumberValue(f))); got != string(want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := string(jsonapi.Marshal(set(optType, "ratio", 1e-7))); !strings.Contains(got, `"ratio":1e-7,`) {
		t.Errorf("got %s", got)
	}
	if got := string(jsonapi.Marshal(set(scalarType, "a_float", float32(0.1)))); !strings.Contains(got, `"aFloat":0.1,`) {
		t.Errorf("got %s", got)
	}
}

func TestMarshalTruncatesTimestampsToMilliseconds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		seconds := random.Int64N(253402300799+62135596800+1) - 62135596800
		stamp := &timestamppb.Timestamp{Seconds: seconds, Nanos: random.Int32N(1e9)}
		want := `"` + stamp.AsTime().Format("2006-01-02T15:04:05.000Z") + `"`
		if got := string(jsonapi.Marshal(stamp)); got != want {
			t.Fatalf("%v: got %s, want %s", stamp, got, want)
		}
	}
}

func TestAppendKeepsExistingBytes(t *testing.T) {
	b := jsonapi.Append([]byte("data: "), &moderatov1.RemoveBanResponse{})
	if string(b) != "data: {}" {
		t.Errorf("got %s", b)
	}
}

func TestAppendAllocatesLittle(t *testing.T) {
	b := make([]byte, 0, 4096)
	ban := &moderatov1.BanUserResponse{ChannelId: "c", ModeratorId: "m", BannedAt: timestamppb.Now()}
	users := &moderatov1.ListModeratorsResponse{Moderators: []*moderatov1.UserSummary{{Id: "1"}, {Id: "2"}, {Id: "3"}}}
	if n := testing.AllocsPerRun(100, func() { jsonapi.Append(b, ban) }); n > 0 {
		t.Errorf("%v allocations for a message of scalars and a timestamp", n)
	}
	if n := testing.AllocsPerRun(100, func() { jsonapi.Append(b, users) }); n > 2 {
		t.Errorf("%v allocations for a list of messages", n)
	}
}

func TestAppendList(t *testing.T) {
	const user = `{"id":"1","displayName":"","slug":"","avatarUrl":""}`
	tests := []struct {
		name string
		list any
		want string
		ok   bool
	}{
		{"messages", []*moderatov1.UserSummary{{Id: "1"}, {Id: "1"}}, `x[` + user + `,` + user + `]`, true},
		{"interfaces", []proto.Message{&moderatov1.UserSummary{Id: "1"}, nil}, `x[` + user + `,null]`, true},
		{"an empty slice", []*moderatov1.UserSummary{}, `x[]`, true},
		{"a nil slice", []*moderatov1.UserSummary(nil), `x[]`, true},
		{"nil", nil, `x[]`, true},
		{"not messages", []string{"a"}, `x`, false},
		{"not a slice", &moderatov1.UserSummary{}, `x`, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, ok := jsonapi.AppendList([]byte("x"), test.list)
			if string(got) != test.want || ok != test.ok {
				t.Errorf("got %s, %v, want %s, %v", got, ok, test.want, test.ok)
			}
		})
	}
}

func TestHasContent(t *testing.T) {
	if jsonapi.HasContent(&moderatov1.AddModeratorResponse{}) {
		t.Error("a message type without fields has content")
	}
	if !jsonapi.HasContent(&moderatov1.ListModeratorsResponse{}) {
		t.Error("an empty message of a type with fields has no content")
	}
	if jsonapi.HasContent(nil) {
		t.Error("nil has content")
	}
}

func TestAppendString(t *testing.T) {
	tests := []struct{ name, s, want string }{
		{"empty", "", `""`},
		{"plain", "Ann", `"Ann"`},
		{"quote and backslash", `a"b\c`, `"a\"b\\c"`},
		{"short escapes", "\n\r\t\b\f", `"\n\r\t\b\f"`},
		{"other control characters", "\x00\x1f\x7f", "\"\\u0000\\u001f\x7f\""},
		{"HTML unchanged", "<a>&'/", `"<a>&'/"`},
		{"non-ASCII unchanged", "é漢😀", `"é漢😀"`},
		{"line separators", "a\u2028b\u2029c\u202A", `"a\u2028b\u2029c` + "\u202A\""},
		{"bytes that are not UTF-8", "a\xffb\xc3", `"a` + "\uFFFDb\uFFFD\""},
		{"a surrogate in UTF-8", "\xed\xa0\x80", "\"\uFFFD\uFFFD\uFFFD\""},
		{"U+FFFD itself", "\uFFFD", "\"\uFFFD\""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := string(jsonapi.AppendString(nil, test.s)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// Unset values are written as protoreflect reads them: an unset message, an empty
// element, and bytes that are set but empty.
func TestMarshalUnsetFields(t *testing.T) {
	for _, c := range []struct {
		name string
		m    proto.Message
		want string
	}{
		{"an element", &moderatov1.ListModeratorsResponse{Moderators: []*moderatov1.UserSummary{nil}},
			`{"moderators":[{"id":"","displayName":"","slug":"","avatarUrl":""}],"pagination":null}`},
		{"a field", &moderatov1.ListFollowersResponse{}, `{"rows":[],"pagination":null}`},
		{"a timestamp", &moderatov1.GetLiveStatsResponse{},
			`{"startedAt":null,"isLive":false,"newFollowerCount":0,"newSubscriberCount":0,"viewerCount":0}`},
		{"the time in a timestamp", &moderatov1.GetLiveStatsResponse{IsLive: true, StartedAt: &timestamppb.Timestamp{}},
			`{"startedAt":"1970-01-01T00:00:00.000Z","isLive":true,"newFollowerCount":0,"newSubscriberCount":0,"viewerCount":0}`},
		{"the message", (*moderatov1.Pagination)(nil), `{"cursor":""}`},
		{"the bytes", wrapperspb.Bytes(nil), `{"value":""}`},
	} {
		if got := string(jsonapi.Marshal(c.m)); got != c.want {
			t.Errorf("%s: got  %s\nwant %s", c.name, got, c.want)
		}
	}
}
