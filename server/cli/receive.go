package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/moderato-live/moderato/server/event/webhooks"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
)

const (
	webhooksPath = "/v1/webhooks"
	// maxDelivery bounds the body of a delivery in bytes; every event is smaller.
	maxDelivery = 1 << 20
	// receiverPatience bounds the duration of a delivery and of the shutdown.
	receiverPatience = 5 * time.Second
	// secretPrefix begins the secret of a webhook.
	secretPrefix = "whsec_"
)

// eventsReceive is a webhook receiver for developers: it creates a webhook, prints the
// events that are delivered, and deletes the webhook when it is stopped.
type eventsReceive struct {
	api
	Channel string   `help:"Only events of this channel. Default: a user token's own channel, or every channel for a service token." placeholder:"UUID"`
	Type    []string `help:"Only events of this type, such as channel.ban. Can be repeated." sep:"none" complete:"events" placeholder:"TYPE"`
	Port    uint16   `help:"The port of 127.0.0.1 to listen on. Default: a free one." placeholder:"PORT"`
	URL     string   `name:"url" help:"The https address that leads to the port, such as a tunnel's. If unset, the server calls the port itself." placeholder:"URL"`
	JSON    bool     `name:"json" help:"Print each event as one line of JSON, with its cursor."`

	ForwardTo forwardURL `help:"Forward each delivery to this URL, and return its response." placeholder:"URL"`
	Secret    secret     `help:"Sign forwarded deliveries with this secret, whsec_ and base64, so that the receiver can keep it. Default: the new webhook's secret. Prefer the variable, or - to read it from standard input: arguments are visible in the process list." env:"MODERATO_WEBHOOK_SECRET" placeholder:"SECRET"`
}

// Validate rejects channels that are no UUIDs, and unknown types.
func (c *eventsReceive) Validate() error {
	if _, err := parseChannel(c.Channel); err != nil {
		return err
	}
	if err := checkTypes(c.Type, slices.Concat(eventtype.Types(), eventtype.LiveTypes())); err != nil {
		return err
	}
	return c.api.Validate()
}

// Run receives events until the process receives SIGINT, SIGTERM, or SIGHUP, which is
// sent when its terminal closes.
func (c *eventsReceive) Run(ctx context.Context, s *streams) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process immediately
	signer, err := c.signer()
	if err != nil {
		return err
	}
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(c.Port))))
	if err != nil {
		return fmt.Errorf("%w; choose another port with --port", err)
	}
	defer func() { _ = l.Close() }()
	if c.URL == "" {
		c.URL = "http://" + l.Addr().String()
	}
	hook, err := c.create(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.err, "webhook %s sends to %s; Ctrl-C deletes it\n", hook.id, c.URL)
	r := &receiver{hook: hook, streams: s, json: c.JSON}
	if c.ForwardTo != "" {
		r.forwarder = newForwarder(c.ForwardTo, signer)
		secret := hook.text
		if signer != nil {
			secret = "that was given"
		}
		fmt.Fprintf(s.err, "deliveries are sent on to %s, which verifies them with the secret %s\n", c.ForwardTo, secret)
	}
	return c.receive(ctx, l, r)
}

// signer returns what signs deliveries that are sent on; nil if they keep their signature.
// An error does not contain the secret.
func (c *eventsReceive) signer() (*standardwebhooks.Webhook, error) {
	if c.Secret == "" {
		return nil, nil //nolint:nilnil // no secret is no error
	}
	signer, err := standardwebhooks.NewWebhook(string(c.Secret))
	if err != nil || !strings.HasPrefix(string(c.Secret), secretPrefix) || c.Secret == secretPrefix {
		return nil, errors.New("--secret must be whsec_ and the base64 of a key, such as whsec_$(openssl rand -base64 32)")
	}
	return signer, nil
}

// receivedHook is the webhook of a receiver.
type receivedHook struct {
	id     string
	text   string // of the secret
	secret *standardwebhooks.Webhook
}

// create creates the webhook. The end of ctx does not cancel the call, because otherwise
// the id of the webhook to delete could be unknown.
func (c *eventsReceive) create(ctx context.Context) (*receivedHook, error) {
	arguments := map[string]any{"url": c.URL, "type": c.Type}
	if c.Channel != "" {
		arguments["channelId"] = c.Channel
	}
	var made struct{ ID, Secret string }
	err := c.call(context.WithoutCancel(ctx), http.MethodPost, webhooksPath, arguments, &made)
	var refusal *apiError
	if errors.As(err, &refusal) && slices.Contains(refusal.fields, "url") {
		return nil, fmt.Errorf("the server rejected %s: %w; for development, run it with --webhook-allow-private, or set --url to an https address that leads to the port", c.URL, err)
	}
	if refusal != nil && refusal.code == "CHANNEL_NOT_FOUND" && c.Channel != "" {
		return nil, fmt.Errorf("--channel %s: %w", c.Channel, err)
	}
	if refusal != nil && refusal.webhook != "" {
		made.ID = refusal.webhook
		err = c.reuse(ctx, made.ID, &made.Secret)
	}
	if err != nil {
		return nil, fmt.Errorf("make the webhook: %w", err)
	}
	secret, err := standardwebhooks.NewWebhook(made.Secret)
	return &receivedHook{made.ID, made.Secret, secret}, err
}

// reuse enables the webhook that a receiver which was killed left behind, and gives it a new
// secret.
func (c *eventsReceive) reuse(ctx context.Context, id string, secret *string) error {
	ctx = context.WithoutCancel(ctx)
	arguments := map[string]any{"webhookId": id}
	if err := c.call(ctx, http.MethodPost, webhooksPath+"/enable", arguments, nil); err != nil {
		return err
	}
	var rotated struct{ Secret string }
	err := c.call(ctx, http.MethodPost, webhooksPath+"/rotate-secret", arguments, &rotated)
	*secret = rotated.Secret
	return err
}

func (c *eventsReceive) remove(ctx context.Context, hook *receivedHook) error {
	err := c.call(ctx, http.MethodDelete, webhooksPath, map[string]any{"webhookId": hook.id}, nil)
	var refusal *apiError
	if err == nil || (errors.As(err, &refusal) && refusal.code == "WEBHOOK_NOT_FOUND") {
		return nil
	}
	return fmt.Errorf(`the webhook is still there: %w; delete it with DELETE %s {"webhookId":%q}`, err, webhooksPath, hook.id)
}

// receive accepts deliveries until ctx ends, deletes the webhook, and lets the
// deliveries in progress end.
func (c *eventsReceive) receive(ctx context.Context, l net.Listener, r *receiver) error {
	server := &http.Server{Handler: r, ReadTimeout: receiverPatience, WriteTimeout: receiverPatience}
	if r.forwarder != nil {
		server.WriteTimeout += webhooks.AttemptTimeout
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	var failure error
	select {
	case failure = <-ended:
	case <-ctx.Done():
	}
	ctx = context.WithoutCancel(ctx) // the end of ctx must not cancel the cleanup
	failure = errors.Join(failure, c.remove(ctx, r.hook))
	ctx, cancel := context.WithTimeout(ctx, receiverPatience)
	defer cancel()
	return errors.Join(failure, server.Shutdown(ctx))
}

// receiver is the HTTP handler of deliveries.
type receiver struct {
	*streams

	hook *receivedHook
	json bool
	// forwarder sends the deliveries on; nil if they are only printed.
	forwarder *forwarder
	mu        sync.Mutex // guards the output: deliveries are concurrent
}

// ServeHTTP prints a delivery if its signature is valid, and sends it on.
func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, request.Body, maxDelivery))
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if !r.accept(request, body) {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if r.forwarder == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	outcome := r.forwarder.forward(request.Context(), request.Header, body)
	r.mu.Lock()
	fmt.Fprintf(r.err, "  -> %s: %s\n", r.forwarder.url, outcome.report)
	r.mu.Unlock()
	if outcome.retryAfter != "" {
		w.Header().Set("Retry-After", outcome.retryAfter)
	}
	w.WriteHeader(outcome.status)
}

// accept prints a delivery, and reports whether its signature is valid.
func (r *receiver) accept(request *http.Request, body []byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.hook.secret.Verify(body, request.Header); err != nil {
		fmt.Fprintf(r.err, "refused a request from %s: %v; it is not of this webhook, or the clocks differ by minutes\n", request.RemoteAddr, err)
		return false
	}
	if err := printEvent(r.out, r.json, request.Header.Get(webhooks.CursorHeader), body); err != nil {
		fmt.Fprintf(r.err, "this is no event: %s\n", body)
	}
	return true
}
