// Package moderation serves ModerationService: a channel's moderators, bans and
// mutes.
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
	// Lists is what lists that are complete have in common.
	Lists *paging.Lists
}
