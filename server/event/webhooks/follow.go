package webhooks

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/event/watch"
	"github.com/moderato-live/moderato/server/store"
)

const (
	// idleInterval is how often to check whether an enabled webhook exists.
	idleInterval = time.Second
	// advanceInterval is how often idle webhooks that are at least advanceBy positions
	// behind are moved up. As a result, a server that starts has little to read, and an
	// event costs nothing for webhooks that do not want it.
	advanceInterval = time.Minute
	advanceBy       = 1000
	// advanceAll is the number of intervals after which all idle webhooks are moved up.
	// Otherwise retention would reach them on a platform with few events.
	advanceAll = 60
)

// state is the progress of an enabled webhook.
type state struct {
	candidate
	channelID uid.ID // zero means every channel
	types     string
	position  int64
	nextAt    *instant.Instant
	isClaimed bool
	isBlocked bool
}

// isFree reports whether work on the webhook may begin before it is due: either it
// waits for nothing, or what waits for its next attempt does not block new events.
func (s *state) isFree() bool {
	return s.nextAt == nil || (!s.isClaimed && !s.isBlocked)
}

// wants reports whether the webhook is to receive an event.
func (s *state) wants(e *outbox.Event) bool {
	return e.Position > s.position && (s.channelID.IsZero() || s.channelID == e.ChannelID) &&
		(s.types == "" || slices.Contains(strings.Fields(s.types), string(e.Type)))
}

// states calls each for every enabled webhook that matches a condition.
func (e *Engine) states(ctx context.Context, where string, args []any, each func(state)) error {
	err := store.QueryEach(ctx, e.Store.Read,
		"SELECT "+candidateColumns+", channel_id, types, position, next_at, is_claimed, is_blocked FROM webhooks WHERE disabled_reason = '' AND "+where, args,
		func(scan func(...any) error) error {
			var s state
			var channel []byte
			err := s.scan(func(into ...any) error {
				return scan(append(into, &channel, &s.types, &s.position, &s.nextAt, &s.isClaimed, &s.isBlocked)...)
			})
			copy(s.channelID[:], channel)
			each(s)
			return err
		})
	return e.Store.Classify(err)
}

// follow follows all events, and starts work on the webhooks that want them.
func (e *Engine) follow(ctx context.Context) {
	for ctx.Err() == nil {
		err := e.followOnce(ctx)
		if err != nil && ctx.Err() == nil && !errors.Is(err, watch.ErrTooSlow) {
			e.Log.WarnContext(ctx, "reading events for webhooks failed; retrying", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-e.exists:
		}
	}
}

// followOnce follows the events for as long as an enabled webhook exists.
func (e *Engine) followOnce(ctx context.Context) error {
	from, err := e.begin(ctx)
	if err != nil || from == nil {
		return err
	}
	subscription, err := e.Hub.Subscribe(ctx, from, nil)
	if err != nil {
		return err
	}
	defer subscription.Close()
	advance := time.NewTicker(advanceInterval)
	defer advance.Stop()
	for turns := 1; ; {
		page, err := subscription.Next(ctx, advance.C)
		if err != nil {
			return err
		}
		if len(page) > 0 {
			if err := e.match(ctx, page); err != nil {
				return err
			}
			continue
		}
		by := int64(advanceBy)
		if turns++; turns%advanceAll == 0 {
			by = 1
		}
		if any, err := e.advance(ctx, subscription.Position(), by); err != nil || !any {
			return err
		}
	}
}

// begin returns the position after which events have to be matched: that of the idle
// webhook that is furthest behind. For every other webhook, begin records that it has
// to reach the last position, so that the server that works on it gets there, or this
// server does. begin returns nil if no webhook is enabled.
func (e *Engine) begin(ctx context.Context) (*int64, error) {
	at, err := outbox.ReadPositions(ctx, e.Store.Read)
	if err != nil {
		return nil, e.Store.Classify(err)
	}
	from, any := at.Last, false
	err = e.states(ctx, "1 = 1", nil, func(s state) {
		any = true
		if s.nextAt == nil && s.position >= at.Trimmed {
			from = min(from, s.position)
		} else if s.position < at.Last {
			e.want(s, at.Last)
		}
	})
	if err != nil || !any {
		return nil, err
	}
	return &from, nil
}

func (e *Engine) want(s state, position int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.wanted[s.id] = want{s.candidate, max(e.wanted[s.id].position, position)}
}

// match starts work on the webhooks that want one of the events, and disables those
// whose user lost the right through one of them.
func (e *Engine) match(ctx context.Context, page []*outbox.Event) error {
	if err := e.disableAfterEvents(ctx, page); err != nil {
		return err
	}
	var channels []any
	for _, event := range page {
		if !slices.Contains(channels, any(event.ChannelID)) {
			channels = append(channels, event.ChannelID)
		}
	}
	var matched []state
	err := e.states(ctx, "(channel_id IS NULL OR channel_id IN ("+store.Placeholders(len(channels))+"))", channels, func(s state) {
		for _, event := range slices.Backward(page) {
			if s.wants(event) {
				e.want(s, event.Position)
				matched = append(matched, s)
				return
			}
		}
	})
	for _, s := range matched {
		if s.isFree() || e.isRunning(s.id) {
			e.start(ctx, s.candidate)
		}
	}
	return err
}

func (e *Engine) isRunning(id uid.ID) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.running[id] != nil
}

// advance moves idle webhooks to the position to, if they are at least by positions
// behind it. The events up to there have been matched: a webhook that wants one of them
// is in wanted, and is not moved. advance reports whether an enabled webhook exists.
func (e *Engine) advance(ctx context.Context, to, by int64) (any bool, err error) {
	var ids []uid.ID
	err = e.states(ctx, "1 = 1", nil, func(s state) {
		any = true
		if s.nextAt == nil && s.position <= to-by {
			ids = append(ids, s.id)
		}
	})
	if err != nil {
		return any, err
	}
	e.mu.Lock()
	ids = slices.DeleteFunc(ids, func(id uid.ID) bool { return e.wanted[id].position > 0 || e.running[id] != nil })
	e.mu.Unlock()
	for some := range slices.Chunk(ids, idsPerStatement) {
		if err := e.moveUp(ctx, some, to); err != nil {
			return any, err
		}
	}
	return any, nil
}
