package moderation

import (
	"context"
	"slices"

	"github.com/moderato-live/moderato/ent"
	entban "github.com/moderato-live/moderato/ent/ban"
	"github.com/moderato-live/moderato/ent/replacedban"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
)

// maxReplaced is how many replaced bans of a user in a channel are kept. A further one is
// forgotten when it is replaced, so that nobody can push out an earlier one.
const maxReplaced = 10

// moveReplaced makes room for new bans, and keeps the bans that they replace.
func moveReplaced(ctx context.Context, c *change.Change, made []*ban) error {
	replacing := slices.DeleteFunc(slices.Clone(made), func(b *ban) bool { return b.replaced == nil })
	for some := range slices.Chunk(replacing, bansPerInsert) {
		ids := make([]uid.ID, len(some))
		for i, b := range some {
			ids[i] = b.userID
		}
		kept, err := readReplaced(ctx, c, ids)
		if err != nil {
			return err
		}
		var rows []*ent.ReplacedBanCreate
		for _, b := range some {
			if len(kept[b.userID]) < maxReplaced {
				rows = append(rows, newReplaced(c, b))
			}
		}
		if err := c.Tx.ReplacedBan.CreateBulk(rows...).Exec(ctx); err != nil {
			return err
		}
		if _, err := c.Tx.Ban.Delete().Where(entban.ChannelID(c.ChannelID), entban.UserIDIn(ids...)).Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}

// newReplaced returns the statement that keeps the ban that a new one replaces.
func newReplaced(c *change.Change, by *ban) *ent.ReplacedBanCreate {
	b := by.replaced
	return c.Tx.ReplacedBan.Create().SetID(uid.New()).SetChannelID(c.ChannelID).SetUserID(b.userID).SetSequence(by.sequence).
		SetModeratorID(b.moderatorID).SetBannedAt(b.bannedAt).SetReason(b.reason).SetNillableExpiresAt(b.expiresAt).SetNillableBatchID(b.batchID).
		SetReplaces(b.replaces).SetImported(b.imported)
}

// readReplaced returns the replaced bans of users, the earliest first.
func readReplaced(ctx context.Context, c *change.Change, ids []uid.ID) (map[uid.ID][]*ent.ReplacedBan, error) {
	rows, err := c.Tx.ReplacedBan.Query().Where(replacedban.ChannelID(c.ChannelID), replacedban.UserIDIn(ids...)).
		Order(ent.Asc(replacedban.FieldUserID, replacedban.FieldSequence)).All(ctx)
	of := map[uid.ID][]*ent.ReplacedBan{}
	for _, row := range rows {
		of[row.UserID] = append(of[row.UserID], row)
	}
	return of, err
}

// undone is a ban that is undone, and what follows.
type undone struct {
	*ban

	// back is the replaced ban that is in force again; nil if the user is free.
	back *ban
	// dropped are the rows of back and of the bans that were replaced later.
	dropped []uid.ID
}

// status returns the status of the user of a ban that is undone.
func (u *undone) status() string {
	if u.back != nil {
		return statusRestored
	}
	return statusUnbanned
}

// planUndone finds, for bans that are undone, the replaced bans that are in force again: of
// each user the latest that still runs and is not undone itself.
func planUndone(ctx context.Context, c *change.Change, bans []*ban, isUndone func(*ent.ReplacedBan) bool) (map[uid.ID]*undone, error) {
	all := make(map[uid.ID]*undone, len(bans))
	var ids []uid.ID
	for _, b := range bans {
		all[b.userID] = &undone{ban: b}
		if b.replaces {
			ids = append(ids, b.userID)
		}
	}
	if len(ids) == 0 {
		return all, nil
	}
	replaced, err := readReplaced(ctx, c, ids)
	if err != nil {
		return nil, err
	}
	for id, rows := range replaced {
		all[id].choose(rows, func(row *ent.ReplacedBan) bool {
			return !isUndone(row) && !(terms{expiresAt: row.ExpiresAt}).hasLapsed(c.Now)
		})
	}
	return all, nil
}

// choose sets the ban that is in force again.
func (u *undone) choose(rows []*ent.ReplacedBan, isGood func(*ent.ReplacedBan) bool) {
	for _, row := range slices.Backward(rows) {
		u.dropped = append(u.dropped, row.ID)
		if isGood(row) {
			u.back = &ban{
				terms:  terms{reason: row.Reason, expiresAt: row.ExpiresAt, batchID: row.BatchID},
				userID: row.UserID, moderatorID: row.ModeratorID, bannedAt: row.BannedAt, person: u.person,
				isModerator: u.isModerator, replaces: row.Replaces, imported: row.Imported,
			}
			return
		}
	}
}

// emit announces that the ban is undone.
func (u *undone) emit(c *change.Change, why cause) {
	if u.back == nil {
		emitUnban(c, c.ActorID, u.ban, c.Now, why, nil)
		return
	}
	present := *u.back
	present.moderatorID, present.replaces = c.ActorID, true // the event names no user but the actor and the target
	emitBan(c, &present, why)
}

// undoBans removes the rows of bans that are undone, and stores those that are in force again.
// It returns the users who are free.
func undoBans(ctx context.Context, c *change.Change, all []*undone) (free []uid.ID, err error) {
	var removed, back []*ban
	var ids, dropped []uid.ID
	for _, u := range all {
		if u.back == nil {
			removed, free = append(removed, u.ban), append(free, u.userID)
			continue
		}
		back, ids, dropped = append(back, u.back), append(ids, u.userID), append(dropped, u.dropped...)
	}
	if err := removeBans(ctx, c, removed); err != nil {
		return nil, err
	}
	for some := range slices.Chunk(dropped, bansPerStatement) {
		if _, err := c.Tx.ReplacedBan.Delete().Where(replacedban.ChannelID(c.ChannelID), replacedban.IDIn(some...)).Exec(ctx); err != nil {
			return nil, err
		}
	}
	for some := range slices.Chunk(ids, bansPerStatement) {
		if _, err := c.Tx.Ban.Delete().Where(entban.ChannelID(c.ChannelID), entban.UserIDIn(some...)).Exec(ctx); err != nil {
			return nil, err
		}
	}
	for some := range slices.Chunk(back, bansPerInsert) {
		if err := insertBans(ctx, c, some); err != nil {
			return nil, err
		}
	}
	return free, nil
}
