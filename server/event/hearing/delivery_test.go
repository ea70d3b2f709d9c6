package hearing_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/event/socketio/socketiotest"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// patience is how long a test waits for an event.
const patience = 20 * time.Second

// emitted are the types of the events that emit causes: at least one for each audience.
var emitted = []string{"channel.chat.message", "channel.follow", "channel.mute", "channel.chat.clear_user_messages", "channel.update"}

// listener is a caller that listens over a transport.
type listener struct {
	caller

	transport string
	heard     <-chan string // the events in JSON
}

// listen are the ways to listen without naming types. Each returns the events of Owner's
// channel, in JSON. Every later event is delivered.
var listen = map[string]func(t *testing.T, s *servertest.Server, c caller) <-chan string{
	"SSE": listenSSE, "gRPC": listenGRPC, "Socket.IO": listenSocketIO, "webhook": listenWebhook,
}

// TestEveryTransportDeliversWhatTheCallerMayHear emits events of each audience, twice, while
// each caller listens over each transport.
func TestEveryTransportDeliversWhatTheCallerMayHear(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		s := start(t, url)
		var listeners []listener
		for _, c := range callers(t, s) {
			if c.any != "OK" {
				continue
			}
			wantTypesOfWebhook(t, s, c)
			for name, open := range listen {
				listeners = append(listeners, listener{c, name, open(t, s, c)})
			}
		}
		for _, user := range []uid.ID{servertest.Viewer, servertest.Raider} {
			emit(t, s, user)
		}
		for _, l := range listeners {
			l.wantTypes(t)
		}
	})
}

// wantTypes checks that a listener hears the emitted types that it may hear, and no other.
// An event of the first round that it may not hear would take the place of a later one.
func (l listener) wantTypes(t *testing.T) {
	t.Helper()
	var want, got []string
	for _, kind := range emitted {
		if l.wants[audienceOf(kind)] == "OK" {
			want = append(want, kind, kind)
		}
	}
	late := time.After(patience)
	for len(got) < len(want) {
		select {
		case event := <-l.heard:
			got = append(got, typeOf(t, event))
		case <-late:
			t.Fatalf("%s, %s: heard only %q, want %q", l.name, l.transport, got, want)
		}
	}
	slices.Sort(got) // chat is live and has no place in the order of the events
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s, %s: heard %q, want %q", l.name, l.transport, got, want)
	}
}

func listenGRPC(t *testing.T, s *servertest.Server, c caller) <-chan string {
	t.Helper()
	ctx, cancel := context.WithCancel(c.as.Context())
	t.Cleanup(cancel)
	stream, err := moderatov1.NewEventsServiceClient(s.Conn).WatchEvents(ctx, &moderatov1.WatchEventsRequest{ChannelId: servertest.Owner.String()})
	if err == nil {
		_, err = stream.Recv()
	}
	if err != nil {
		t.Fatal(err)
	}
	heard := make(chan string, 100)
	go func() {
		for {
			m, err := stream.Recv()
			if err != nil {
				return
			}
			if m.GetEvent() != nil {
				heard <- string(outbox.JSON(m.GetEvent()))
			}
		}
	}()
	return heard
}

func listenSSE(t *testing.T, s *servertest.Server, c caller) <-chan string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	r := s.Request(t, c.as, http.MethodGet, "/v1/events?channelId="+servertest.Owner.String(), "")
	response, err := http.DefaultClient.Do(r.WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() && lines.Text() != "" { // the first frame: the stream has begun
	}
	heard := make(chan string, 100)
	go func() {
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok && data != "" {
				heard <- data
			}
		}
	}()
	return heard
}

// listenSocketIO subscribes a session to each emitted type that the caller may hear: a
// subscription has one type, and others are refused.
func listenSocketIO(t *testing.T, s *servertest.Server, c caller) <-chan string {
	t.Helper()
	client := socketiotest.Connect(t, s.HTTPAddr)
	for _, kind := range emitted {
		_, err := moderatov1.NewEventSubscriptionsServiceClient(s.Conn).CreateSubscription(c.as.Context(), &moderatov1.CreateSubscriptionRequest{
			Type: kind, Version: "1", SessionId: client.Session, Condition: &moderatov1.SubscriptionCondition{ChannelId: servertest.Owner.String()},
		})
		if got, want := text(servertest.OutcomeOf(err)), c.wants[audienceOf(kind)]; got != want {
			t.Fatalf("%s, Socket.IO, %s: got %s, want %s", c.name, kind, got, want)
		}
	}
	heard := make(chan string, 100)
	go func() {
		for m := range client.Messages {
			heard <- strings.TrimSuffix(strings.TrimPrefix(m.Raw, `["eventsub",`), "]")
		}
	}()
	return heard
}

// listenWebhook creates a webhook without types and, because live chat must be named, one for
// chat. Both have the same receiver.
func listenWebhook(t *testing.T, s *servertest.Server, c caller) <-chan string {
	t.Helper()
	heard := make(chan string, 100)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the server has stopped
		}
		heard <- string(body)
	}))
	t.Cleanup(receiver.Close)
	create(t, s, c, servertest.Args{"channelId": servertest.Owner.String(), "url": receiver.URL})
	if c.wants[public] == "OK" {
		create(t, s, c, servertest.Args{"channelId": servertest.Owner.String(), "url": receiver.URL, "type": []string{"channel.chat.message"}})
	}
	return heard
}

// typeOf returns the type of an event.
func typeOf(t *testing.T, event string) string {
	t.Helper()
	var e struct {
		Metadata struct{ SubscriptionType string }
	}
	if err := json.Unmarshal([]byte(event), &e); err != nil {
		t.Errorf("%s: %v", event, err)
	}
	return e.Metadata.SubscriptionType
}

// wantTypesOfWebhook checks the types of a webhook that is created without types: none,
// which is all, if the caller hears all, and otherwise those that it hears.
func wantTypesOfWebhook(t *testing.T, s *servertest.Server, c caller) {
	t.Helper()
	created := create(t, s, c, servertest.Args{"channelId": servertest.Owner.String(), "url": "https://hooks.example.com/x"})
	var want []string
	for _, kind := range eventtype.Types() {
		if c.wants[audienceOf(kind)] == "OK" {
			want = append(want, kind)
		}
	}
	if len(want) == len(eventtype.Types()) {
		want = nil
	}
	if got := created.GetType(); !slices.Equal(got, want) {
		t.Errorf("%s: the webhook has the types %q, want %q", c.name, got, want)
	}
}

// create creates a webhook.
func create(t *testing.T, s *servertest.Server, c caller, args servertest.Args) *moderatov1.CreateWebhookResponse {
	t.Helper()
	args["url"] = fmt.Sprint(args["url"], "?", uid.New()) // the caller may have one already
	created, o := s.CallGRPC(t, c.as, http.MethodPost, "/v1/webhooks", args)
	if o.Reason != "OK" {
		t.Fatalf("%s: %+v", c.name, o)
	}
	return created.(*moderatov1.CreateWebhookResponse)
}

// emit emits events of each audience in Owner's channel, which are about a user. The chat
// message is another user's: a mute deletes those of the user, perhaps before they are
// delivered.
func emit(t *testing.T, s *servertest.Server, user uid.ID) {
	t.Helper()
	backend := s.AsService(t)
	_, err := s.Audience.Follow(backend.Context(), &platformv1.FollowRequest{ChannelId: servertest.Owner.String(), UserId: user.String()})
	if err == nil {
		_, err = s.Chat.PostMessage(backend.Context(), &platformv1.PostMessageRequest{ChannelId: servertest.Owner.String(), UserId: servertest.Owner.String(), Text: "hello"})
	}
	if err != nil {
		t.Fatal(err)
	}
	owner := s.As(t, servertest.Owner)
	for _, call := range []struct{ path, body string }{
		{"/v1/moderation/mute", `{"channelId":"` + servertest.Owner.String() + `","mutedUserId":"` + user.String() + `"}`},
		{"/v1/channels/info", `{"title":"about ` + user.String() + `","lang":"en"}`},
	} {
		if r := s.REST(t, owner, http.MethodPost, call.path, call.body); r.Status != http.StatusOK {
			t.Fatal(call.path, r.Body)
		}
	}
}
