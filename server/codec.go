package server

import (
	"fmt"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
)

// maxMessageDepth is how deep the messages of a request may be nested. C++ and Java have the
// same limit. An object with the 16 levels that the contract allows needs half of it. Go's own
// limit of 10,000 would let a caller who is not authenticated yet grow the stack of each call
// by megabytes.
const maxMessageDepth = 100

// codec is gRPC's codec with support for longResponse, and with a lower limit of nesting.
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

// Unmarshal decodes a message.
func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	message, isMessage := v.(proto.Message)
	if !isMessage {
		return c.CodecV2.Unmarshal(data, v)
	}
	text := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer text.Free()
	if err := (proto.UnmarshalOptions{RecursionLimit: maxMessageDepth}).Unmarshal(text.ReadOnlyData(), message); err != nil {
		return fmt.Errorf("decode a message, which may be nested %d levels deep: %w", maxMessageDepth, err)
	}
	return nil
}
