package webhooks

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/store"
)

const (
	// indexTime is how long the webhooks of a channel that want live events are remembered.
	indexTime = time.Second
	// maxIndexed is how many channels and webhooks are remembered.
	maxIndexed = 10_000
)

// liveIndex remembers which webhooks want the live events of the channels that were used
// recently. So a channel with much chat costs a row in one statement a second, and other
// channels cost nothing. The index decides only who is asked: the liveSender reads a
// webhook's row before each attempt. One goroutine uses the index.
type liveIndex struct {
	// isStale is set to read everything again.
	isStale atomic.Bool

	channels map[uid.ID]*indexed
	size     int
}

// indexed holds the webhooks that want live events of one channel, with their types.
type indexed struct {
	at       time.Time
	webhooks []wanting
}

type wanting struct {
	candidate

	types []string // the live ones
}

// forEveryChannel is the key of the webhooks that want the live events of every channel.
var forEveryChannel uid.ID

// refresh reads the webhooks of channels that are not remembered.
func (x *liveIndex) refresh(ctx context.Context, e *Engine, channels []uid.ID) error {
	if x.isStale.Swap(false) || x.channels == nil || x.size+len(channels) >= maxIndexed {
		x.channels, x.size = map[uid.ID]*indexed{}, 0
	}
	now := time.Now()
	var read []uid.ID
	for _, id := range append(channels, forEveryChannel) {
		if known := x.channels[id]; known == nil || now.Sub(known.at) >= indexTime {
			read = append(read, id)
		}
	}
	for _, id := range read {
		x.forget(id)
	}
	if len(read) == 0 {
		return nil
	}
	found := map[uid.ID]*indexed{}
	for _, id := range read {
		found[id] = &indexed{at: now}
	}
	err := e.states(ctx, "types LIKE '%channel.chat.%' AND (channel_id IS NULL OR channel_id IN ("+store.Placeholders(len(read))+"))", store.Args(read), func(s state) {
		types := slices.DeleteFunc(strings.Fields(s.types), func(name string) bool { return !eventtype.Type(name).IsLive() })
		if f := found[s.channelID]; f != nil && len(types) > 0 {
			f.webhooks = append(f.webhooks, wanting{s.candidate, types})
		}
	})
	if err != nil {
		return err
	}
	for id, f := range found {
		x.channels[id] = f
		x.size += 1 + len(f.webhooks)
	}
	return nil
}

func (x *liveIndex) forget(id uid.ID) {
	if known := x.channels[id]; known != nil {
		x.size -= 1 + len(known.webhooks)
		delete(x.channels, id)
	}
}

// each calls each for the webhooks that want a live event.
func (x *liveIndex) each(m *liveEvent, each func(candidate)) {
	for _, id := range []uid.ID{m.ChannelID, forEveryChannel} {
		if known := x.channels[id]; known != nil {
			for _, w := range known.webhooks {
				if slices.Contains(w.types, string(m.Kind())) {
					each(w.candidate)
				}
			}
		}
	}
}
