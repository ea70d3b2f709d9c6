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
	for want, bus := range map[string]bus.Config{"--nats-url": {}, "--nats-chat-subject": events} {
		config := servertest.Config(storetest.SQLite(t))
		config.ChatOverNATS, config.ChatSubject, config.Bus = true, "moderato.chat", bus
		s, err := server.New(t.Context(), config)
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error that names %s", err, want)
		}
	}
}
