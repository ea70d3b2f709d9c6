package server

import (
	"fmt"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
)

// maxMessageDepth is how deep the messages of a request may be nested. It is the limit of
// protobuf in C++ and Java, and leaves room for the values of 16 levels that a contract allows,
// each of which is up to three messages. The limit of protobuf in Go, 10,000 levels, lets
// a caller that is not authenticated yet grow a stack by megabytes with each call.
const maxMessageDepth = 100

// codec is gRPC's codec with support for longResponse, and a limit of nested messages.
type codec struct{ encoding.CodecV2 }

// Marshal encodes a message.
func (c codec) Marshal(v any) (mem.BufferSlice, error) {
	long, isLong := v.(*longResponse)
	if !isLong {
		return c.CodecV2.Marshal(v)
	}
	text, err := proto.Marshal(long.message)
	if err != nil {
		long.Put(nil)
		return nil, fmt.Errorf("encode a long list: %w", err)
	}
	return mem.BufferSlice{mem.NewBuffer(&text, long)}, nil
}

// Unmarshal decodes a message of a client.
func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	message, isMessage := v.(proto.Message)
	if !isMessage {
		return fmt.Errorf("decode a message: %T is not a protobuf message", v)
	}
	text := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer text.Free()
	if err := (proto.UnmarshalOptions{RecursionLimit: maxMessageDepth}).Unmarshal(text.ReadOnlyData(), message); err != nil {
		return fmt.Errorf("decode a message, which may have %d nested messages: %w", maxMessageDepth, err)
	}
	return nil
}
