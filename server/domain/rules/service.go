// Package rules says what a channel allows in its chat: the settings, with the modes that refuse
// posts.
package rules

import (
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/domain/moderation"
	"github.com/moderato-live/moderato/server/store"
)

// Service serves ChatRulesService.
type Service struct {
	moderatov1.UnsafeChatRulesServiceServer

	// Store is the database.
	Store *store.Store
	// Turns has the turns of previews.
	Turns *moderation.Sweeps
}
