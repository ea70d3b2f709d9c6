package moderation

import (
	"context"
	"time"

	"github.com/moderato-live/moderato/ent"
	entsweep "github.com/moderato-live/moderato/ent/sweep"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/fair"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
)

// The statuses of a sweep that was committed.
const (
	statusComplete   = "COMPLETE"
	statusInProgress = "IN_PROGRESS"
	statusEnded      = "ENDED"
)

const (
	// DefaultCommitWait is how long a call waits for the end of a sweep.
	DefaultCommitWait = 10 * time.Second
	// responseTime is the part of a call's time that is left for the response.
	responseTime = time.Second
	// continueAfter is how long the other servers wait for the next transaction of a sweep
	// before they continue it.
	continueAfter = 3 * time.Second
	// resultKept is how long a call repeated with its idempotency key finds a sweep that is
	// complete.
	resultKept = 24 * time.Hour
)

// commitRequest is a parsed request to commit a sweep.
type commitRequest struct {
	channelID uid.ID
	id        digest.SHA256
	wish      wishedTerms
	afterglow time.Duration
	// batchID is the id of the batch to create.
	batchID uid.ID
}

func parseCommit(req *moderatov1.CommitSweepRequest) (*commitRequest, error) {
	f := validate.Of(req)
	r := &commitRequest{
		channelID: f.UUID("channelId", req.GetChannelId()),
		id:        digest.Of(f.Text("sweepToken", req.GetSweepToken())),
		wish:      parseTerms(f, req.Reason, req.DurationSeconds, nil),
		afterglow: seconds(f, "afterglowSeconds", req.AfterglowSeconds),
		batchID:   uid.New(),
	}
	return r, f.Err()
}

// CommitSweep bans the users whom a preview found.
func (s *Service) CommitSweep(ctx context.Context, req *moderatov1.CommitSweepRequest) (*moderatov1.CommitSweepResponse, error) {
	r, err := parseCommit(req)
	if err != nil {
		return nil, err
	}
	var result *moderatov1.CommitSweepResponse
	idempotency.Result(ctx, &result)
	// The response is stored when the sweep is complete. A repeat with the idempotency key
	// before that continues the sweep.
	err = change.ApplyLong(idempotency.Recording(ctx), s.Store, r.channelID, func(ctx context.Context, c *change.Change) error { return recordSweep(ctx, c, r) })
	if err != nil {
		return nil, err
	}
	// Whatever goes wrong from here on, the sweep is recorded and any server completes it.
	recorded := unrefused(ctx)
	s.waitForSweep(idempotency.WithoutKey(recorded), r)
	row, err := s.Store.Read.Sweep.Get(recorded, r.id)
	if ent.IsNotFound(err) { // the channel was deleted meanwhile
		return nil, apierr.New(moderatov1.Reason_REASON_SWEEP_NOT_FOUND)
	}
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	if row.DueAt != nil || !idempotency.HasKey(ctx) {
		return commitResponse(row), nil
	}
	err = s.Store.Write(recorded, func(context.Context, *ent.Tx, store.Attempt) error {
		result = commitResponse(row)
		return nil
	})
	return result, err
}

// unrefused returns the context for what follows a change that is committed: it is not
// rejected for overload, because the caller would learn that nothing was changed.
func unrefused(ctx context.Context) context.Context {
	request := fair.FromContext(ctx)
	request.Priority, request.MaxWait = fair.High, 0
	return fair.NewContext(ctx, request)
}

// waitForSweep bans the users of a recorded sweep. It stops early enough for a response
// within the call.
func (s *Service) waitForSweep(ctx context.Context, r *commitRequest) {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-responseTime))
		defer cancel()
	}
	if r.afterglow > 0 && s.Afterglows != nil {
		// If this refresh fails, the next regular one finds the afterglow.
		_ = s.Afterglows.Refresh(ctx)
	}
	bounded, cancel := context.WithTimeout(ctx, s.CommitWait)
	defer cancel()
	_ = completeSweep(bounded, s.Store, r.channelID, r.id)
}

func commitResponse(row *ent.Sweep) *moderatov1.CommitSweepResponse {
	r := &moderatov1.CommitSweepResponse{
		BatchId: row.BatchID.String(), Status: statusComplete,
		Counts: &moderatov1.SweepCounts{
			Banned: int32(row.BannedCount), AlreadyBanned: int32(row.AlreadyBannedCount), UserNotFound: int32(row.NotFoundCount), Extended: int32(row.ExtendedCount),
		},
	}
	switch {
	case row.DueAt != nil:
		r.Status = statusInProgress
	case row.EndedAt != nil:
		r.Status = statusEnded
	}
	return r
}

// recordSweep records that a sweep is being committed, and its batch. It changes nothing if
// an earlier attempt, or an earlier call with the same idempotency key, has recorded it.
func recordSweep(ctx context.Context, c *change.Change, r *commitRequest) error {
	row, err := c.Tx.Sweep.Query().Where(entsweep.ID(r.id), entsweep.ChannelID(c.ChannelID)).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return apierr.New(moderatov1.Reason_REASON_SWEEP_NOT_FOUND)
	case err != nil:
		return err
	case row.BatchID != nil && (*row.BatchID == r.batchID || idempotency.HasBegun(ctx)):
		return nil
	case row.BatchID != nil, c.Now >= row.ExpiresAt:
		return apierr.New(moderatov1.Reason_REASON_SWEEP_EXPIRED)
	case r.afterglow > 0 && row.Phrase == "" && row.Pattern == "":
		return apierr.Invalid(apierr.Violation{Field: "afterglowSeconds", Description: "needs a sweep with a phrase or pattern"})
	}
	hasGrant, err := authz.HasGrant(ctx, c.Tx, c.ClientID, c.ActorID, authn.ChannelModerate)
	if err != nil {
		return err
	}
	of := r.wish.from(c.Now)
	of.batchID = &r.batchID
	update := c.Tx.Sweep.UpdateOneID(r.id).SetBatchID(*of.batchID).SetModeratorID(c.ActorID).SetClientID(c.ClientID).SetNeedsGrant(hasGrant).
		SetReason(of.reason).SetNillableBansExpireAt(of.expiresAt).SetDueAt(c.Now.Add(continueAfter)).ClearRemoveAt()
	if r.afterglow > 0 {
		update.SetAfterglowUntil(c.Now.Add(r.afterglow))
	}
	if err := update.Exec(ctx); err != nil {
		return err
	}
	return createBatch(c, of, c.LastSequence()+1, 0).Exec(ctx)
}

// completeSweep bans the users of a recorded sweep who remain.
func completeSweep(ctx context.Context, s *store.Store, channelID uid.ID, id digest.SHA256) error {
	ctx = unrefused(ctx)
	for {
		more := false
		err := change.ApplyUnattended(ctx, s, channelID, func(ctx context.Context, c *change.Change) (err error) {
			more, err = continueSweep(ctx, c, id)
			return err
		})
		if err != nil || !more {
			return err
		}
	}
}
