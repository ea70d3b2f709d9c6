package inprocess_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/middleware/inprocess"
	"github.com/moderato-live/moderato/server/rpc/apierr"
)

// stub is a ModerationService whose methods end as the test chooses.
type stub struct {
	moderatov1.UnimplementedModerationServiceServer

	end func(context.Context) error
}

func (s stub) BanUser(ctx context.Context, r *moderatov1.BanUserRequest) (*moderatov1.BanUserResponse, error) {
	return &moderatov1.BanUserResponse{ChannelId: r.GetChannelId()}, s.end(ctx)
}

func (s stub) AddModerator(ctx context.Context, _ *moderatov1.AddModeratorRequest) (*moderatov1.AddModeratorResponse, error) {
	return &moderatov1.AddModeratorResponse{}, s.end(ctx)
}

// stubConn returns a connection to a stub.
func stubConn(end func(context.Context) error) *inprocess.Conn {
	conn := inprocess.New(func(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		return handler(ctx, request)
	}, nil)
	moderatov1.RegisterModerationServiceServer(conn, stub{end: end})
	return conn
}

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
			conn := stubConn(func(ctx context.Context) error {
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
	conn := stubConn(func(context.Context) error {
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
	conn := stubConn(func(context.Context) error { return nil })
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
	conn := stubConn(func(context.Context) error { return nil })
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
