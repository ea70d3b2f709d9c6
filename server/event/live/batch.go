package live

import (
	"context"
	"sync"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/sse"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/outbox"
)

// Batch holds messages of one channel, in the order of their posting. All listeners of
// the channel share it.
type Batch struct {
	// ChannelID is the channel.
	ChannelID uid.ID

	hub  *Hub
	at   time.Time // when it was delivered to the listeners
	size int       // the number of messages at that time

	mu       sync.Mutex
	asOf     int64 // the number of deletions when the messages were last checked
	messages []Message
	lost     int    // how many messages could not be checked, and are not sent
	frame    []byte // the messages as Server-Sent Events; nil until needed
}

func newBatch(h *Hub, channelID uid.ID, messages []Message, visible map[uid.ID]bool, asOf int64) *Batch {
	b := &Batch{ChannelID: channelID, hub: h, at: time.Now(), asOf: asOf}
	b.keep(messages, visible)
	b.size = len(b.messages)
	return b
}

// keep keeps the visible ones of some messages.
func (b *Batch) keep(messages []Message, visible map[uid.ID]bool) {
	kept := make([]Message, 0, len(messages))
	for _, m := range messages {
		if visible[m.ID] {
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
	if len(b.messages) == 0 || !b.hub.deletions.isAfter(b.ChannelID, b.asOf) {
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
