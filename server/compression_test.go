package server_test

import (
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/status"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestCompressedMessageHasBoundedSize sends compressed messages over gRPC. The server reads
// them, but stops at one that becomes much larger.
func TestCompressedMessageHasBoundedSize(t *testing.T) {
	storetest.OneServer(t, func(t *testing.T, url store.URL) {
		s := servertest.Start(t, servertest.Config(url))
		s.Load(t, servertest.World()...)
		ctx := s.As(t, servertest.Owner).Context()
		list := func(cursor string) error {
			_, err := s.Moderation.ListLog(ctx, &moderatov1.ListLogRequest{ChannelId: servertest.Owner.String(), Cursor: cursor}, grpc.UseCompressor(gzip.Name))
			return err
		}
		if err := list(""); err != nil {
			t.Errorf("a small message: %v", err)
		}
		bomb := strings.Repeat("0", 900_000)
		if err := list(bomb); !strings.Contains(status.Convert(err).Message(), "20 times") {
			t.Errorf("a message that becomes a thousand times larger: %v", err)
		}
	})
}
