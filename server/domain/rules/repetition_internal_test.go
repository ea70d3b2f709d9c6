package rules

import (
	"log/slog"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/domain/moderation"
	"github.com/moderato-live/moderato/server/event/live"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestNobodyListensWithoutRepetition posts in a channel after its last rule about repetition, which was
// its only rule, was deleted.
func TestNobodyListensWithoutRepetition(t *testing.T) {
	s, _ := storetest.OpenRecorded(t, storetest.SQLite(t))
	hub := live.NewHub(s, slog.New(slog.DiscardHandler), prometheus.NewRegistry(), nil)
	f, channelID := NewFilter(s, hub, moderation.NewSweeps()), uid.New()
	f.rules.put(channelID, compiledOf(t, repetition()))
	<-f.rules.changed
	from := f.listen(t.Context(), nil)
	if from == nil {
		t.Fatal("nobody listens")
	}
	f.rules.put(uid.New(), compiledOf(t, repetition()))
	if from != f.listen(t.Context(), from) {
		t.Error("a second channel has another listener")
	}
	for _, id := range f.rules.repeating() {
		if err := f.Check(t.Context(), &chat.Standing{}, chat.Message{ChannelID: id}); err != nil {
			t.Fatal(err)
		}
	}
	<-f.rules.changed
	if f.listen(t.Context(), from) != nil {
		t.Error("the listener stays")
	}
}
