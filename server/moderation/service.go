// Package moderation serves ModerationService: a channel's moderators, bans, mutes and
// log.
package moderation

import (
	"runtime"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/fair"
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
	// Sweeps bounds the previews of sweeps that examine messages at the same time, which
	// takes processor time. Their callers take turns.
	Sweeps *fair.Gate
	// Afterglows learns of afterglows that begin; nil in tests without them.
	Afterglows *Afterglows
	// CommitWait is how long CommitSweep waits for the end of the sweep.
	CommitWait time.Duration
}

// NewSweeps returns the gate for previews of sweeps, which leaves at least half of the
// processors to other calls if there are several.
func NewSweeps() *fair.Gate { return fair.NewGate(max(1, min(2, runtime.GOMAXPROCS(0)/2))) }
