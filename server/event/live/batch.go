package live

import (
	"context"
	"sync"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/sse"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
)

// Batch holds events of one type in one channel, in the order of their posting. All their
// listeners share it.
type Batch struct {
	// ChannelID is the channel.
	ChannelID uid.ID
	// Type is the type of the events.
	Type eventtype.Type

	hub  *Hub
	at   time.Time // when it was delivered to the listeners
	size int       // the number of messages at that time

	mu       sync.Mutex
	asOf     int64 // the number of deletions when the messages were last checked
	messages []Message
	lost     int    // how many messages could not be checked, and are not sent
	frame    []byte // the messages as Server-Sent Events; nil until needed
}

func newBatch(h *Hub, of lane, messages []Message, visible map[uid.ID]bool, asOf int64) *Batch {
	b := &Batch{ChannelID: of.channelID, Type: of.kind, hub: h, at: time.Now(), asOf: asOf}
	b.keep(messages, visible)
	b.size = len(b.messages)
	return b
}

// keep keeps the visible ones of some messages. What is no chat message is not deleted.
func (b *Batch) keep(messages []Message, visible map[uid.ID]bool) {
	kept := make([]Message, 0, len(messages))
	for _, m := range messages {
		if b.Type != Type || visible[m.ID] {
			kept = append(kept, m)
		}
	}
	b.messages, b.frame = kept, nil
}

// Events returns the events of the messages that are still visible. If messages of the
// channel were deleted since the batch was checked, it asks the database once for all
// listeners: a message never follows the event that deletes it. If the database cannot be
// asked, the messages are lost; Events returns their number.
func (b *Batch) Events(ctx context.Context) (events []*moderatov1.Event, lost int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.checkAgain(ctx)
	events = make([]*moderatov1.Event, len(b.messages))
	for i, m := range b.messages {
		events[i] = m.Event
	}
	return events, b.lost
}

// Elsewhere returns the events of the batch that were posted on other servers, whether or not they
// are still visible.
func (b *Batch) Elsewhere() (events []*moderatov1.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range b.messages {
		if m.isForeign {
			events = append(events, m.Event)
		}
	}
	return events
}

// Frame is Events in the form of Server-Sent Events; empty if no message is visible. It
// must not be modified.
func (b *Batch) Frame(ctx context.Context) (frame []byte, lost int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.checkAgain(ctx)
	if b.frame == nil {
		for _, m := range b.messages {
			b.frame = sse.Append(b.frame, "", outbox.JSON(m.Event))
		}
	}
	return b.frame, b.lost
}

func (b *Batch) checkAgain(ctx context.Context) {
	if b.Type != Type || len(b.messages) == 0 || !b.hub.deletions.isAfter(b.ChannelID, b.asOf) {
		return
	}
	asOf := b.hub.deletions.count()
	// The check must not fail for all listeners because one of them is gone.
	visible, err := b.hub.check(context.WithoutCancel(ctx), b.messages)
	if err != nil {
		b.hub.dropped.WithLabelValues(causeCheck).Add(float64(len(b.messages)))
		b.lost, visible = len(b.messages), nil
	}
	b.asOf = asOf
	b.keep(b.messages, visible)
}
