package gateway_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/requestid"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/apierr/apierrtest"
	"github.com/moderato-live/moderato/test/servertest"
)

// The id by which a request can be found is one and the same wherever it shows.
func TestTheRequestIDIsTheSameEverywhere(t *testing.T) {
	t.Parallel()
	s := start(t)
	interceptors := chainOf(s, slog.New(slog.DiscardHandler))
	owner := s.As(t, servertest.Owner)
	for _, own := range []string{"", "mine-1"} {
		var inHandler string
		conn := stubConn(interceptors.Unary, func(ctx context.Context) error {
			inHandler = requestid.FromContext(ctx)
			return apierr.New(moderatov1.Reason_REASON_CHANNEL_NOT_FOUND)
		})
		r := httptest.NewRequest(http.MethodGet, listModerators(), nil)
		r.Header.Set("Authorization", "Bearer "+owner.Token)
		r.Header.Set("Client-Id", owner.ClientID)
		if own != "" {
			r.Header.Set("X-Request-Id", own)
		}
		answer := record(facadeOver(t, conn), r)
		body := wantRefused(t, answer, http.StatusBadRequest, "CHANNEL_NOT_FOUND")
		if inHandler == "" || body.Data.RequestID != inHandler || (own != "" && own != inHandler) {
			t.Errorf("REST: got %q in the body and %q in the handler, want one, %q", body.Data.RequestID, inHandler, own)
		}

		ctx := owner.Context()
		if own != "" {
			ctx = metadata.AppendToOutgoingContext(ctx, "x-request-id", own)
		}
		for _, client := range []grpc.ClientConnInterface{conn, s.Conn} {
			var header metadata.MD
			_, err := moderatov1.NewModerationServiceClient(client).ListModerators(ctx,
				&moderatov1.ListModeratorsRequest{ChannelId: servertest.Nobody.String()}, grpc.Header(&header))
			f := apierrtest.Of(err)
			if f.Reason != moderatov1.Reason_REASON_CHANNEL_NOT_FOUND {
				t.Fatalf("gRPC: got %v, want CHANNEL_NOT_FOUND", err)
			}
			id := f.RequestID
			if got := header.Get("x-request-id"); id == "" || !slices.Equal(got, []string{id}) || (own != "" && own != id) {
				t.Errorf("gRPC: got %q in the header and %q in the error, want one, %q", got, id, own)
			}
		}
	}
}
