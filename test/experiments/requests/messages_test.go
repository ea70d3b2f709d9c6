package requests_test

import (
	"context"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
)

// raw is a codec for messages that are sent as they are.
type raw struct{}

// Marshal implements encoding.CodecV2.
func (raw) Marshal(v any) (mem.BufferSlice, error) {
	message, _ := v.([]byte)
	return mem.BufferSlice{mem.SliceBuffer(message)}, nil
}

// Unmarshal implements encoding.CodecV2.
func (raw) Unmarshal(mem.BufferSlice, any) error { return nil }

// Name implements encoding.CodecV2.
func (raw) Name() string { return "proto" }

var _ encoding.CodecV2 = raw{}

// voter returns a function that sends the message of a vote as it is.
func (s *target) voter(t *testing.T) func(message []byte, options ...grpc.CallOption) error {
	t.Helper()
	conn, err := grpc.NewClient(s.GRPC, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return func([]byte, ...grpc.CallOption) error { return err }
	}
	t.Cleanup(func() { _ = conn.Close() })
	return func(message []byte, options ...grpc.CallOption) error {
		options = append(options, grpc.ForceCodecV2(raw{}))
		return conn.Invoke(s.backend.Context(), platformv1.ContentService_RecordVote_FullMethodName, message, nil, options...)
	}
}

// deepMessage sends messages with 100,000 levels. The server allows 100.
func deepMessage(ctx context.Context, t *testing.T, s *target, begun func()) {
	t.Helper()
	deep := deepAction(100_000)
	if code := status.Code(s.voter(t)(deep)); code != codes.Internal {
		t.Errorf("a message of 100,000 levels: got %v, want it to be refused", code)
	}
	message := grpcMessage(deep, false)
	repeat(ctx, func() {
		if c, err := s.dialHTTP2(ctx, overGRPC, false); err == nil {
			c.flood(ctx, begun, func() error { return c.call(c.voteHeaders(s), message) })
		}
	})
}

// voteHeaders returns the header of a vote.
func (c *rawHTTP2) voteHeaders(s *target, more ...string) []byte {
	return c.requestHeaders(platformv1.ContentService_RecordVote_FullMethodName,
		append(more, "authorization", "Bearer "+s.backend.Token, "client-id", s.backend.ClientID)...)
}

// deepAction returns a vote whose action, field 8, is nested.
func deepAction(levels int) []byte {
	const actionTag, fieldsTag, valueTag, listTag, valuesTag = 8<<3 | 2, 1<<3 | 2, 2<<3 | 2, 6<<3 | 2, 1<<3 | 2
	// Written from the end: each level is a list with one value.
	reversed := []byte{}
	length := 0
	wrap := func(tag byte) {
		prefix := []byte{tag}
		for n := length; ; n >>= 7 {
			if n < 0x80 {
				prefix = append(prefix, byte(n))
				break
			}
			prefix = append(prefix, byte(n)|0x80)
		}
		for i := len(prefix) - 1; i >= 0; i-- {
			reversed = append(reversed, prefix[i])
		}
		length += len(prefix)
	}
	for range levels {
		wrap(valuesTag)
		wrap(listTag)
	}
	wrap(valueTag)
	wrap(fieldsTag)
	wrap(actionTag)
	message := make([]byte, len(reversed))
	for i, b := range reversed {
		message[len(reversed)-1-i] = b
	}
	return message
}

// compressedMessage sends messages that become a thousand times larger by decompression,
// which the server stops at twenty times.
func compressedMessage(ctx context.Context, t *testing.T, s *target, begun func()) {
	t.Helper()
	if err := s.voter(t)(make([]byte, 900_000), grpc.UseCompressor(gzip.Name)); !strings.Contains(status.Convert(err).Message(), "20 times") {
		t.Errorf("a message that becomes a thousand times larger: got %v, want it to be refused with its size", err)
	}
	bomb := grpcMessage(zipped(make([]byte, 10<<20)), true)
	repeat(ctx, func() {
		c, err := s.dialHTTP2(ctx, overGRPC, false)
		if err != nil {
			return
		}
		c.flood(ctx, begun, func() error {
			stream, err := c.open(c.voteHeaders(s, "grpc-encoding", "gzip"), true)
			if err == nil {
				err = c.framer.WriteData(stream, true, bomb[:min(len(bomb), 16<<10)])
			}
			return err
		})
	})
}
