package server_test

import (
	"strings"
	"testing"

	"github.com/moderato-live/moderato/server"
	"github.com/moderato-live/moderato/server/event/bus"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

func TestSettingsOfChatOverNATSAreChecked(t *testing.T) {
	events := bus.Config{URL: "nats://127.0.0.1:4222", Stream: "MODERATO", Subject: "moderato"}
	for _, c := range []struct {
		bus     bus.Config
		subject string
		want    string
	}{
		{bus.Config{}, "chat", "--nats-url"},
		{events, "moderato.chat", "must not be below that of events; set --nats-chat-subject"},
		{events, "", "without spaces, * and >; set --nats-chat-subject"},
		{events, "a b", "without spaces, * and >; set --nats-chat-subject"},
		{events, "chat.>", "without spaces, * and >; set --nats-chat-subject"},
		{events, "chat.", "without spaces, * and >; set --nats-chat-subject"},
		{bus.Config{URL: events.URL, Stream: "MODERATO", Subject: "events.*"}, "chat", "set --nats-subject"},
		{bus.Config{URL: events.URL, Subject: "moderato"}, "moderato.chat", ""}, // publishes no events
	} {
		config := servertest.Config(storetest.SQLite(t))
		config.ChatOverNATS, config.ChatSubject, config.Bus = true, c.subject, c.bus
		storetest.Migrate(t, config.DB)
		s, err := server.New(t.Context(), config)
		if err == nil {
			s.Close()
		}
		if isRight := err == nil && c.want == "" || err != nil && c.want != "" && strings.Contains(err.Error(), c.want); !isRight {
			t.Errorf("the subject %q and %v: %v, want %q", c.subject, c.bus, err, c.want)
		}
	}
}
