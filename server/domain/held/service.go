// Package held keeps messages that wait for a decision of a moderator.
package held

import (
	"context"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
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
}
