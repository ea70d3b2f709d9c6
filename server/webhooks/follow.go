package webhooks

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/moderato-live/moderato/server/events"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
)

const (
	// idleInterval is how often to ask whether there is a webhook at all.
	idleInterval = time.Second
	// advanceInterval is how often webhooks that wait for nothing are moved up, those
	// that are at least advanceBy behind: so that a server that starts has little to
	// read, and an event costs nothing for webhooks that do not want it.
	advanceInterval = time.Minute
	advanceBy       = 1000
	// advanceAll is after how many intervals all of them are moved up, or retention
	// would reach those on a platform where little happens.
	advanceAll = 60
)

// state is how far a webhook that is enabled is.
type state struct {
	candidate
	channelID uid.ID // zero for every channel
	types     string
	position  int64
	nextAt    *instant.Instant
	isClaimed bool
	isBlocked bool
}

// isFree tells whether work on the webhook may begin before it is due: when it
// waits for nothing, or when what waits for another attempt holds nothing else up.
func (s *state) isFree() bool {
	return s.nextAt == nil || (!s.isClaimed && !s.isBlocked)
}

// wants tells whether the webhook is to hear of an event.
func (s *state) wants(e *events.Event) bool {
	return e.Position > s.position && (s.channelID.IsZero() || s.channelID == e.ChannelID) &&
		(s.types == "" || slices.Contains(strings.Fields(s.types), string(e.Type)))
}

// states reads the webhooks that are enabled and match a condition.
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

// follow hears of all events, and starts work on the webhooks that want them.
func (e *Engine) follow(ctx context.Context) {
	for ctx.Err() == nil {
		err := e.followOnce(ctx)
		if err != nil && ctx.Err() == nil && !errors.Is(err, events.ErrTooSlow) {
			e.Log.WarnContext(ctx, "following the events for webhooks failed; it will be tried again", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(idleInterval):
		}
	}
}

// followOnce follows the events while there is a webhook that is enabled.
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

// begin is the position from which on events have to be matched: that of the
// webhook that is furthest back among those on which nobody works. Whoever works
// on one of the others gets at least to the last position there is now, or this
// server sees to it. nil: there is no webhook.
func (e *Engine) begin(ctx context.Context) (*int64, error) {
	last, trimmed, err := events.Positions(ctx, e.Store.Read)
	if err != nil {
		return nil, e.Store.Classify(err)
	}
	from, any := last, false
	err = e.states(ctx, "1 = 1", nil, func(s state) {
		any = true
		if s.nextAt == nil && s.position >= trimmed {
			from = min(from, s.position)
		} else if s.position < last {
			e.want(s, last)
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

// match starts work on the webhooks that want one of the events, and disables
// those whose right one of them ended.
func (e *Engine) match(ctx context.Context, page []*events.Event) error {
	if err := e.takeRights(ctx, page); err != nil {
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

// advance moves webhooks up that nobody works on, and that are so far behind, to a
// position: whatever they wanted there was matched, and would be in wanted. It
// tells whether there are webhooks at all.
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
	for some := range slices.Chunk(ids, askedAtOnce) {
		if err := e.moveUp(ctx, some, to); err != nil {
			return any, err
		}
	}
	return any, nil
}
