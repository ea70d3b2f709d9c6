package standings

import (
	"context"
	"fmt"
	"strings"

	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
)

// Propagation says how far a change of a channel has come.
type Propagation struct {
	// Subscribers is how many chat servers hold the standings of the channel, and Applied
	// how many of them have applied the change.
	Subscribers, Applied int
	// Slowest is the time that the slowest of these took, in milliseconds; nil if none has
	// measured it.
	Slowest *int64
}

// ReadPropagation reads how far the latest change of a channel up to a position has come;
// nil for the latest change of all.
func ReadPropagation(ctx context.Context, s *store.Store, channelID uid.ID, upTo *int64) (p Propagation, err error) {
	position, isWaiting, err := latestChange(ctx, s, channelID, upTo)
	if err != nil {
		return p, s.Classify(err)
	}
	now, args := s.Clock.Expression()
	err = store.QueryEach(ctx, s.Read, "SELECT position, delays FROM standing_subscribers WHERE expires_at > "+now+" AND (hears_all OR INSTR(channel_ids, ?) > 0)",
		append(args, channelID), func(scan func(...any) error) error {
			var at int64
			var delays []byte
			if err := scan(&at, &delays); err != nil {
				return err
			}
			p.add(position, isWaiting, at, delays)
			return nil
		})
	return p, s.Classify(err)
}

// add adds a chat server that has applied all changes up to the position at.
func (p *Propagation) add(position int64, isWaiting bool, at int64, delays []byte) {
	p.Subscribers++
	if isWaiting || at == incomplete || at < position {
		return
	}
	p.Applied++
	if took := delayOf(delays, position); took != unknown && (p.Slowest == nil || took > *p.Slowest) {
		p.Slowest = &took
	}
}

// latestChange returns the position of the latest change of a channel up to a position; 0 if
// there is none. It reports isWaiting for a change that has no position yet. The cost does
// not depend on how many events the channel has.
func latestChange(ctx context.Context, s *store.Store, channelID uid.ID, upTo *int64) (position int64, isWaiting bool, err error) {
	index, condition, order := s.ByIndex("event_channel_id_type_sequence"), "", "sequence"
	if upTo != nil {
		index, condition, order = s.ByIndex("event_channel_id_type_position"), " AND position <= ?", "position"
	}
	var parts []string
	var args []any
	for i, kind := range types {
		if effects[kind].kind == messageCheck {
			continue
		}
		parts = append(parts, fmt.Sprintf("SELECT * FROM (SELECT sequence, position FROM events%s WHERE channel_id = ? AND type = ?%s ORDER BY %s DESC%s) p%d",
			index, condition, order, store.Limit(1), i))
		args = append(args, channelID, kind)
		if upTo != nil {
			args = append(args, *upTo)
		}
	}
	var last int64
	err = store.QueryEach(ctx, s.Read, strings.Join(parts, " UNION ALL "), args, func(scan func(...any) error) error {
		var sequence int64
		var at *int64
		if err := scan(&sequence, &at); err != nil || sequence <= last {
			return err
		}
		last, isWaiting = sequence, at == nil
		if at != nil {
			position = *at
		}
		return nil
	})
	return position, isWaiting, err
}
