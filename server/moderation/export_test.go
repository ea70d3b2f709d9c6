package moderation

import (
	"context"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/store"
)

// MaxAfterglowBatch is the size of a batch from which an afterglow bans nobody more.
const MaxAfterglowBatch = maxAfterglowBatch

// FindSweep finds the users who match the conditions of a sweep, within limits, and returns
// their number.
func FindSweep(ctx context.Context, s *store.Store, req *moderatov1.PreviewSweepRequest, rows, users int, limit time.Duration) (int, error) {
	q, err := parseConditions(req)
	if err != nil {
		return 0, err
	}
	found, err := findSweep(ctx, s, q, sweepLimits{rows: rows, users: users, time: limit})
	if err != nil {
		return 0, err
	}
	return len(found.matched), nil
}
