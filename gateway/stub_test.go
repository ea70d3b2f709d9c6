package gateway_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/moderato-live/moderato/docs/openapi/openapitest"
	"github.com/moderato-live/moderato/gateway"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/fair"
	"github.com/moderato-live/moderato/internal/requestid"
	"github.com/moderato-live/moderato/server/middleware"
	"github.com/moderato-live/moderato/server/middleware/inprocess"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/test/servertest"
)

// stub is a ModerationService whose methods end as the test chooses.
type stub struct {
	moderatov1.UnimplementedModerationServiceServer

	end func(context.Context) error
}

func (s stub) ListModeratedChannels(ctx context.Context, _ *moderatov1.ListModeratedChannelsRequest) (*moderatov1.ListModeratedChannelsResponse, error) {
	return &moderatov1.ListModeratedChannelsResponse{}, s.end(ctx)
}

func (s stub) ListModerators(ctx context.Context, r *moderatov1.ListModeratorsRequest) (*moderatov1.ListModeratorsResponse, error) {
	return &moderatov1.ListModeratorsResponse{Moderators: []*moderatov1.UserSummary{{Id: r.GetChannelId()}}}, s.end(ctx)
}

func (s stub) AddModerator(ctx context.Context, _ *moderatov1.AddModeratorRequest) (*moderatov1.AddModeratorResponse, error) {
	return &moderatov1.AddModeratorResponse{}, s.end(ctx)
}

func (s stub) RemoveModerator(ctx context.Context, _ *moderatov1.RemoveModeratorRequest) (*moderatov1.RemoveModeratorResponse, error) {
	return &moderatov1.RemoveModeratorResponse{}, s.end(ctx)
}

func (s stub) BanUser(ctx context.Context, r *moderatov1.BanUserRequest) (*moderatov1.BanUserResponse, error) {
	return &moderatov1.BanUserResponse{ChannelId: r.GetChannelId(), BannedAt: timestamppb.Now()}, s.end(ctx)
}

func (s stub) RemoveBan(ctx context.Context, _ *moderatov1.RemoveBanRequest) (*moderatov1.RemoveBanResponse, error) {
	return &moderatov1.RemoveBanResponse{}, s.end(ctx)
}

func (s stub) ListLog(ctx context.Context, _ *moderatov1.ListLogRequest) (*moderatov1.ListLogResponse, error) {
	return &moderatov1.ListLogResponse{}, s.end(ctx)
}

func (s stub) MuteUser(ctx context.Context, _ *moderatov1.MuteUserRequest) (*moderatov1.MuteUserResponse, error) {
	return &moderatov1.MuteUserResponse{MuteExpiresAt: timestamppb.Now()}, s.end(ctx)
}

func (s stub) RemoveMute(ctx context.Context, _ *moderatov1.RemoveMuteRequest) (*moderatov1.RemoveMuteResponse, error) {
	return &moderatov1.RemoveMuteResponse{}, s.end(ctx)
}

func (s stub) BanUsers(ctx context.Context, _ *moderatov1.BanUsersRequest) (*moderatov1.BanUsersResponse, error) {
	return &moderatov1.BanUsersResponse{}, s.end(ctx)
}

func (s stub) UndoBanBatch(ctx context.Context, _ *moderatov1.UndoBanBatchRequest) (*moderatov1.UndoBanBatchResponse, error) {
	return &moderatov1.UndoBanBatchResponse{}, s.end(ctx)
}

func (s stub) PreviewSweep(ctx context.Context, _ *moderatov1.PreviewSweepRequest) (*moderatov1.PreviewSweepResponse, error) {
	return &moderatov1.PreviewSweepResponse{}, s.end(ctx)
}

func (s stub) CommitSweep(ctx context.Context, _ *moderatov1.CommitSweepRequest) (*moderatov1.CommitSweepResponse, error) {
	return &moderatov1.CommitSweepResponse{}, s.end(ctx)
}

func (s stub) RevertModerator(ctx context.Context, _ *moderatov1.RevertModeratorRequest) (*moderatov1.RevertModeratorResponse, error) {
	return &moderatov1.RevertModeratorResponse{}, s.end(ctx)
}

func (s stub) ListBanBatches(ctx context.Context, _ *moderatov1.ListBanBatchesRequest) (*moderatov1.ListBanBatchesResponse, error) {
	return &moderatov1.ListBanBatchesResponse{}, s.end(ctx)
}

// plain is an interceptor that only makes errors those that callers see.
func plain(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	response, err := handler(ctx, request)
	if err == nil {
		return response, nil
	}
	fault := *apierr.Of(err)
	fault.RequestID = requestid.Accept(md.Get(requestid.Header))
	return nil, &fault
}

// stubConn returns a connection to a stub.
func stubConn(interceptor grpc.UnaryServerInterceptor, end func(context.Context) error) *inprocess.Conn {
	conn := inprocess.New(interceptor, nil)
	moderatov1.RegisterModerationServiceServer(conn, stub{end: end})
	return conn
}

// facadeOver returns a facade that discards its log.
func facadeOver(t testing.TB, conn gateway.Connection) http.Handler {
	t.Helper()
	return facadeLogging(t, conn, slog.New(slog.DiscardHandler))
}

func facadeLogging(t testing.TB, conn gateway.Connection, log *slog.Logger) http.Handler {
	t.Helper()
	facade, err := gateway.New(conn, gateway.Options{Log: log, Registerer: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	return openapitest.Layer(t)(facade)
}

// chainOf returns the chain that a server has, on the same store.
func chainOf(s *servertest.Server, log *slog.Logger) *middleware.Chain {
	return &middleware.Chain{
		Reads:         fair.NewGate(16),
		Authenticator: authn.NewAuthenticator(s.Store), Limiter: middleware.NewLimiter(0, nil),
		Metrics: middleware.NewMetrics(prometheus.NewRegistry()), Log: log,
		Draining: func() bool { return false },
	}
}

// record returns the response of a handler to a request.
func record(h http.Handler, r *http.Request) servertest.Response {
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, r)
	return servertest.Response{Status: recorder.Code, Header: recorder.Header(), Body: recorder.Body.String()}
}

func succeed(context.Context) error { return nil }
