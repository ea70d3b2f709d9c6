package moderation

import (
	"cmp"
	"context"
	"slices"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/replacedban"
	"github.com/moderato-live/moderato/ent/user"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
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

// The status of the results of a revert that are mutes; those of bans are statusUnbanned and
// statusRestored.
const statusUnmuted = "UNMUTED"

// RevertModerator lifts the present bans and mutes that a moderator made since a point in
// time, or the mutes that a rule made.
func (s *Service) RevertModerator(ctx context.Context, req *moderatov1.RevertModeratorRequest) (*moderatov1.RevertModeratorResponse, error) {
	f := validate.Of(req)
	channelID := f.UUID("channelId", req.GetChannelId())
	of := parseReverted(f, req)
	if err := f.Err(); err != nil {
		return nil, err
	}
	if req.GetDryRun() {
		ctx = idempotency.WithoutKey(ctx)
	}
	var result *moderatov1.RevertModeratorResponse
	idempotency.Result(ctx, &result)
	err := change.ApplyLong(ctx, s.Store, channelID, func(ctx context.Context, c *change.Change) error {
		if of.since > c.Now {
			return apierr.Invalid(apierr.Violation{Field: "since", Description: "must not be in the future"})
		}
		r, err := planRevert(ctx, c, of)
		if err != nil {
			return err
		}
		result = r.result
		if len(r.lifted) > 0 {
			result.MessagesRemovedBefore, err = chat.RemovedBefore(ctx, c.Tx)
		}
		if err != nil || req.GetDryRun() {
			return err
		}
		if err := r.apply(ctx, c); err != nil || of.isOfRule() {
			return err
		}
		return s.RevertRules(ctx, c, of.moderatorID, of.since)
	})
	return result, err
}

// reverted says whose bans and mutes a revert lifts: those of a moderator or of a rule.
type reverted struct {
	moderatorID, ruleID uid.ID
	since               instant.Instant // 0 for all
}

func parseReverted(f *validate.Fields, req *moderatov1.RevertModeratorRequest) (of reverted) {
	if req.GetRuleId() == "" {
		of.moderatorID = f.UUID("moderatorId", req.GetModeratorId())
		of.since, _ = f.RequiredTime("since", req.GetSince())
		return of
	}
	if req.GetModeratorId() != "" {
		f.Exclude("moderatorId", "ruleId")
	}
	of.ruleID = f.OptionalUUID("ruleId", req.GetRuleId())
	of.since, _ = f.Time("since", req.GetSince())
	return of
}

func (r *reverted) isOfRule() bool { return !r.ruleID.IsZero() }

// sanction is a ban or mute that a revert lifts.
type sanction struct {
	person

	userID   uid.ID
	at       instant.Instant
	sequence int64     // of its event, to order what was made at the same time
	ban      *undone   // nil if it is a mute
	mute     *ent.Mute // nil if it is a ban
}

func (x *sanction) eventType() string {
	if x.ban != nil {
		return "channel.ban"
	}
	return "channel.mute"
}

// revert is a revert that is about to be applied.
type revert struct {
	reverted

	lifted []*sanction // in the order in which they were made
	result *moderatov1.RevertModeratorResponse
}

// planRevert decides which bans and mutes are lifted, the oldest first. It leaves out users
// who are being deleted.
func planRevert(ctx context.Context, c *change.Change, of reverted) (*revert, error) {
	found, err := of.find(ctx, c, maxUndoResults+1)
	if err != nil {
		return nil, err
	}
	r := &revert{reverted: of, result: &moderatov1.RevertModeratorResponse{Counts: &moderatov1.RevertCounts{}}}
	if len(found) > maxUndoResults {
		found, r.result.HasMore = found[:maxUndoResults], true
	}
	if err := readSequences(ctx, c, found); err != nil {
		return nil, err
	}
	slices.SortStableFunc(found, func(a, b *sanction) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.sequence, b.sequence))
	})
	for some := range slices.Chunk(found, bansPerStatement) {
		if err := r.plan(ctx, c, some); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// plan is planRevert for some of the bans and mutes.
func (r *revert) plan(ctx context.Context, c *change.Change, some []*sanction) error {
	locked, err := lockUsers(ctx, c, usersOf(some))
	if err != nil {
		return err
	}
	var bans []*ban
	for _, x := range some {
		x.person = locked[x.userID]
		if x.ban != nil {
			x.ban.person = x.person
			bans = append(bans, x.ban.ban)
		}
	}
	lifted, err := planUndone(ctx, c, bans, func(row *ent.ReplacedBan) bool { return row.ModeratorID == r.moderatorID && row.BannedAt >= r.since })
	if err != nil {
		return err
	}
	for _, x := range some {
		if _, exists := locked[x.userID]; !exists {
			continue
		}
		row := &moderatov1.BatchResult{UserId: new(x.userID.String()), Username: &x.username, Status: statusUnmuted}
		if x.ban != nil {
			x.ban = lifted[x.userID]
			row.Status = x.ban.status()
		}
		r.count(row.GetStatus())
		r.lifted, r.result.Results = append(r.lifted, x), append(r.result.Results, row)
	}
	return nil
}

func (r *revert) count(status string) {
	counts := r.result.GetCounts()
	switch status {
	case statusUnmuted:
		counts.Unmuted++
	case statusRestored:
		counts.Restored++
	default:
		counts.Unbanned++
	}
}

func usersOf(some []*sanction) []uid.ID {
	ids := make([]uid.ID, len(some))
	for i, x := range some {
		ids[i] = x.userID
	}
	return ids
}

// apply lifts the bans and mutes, restores the messages, and ends the moderator's sweeps.
func (r *revert) apply(ctx context.Context, c *change.Change) error {
	if !r.isOfRule() {
		if err := endSweepsOf(ctx, c, r.moderatorID); err != nil {
			return err
		}
	}
	var lifted []*undone
	var muted []uid.ID
	for _, x := range r.lifted {
		if x.ban != nil {
			x.ban.emit(c, byRevert)
			lifted = append(lifted, x.ban)
		} else {
			emitUnmute(c, x.mute, x.person, byRevert, nil)
			muted = append(muted, x.userID)
		}
	}
	free, err := undoBans(ctx, c, lifted)
	if err != nil {
		return err
	}
	if !r.isOfRule() {
		_, err = c.Tx.ReplacedBan.Delete().Where(replacedban.ChannelID(c.ChannelID), replacedban.ModeratorID(r.moderatorID), replacedban.BannedAtGTE(r.since)).Exec(ctx)
		if err != nil {
			return err
		}
	}
	for some := range slices.Chunk(muted, bansPerStatement) {
		if err := removeMutes(ctx, c, some...); err != nil {
			return err
		}
	}
	if err := restore(ctx, c, free, chat.Ban); err != nil {
		return err
	}
	return restore(ctx, c, muted, chat.Mute)
}

// find returns the present bans and mutes to lift, the oldest first, up to a limit.
func (r *reverted) find(ctx context.Context, c *change.Change, limit int) ([]*sanction, error) {
	if r.isOfRule() {
		return findMutes(ctx, c, "mute_channel_id_rule_id_muted_at_user_id", "rule_id", r.ruleID, r.since, limit)
	}
	// The bans of a deleted moderator name users.Deleted, those of one who is being deleted
	// still name the moderator.
	exists, err := c.Tx.User.Query().Where(user.ID(r.moderatorID)).Exist(ctx)
	if err != nil {
		return nil, err
	}
	if !exists {
		return nil, apierr.New(moderatov1.Reason_REASON_USER_NOT_FOUND)
	}
	found, err := r.findBans(ctx, c, limit)
	if err != nil {
		return nil, err
	}
	mutes, err := findMutes(ctx, c, "mute_moderator_id_channel_id_muted_at_user_id", "moderator_id", r.moderatorID, r.since, limit)
	found = append(found, mutes...)
	slices.SortStableFunc(found, func(a, b *sanction) int { return cmp.Compare(a.at, b.at) })
	return found[:min(len(found), limit)], err
}

// findBans returns the present bans of the moderator.
func (r *reverted) findBans(ctx context.Context, c *change.Change, limit int) (found []*sanction, err error) {
	of := c.Store
	err = store.QueryEach(ctx, c.Tx, `SELECT b.user_id, b.banned_at, b.reason, b.expires_at, b.batch_id, b.replaces, b.imported, `+authz.IsModerator("b.channel_id", "b.user_id")+`
		FROM bans b`+of.ByIndex("ban_moderator_id_channel_id_banned_at_user_id")+`
		WHERE b.moderator_id = ? AND b.channel_id = ? AND b.banned_at >= ? AND `+authz.InForce(of.Clock, "b")+` AND `+users.IsOfExisting("b.user_id")+`
		ORDER BY b.banned_at, b.user_id`+store.Limit(limit), []any{r.moderatorID, c.ChannelID, r.since}, func(scan func(...any) error) error {
		b := &ban{moderatorID: r.moderatorID}
		err := scan(&b.userID, &b.bannedAt, &b.reason, &b.expiresAt, &b.batchID, &b.replaces, &b.imported, &b.isModerator)
		found = append(found, &sanction{userID: b.userID, at: b.bannedAt, ban: &undone{ban: b}})
		return err
	})
	return found, err
}

// findMutes returns the present mutes of which a column has a value, which an index finds.
func findMutes(ctx context.Context, c *change.Change, index, column string, value uid.ID, since instant.Instant, limit int) (found []*sanction, err error) {
	err = store.QueryEach(ctx, c.Tx, `SELECT m.moderator_id, m.user_id, m.muted_at, m.reason, m.expires_at
		FROM mutes m`+c.Store.ByIndex(index)+`
		WHERE m.`+column+` = ? AND m.channel_id = ? AND m.muted_at >= ? AND m.expires_at > ? AND `+users.IsOfExisting("m.user_id")+`
		ORDER BY m.muted_at, m.user_id`+store.Limit(limit), []any{value, c.ChannelID, since, c.Now}, func(scan func(...any) error) error {
		x := &sanction{mute: &ent.Mute{ChannelID: c.ChannelID}}
		err := scan(&x.mute.ModeratorID, &x.mute.UserID, &x.mute.MutedAt, &x.mute.Reason, &x.mute.ExpiresAt)
		x.userID, x.at = x.mute.UserID, x.mute.MutedAt
		found = append(found, x)
		return err
	})
	return found, err
}

// readSequences reads the sequences of the events of bans and mutes that were made at the
// same time as another, such as those of a batch. Retention may have removed the event.
func readSequences(ctx context.Context, c *change.Change, found []*sanction) error {
	type key struct {
		userID uid.ID
		event  string
	}
	at := map[instant.Instant]int{}
	for _, x := range found {
		at[x.at]++
	}
	unordered := slices.DeleteFunc(slices.Clone(found), func(x *sanction) bool { return at[x.at] == 1 })
	for some := range slices.Chunk(unordered, bansPerStatement) {
		sequences := make(map[key]int64, len(some))
		err := store.QueryEach(ctx, c.Tx, `SELECT target_id, type, MAX(sequence) FROM events
			WHERE target_id IN (`+store.Placeholders(len(some))+`) AND channel_id = ? AND type IN ('channel.ban', 'channel.mute') GROUP BY target_id, type`,
			append(store.Args(usersOf(some)), c.ChannelID), func(scan func(...any) error) error {
				var k key
				var sequence int64
				err := scan(&k.userID, &k.event, &sequence)
				sequences[k] = sequence
				return err
			})
		if err != nil {
			return err
		}
		for _, x := range some {
			x.sequence = sequences[key{x.userID, x.eventType()}]
		}
	}
	return nil
}
