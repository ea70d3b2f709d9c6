// Package moderato is the Go client of Moderato, the moderation and channel-data service
// of a live-streaming platform. It calls the service over gRPC.
//
// A Client holds the generated client of each service. It adds what every caller needs:
// the token and the client id, request ids, retries with idempotency keys, and typed
// errors. Rows reads the pages of a list, WatchEvents receives events and resumes after
// an interruption, and Receiver verifies the deliveries of a webhook.
//
// The reference of the operations is in the comments of the generated packages
// [moderatov1] and [platformv1].
//
// [moderatov1]: https://pkg.go.dev/github.com/moderato-live/moderato/gen/moderato/v1
// [platformv1]: https://pkg.go.dev/github.com/moderato-live/moderato/gen/moderato/platform/v1
package moderato

import (
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"golang.org/x/oauth2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

// Config configures a Client.
type Config struct {
	// Address is the gRPC address of the server, such as "moderato.example.com:443". It
	// can be any target of grpc.NewClient.
	Address string
	// ClientID is the client to which the tokens are issued.
	ClientID string
	// Tokens supplies the access tokens: a StaticToken, or a TokenSource, which refreshes
	// them. One goroutine at a time asks it, and a call waits no longer than until its
	// deadline. See Endpoint.
	Tokens oauth2.TokenSource
	// ActingUser is the id of the user for whom a service token acts; empty if it acts
	// for no user. ActingAs sets it for a single call.
	ActingUser string
	// TLS configures TLS; nil uses the certificates that the system trusts.
	TLS *tls.Config
	// Plaintext connects without TLS. Tokens are then readable on the network: it is for a
	// server on this host or in the platform's own network.
	Plaintext bool
	// DialOptions are further options of the connection.
	DialOptions []grpc.DialOption
}

// Client calls a server. It is safe for concurrent use.
type Client struct {
	Moderation    moderatov1.ModerationServiceClient
	Channels      moderatov1.ChannelsServiceClient
	Users         moderatov1.UsersServiceClient
	Tokens        moderatov1.TokensServiceClient
	Chat          moderatov1.ChatServiceClient
	ChatRules     moderatov1.ChatRulesServiceClient
	Held          moderatov1.HeldMessagesServiceClient
	Events        moderatov1.EventsServiceClient
	Tickets       moderatov1.EventTicketsServiceClient
	Subscriptions moderatov1.EventSubscriptionsServiceClient
	Webhooks      moderatov1.WebhooksServiceClient

	// Platform holds the services that only the platform's own backends may call.
	Platform Platform

	conn *grpc.ClientConn
}

// Platform holds the clients of the services for the platform's own backends. They need
// a service token.
type Platform struct {
	Access        platformv1.AccessServiceClient
	Audience      platformv1.AudienceServiceClient
	Authorization platformv1.AuthorizationServiceClient
	Chat          platformv1.ChatServiceClient
	Content       platformv1.ContentServiceClient
	Directory     platformv1.DirectoryServiceClient
	Import        platformv1.ImportServiceClient
	Stream        platformv1.StreamServiceClient
}

// New returns a Client. It connects when the first call is made.
func New(c Config) (*Client, error) {
	switch {
	case c.Address == "":
		return nil, errors.New("moderato: Config.Address is required")
	case c.ClientID == "":
		return nil, errors.New("moderato: Config.ClientID is required")
	case c.Tokens == nil:
		return nil, errors.New("moderato: Config.Tokens is required")
	}
	transport := credentials.NewTLS(c.TLS)
	if c.Plaintext {
		transport = insecure.NewCredentials()
	}
	conn, err := grpc.NewClient(c.Address, append([]grpc.DialOption{
		grpc.WithTransportCredentials(transport),
		grpc.WithPerRPCCredentials(&caller{Config: c}),
		grpc.WithDefaultServiceConfig(serviceConfig()),
		grpc.WithChainUnaryInterceptor(callUnary),
		grpc.WithChainStreamInterceptor(callStream),
		// A connection that is lost without a trace is noticed although an event stream
		// only receives.
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 30 * time.Second, Timeout: 10 * time.Second}),
	}, c.DialOptions...)...)
	if err != nil {
		return nil, fmt.Errorf("moderato: %w", err)
	}
	return newClient(conn), nil
}

func newClient(conn *grpc.ClientConn) *Client {
	return &Client{
		Moderation:    moderatov1.NewModerationServiceClient(conn),
		Channels:      moderatov1.NewChannelsServiceClient(conn),
		Users:         moderatov1.NewUsersServiceClient(conn),
		Tokens:        moderatov1.NewTokensServiceClient(conn),
		Chat:          moderatov1.NewChatServiceClient(conn),
		ChatRules:     moderatov1.NewChatRulesServiceClient(conn),
		Held:          moderatov1.NewHeldMessagesServiceClient(conn),
		Events:        moderatov1.NewEventsServiceClient(conn),
		Tickets:       moderatov1.NewEventTicketsServiceClient(conn),
		Subscriptions: moderatov1.NewEventSubscriptionsServiceClient(conn),
		Webhooks:      moderatov1.NewWebhooksServiceClient(conn),
		Platform: Platform{
			Access:        platformv1.NewAccessServiceClient(conn),
			Audience:      platformv1.NewAudienceServiceClient(conn),
			Authorization: platformv1.NewAuthorizationServiceClient(conn),
			Chat:          platformv1.NewChatServiceClient(conn),
			Content:       platformv1.NewContentServiceClient(conn),
			Directory:     platformv1.NewDirectoryServiceClient(conn),
			Import:        platformv1.NewImportServiceClient(conn),
			Stream:        platformv1.NewStreamServiceClient(conn),
		},
		conn: conn,
	}
}

// Conn returns the connection, for services that the Client does not hold.
func (c *Client) Conn() grpc.ClientConnInterface { return c.conn }

// Close closes the connection. Calls in progress fail.
func (c *Client) Close() error { return c.conn.Close() }
