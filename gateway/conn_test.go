package gateway_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/apierr"
	"github.com/moderato-live/moderato/server/apierr/apierrtest"
	"github.com/moderato-live/moderato/server/requestid"
	"github.com/moderato-live/moderato/server/servertest"
)

func TestConnHandsOnHeadersTrailersAndMetadata(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		err  error
	}{
		{"of a success", nil},
		{"of an error", apierr.New(moderatov1.Reason_REASON_NOT_BANNED)},
	} {
		t.Run(c.name, func(t *testing.T) {
			var sent []string
			conn := stubConn(plain, func(ctx context.Context) error {
				md, _ := metadata.FromIncomingContext(ctx)
				sent = md.Get("client-id")
				if method, _ := grpc.Method(ctx); method != moderatov1.ModerationService_BanUser_FullMethodName {
					t.Errorf("method: got %s", method)
				}
				for _, err := range []error{
					grpc.SetHeader(ctx, metadata.Pairs("first", "1")),
					grpc.SendHeader(ctx, metadata.Pairs("second", "2", "first", "3")),
					grpc.SetTrailer(ctx, metadata.Pairs("last", "4")),
				} {
					if err != nil {
						t.Errorf("metadata of the answer: %v", err)
					}
				}
				return c.err
			})
			ctx := metadata.NewOutgoingContext(t.Context(), metadata.Pairs("client-id", "x"))
			var header, trailer metadata.MD
			response, err := moderatov1.NewModerationServiceClient(conn).BanUser(ctx,
				&moderatov1.BanUserRequest{ChannelId: "c"}, grpc.Header(&header), grpc.Trailer(&trailer))
			if (err != nil) != (c.err != nil) {
				t.Errorf("error: got %v, want %v", err, c.err)
			}
			if err == nil && response.GetChannelId() != "c" {
				t.Errorf("response: got %v, want the request's channel", response)
			}
			if !slices.Equal(sent, []string{"x"}) {
				t.Errorf("metadata of the request: got %q, want x", sent)
			}
			if !slices.Equal(header.Get("first"), []string{"1", "3"}) || !slices.Equal(header.Get("second"), []string{"2"}) {
				t.Errorf("header: got %v", header)
			}
			if !slices.Equal(trailer.Get("last"), []string{"4"}) {
				t.Errorf("trailer: got %v", trailer)
			}
		})
	}
}

func TestConnReturnsErrorsAsValues(t *testing.T) {
	t.Parallel()
	conn := stubConn(plain, func(context.Context) error {
		return apierr.Invalid(apierr.Violation{Field: "userId", Description: "is wrong"})
	})
	_, err := moderatov1.NewModerationServiceClient(conn).AddModerator(t.Context(), &moderatov1.AddModeratorRequest{})
	var fault *apierr.Error
	if !errors.As(err, &fault) || len(fault.Violations) != 1 || fault.Violations[0].Field != "userId" {
		t.Errorf("got %v, want the error with a violation of userId", err)
	}
}

func TestConnKnowsNoOtherMethod(t *testing.T) {
	t.Parallel()
	conn := stubConn(plain, succeed)
	for _, name := range []string{
		"", "/", "/moderato.v1.ModerationService", "/moderato.v1.ModerationService/Nothing",
		"moderato.v1.ModerationService/BanUser", "/grpc.health.v1.Health/Check",
	} {
		err := conn.Invoke(t.Context(), name, &moderatov1.BanUserRequest{}, &moderatov1.BanUserResponse{})
		if status.Code(err) != codes.Unimplemented {
			t.Errorf("%q: got %v, want Unimplemented", name, err)
		}
	}
	if _, err := conn.NewStream(t.Context(), &grpc.StreamDesc{}, "/grpc.health.v1.Health/Watch"); status.Code(err) != codes.Unimplemented {
		t.Errorf("a stream: got %v, want Unimplemented", err)
	}
}

func TestConnTakesNoMessageOfAnotherType(t *testing.T) {
	t.Parallel()
	conn := stubConn(plain, succeed)
	name := moderatov1.ModerationService_BanUser_FullMethodName
	err := conn.Invoke(t.Context(), name, &moderatov1.MuteUserRequest{}, &moderatov1.BanUserResponse{})
	if status.Code(err) != codes.Internal {
		t.Errorf("another request: got %v, want Internal", err)
	}
	err = conn.Invoke(t.Context(), name, &moderatov1.BanUserRequest{}, &moderatov1.MuteUserResponse{})
	if status.Code(err) != codes.Internal {
		t.Errorf("another response: got %v, want Internal", err)
	}
}

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
