package socketio_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/servertest"
	"github.com/moderato-live/moderato/server/uid"
)

// patience is how long a test waits for an expected message.
const patience = 20 * time.Second

// client is a Socket.IO client, written from the protocol's documents: Engine.IO 4 over
// WebSocket, where a packet begins with its type, and Socket.IO 5 in its messages.
type client struct {
	session  string
	messages chan message
	conn     *websocket.Conn
}

// message is the argument of an event `eventsub`.
type message struct {
	Metadata struct {
		MessageID, MessageType, SubscriptionType, Cursor string
	}
	Payload map[string]any
	// raw is the text of the message; empty when the connection has ended.
	raw string
}

// connect connects a client to a server, and waits for its session.
func connect(t *testing.T, s *servertest.Server) *client {
	t.Helper()
	return connectTo(t, s.HTTPAddr)
}

// connectTo is connect for the address of a server.
func connectTo(t *testing.T, address string) *client {
	t.Helper()
	c, err := dial(t, address)
	if err != nil {
		t.Fatal(err)
	}
	welcome := c.next(t)
	if welcome.Metadata.MessageType != "session_welcome" {
		t.Fatalf("the first message is %s", welcome.raw)
	}
	c.session, _ = welcome.Payload["sessionId"].(string)
	return c
}

func dial(t *testing.T, address string) (*client, error) {
	t.Helper()
	conn, response, err := websocket.DefaultDialer.Dial("ws://"+address+"/ws/?EIO=4&transport=websocket", nil)
	if err != nil {
		return nil, err
	}
	_ = response.Body.Close()
	t.Cleanup(func() { _ = conn.Close() })
	c := &client{messages: make(chan message, 1000), conn: conn}
	go c.read()
	return c, nil
}

// read answers the packets of the server, and passes its events on.
func (c *client) read() {
	defer close(c.messages)
	for {
		_, packet, err := c.conn.ReadMessage()
		if err != nil {
			return
		}
		switch text := string(packet); {
		case text[0] == '0': // open: join the namespace
			err = c.conn.WriteMessage(websocket.TextMessage, []byte("40"))
		case text == "2": // ping
			err = c.conn.WriteMessage(websocket.TextMessage, []byte("3"))
		case strings.HasPrefix(text, `42["eventsub",`):
			m := message{raw: text[2:]}
			_ = json.Unmarshal(bytes.TrimSuffix(packet[len(`42["eventsub",`):], []byte("]")), &m)
			c.messages <- m
		}
		if err != nil {
			return
		}
	}
}

// next returns the next message. It is empty when the connection has ended.
func (c *client) next(t *testing.T) message {
	t.Helper()
	select {
	case m := <-c.messages:
		return m
	case <-time.After(patience):
		t.Fatal("no message came")
		return message{}
	}
}

// subscribe subscribes the session of a client, through a server.
func subscribe(t *testing.T, s *servertest.Server, as servertest.Credentials, session, kind string, channel uid.ID) (*moderatov1.CreateSubscriptionResponse, servertest.Outcome) {
	t.Helper()
	got, err := moderatov1.NewEventSubscriptionsServiceClient(s.Conn).CreateSubscription(as.Context(), &moderatov1.CreateSubscriptionRequest{
		Type: kind, Version: "1", SessionId: session, Condition: &moderatov1.SubscriptionCondition{ChannelId: channel.String()},
	})
	return got, servertest.OutcomeOf(err)
}

// must fails the test if an outcome is an error.
func must(t *testing.T, o servertest.Outcome) {
	t.Helper()
	if o.Reason != "OK" {
		t.Fatalf("got %+v", o)
	}
}

// ban bans a user as the owner.
func ban(t *testing.T, s *servertest.Server, user uid.ID) {
	t.Helper()
	_, err := s.Moderation.BanUser(s.As(t, servertest.Owner).Context(), &moderatov1.BanUserRequest{ChannelId: servertest.Owner.String(), BanUserId: user.String()})
	must(t, servertest.OutcomeOf(err))
}

// get calls a path over HTTP without a token.
func get(t *testing.T, s *servertest.Server, path string) (status int, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.HTTPAddr+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}
