package jsonapi_test

import (
	"math/rand/v2"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/jsonapi"
)

// TestGeneratedAndDynamicMessagesMarshalEqually compares the encoding of generated
// structs with that of dynamic messages, which use protoreflect.
func TestGeneratedAndDynamicMessagesMarshalEqually(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, file := range []protoreflect.FileDescriptor{
		moderatov1.File_moderato_v1_common_proto, moderatov1.File_moderato_v1_channels_proto, moderatov1.File_moderato_v1_events_proto,
		moderatov1.File_moderato_v1_moderation_proto, moderatov1.File_moderato_v1_watch_proto, moderatov1.File_moderato_v1_webhooks_proto,
		moderatov1.File_moderato_v1_users_proto, moderatov1.File_moderato_v1_tokens_proto, moderatov1.File_moderato_v1_tickets_proto,
		descriptorpb.File_google_protobuf_descriptor_proto, wrapperspb.File_google_protobuf_wrappers_proto,
	} {
		for i := range file.Messages().Len() {
			typ := generated(file.Messages().Get(i))
			t.Run(string(typ.Descriptor().FullName()), func(t *testing.T) {
				wantTheSame(t, typ.New().Interface())
				for range 100 {
					m := typ.New()
					fill(m, random, 3)
					wantTheSame(t, m.Interface())
				}
			})
		}
	}
}

func wantTheSame(t *testing.T, m proto.Message) {
	t.Helper()
	wire, err := proto.MarshalOptions{AllowPartial: true}.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	dynamic := dynamicpb.NewMessage(m.ProtoReflect().Descriptor())
	if err := (proto.UnmarshalOptions{AllowPartial: true}).Unmarshal(wire, dynamic); err != nil {
		t.Fatal(err)
	}
	if got, want := string(jsonapi.Marshal(m)), string(jsonapi.Marshal(dynamic)); got != want {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
}

// Unset values are written like protoreflect reads them: an unset message, an empty
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
