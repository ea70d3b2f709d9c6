package cli

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"syscall"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	moderato "github.com/moderato-live/moderato/clients/go"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/cli/trigger"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/rpc/authn"
)

// eventPatience is how long an event may take after its cause.
const eventPatience = 10 * time.Second

// grpcAPI holds the flags of commands that call a server as the platform's backends do:
// over gRPC, with a service token.
type grpcAPI struct {
	trust

	GRPCServer string `name:"grpc-server" help:"The server's gRPC address." default:"${grpc_addr}" env:"MODERATO_GRPC_SERVER" placeholder:"HOST:PORT"`
	GRPCTLS    bool   `name:"grpc-tls" help:"Connect to the gRPC address with TLS." env:"MODERATO_GRPC_TLS"`
	Client     string `help:"The client to which the token was issued." env:"MODERATO_CLIENT" placeholder:"ID"`
	Token      secret `help:"The service token. Prefer the variable, or - to read it from standard input: arguments are visible in the process list." env:"MODERATO_TOKEN" placeholder:"TOKEN"`
}

// connect returns a client of the server.
func (a *grpcAPI) connect() (*moderato.Client, error) {
	if a.Client == "" || a.Token == "" {
		return nil, errors.New("--client and --token are required; a service token comes from: moderato token issue --client ID --service")
	}
	config, err := a.config()
	if err != nil {
		return nil, err
	}
	return moderato.New(moderato.Config{
		Address: a.GRPCServer, Plaintext: !a.GRPCTLS, TLS: config,
		ClientID: a.Client, Tokens: moderato.StaticToken(string(a.Token)),
	})
}

// eventsTrigger causes events, for those who develop a program that receives them.
type eventsTrigger struct {
	grpcAPI
	Type    string `arg:"" optional:"" complete:"trigger" help:"The type of the events, such as channel.ban. If omitted, list the types." placeholder:"TYPE"`
	Channel string `help:"The channel of the events. Default: the server's first channel." placeholder:"UUID"`
	User    string `help:"The user that the events are about. Default: new test users." placeholder:"UUID"`
	Times   int    `help:"How many events to cause." default:"1"`
	JSON    bool   `name:"json" help:"Print each event as one line of JSON, with its cursor."`
}

// Validate rejects unknown types, and channels that are no UUIDs.
func (c *eventsTrigger) Validate() error {
	if c.Type != "" {
		if _, err := c.recipe(); err != nil {
			return err
		}
	}
	return c.grpcAPI.Validate()
}

// Run causes the events and prints each as a listener receives it.
func (c *eventsTrigger) Run(ctx context.Context, s *streams) error {
	if c.Type == "" {
		for _, r := range trigger.Recipes {
			if c.JSON {
				if err := printJSON(s.out, map[string]string{"type": r.Type, "does": r.Does}); err != nil {
					return err
				}
				continue
			}
			fmt.Fprintf(s.out, "%-34s%s\n", r.Type, r.Does)
		}
		return nil
	}
	recipe, err := c.recipe()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	client, err := c.connect()
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	if err := c.checkService(ctx, client); err != nil {
		return err
	}
	return c.trigger(ctx, s, client, recipe)
}

// recipe validates the arguments and returns how to cause the events.
func (c *eventsTrigger) recipe() (trigger.Recipe, error) {
	recipe, ok := trigger.Find(c.Type)
	if !ok {
		return recipe, fmt.Errorf("there is no event type %q; moderato events trigger lists the types", c.Type)
	}
	if c.Times < 1 {
		return recipe, fmt.Errorf("--times %d: must be 1 or more", c.Times)
	}
	if _, err := parseChannel(c.Channel); err != nil {
		return recipe, err
	}
	return recipe, nil
}

// trigger listens to the channel, and causes one event after the other.
func (c *eventsTrigger) trigger(ctx context.Context, s *streams, client *moderato.Client, recipe trigger.Recipe) error {
	var err error
	if c.Channel == "" {
		if c.Channel, err = trigger.FirstChannel(ctx, client); err != nil {
			return err
		}
	}
	events := listenTo(ctx, client, c.Channel, recipe.Type)
	if _, err := events.next(ctx, eventPatience); err != nil { // the stream is open
		return err
	}
	channel := &trigger.Channel{Client: client, ID: c.Channel, UserID: c.User}
	for n := range c.Times {
		did, err := channel.Trigger(ctx, recipe)
		if err != nil {
			return err
		}
		fmt.Fprintf(s.err, "%d of %d: %s\n", n+1, c.Times, did)
		message, err := events.next(ctx, recipe.Delay+eventPatience)
		if err != nil {
			return fmt.Errorf("the event %s was caused, but not received: %w", recipe.Type, err)
		}
		if err := printEvent(s.out, c.JSON, message.GetCursor(), outbox.JSON(message.GetEvent())); err != nil {
			return err
		}
	}
	return nil
}

// checkService returns an error that says what to do if the server cannot be reached or
// the token is no service token.
func (a *grpcAPI) checkService(ctx context.Context, client *moderato.Client) error {
	self, err := client.Tokens.GetSelf(ctx, &moderatov1.GetSelfRequest{})
	switch {
	case status.Code(err) == codes.Unavailable:
		return unreachable("the server at "+a.GRPCServer, err, "start it, or name another with --grpc-server")
	case err != nil:
		return err
	case self.GetKind() != string(authn.Service):
		return fmt.Errorf("the token is of the kind %s; a service token comes from: moderato token issue --client ID --service", self.GetKind())
	}
	return nil
}

// listening holds the messages of an event stream as they are received.
type listening struct {
	messages chan *moderatov1.WatchEventsResponse
	failed   chan error
}

// listenTo listens to events of a type in a channel, until ctx ends.
func listenTo(ctx context.Context, client *moderato.Client, channelID, eventType string) *listening {
	l := &listening{make(chan *moderatov1.WatchEventsResponse), make(chan error, 1)}
	go func() {
		request := &moderatov1.WatchEventsRequest{ChannelId: channelID, Type: []string{eventType}}
		isOpen := false
		for message, err := range client.WatchEvents(ctx, request) {
			if err != nil {
				l.failed <- err
				return
			}
			if isOpen && message.GetEvent() == nil {
				continue
			}
			isOpen = true
			select {
			case l.messages <- message:
			case <-ctx.Done():
				return
			}
		}
	}()
	return l
}

// next returns the next event; the first message says that the stream is open.
func (l *listening) next(ctx context.Context, patience time.Duration) (*moderatov1.WatchEventsResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case message := <-l.messages:
		return message, nil
	case err := <-l.failed:
		return nil, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
