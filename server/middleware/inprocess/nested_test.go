package inprocess

import (
	"slices"
	"testing"

	"google.golang.org/grpc/metadata"
)

// A method that calls another method in the same process must not overwrite its own
// headers.
func TestNestedCallHasOwnServerTransportStream(t *testing.T) {
	t.Parallel()
	outer := transportOf(newTransport(t.Context(), metadata.MD{"client-id": {"outer"}}, "").ctx, "/x.Y/Outer")
	inner := transportOf(metadata.NewOutgoingContext(outer.ctx, metadata.MD{"client-id": {"inner"}}), "/x.Y/Inner")
	_ = inner.SetHeader(metadata.MD{"of": {"inner"}})
	if got, _ := metadata.FromIncomingContext(inner.ctx); !slices.Equal(got["client-id"], []string{"inner"}) {
		t.Errorf("metadata of the inner call: got %v, want its own", got)
	}
	if outer.Method() != "/x.Y/Outer" || inner.Method() != "/x.Y/Inner" || outer.header != nil {
		t.Errorf("got %s with the header %v and %s, want each call to have its own", outer.Method(), outer.header, inner.Method())
	}
}
