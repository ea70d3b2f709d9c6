package moderation

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/moderato-live/moderato/ent"
	entban "github.com/moderato-live/moderato/ent/ban"
	"github.com/moderato-live/moderato/ent/replacedban"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
)

// The statuses of the results of an undo.
const (
	statusUnbanned  = "UNBANNED"
	statusRestored  = "RESTORED"
	statusChanged   = "CHANGED"
	statusNotBanned = "NOT_BANNED"
)

const (
	// bansPerStatement is how many bans one statement reads or removes. Only sweeps make
	// larger batches.
	bansPerStatement = 1000
	// maxUndoResults is how many results the response to an undo has. A revert lifts as many
	// bans and mutes.
	maxUndoResults = 10_000
)

// UndoBanBatch lifts the bans of a batch that are still the present ones.
func (s *Service) UndoBanBatch(ctx context.Context, req *moderatov1.UndoBanBatchRequest) (*moderatov1.UndoBanBatchResponse, error) {
	f := validate.Of(req)
	channelID := f.UUID("channelId", req.GetChannelId())
	batchID := f.UUID("batchId", req.GetBatchId())
	if err := f.Err(); err != nil {
		return nil, err
	}
	var result *moderatov1.UndoBanBatchResponse
	idempotency.Result(ctx, &result)
	err := change.ApplyLong(ctx, s.Store, channelID, func(ctx context.Context, c *change.Change) error {
		u, err := planUndo(ctx, c, batchID)
		if err != nil {
			return err
		}
		result = u.result
		if err := endSweep(ctx, c, batchID); err != nil {
			return err
		}
		for _, x := range u.lifted {
			x.emit(c, byBatch)
		}
		free, err := undoBans(ctx, c, u.lifted)
		if err != nil {
			return err
		}
		if _, err := c.Tx.ReplacedBan.Delete().Where(replacedban.ChannelID(channelID), replacedban.BatchID(batchID)).Exec(ctx); err != nil {
			return err
		}
		if !req.GetRestoreMessages() {
			return nil
		}
		if result.MessagesRemovedBefore, err = chat.RemovedBefore(ctx, c.Tx); err != nil {
			return err
		}
		return restore(ctx, c, free, chat.Ban)
	})
	return result, err
}

// restore restores the messages of users that a sanction deleted.
func restore(ctx context.Context, c *change.Change, ids []uid.ID, by chat.Sanction) error {
	for some := range slices.Chunk(ids, bansPerStatement) {
		if err := chat.Restore(ctx, c.Tx, c.ChannelID, some, by, c.Now); err != nil {
			return err
		}
	}
	return nil
}

// restoreLocked locks users, who may be deleted meanwhile, and restores the messages of those who exist.
func restoreLocked(ctx context.Context, c *change.Change, ids []uid.ID, by chat.Sanction) error {
	if len(ids) == 0 {
		return nil
	}
	locked, err := lockUsers(ctx, c, ids)
	if err != nil {
		return err
	}
	return restore(ctx, c, slices.Collect(maps.Keys(locked)), by)
}

// undo is an undo of a batch that is about to be applied.
type undo struct {
	lifted []*undone // in the order of the batch
	result *moderatov1.UndoBanBatchResponse
}

// planUndo decides what happens to each user whom a batch banned. It leaves out users who
// are being deleted.
func planUndo(ctx context.Context, c *change.Change, batchID uid.ID) (*undo, error) {
	row, err := c.Tx.BanBatch.Get(ctx, batchID)
	if ent.IsNotFound(err) || (err == nil && row.ChannelID != c.ChannelID) {
		return nil, apierr.New(moderatov1.Reason_REASON_BATCH_NOT_FOUND)
	}
	if err != nil {
		return nil, err
	}
	ids, err := bannedBy(ctx, c.Tx, row)
	if err != nil || len(ids) == 0 {
		return &undo{result: &moderatov1.UndoBanBatchResponse{Counts: &moderatov1.UndoCounts{}}}, err
	}
	u := &undo{result: &moderatov1.UndoBanBatchResponse{Counts: &moderatov1.UndoCounts{}}}
	for some := range slices.Chunk(ids, bansPerStatement) {
		if err := u.plan(ctx, c, batchID, some); err != nil {
			return nil, err
		}
	}
	return u, nil
}

// plan is planUndo for some of the users.
func (u *undo) plan(ctx context.Context, c *change.Change, batchID uid.ID, ids []uid.ID) error {
	locked, err := lockUsers(ctx, c, ids)
	if err != nil {
		return err
	}
	inForce, err := readBans(ctx, c.Tx, c.ChannelID, authz.InForce(c.Store.Clock, "b")+" AND b.user_id IN ("+store.Placeholders(len(ids))+")",
		"b.user_id", store.Args(ids)...)
	if err != nil {
		return err
	}
	bans := make(map[uid.ID]*ban, len(inForce))
	var own []*ban
	for _, b := range inForce {
		bans[b.userID] = b
		if b.batchID != nil && *b.batchID == batchID {
			own = append(own, b)
		}
	}
	lifted, err := planUndone(ctx, c, own, func(row *ent.ReplacedBan) bool { return row.BatchID != nil && *row.BatchID == batchID })
	if err != nil {
		return err
	}
	for _, id := range ids {
		user, exists := locked[id]
		if !exists {
			continue
		}
		row := &moderatov1.BatchResult{UserId: new(id.String()), Username: &user.username, Status: u.add(bans[id], lifted[id])}
		if len(u.result.GetResults()) < maxUndoResults {
			u.result.Results = append(u.result.Results, row)
		}
	}
	return nil
}

// add adds the ban of a user, nil if there is none, to those that are lifted if it is of the
// batch. It returns the status of the user, and counts it.
func (u *undo) add(b *ban, lifted *undone) string {
	counts := u.result.GetCounts()
	switch {
	case b == nil:
		counts.NotBanned++
		return statusNotBanned
	case lifted == nil:
		counts.Changed++
		return statusChanged
	}
	u.lifted = append(u.lifted, lifted)
	if lifted.back != nil {
		counts.Restored++
	} else {
		counts.Unbanned++
	}
	return lifted.status()
}

// bannedBy returns the users whom a batch banned, in its order: those of its events, and
// then those whose bans remain although retention has removed the events.
func bannedBy(ctx context.Context, tx *ent.Tx, row *ent.BanBatch) ([]uid.ID, error) {
	var ids []uid.ID
	isKnown := map[uid.ID]bool{users.Deleted: true}
	add := func(id uid.ID) {
		if !isKnown[id] {
			isKnown[id] = true
			ids = append(ids, id)
		}
	}
	own := `"batchId":"` + row.ID.String() + `"`
	err := store.QueryEach(ctx, tx, "SELECT target_id, payload FROM events WHERE channel_id = ? AND type = 'channel.ban' AND sequence BETWEEN ? AND ? ORDER BY sequence",
		[]any{row.ChannelID, row.FirstSequence, row.LastSequence}, func(scan func(...any) error) error {
			var id uid.ID
			var payload string
			err := scan(&id, &payload)
			if strings.Contains(payload, own) {
				add(id)
			}
			return err
		})
	if err != nil {
		return nil, err
	}
	var others []uid.ID
	err = tx.Ban.Query().Where(entban.BatchID(row.ID)).Order(ent.Asc(entban.FieldUserID)).Select(entban.FieldUserID).Scan(ctx, &others)
	for _, id := range others {
		add(id)
	}
	return ids, err
}

// lockUsers returns those users who exist, and locks them against deletion until the
// transaction ends: their messages must not become visible after the response to the deletion.
func lockUsers(ctx context.Context, c *change.Change, ids []uid.ID) (map[uid.ID]person, error) {
	locked := make(map[uid.ID]person, len(ids))
	err := store.QueryEach(ctx, c.Tx, "SELECT u.id, "+personColumns+" FROM users u"+c.Store.ByPrimaryKey("users")+" WHERE u.id IN ("+store.Placeholders(len(ids))+") AND u."+users.Exists+
		" ORDER BY u.id"+c.Store.ForShare(), store.Args(ids), func(scan func(...any) error) error {
		var id uid.ID
		var p person
		err := scan(&id, &p.username, &p.displayName, &p.avatarURL)
		locked[id] = p
		return err
	})
	return locked, err
}
