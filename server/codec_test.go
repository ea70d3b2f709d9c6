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
		isRefused bool
	}{
		{"an import with all levels of an action", importOf(t, objects), false},
		{"an import with more levels, which validation refuses by name", importOf(t, objects+10), false},
		{"a hundred messages", nestedLists(t, maxMessageDepth), false},
		{"more than a hundred messages", nestedLists(t, maxMessageDepth+1), true},
		{"100,000 messages", nestedLists(t, 100_000), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var decoded proto.Message = new(structpb.ListValue)
			if strings.HasPrefix(tt.name, "an import") {
				decoded = new(platformv1.ImportRequest)
			}
			err := codec{encoding.GetCodecV2(protocodec.Name)}.Unmarshal(mem.BufferSlice{mem.SliceBuffer(tt.text)}, decoded)
			if isRefused := err != nil; isRefused != tt.isRefused {
				t.Errorf("got %v, want refused: %t", err, tt.isRefused)
			}
			if tt.isRefused && !strings.Contains(err.Error(), "100 nested messages") {
				t.Errorf("got %q, want an error that names the limit", err)
			}
		})
	}
}

// importOf returns an import of an activity whose action has that many objects in each other.
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

// nestedLists returns that many messages in each other: lists of values that are lists.
func nestedLists(t *testing.T, messages int) []byte {
	t.Helper()
	const valuesTag, listTag = 1<<3 | 2, 6<<3 | 2
	sizes := []int{0}
	for i := range messages - 1 {
		inner := sizes[i]
		sizes = append(sizes, 1+len(protowire.AppendVarint(nil, uint64(inner)))+inner)
	}
	var text []byte
	for i := messages - 2; i >= 0; i-- {
		tag := byte(valuesTag)
		if (messages-2-i)%2 == 1 {
			tag = listTag
		}
		text = append(append(text, tag), protowire.AppendVarint(nil, uint64(sizes[i]))...)
	}
	return text
}
