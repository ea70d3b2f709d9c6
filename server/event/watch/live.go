package watch

import (
	"context"
	"slices"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/hearing"
	"github.com/moderato-live/moderato/server/event/live"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
)

// listenLive returns the live events of a stream; nil if the stream wants none.
func (s *Service) listenLive(ctx context.Context, wish *hearing.Wish, who *Listener, place *Place) *live.Listener {
	if s.Live == nil || !slices.ContainsFunc(wish.Widest(), eventtype.Type.MayBeLive) {
		return nil
	}
	if place.chat == nil {
		place.chat = s.Live.Listen(ctx, wish.Widest()...)
	}
	place.chat.Wake.Raise() // for what arrived since the last delivery at this place
	who.follow(place.chat.SetChannels)
	place.chat.Wait(ctx)
	return place.chat
}

// follow calls changed with the channels of which the listener may receive events, now and
// whenever they change; nil ends that.
func (l *Listener) follow(changed func(channels []uid.ID, everywhere bool)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changed = changed
	l.tellChannels()
}

// tellChannels calls changed. The caller must hold mu.
func (l *Listener) tellChannels() {
	switch {
	case l.changed == nil:
	case !l.wish.ChannelID.IsZero():
		l.changed([]uid.ID{l.wish.ChannelID}, false)
	case l.mayHear == nil:
		l.changed(nil, !l.wish.Caller.ActsAsUser())
	default:
		l.changed(l.selection.Channels, false)
	}
}

// sendLive sends the live events that have arrived. Those of channels that the listener
// may no longer receive are left out.
func (w *watcher) sendLive(ctx context.Context) error {
	if w.chat == nil {
		return nil
	}
	for ctx.Err() == nil {
		batch, missed := w.chat.Take()
		if err := w.sendMissed(ctx, missed); err != nil || batch == nil {
			return err
		}
		may, err := w.who.May(ctx, batch.ChannelID, batch.Type)
		if err != nil {
			return err
		}
		if !may {
			continue
		}
		lost, err := w.sendBatch(ctx, batch)
		if err == nil {
			err = w.sendMissed(ctx, int64(lost))
		}
		if err != nil {
			return err
		}
		if w.from.HasNext() {
			w.chat.Wake.Raise() // the kept events go first
			return nil
		}
	}
	return ctx.Err()
}

// sendMissed tells the listener how many live events it lost.
func (w *watcher) sendMissed(ctx context.Context, missed int64) error {
	if missed == 0 {
		return nil
	}
	cursor, err := outbox.Cursor(ctx, w.Hub.Store, w.from.Position())
	if err != nil {
		return err
	}
	return w.send(&moderatov1.WatchEventsResponse{Cursor: cursor, MissedMessages: missed})
}

// sendBatch sends the events of a batch, and returns how many were lost.
func (w *watcher) sendBatch(ctx context.Context, b *live.Batch) (lost int, err error) {
	if w.isFramed {
		frame, lost := b.Frame(ctx)
		if len(frame) == 0 {
			return lost, nil
		}
		return lost, w.send(live.Frame(frame))
	}
	events, lost := b.Events(ctx)
	for _, e := range events {
		if err := w.send(&moderatov1.WatchEventsResponse{Event: e}); err != nil {
			return lost, err
		}
	}
	return lost, nil
}
