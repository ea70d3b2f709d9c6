package webhooks_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"google.golang.org/protobuf/proto"

	"github.com/moderato-live/moderato/docs/openapi/openapitest"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

const path = "/v1/webhooks"

// patience is how long a test waits for an expected effect.
const patience = 20 * time.Second

// config returns a configuration that allows webhooks to call the receivers of tests.
func config(url store.URL) server.Config {
	c := servertest.Config(url)
	c.WebhookAllowPrivate = true
	return c
}

// each runs a test in parallel on a server with the World, on each kind of store.
func each(t *testing.T, test func(t *testing.T, s *servertest.Server)) {
	t.Helper()
	t.Parallel()
	eachAlone(t, test)
}

// eachAlone is each without parallel tests, for tests that measure time.
func eachAlone(t *testing.T, test func(t *testing.T, s *servertest.Server)) {
	t.Helper()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		s := servertest.Start(t, config(url))
		s.Load(t, servertest.World()...)
		test(t, s)
	})
}

// sent is a delivery as it arrived.
type sent struct {
	header http.Header
	body   []byte
	event  struct {
		Metadata struct {
			MessageID        string `json:"messageId"`
			SubscriptionType string `json:"subscriptionType"`
			ChannelID        string `json:"channelId"`
			Sequence         int64  `json:"sequence"`
		} `json:"metadata"`
		Payload map[string]any `json:"payload"`
	}
}

// receiver records deliveries, and responds as the test chooses.
type receiver struct {
	*httptest.Server

	got chan sent

	mu     sync.Mutex
	answer func(http.ResponseWriter, sent)
}

// newReceiver starts a receiver that responds with 204.
func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{got: make(chan sent, 1000)}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		s := sent{header: request.Header}
		var err error
		if s.body, err = io.ReadAll(request.Body); err != nil {
			return // the attempt ended within the request; another one follows
		}
		if err := json.Unmarshal(s.body, &s.event); err != nil {
			t.Errorf("the body %s: %v", s.body, err)
		}
		r.mu.Lock()
		answer := r.answer
		r.mu.Unlock()
		r.got <- s
		if answer != nil {
			answer(w, s)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(r.Close)
	return r
}

// answers sets the function that responds.
func (r *receiver) answers(f func(http.ResponseWriter, sent)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = f
}

// status makes the receiver respond with a status; header holds names and values
// alternately.
func (r *receiver) status(status int, header ...string) {
	r.answers(func(w http.ResponseWriter, _ sent) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
	})
}

// next waits for the next delivery and returns it.
func (r *receiver) next(t *testing.T) sent {
	t.Helper()
	select {
	case s := <-r.got:
		openapitest.CheckDelivery(t, s.header, s.body)
		return s
	case <-time.After(patience):
		t.Fatal("nothing arrived")
		return sent{}
	}
}

// wantNext checks the type of the next delivery.
func (r *receiver) wantNext(t *testing.T, kind string) sent {
	t.Helper()
	s := r.next(t)
	if s.event.Metadata.SubscriptionType != kind {
		t.Fatalf("got %s, want %s", s.event.Metadata.SubscriptionType, kind)
	}
	return s
}

// wantNothing checks that no delivery has arrived. It does not wait, so the test must
// already have prevented deliveries.
func (r *receiver) wantNothing(t *testing.T) {
	t.Helper()
	select {
	case s := <-r.got:
		t.Fatalf("got %s, want nothing", s.body)
	default:
	}
}

// verify checks a delivery with the library, like a receiver.
func verify(secret string, s sent) error {
	w, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		return err
	}
	return w.VerifyIgnoringTimestamp(s.body, s.header)
}

// create creates a webhook over REST.
func create(t *testing.T, s *servertest.Server, c servertest.Credentials, args servertest.Args) *moderatov1.CreateWebhookResponse {
	t.Helper()
	response, outcome := s.CallGRPC(t, c, "POST", path, args)
	if outcome.Reason != "OK" {
		t.Fatalf("create: %+v", outcome)
	}
	created := &moderatov1.CreateWebhookResponse{}
	proto.Merge(created, response)
	return created
}

// call makes a call over gRPC, which must succeed.
func call[M proto.Message](t *testing.T, s *servertest.Server, c servertest.Credentials, method, path string, args servertest.Args) M {
	t.Helper()
	response, outcome := s.CallGRPC(t, c, method, path, args)
	if outcome.Reason != "OK" {
		t.Fatalf("%s %s: %+v", method, path, outcome)
	}
	m, ok := response.(M)
	if !ok {
		t.Fatalf("got a %T", response)
	}
	return m
}

// list returns the webhooks of a channel that the caller can see.
func list(t *testing.T, s *servertest.Server, c servertest.Credentials, channel uid.ID) []*moderatov1.Webhook {
	t.Helper()
	args := servertest.Args{}
	if !channel.IsZero() {
		args["channelId"] = channel.String()
	}
	return call[*moderatov1.ListWebhooksResponse](t, s, c, "GET", path, args).GetWebhooks()
}

// only returns the only webhook of Owner's channel.
func only(t *testing.T, s *servertest.Server) *moderatov1.Webhook {
	t.Helper()
	all := list(t, s, s.AsService(t), servertest.Owner)
	if len(all) != 1 {
		t.Fatalf("got %d webhooks, want 1", len(all))
	}
	return all[0]
}

// deliveries returns the newest deliveries of a webhook.
func deliveries(t *testing.T, s *servertest.Server, id string) []*moderatov1.WebhookDelivery {
	t.Helper()
	return call[*moderatov1.ListWebhookDeliveriesResponse](t, s, s.AsService(t), "GET", path+"/deliveries", servertest.Args{"webhookId": id, "limit": 100}).GetRows()
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it never came to this: %s", what)
		}
	}
}

// ban bans a user in a channel.
func ban(t *testing.T, s *servertest.Server, channel, user uid.ID) {
	t.Helper()
	_, outcome := s.CallGRPC(t, s.As(t, channel), "POST", "/v1/moderation/ban", servertest.Args{"channelId": channel.String(), "banUserId": user.String()})
	if outcome.Reason != "OK" {
		t.Fatalf("ban: %+v", outcome)
	}
}

// retitle changes the title of a channel, which emits one event: channel.update.
func retitle(t *testing.T, s *servertest.Server, channel uid.ID, title string) {
	t.Helper()
	_, outcome := s.CallGRPC(t, s.As(t, channel), "POST", "/v1/channels/info", servertest.Args{"title": title, "lang": "en"})
	if outcome.Reason != "OK" {
		t.Fatalf("retitle: %+v", outcome)
	}
}

// mine returns the arguments of a webhook of Owner's channel.
func (r *receiver) mine(types ...string) servertest.Args {
	return servertest.Args{"channelId": servertest.Owner.String(), "url": r.URL, "type": types}
}
