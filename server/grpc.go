package server

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/encoding"
	protocodec "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/domain/access"
	"github.com/moderato-live/moderato/server/domain/activity"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/domain/content"
	"github.com/moderato-live/moderato/server/domain/directory"
	"github.com/moderato-live/moderato/server/domain/domains"
	"github.com/moderato-live/moderato/server/domain/importer"
	"github.com/moderato-live/moderato/server/domain/oauth"
	"github.com/moderato-live/moderato/server/event/sessions"
	"github.com/moderato-live/moderato/server/event/standings"
	"github.com/moderato-live/moderato/server/event/tickets"
	"github.com/moderato-live/moderato/server/event/watch"
	"github.com/moderato-live/moderato/server/event/webhooks"
	"github.com/moderato-live/moderato/server/middleware"
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

// accessService implements AccessService.
type accessService struct {
	platformv1.UnsafeAccessServiceServer
	*access.Service
	oauth *oauth.Service
}

func (s accessService) DeleteClient(ctx context.Context, req *platformv1.DeleteClientRequest) (*platformv1.DeleteClientResponse, error) {
	return s.oauth.DeleteClient(ctx, req)
}

// The operations about the directory and about sign-in make up UsersService.
type (
	directoryOperations = directory.Service
	oauthOperations     = oauth.Service
)

// usersService implements UsersService.
type usersService struct {
	moderatov1.UnsafeUsersServiceServer
	*directoryOperations
	*oauthOperations
}

// The operations about posts and about standings make up the ChatService of the platform.
type (
	chatOperations     = chat.Service
	standingOperations = standings.Service
)

// chatService implements the ChatService of the platform.
type chatService struct {
	platformv1.UnsafeChatServiceServer
	*chatOperations
	*standingOperations
}

// services holds the implementations of all services.
type services struct {
	*domains.Services

	oauth    *oauth.Service
	importer *importer.Service
	tickets  *tickets.Service

	subscriptions *sessions.Service

	watch     *watch.Service
	standings *standings.Service
	webhooks  *webhooks.Service
}

// registerPublic registers the services that both transports, REST and gRPC, serve.
func (s services) registerPublic(r grpc.ServiceRegistrar) {
	moderatov1.RegisterModerationServiceServer(r, s.Moderation)
	moderatov1.RegisterChannelsServiceServer(r, s.Channels)
	moderatov1.RegisterEventsServiceServer(r, s.watch)
	moderatov1.RegisterEventTicketsServiceServer(r, s.tickets)
	moderatov1.RegisterEventSubscriptionsServiceServer(r, s.subscriptions)
	moderatov1.RegisterWebhooksServiceServer(r, s.webhooks)
	moderatov1.RegisterUsersServiceServer(r, usersService{directoryOperations: s.Directory, oauthOperations: s.oauth})
	moderatov1.RegisterChatServiceServer(r, s.PublicChat)
	moderatov1.RegisterChatRulesServiceServer(r, s.Rules)
	moderatov1.RegisterHeldMessagesServiceServer(r, s.Held)
	moderatov1.RegisterTokensServiceServer(r, access.TokensService{})
}

// registerPlatform registers the services that only gRPC serves.
func (s services) registerPlatform(r grpc.ServiceRegistrar) {
	platformv1.RegisterChatServiceServer(r, chatService{chatOperations: s.Chat, standingOperations: s.standings})
	platformv1.RegisterDirectoryServiceServer(r, s.Directory)
	platformv1.RegisterAudienceServiceServer(r, s.Audience)
	platformv1.RegisterStreamServiceServer(r, s.Livestream)
	platformv1.RegisterContentServiceServer(r, contentService{activityOperations: s.Activity, contentOperations: s.Content})
	platformv1.RegisterAccessServiceServer(r, accessService{Service: s.Access, oauth: s.oauth})
	platformv1.RegisterAuthorizationServiceServer(r, s.oauth)
	platformv1.RegisterImportServiceServer(r, s.importer)
}

func newGRPCServer(c *middleware.Chain, s services, h *health.Server, transport credentials.TransportCredentials, traced []grpc.ServerOption) *grpc.Server {
	g := grpc.NewServer(append(traced,
		grpc.Creds(transport),
		grpc.ChainUnaryInterceptor(trackSending, c.Unary),
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
	)...)
	s.registerPublic(g)
	s.registerPlatform(g)
	healthv1.RegisterHealthServer(g, h)
	reflection.Register(g)
	return g
}
