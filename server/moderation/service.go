// Package moderation serves ModerationService: a channel's moderators, bans, mutes and
// log.
package moderation

import (
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/paging"
	"github.com/moderato-live/moderato/server/store"
)

// Service serves ModerationService.
type Service struct {
	moderatov1.UnsafeModerationServiceServer

	// Store is the database.
	Store *store.Store
	// Lists holds the limits that all complete lists share.
	Lists *paging.Lists
}
