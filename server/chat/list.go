package chat

import (
	"context"
	"fmt"
	"math"

	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
)

// maxExamined bounds the rows that List examines, so that a channel full of deleted
// messages costs no more than a full page.
const maxExamined = 1000

// Place is the position at which a list of messages resumes: after the message with
// this time and id.
type Place struct {
	SentAt instant.Instant
	ID     uid.ID
}

// List returns visible messages of a channel, newest first, and the Place after them;
// nil when no messages can follow. If after is nil, it begins with the newest message.
// It uses one statement, so that a deletion that completed before List began applies to
// the whole page. It leaves out the deleted messages among the rows that it examines, so
// the page may be short or empty.
func List(ctx context.Context, s *store.Store, channelID uid.ID, after *Place, limit int) ([]Message, *Place, error) {
	if after == nil {
		after = &Place{SentAt: math.MaxInt64}
	}
	examine := min(maxExamined, 4*limit+20)
	var page []Message
	var last Place
	examined, more := 0, false
	err := store.QueryEach(ctx, s.Read, `
		SELECT m.id, m.user_id, m.text, m.sent_at, m.generation = COALESCE(g.generation, 0)
		FROM messages m
		LEFT JOIN message_generations g ON g.channel_id = m.channel_id AND g.user_id = m.user_id
		WHERE m.channel_id = ? AND (m.sent_at < ? OR (m.sent_at = ? AND m.id < ?))
		ORDER BY m.sent_at DESC, m.id DESC LIMIT ?`,
		[]any{channelID, after.SentAt, after.SentAt, after.ID, examine},
		func(scan func(...any) error) error {
			examined++
			if more = len(page) == limit; more {
				return nil
			}
			m := Message{ChannelID: channelID}
			var visible bool
			if err := scan(&m.ID, &m.UserID, &m.Text, &m.SentAt, &visible); err != nil {
				return err
			}
			last = Place{m.SentAt, m.ID}
			if visible {
				page = append(page, m)
			}
			return nil
		})
	if err != nil {
		return nil, nil, fmt.Errorf("list messages: %w", s.Classify(err))
	}
	if !more && examined < examine {
		return page, nil, nil
	}
	return page, &last, nil
}
