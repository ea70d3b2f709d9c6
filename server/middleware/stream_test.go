package middleware_test

import (
	"context"
	"slices"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/test/servertest"
)

func TestHealthRequiresNoToken(t *testing.T) {
	t.Parallel()
	s := start(t)
	health := healthv1.NewHealthClient(s.Conn)
	watch, err := health.Watch(t.Context(), &healthv1.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for {
		update, err := watch.Recv()
		if err != nil {
			t.Fatalf("watch: %v", err)
		}
		if update.GetStatus() == healthv1.HealthCheckResponse_SERVING {
			break // the stream may begin before the first check of the database
		}
	}
	check, err := health.Check(t.Context(), &healthv1.HealthCheckRequest{})
	if err != nil || check.GetStatus() != healthv1.HealthCheckResponse_SERVING {
		t.Errorf("check: got %v and %v, want SERVING", check, err)
	}
	if _, err := health.List(t.Context(), &healthv1.HealthListRequest{}); err != nil {
		t.Errorf("list: %v", err)
	}
	// Also with an invalid token.
	bad := servertest.Credentials{Token: "x", ClientID: "x"}
	if _, err := health.Check(bad.Context(), &healthv1.HealthCheckRequest{}); err != nil {
		t.Errorf("with a bad token: %v", err)
	}
}

// As specified by the health checking protocol of gRPC.
func TestHealthOfUnknownServiceIsNotFound(t *testing.T) {
	t.Parallel()
	s, log := logged(t)
	_, err := healthv1.NewHealthClient(s.Conn).Check(t.Context(), &healthv1.HealthCheckRequest{Service: "nothing"})
	if status.Code(err) != codes.NotFound {
		t.Errorf("got %v, want NotFound", err)
	}
	if found := log.find(t, "level", "ERROR"); len(found) > 0 {
		t.Errorf("it is logged as our fault: %v", found)
	}
}

func TestCancelledHealthWatchIsNotError(t *testing.T) {
	t.Parallel()
	s, log := logged(t)
	ctx, cancel := context.WithCancel(t.Context())
	watch, err := healthv1.NewHealthClient(s.Conn).Watch(ctx, &healthv1.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := watch.Recv(); err != nil {
		t.Fatal(err)
	}
	cancel()
	eventually(t, "the end of the watch in the log", func() bool { return len(log.find(t, "method", healthWatch)) > 0 })
	for _, line := range log.find(t, "method", healthWatch) {
		if line["level"] == "ERROR" || line["code"] == "INTERNAL" {
			t.Errorf("it is logged as our fault: %v", line)
		}
	}
}

func TestReflectionRequiresNoToken(t *testing.T) {
	t.Parallel()
	s := start(t)
	stream, err := reflectionv1.NewServerReflectionClient(s.Conn).ServerReflectionInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ask := &reflectionv1.ServerReflectionRequest{MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{}}
	if err := stream.Send(ask); err != nil {
		t.Fatal(err)
	}
	answer, err := stream.Recv()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, service := range answer.GetListServicesResponse().GetService() {
		names = append(names, service.GetName())
	}
	for _, want := range []string{"moderato.v1.ModerationService", "moderato.platform.v1.ChatService", "grpc.health.v1.Health"} {
		if !slices.Contains(names, want) {
			t.Errorf("got the services %q, want %s among them", names, want)
		}
	}
}

func TestUnknownMethodsAreUnimplemented(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner := s.As(t, servertest.Owner)
	for _, method := range []string{
		"/moderato.v1.ModerationService/Nothing", "/moderato.v1.Nothing/ListModerators",
		"/moderato.v1.ModerationService/listModerators", "/nothing/nothing",
	} {
		for _, ctx := range []context.Context{owner.Context(), t.Context()} {
			err := s.Conn.Invoke(ctx, method, &emptypb.Empty{}, &emptypb.Empty{})
			if status.Code(err) != codes.Unimplemented {
				t.Errorf("%s: got %v, want Unimplemented", method, err)
			}
			stream, err := s.Conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method)
			if err != nil {
				t.Fatal(err)
			}
			if err := stream.RecvMsg(&emptypb.Empty{}); status.Code(err) != codes.Unimplemented {
				t.Errorf("%s as a stream: got %v, want Unimplemented", method, err)
			}
		}
	}
}

func TestOtherMethodsRequireToken(t *testing.T) {
	t.Parallel()
	s := start(t)
	_, err := s.Moderation.ListModerators(t.Context(), &moderatov1.ListModeratorsRequest{ChannelId: servertest.Owner.String()})
	wantReason(t, err, moderatov1.Reason_REASON_TOKEN_MISSING)
	_, err = s.Chat.GetStanding(t.Context(), nil)
	wantReason(t, err, moderatov1.Reason_REASON_TOKEN_MISSING)
}
