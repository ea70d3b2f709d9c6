package server

import (
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	protocodec "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/access"
	"github.com/moderato-live/moderato/server/activity"
	"github.com/moderato-live/moderato/server/audience"
	"github.com/moderato-live/moderato/server/channels"
	"github.com/moderato-live/moderato/server/chat"
	"github.com/moderato-live/moderato/server/content"
	"github.com/moderato-live/moderato/server/directory"
	"github.com/moderato-live/moderato/server/importer"
	"github.com/moderato-live/moderato/server/livestream"
	"github.com/moderato-live/moderato/server/middleware"
	"github.com/moderato-live/moderato/server/moderation"
	"github.com/moderato-live/moderato/server/subscriptions"
	"github.com/moderato-live/moderato/server/watch"
	"github.com/moderato-live/moderato/server/webhooks"
)

// Bounds of the gRPC transport.
const (
	maxMessageBytes      = 1 << 20
	maxMetadataBytes     = 16 << 10
	maxConcurrentStreams = 1000
	connectionTimeout    = 10 * time.Second
	// streamWorkers is the number of goroutines that serve one call after the other, so
	// that not every call has to grow a stack. Further concurrent calls run in
	// goroutines of their own. A stream keeps its goroutine until it ends.
	streamWorkers = 64
)

// The operations about activities and about content make up ContentService.
type (
	activityOperations = activity.Service
	contentOperations  = content.Service
)

// contentService implements ContentService.
type contentService struct {
	platformv1.UnsafeContentServiceServer
	*activityOperations
	*contentOperations
}

// services holds the implementations of all services.
type services struct {
	access     *access.Service
	channels   *channels.Service
	activity   *activity.Service
	audience   *audience.Service
	chat       *chat.Service
	content    *content.Service
	directory  *directory.Service
	importer   *importer.Service
	livestream *livestream.Service
	moderation *moderation.Service
	watch      *watch.Service
	webhooks   *webhooks.Service

	subscriptions *subscriptions.Service
}

// registerPublic registers the services that both transports, REST and gRPC, serve.
func (s services) registerPublic(r grpc.ServiceRegistrar) {
	moderatov1.RegisterModerationServiceServer(r, s.moderation)
	moderatov1.RegisterChannelsServiceServer(r, s.channels)
	moderatov1.RegisterEventsServiceServer(r, s.watch)
	moderatov1.RegisterWebhooksServiceServer(r, s.webhooks)
	moderatov1.RegisterEventSubscriptionsServiceServer(r, s.subscriptions)
}

// registerPlatform registers the services that only gRPC serves.
func (s services) registerPlatform(r grpc.ServiceRegistrar) {
	platformv1.RegisterChatServiceServer(r, s.chat)
	platformv1.RegisterDirectoryServiceServer(r, s.directory)
	platformv1.RegisterAudienceServiceServer(r, s.audience)
	platformv1.RegisterStreamServiceServer(r, s.livestream)
	platformv1.RegisterContentServiceServer(r, contentService{activityOperations: s.activity, contentOperations: s.content})
	platformv1.RegisterAccessServiceServer(r, s.access)
	platformv1.RegisterImportServiceServer(r, s.importer)
}

func newGRPCServer(c *middleware.Chain, s services, h *health.Server) *grpc.Server {
	g := grpc.NewServer(
		grpc.ChainUnaryInterceptor(sendLists, c.Unary),
		grpc.ForceServerCodecV2(codec{encoding.GetCodecV2(protocodec.Name)}),
		grpc.ChainStreamInterceptor(c.Stream),
		grpc.MaxRecvMsgSize(maxMessageBytes),
		grpc.MaxHeaderListSize(maxMetadataBytes),
		grpc.MaxConcurrentStreams(maxConcurrentStreams),
		grpc.ConnectionTimeout(connectionTimeout),
		grpc.NumStreamWorkers(streamWorkers),
		grpc.KeepaliveParams(keepalive.ServerParameters{
			MaxConnectionIdle: 15 * time.Minute,
			// Clients reconnect from time to time, and so discover new servers.
			MaxConnectionAge:      time.Hour,
			MaxConnectionAgeGrace: time.Minute,
			Time:                  time.Minute,
			Timeout:               20 * time.Second,
		}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second, PermitWithoutStream: true}),
	)
	s.registerPublic(g)
	s.registerPlatform(g)
	healthv1.RegisterHealthServer(g, h)
	reflection.Register(g)
	return g
}
