// Package socketiotest is a Socket.IO client for tests.
package socketiotest

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// patience is how long a test waits for an expected message.
const patience = 20 * time.Second

// Client is a Socket.IO client, written from the protocol's documents: Engine.IO 4 over
// WebSocket, where a packet begins with its type, and Socket.IO 5 in its messages.
type Client struct {
	// Session is the id of the session.
	Session string
	// Messages receives the messages, and is closed when the connection has ended.
	Messages chan Message

	conn *websocket.Conn
}

// Message is the argument of an event `eventsub`.
type Message struct {
	Metadata struct {
		MessageID, MessageType, SubscriptionType, Cursor string
	}
	Payload map[string]any
	// Raw is the text of the message; empty when the connection has ended.
	Raw string `json:"-"`
}

// Connect connects a client to the address of a server, and waits for its session.
func Connect(t testing.TB, address string) *Client {
	t.Helper()
	c, err := Dial(t, address)
	if err != nil {
		t.Fatal(err)
	}
	welcome := c.Next(t)
	if welcome.Metadata.MessageType != "session_welcome" {
		t.Fatalf("the first message is %s", welcome.Raw)
	}
	c.Session, _ = welcome.Payload["sessionId"].(string)
	return c
}

// Dial connects a client to the address of a server. The connection is closed when the test
// ends.
func Dial(t testing.TB, address string) (*Client, error) {
	t.Helper()
	conn, response, err := websocket.DefaultDialer.Dial("ws://"+address+"/ws/?EIO=4&transport=websocket", nil)
	if err != nil {
		return nil, err
	}
	_ = response.Body.Close()
	t.Cleanup(func() { _ = conn.Close() })
	c := &Client{Messages: make(chan Message, 1000), conn: conn}
	go c.read()
	return c, nil
}

// read answers the packets of the server, and passes its events on.
func (c *Client) read() {
	defer close(c.Messages)
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
			m := Message{Raw: text[2:]}
			_ = json.Unmarshal(bytes.TrimSuffix(packet[len(`42["eventsub",`):], []byte("]")), &m)
			c.Messages <- m
		}
		if err != nil {
			return
		}
	}
}

// Next returns the next message. It is empty when the connection has ended.
func (c *Client) Next(t testing.TB) Message {
	t.Helper()
	select {
	case m := <-c.Messages:
		return m
	case <-time.After(patience):
		t.Fatal("no message came")
		return Message{}
	}
}

// Close closes the connection without a word to the server.
func (c *Client) Close() { _ = c.conn.Close() }
