// Package moderation serves ModerationService: a channel's moderators, bans, mutes and
// log.
package moderation

import (
	"context"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/rpc/paging"
	"github.com/moderato-live/moderato/server/store"
)

// Service serves ModerationService.
type Service struct {
	moderatov1.UnsafeModerationServiceServer

	// Store is the database.
	Store *store.Store
	// Lists holds the limits that all complete lists share.
	Lists *paging.Lists
	// Sweeps bounds the previews of sweeps that examine messages at the same time.
	Sweeps *Sweeps
	// Afterglows learns of afterglows that begin; nil in tests without them.
	Afterglows *Afterglows
	// CommitWait is how long CommitSweep waits for the end of the sweep.
	CommitWait time.Duration
	// PassRules makes the owner the editor of the rules of a user who is no moderator any more.
	PassRules func(ctx context.Context, c *change.Change, userID uid.ID) error
	// RevertRules reverts the changes of rules that a moderator made since a point in time.
	RevertRules func(ctx context.Context, c *change.Change, moderatorID uid.ID, since instant.Instant) error
}
