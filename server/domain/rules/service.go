// Package rules serves the rules, settings and shield of a channel's chat, and checks posts with them.
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
