package standings

import (
	"context"
	"fmt"

	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
)

// modes are the channels whose settings restrict posts, as of the latest read.
type modes struct {
	channels map[uid.ID]bool
	readAt   instant.Instant
}

// read reads which channels have modes. The first read reads all, and a later one those that
// changed since the one before it, however many have modes.
func (m *modes) read(ctx context.Context, s *store.Store, now instant.Instant) error {
	query, args := "WHERE s.has_checks", []any(nil)
	if m.channels == nil {
		m.channels = map[uid.ID]bool{}
	} else {
		query, args = "WHERE s.changed_at >= ?", []any{m.readAt.Add(-lateCommit)}
	}
	// The rows of a deleted channel are removed later.
	query = "SELECT s.channel_id, s.has_checks AND EXISTS (SELECT 1 FROM channels c WHERE c.id = s.channel_id) FROM chat_settings s " + query
	err := store.QueryEach(ctx, s.Read, query, args, func(scan func(...any) error) error {
		var id uid.ID
		var has bool
		err := scan(&id, &has)
		if m.channels[id] = has; !has {
			delete(m.channels, id)
		}
		return err
	})
	if err != nil {
		*m = modes{}
		return fmt.Errorf("read the modes of chats: %w", err)
	}
	m.readAt = now
	return nil
}
