package server

import (
	"strings"
	"testing"

	"google.golang.org/grpc/encoding"
	protocodec "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
)

func TestCodecLimitsNestedMessages(t *testing.T) {
	const objects = 16 // the levels that the contract allows
	for _, tt := range []struct {
		name      string
		text      []byte
		into      proto.Message
		isRefused bool
	}{
		{"an import with all levels of an action", importOf(t, objects), &platformv1.ImportRequest{}, false},
		{"an import with more levels, which validation refuses by name", importOf(t, objects+10), &platformv1.ImportRequest{}, false},
		{"as many messages as are allowed", nestedLists(maxMessageDepth), &structpb.ListValue{}, false},
		{"one more", nestedLists(maxMessageDepth + 1), &structpb.ListValue{}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := codec{encoding.GetCodecV2(protocodec.Name)}.Unmarshal(mem.BufferSlice{mem.SliceBuffer(tt.text)}, tt.into)
			if isRefused := err != nil; isRefused != tt.isRefused {
				t.Errorf("got %v, want refused: %t", err, tt.isRefused)
			}
			if tt.isRefused && !strings.Contains(err.Error(), "100 levels deep") {
				t.Errorf("got %q, want an error that names the limit", err)
			}
		})
	}
}

// importOf returns an import of an activity, whose action has a number of nested objects.
func importOf(t *testing.T, objects int) []byte {
	t.Helper()
	action := &structpb.Struct{}
	for range objects - 1 {
		action = &structpb.Struct{Fields: map[string]*structpb.Value{"in": structpb.NewStructValue(action)}}
	}
	text, err := proto.Marshal(&platformv1.ImportRequest{Records: []*platformv1.Record{
		{Kind: &platformv1.Record_Activity{Activity: &platformv1.ActivityRecord{Action: action}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// nestedLists returns a ListValue that consists of a number of nested messages, by turns a
// ListValue and a Value.
func nestedLists(messages int) (text []byte) {
	const values, listValue = 1, 6 // the fields of ListValue and Value
	for level := messages - 1; level > 0; level-- {
		field := protowire.Number(values)
		if level%2 == 0 {
			field = listValue
		}
		text = protowire.AppendBytes(protowire.AppendTag(nil, field, protowire.BytesType), text)
	}
	return text
}
