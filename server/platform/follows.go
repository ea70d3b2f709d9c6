package platform

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/moderato-live/moderato/ent/follow"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/fault"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/users"
	"github.com/moderato-live/moderato/server/validate"
)

// insertRows is how many rows go into one INSERT: within the number of
// parameters that every store takes.
const insertRows = 500

// newFollow is a follow of an import, with the line that it came from.
type newFollow struct {
	line               int
	channelID, userID  uid.ID
	followedAt         instant.Instant
	isDated            bool // else followedAt is now, and that of a follow that is there stays
	wantsNotifications bool
}

// followChange is what a run of follows does to a channel's counters.
type followChange struct {
	liveStartedAt           *instant.Instant
	followers, newFollowers int
}

// isNew tells whether a follow of this instant counts for the live stream.
func (c *followChange) isNew(followedAt instant.Instant) bool {
	return c.liveStartedAt != nil && followedAt >= *c.liveStartedAt
}

// follows puts a run of follow records: they are what a platform has most of, so
// they go in bulk, with a few statements for the whole run.
func (p putter) follows(ctx context.Context, run []record) error {
	wanted := make([]newFollow, len(run))
	for i, rec := range run {
		var err error
		if wanted[i], err = p.parseFollow(rec.GetFollow(), rec.line); err != nil {
			return &LineError{rec.line, err}
		}
	}
	changes, err := p.lockForFollows(ctx, wanted)
	if err != nil {
		return err
	}
	if err := p.checkUsers(ctx, wanted); err != nil {
		return err
	}
	fresh, err := p.updateFollows(ctx, wanted, changes)
	if err != nil {
		return err
	}
	if err := p.insertFollows(ctx, fresh); err != nil {
		return err
	}
	return p.countFollows(ctx, changes)
}

func (p putter) parseFollow(r *platformv1.FollowRecord, line int) (newFollow, error) {
	var f validate.Fields
	n := newFollow{
		line:               line,
		channelID:          f.UUID("channelId", r.GetChannelId()),
		userID:             f.UUID("userId", r.GetUserId()),
		followedAt:         p.now,
		wantsNotifications: r.GetIsNotificationEnabled(),
	}
	if at, isGiven := f.Time("followedAt", r.GetFollowedAt()); isGiven {
		n.followedAt, n.isDated = at, true
	}
	if err := f.Err(); err != nil {
		return n, err
	}
	if n.channelID == n.userID {
		return n, fault.New(moderatov1.Reason_REASON_TARGET_IS_CHANNEL)
	}
	return n, nil
}

// lockForFollows locks the channels of a run in the order of their ids, so that
// two imports never wait for each other.
func (p putter) lockForFollows(ctx context.Context, wanted []newFollow) (map[uid.ID]*followChange, error) {
	ids := distinct(wanted, func(n newFollow) uid.ID { return n.channelID })
	changes := map[uid.ID]*followChange{}
	err := store.QueryEach(ctx, p.Tx, "SELECT id, live_started_at FROM channels WHERE id IN ("+store.Placeholders(len(ids))+") ORDER BY id"+p.ForUpdate(), ids,
		func(scan func(...any) error) error {
			var id uid.ID
			c := &followChange{}
			err := scan(&id, &c.liveStartedAt)
			changes[id] = c
			return err
		})
	if err != nil {
		return nil, err
	}
	for _, n := range wanted {
		if changes[n.channelID] == nil {
			return nil, &LineError{n.line, fault.New(moderatov1.Reason_REASON_CHANNEL_NOT_FOUND)}
		}
	}
	return changes, nil
}

func (p putter) checkUsers(ctx context.Context, wanted []newFollow) error {
	ids := distinct(wanted, func(n newFollow) uid.ID { return n.userID })
	known := make(map[uid.ID]bool, len(ids))
	err := store.QueryEach(ctx, p.Tx, "SELECT id FROM users WHERE id IN ("+store.Placeholders(len(ids))+") AND "+users.Exists, ids,
		func(scan func(...any) error) error {
			var id uid.ID
			err := scan(&id)
			known[id] = true
			return err
		})
	if err != nil {
		return err
	}
	for _, n := range wanted {
		if !known[n.userID] {
			return &LineError{n.line, fault.New(moderatov1.Reason_REASON_USER_NOT_FOUND)}
		}
	}
	return nil
}

// pair is the key of a follow.
type pair struct{ channelID, userID uid.ID }

// updateFollows changes the follows that are there, and answers those that are
// not; of two with one key, the last counts.
func (p putter) updateFollows(ctx context.Context, wanted []newFollow, changes map[uid.ID]*followChange) ([]newFollow, error) {
	last := make(map[pair]newFollow, len(wanted))
	byChannel := map[uid.ID][]any{}
	for _, n := range wanted {
		key := pair{n.channelID, n.userID}
		if _, again := last[key]; !again {
			byChannel[n.channelID] = append(byChannel[n.channelID], n.userID)
		}
		last[key] = n
	}
	for channelID, userIDs := range byChannel {
		if err := p.updateFollowsOf(ctx, channelID, userIDs, last, changes[channelID]); err != nil {
			return nil, err
		}
	}
	fresh := slices.SortedFunc(maps.Values(last), func(a, b newFollow) int {
		if c := bytes.Compare(a.channelID[:], b.channelID[:]); c != 0 {
			return c
		}
		return bytes.Compare(a.userID[:], b.userID[:])
	})
	for _, n := range fresh {
		change := changes[n.channelID]
		change.followers++
		if change.isNew(n.followedAt) {
			change.newFollowers++
		}
	}
	return fresh, nil
}

// updateFollowsOf takes the follows of one channel that are there out of last.
func (p putter) updateFollowsOf(ctx context.Context, channelID uid.ID, userIDs []any, last map[pair]newFollow, change *followChange) error {
	type found struct {
		userID             uid.ID
		followedAt         instant.Instant
		wantsNotifications bool
	}
	var there []found
	err := store.QueryEach(ctx, p.Tx, "SELECT user_id, followed_at, is_notification_enabled FROM follows WHERE channel_id = ? AND user_id IN ("+store.Placeholders(len(userIDs))+")",
		append([]any{channelID}, userIDs...),
		func(scan func(...any) error) error {
			var f found
			err := scan(&f.userID, &f.followedAt, &f.wantsNotifications)
			there = append(there, f)
			return err
		})
	if err != nil {
		return err
	}
	for _, f := range there {
		key := pair{channelID, f.userID}
		n := last[key]
		delete(last, key)
		if !n.isDated {
			n.followedAt = f.followedAt
		}
		if n.followedAt == f.followedAt && n.wantsNotifications == f.wantsNotifications {
			continue
		}
		_, err := p.Follow.Update().Where(follow.ChannelID(channelID), follow.UserID(f.userID)).
			SetFollowedAt(n.followedAt).SetIsNotificationEnabled(n.wantsNotifications).
			Save(ctx)
		if err != nil {
			return err
		}
		change.newFollowers += toInt(change.isNew(n.followedAt)) - toInt(change.isNew(f.followedAt))
	}
	return nil
}

func (p putter) insertFollows(ctx context.Context, fresh []newFollow) error {
	for chunk := range slices.Chunk(fresh, insertRows) {
		args := make([]any, 0, 4*len(chunk))
		for _, n := range chunk {
			args = append(args, n.channelID, n.userID, n.followedAt, n.wantsNotifications)
		}
		_, err := p.ExecContext(ctx, "INSERT INTO follows (channel_id, user_id, followed_at, is_notification_enabled) VALUES "+
			strings.TrimSuffix(strings.Repeat("(?,?,?,?),", len(chunk)), ","), args...)
		if err != nil {
			return fmt.Errorf("insert follows: %w", err)
		}
	}
	return nil
}

func (p putter) countFollows(ctx context.Context, changes map[uid.ID]*followChange) error {
	for id, c := range changes {
		if c.followers == 0 && c.newFollowers == 0 {
			continue
		}
		err := p.Channel.UpdateOneID(id).AddFollowerCount(int64(c.followers)).AddNewFollowerCount(int64(c.newFollowers)).Exec(ctx)
		if err != nil {
			return err
		}
	}
	return nil
}

func distinct(wanted []newFollow, id func(newFollow) uid.ID) []any {
	seen := map[uid.ID]bool{}
	var ids []any
	for _, n := range wanted {
		if !seen[id(n)] {
			seen[id(n)] = true
			ids = append(ids, id(n))
		}
	}
	return ids
}

func toInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
