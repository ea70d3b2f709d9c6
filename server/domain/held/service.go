// Package held keeps messages that wait for a decision of a moderator.
package held

import (
	"context"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/change/feed"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/event/live"
	"github.com/moderato-live/moderato/server/store"
)

// Service serves HeldMessagesService.
type Service struct {
	moderatov1.UnsafeHeldMessagesServiceServer

	// Store is the database.
	Store *store.Store
	// Live delivers messages to listeners.
	Live *live.Hub
	// Mute mutes users in a change, each for a time at least.
	Mute func(context.Context, *change.Change, map[uid.ID]time.Duration) error
	// Posted is called in a change with the messages that it posts, and with their senders.
	Posted func(context.Context, *change.Change, []chat.Message, map[uid.ID]*chat.Standing) error
}

// apply makes a change of held messages of a channel, posts those that it approves, and delivers them.
func (s *Service) apply(ctx context.Context, apply applying, channelID uid.ID, do func(context.Context, *change.Change) (*waiting, error)) error {
	var posting *chat.Posting
	err := feed.RetryOnDuplicate(s.Store, func() error {
		return apply(ctx, s.Store, channelID, func(ctx context.Context, c *change.Change) error {
			w, err := do(ctx, c)
			if err == nil {
				posting, err = chat.PostIn(ctx, c, w.approved, w.senders)
			}
			if err == nil && len(w.approved) > 0 {
				err = s.Posted(ctx, c, w.approved, w.senders)
			}
			return err
		})
	})
	if err == nil {
		posting.Deliver(ctx, s.Store, s.Live)
	}
	return err
}

// applying is change.Apply or change.ApplyUnattended.
type applying func(ctx context.Context, s *store.Store, channelID uid.ID, body func(context.Context, *change.Change) error) error
