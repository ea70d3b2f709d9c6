package moderation

import (
	"context"
	"fmt"

	"github.com/moderato-live/moderato/ent"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/rpc/validate"
)

// The statuses of the results of a batch.
const (
	statusBanned          = "BANNED"
	statusExtended        = "EXTENDED"
	statusAlreadyBanned   = "ALREADY_BANNED"
	statusUserNotFound    = "USER_NOT_FOUND"
	statusTargetIsChannel = "TARGET_IS_CHANNEL"
	statusDuplicate       = "DUPLICATE"
	statusInvalid         = "INVALID"
)

// batchRequest is a parsed request for a batch of bans.
type batchRequest struct {
	channelID uid.ID
	keys      []users.Key // in the order of the request; zero if it is malformed
	wish      wishedTerms
	isDryRun  bool
	response  *moderatov1.BanUsersResponse
}

func parseBatch(req *moderatov1.BanUsersRequest) (*batchRequest, error) {
	f := validate.Of(req)
	r := &batchRequest{
		channelID: f.UUID("channelId", req.GetChannelId()),
		wish:      parseTerms(f, req.Reason, req.DurationSeconds, nil),
		isDryRun:  req.GetDryRun(),
	}
	if f.Count("users", len(req.GetUsers())) {
		r.keys = make([]users.Key, len(req.GetUsers()))
		for i, user := range req.GetUsers() {
			element := f.Element("users", i, user)
			key := users.ParseKey(element, "userId", user.GetUserId(), "username", user.GetUsername())
			switch hasID, hasName := user.GetUserId() != "", user.GetUsername() != ""; {
			case !hasID && !hasName:
				f.Add(fmt.Sprintf("users[%d]", i), "must be an object with userId or username")
			case hasID && hasName:
				f.Include(element)
			case element.Err() == nil:
				r.keys[i] = key
			}
		}
	}
	return r, f.Err()
}

// BanUsers bans users in one transaction and deletes their messages.
func (s *Service) BanUsers(ctx context.Context, req *moderatov1.BanUsersRequest) (*moderatov1.BanUsersResponse, error) {
	r, err := parseBatch(req)
	if err != nil {
		return nil, err
	}
	if r.isDryRun {
		ctx = idempotency.WithoutKey(ctx)
	}
	idempotency.Result(ctx, &r.response)
	if err := bans.DoLong(ctx, s.Store, r.channelID, r); err != nil {
		return nil, err
	}
	return r.response, nil
}

func (r *batchRequest) targets() []users.Key { return r.keys }

// decide bans the users as a batch.
func (r *batchRequest) decide(b *banChange) error {
	of := r.wish.from(b.Now)
	of.batchID = new(uid.New())
	first := b.LastSequence() + 1
	r.response = b.banAll(r.keys, of, r.isDryRun)
	banned := madeBans(r.response.GetCounts())
	if r.isDryRun || banned == 0 {
		return nil
	}
	r.response.BatchId = uid.Text(of.batchID)
	b.batches = append(b.batches, createBatch(b.Change, of, first, banned))
	return nil
}

// madeBans returns how many bans a batch made.
func madeBans(counts *moderatov1.BatchCounts) int {
	return int(counts.GetBanned() + counts.GetExtended())
}

// createBatch returns the statement that stores a batch, of which every event from first on may
// be one.
func createBatch(c *change.Change, of terms, first int64, banned int) *ent.BanBatchCreate {
	return c.Tx.BanBatch.Create().SetID(*of.batchID).SetChannelID(c.ChannelID).SetModeratorID(c.ActorID).SetCreatedAt(c.Now).
		SetReason(of.reason).SetNillableExpiresAt(of.expiresAt).SetBannedCount(banned).
		SetFirstSequence(first).SetLastSequence(c.LastSequence())
}

// banAll bans users in a batch, whose id is in its terms, and returns what happened to each. A
// dry run only returns what would happen.
func (b *banChange) banAll(keys []users.Key, of terms, isDryRun bool) *moderatov1.BanUsersResponse {
	result := &moderatov1.BanUsersResponse{Counts: &moderatov1.BatchCounts{}}
	isSeen := map[*target]bool{}
	for _, key := range keys {
		t := b.found[key]
		row := &moderatov1.BatchResult{Status: b.status(key, of, isSeen, result.GetCounts())}
		if (row.GetStatus() == statusBanned || row.GetStatus() == statusExtended) && !isDryRun {
			b.ban(t, of, byBatch)
		}
		switch {
		case row.GetStatus() == statusInvalid:
		case t != nil:
			row.UserId, row.Username = new(t.userID.String()), &t.username
		case key.Slug != "":
			row.Username = &key.Slug
		default:
			row.UserId = new(key.ID.String())
		}
		result.Results = append(result.Results, row)
	}
	return result
}

// status returns the status of a user of a batch, and counts it.
func (b *banChange) status(key users.Key, of terms, isSeen map[*target]bool, counts *moderatov1.BatchCounts) string {
	t := b.found[key]
	switch {
	case key == users.Key{}:
		counts.Invalid++
		return statusInvalid
	case t == nil:
		counts.UserNotFound++
		return statusUserNotFound
	case isSeen[t]:
		counts.Duplicate++
		return statusDuplicate
	}
	isSeen[t] = true
	switch present := b.inForce(t); {
	case t.userID == b.ChannelID:
		counts.TargetIsChannel++
		return statusTargetIsChannel
	case present != nil && of.outlasts(present.terms):
		counts.Extended++
		return statusExtended
	case present != nil:
		counts.AlreadyBanned++
		return statusAlreadyBanned
	}
	counts.Banned++
	return statusBanned
}
