package chat

import (
	"context"
	"errors"
	"fmt"

	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
)

// Examined is a message that is stored, visible or not.
type Examined struct {
	Message

	// Generation tells whether the message is visible: it is while this is the sum of
	// ChannelGeneration and of the sender's generation in message_generations.
	Generation int64
}

// Examine returns the messages of a channel that follow a Place, oldest first. It also returns
// deleted messages: Generation tells which are visible.
func Examine(ctx context.Context, s *store.Store, channelID uid.ID, after Place, limit int) ([]Examined, error) {
	page := make([]Examined, 0, limit)
	later, args := s.Above("m.sent_at", "m.id", after.SentAt, after.ID)
	err := store.QueryEach(ctx, s.Read, "SELECT m.id, m.user_id, m.generation, m.text, m.sent_at FROM messages m"+s.ByIndex("message_channel_id_sent_at_id")+
		" WHERE m.channel_id = ? AND "+later+" ORDER BY m.sent_at, m.id"+store.Limit(limit),
		append([]any{channelID}, args...), func(scan func(...any) error) error {
			m := Examined{Message: Message{ChannelID: channelID}}
			err := scan(&m.ID, &m.UserID, &m.Generation, &m.Text, &m.SentAt)
			page = append(page, m)
			return err
		})
	if err != nil {
		return nil, fmt.Errorf("examine messages: %w", s.Classify(err))
	}
	return page, nil
}

// CountAfter returns how many messages of a channel are stored that were posted after an instant, up
// to a limit.
func CountAfter(ctx context.Context, s *store.Store, channelID uid.ID, after instant.Instant, limit int) (n int, err error) {
	err = store.QueryRow(ctx, s.Read, "SELECT COUNT(*) FROM (SELECT 1 AS one FROM messages m"+s.ByIndex("message_channel_id_sent_at_id")+
		" WHERE m.channel_id = ? AND m.sent_at > ?"+store.Limit(limit)+") l", []any{channelID, after}, &n)
	if err != nil {
		return 0, fmt.Errorf("count messages: %w", s.Classify(err))
	}
	return n, nil
}

// LatestIn returns the latest messages of a channel after an instant, newest first, with the deleted
// ones that are still stored.
func LatestIn(ctx context.Context, s *store.Store, channelID uid.ID, after instant.Instant, limit int) (latest []Message, err error) {
	err = store.QueryEach(ctx, s.Read, "SELECT m.id, m.user_id, m.text, m.sent_at FROM messages m"+s.ByIndex("message_channel_id_sent_at_id")+
		" WHERE m.channel_id = ? AND m.sent_at > ? ORDER BY m.sent_at DESC, m.id DESC"+store.Limit(limit),
		[]any{channelID, after}, func(scan func(...any) error) error {
			m := Message{ChannelID: channelID}
			err := scan(&m.ID, &m.UserID, &m.Text, &m.SentAt)
			latest = append(latest, m)
			return err
		})
	if err != nil {
		return nil, fmt.Errorf("read the latest messages: %w", s.Classify(err))
	}
	return latest, nil
}

// ChannelGeneration returns the part of the generation of visible messages that a channel
// has.
func ChannelGeneration(ctx context.Context, q store.Queryer, channelID uid.ID) (generation int64, err error) {
	err = store.QueryRow(ctx, q, "SELECT generation FROM chat_generations WHERE channel_id = ?", []any{channelID}, &generation)
	if errors.Is(err, store.ErrNoRows) {
		return 0, nil
	}
	return generation, err
}
