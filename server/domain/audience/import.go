package audience

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/moderato-live/moderato/ent/channel"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/change/feed"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
)

// idsPerStatement is the maximum number of ids in one statement.
const idsPerStatement = 500

// followsPerStatement is the number of follows in one statement. More are no faster: the
// time that SQLite's driver takes per parameter grows with the number of parameters.
const followsPerStatement = 200

// NewFollow is a follow of an import, with the number of its line.
type NewFollow struct {
	line               int
	ChannelID          uid.ID
	userID             uid.ID
	isChecked          bool // its channel and user exist; not checked again
	followedAt         instant.Instant
	isDated            bool // else now if new, unchanged if it exists
	wantsNotifications bool
}

func (n *NewFollow) channel() uid.ID { return n.ChannelID }
func (n *NewFollow) user() uid.ID    { return n.userID }

// IsChecked reports whether the channel and the user of the follow are known to exist.
func (n *NewFollow) IsChecked() bool { return n.isChecked }

// JSON returns the ids of the follow as a record of an import.
func (n *NewFollow) JSON() []byte {
	return fmt.Appendf(nil, `{"follow":{"channelId":%q,"userId":%q}}`, n.ChannelID, n.userID)
}

// MarkChecked records that the channel and the user of the follow exist.
func (n *NewFollow) MarkChecked() { n.isChecked = true }

// Compare orders follows by key.
func (n *NewFollow) Compare(other *NewFollow) int { return n.key().compare(other.key()) }

func (n *NewFollow) key() pair { return pair{n.ChannelID, n.userID} }

// counterChange is the effect of a run of follows on a channel's counters.
type counterChange struct {
	liveStartedAt           *instant.Instant
	followers, newFollowers int
}

// isNew reports whether a follow at this instant counts for the live stream.
func (c *counterChange) isNew(followedAt instant.Instant) bool {
	return c.liveStartedAt != nil && followedAt >= *c.liveStartedAt
}

// PutFollows stores a run of follows. A platform has more follows than other records, so
// they are written in bulk, with a few statements for many follows.
func PutFollows(ctx context.Context, tx feed.Tx, run []*NewFollow) error {
	if err := CheckFollows(ctx, tx.Tx, run); err != nil {
		return err
	}
	changes, err := lockForFollows(ctx, tx, run)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(lastOfEach(run), followsPerStatement) {
		if err := storeFollows(ctx, tx, some, changes); err != nil {
			return err
		}
	}
	return countFollows(ctx, tx, changes)
}

// CheckFollows returns the error of the first follow whose channel or user does not
// exist, or nil. It skips follows that were checked before.
func CheckFollows(ctx context.Context, q store.Queryer, wanted []*NewFollow) error {
	wanted = slices.DeleteFunc(slices.Clone(wanted), func(n *NewFollow) bool { return n.isChecked })
	var bad error
	for _, c := range []struct {
		query    string
		id       func(*NewFollow) uid.ID
		notFound moderatov1.Reason
	}{
		{"SELECT id FROM channels WHERE", (*NewFollow).channel, moderatov1.Reason_REASON_CHANNEL_NOT_FOUND},
		{"SELECT id FROM users WHERE " + users.Exists + " AND", (*NewFollow).user, moderatov1.Reason_REASON_USER_NOT_FOUND},
	} {
		known, err := knownIDs(ctx, q, c.query, distinct(wanted, c.id))
		if err != nil {
			return err
		}
		isUnknown := func(n *NewFollow) bool { return !known[c.id(n)] }
		if i := slices.IndexFunc(wanted, isUnknown); i >= 0 {
			wanted, bad = wanted[:i], &feed.LineError{Line: wanted[i].line, Err: apierr.New(c.notFound)}
		}
	}
	return bad
}

// ParseFollow parses a record.
func ParseFollow(r *platformv1.FollowRecord, line int) (NewFollow, error) {
	f := validate.Of(r)
	n := NewFollow{
		line:               line,
		ChannelID:          f.UUID("channelId", r.GetChannelId()),
		userID:             f.UUID("userId", r.GetUserId()),
		wantsNotifications: r.GetIsNotificationEnabled(),
	}
	if at, isGiven := f.Time("followedAt", r.GetFollowedAt()); isGiven {
		n.followedAt, n.isDated = at, true
	}
	if err := f.Err(); err != nil {
		return n, err
	}
	if n.ChannelID == n.userID {
		return n, apierr.New(moderatov1.Reason_REASON_TARGET_IS_CHANNEL)
	}
	return n, nil
}

// knownIDs returns those of the given ids that a query finds. The query ends where a
// condition may follow.
func knownIDs(ctx context.Context, q store.Queryer, query string, all []uid.ID) (map[uid.ID]bool, error) {
	known := make(map[uid.ID]bool, len(all))
	for ids := range slices.Chunk(all, idsPerStatement) {
		err := store.QueryEach(ctx, q, query+" id IN ("+store.Placeholders(len(ids))+")", store.Args(ids),
			func(scan func(...any) error) error {
				var id uid.ID
				err := scan(&id)
				known[id] = true
				return err
			})
		if err != nil {
			return nil, err
		}
	}
	return known, nil
}

// lockForFollows locks the channels of follows.
func lockForFollows(ctx context.Context, tx feed.Tx, wanted []*NewFollow) (map[uid.ID]*counterChange, error) {
	locked, err := change.Lock(ctx, tx.Store, tx.Tx, distinct(wanted, (*NewFollow).channel)...)
	changes := make(map[uid.ID]*counterChange, len(locked))
	for id, row := range locked {
		changes[id] = &counterChange{liveStartedAt: row.LiveStartedAt}
	}
	return changes, err
}

// pair is the key of a follow.
type pair struct{ channelID, userID uid.ID }

func (k pair) compare(other pair) int {
	if c := bytes.Compare(k.channelID[:], other.channelID[:]); c != 0 {
		return c
	}
	return bytes.Compare(k.userID[:], other.userID[:])
}

// lastOfEach returns follows with distinct keys, sorted by key. Of two follows with
// the same key the last one counts, but one without a time keeps the time of the
// earlier one.
func lastOfEach(wanted []*NewFollow) []NewFollow {
	at := make(map[pair]int, len(wanted))
	last := make([]NewFollow, 0, len(wanted))
	for _, n := range wanted {
		i, again := at[n.key()]
		if !again {
			at[n.key()] = len(last)
			last = append(last, *n)
			continue
		}
		before := last[i]
		last[i] = *n
		if !n.isDated {
			last[i].followedAt, last[i].isDated = before.followedAt, before.isDated
		}
	}
	slices.SortFunc(last, func(a, b NewFollow) int { return a.key().compare(b.key()) })
	return last
}

// storeFollows stores follows with distinct keys, which are sorted by key, and adds
// their effect on the counters to changes.
func storeFollows(ctx context.Context, tx feed.Tx, some []NewFollow, changes map[uid.ID]*counterChange) error {
	there, err := findFollows(ctx, tx, some)
	if err != nil {
		return err
	}
	write := make([]NewFollow, 0, len(some))
	var replaced []NewFollow
	for _, n := range some {
		counters := changes[n.ChannelID]
		if counters == nil { // the channel was deleted after the batch was checked
			return apierr.New(moderatov1.Reason_REASON_CHANNEL_NOT_FOUND)
		}
		before, isThere := there[n.key()]
		if !isThere {
			if !n.isDated {
				n.followedAt = tx.Now
			}
			counters.followers++
			counters.newFollowers += toInt(counters.isNew(n.followedAt))
			write = append(write, n)
			continue
		}
		if !n.isDated {
			n.followedAt = before.followedAt
		}
		if n.followedAt == before.followedAt && n.wantsNotifications == before.wantsNotifications {
			continue
		}
		counters.newFollowers += toInt(counters.isNew(n.followedAt)) - toInt(counters.isNew(before.followedAt))
		write, replaced = append(write, n), append(replaced, n)
	}
	if err := deleteFollows(ctx, tx, replaced); err != nil {
		return err
	}
	return insertFollows(ctx, tx, write)
}

// whereFollows returns a condition for follows that are sorted by key.
func whereFollows(some []NewFollow) (condition string, args []any) {
	var b strings.Builder
	args = make([]any, 0, 2*len(some))
	for i, n := range some {
		switch {
		case i > 0 && n.ChannelID == some[i-1].ChannelID:
			b.WriteString(",?")
		case i > 0:
			b.WriteString(")) OR ")
			fallthrough
		default:
			b.WriteString("(channel_id = ? AND user_id IN (?")
			args = append(args, n.ChannelID)
		}
		args = append(args, n.userID)
	}
	b.WriteString("))")
	return b.String(), args
}

// findFollows returns those of the given follows that exist.
func findFollows(ctx context.Context, tx feed.Tx, some []NewFollow) (map[pair]NewFollow, error) {
	there := map[pair]NewFollow{}
	where, args := whereFollows(some)
	err := store.QueryEach(ctx, tx.Tx, "SELECT channel_id, user_id, followed_at, is_notification_enabled FROM follows WHERE "+where, args,
		func(scan func(...any) error) error {
			var f NewFollow
			err := scan(&f.ChannelID, &f.userID, &f.followedAt, &f.wantsNotifications)
			there[f.key()] = f
			return err
		})
	return there, err
}

func deleteFollows(ctx context.Context, tx feed.Tx, some []NewFollow) error {
	if len(some) == 0 {
		return nil
	}
	where, args := whereFollows(some)
	if _, err := tx.ExecContext(ctx, "DELETE FROM follows WHERE "+where, args...); err != nil {
		return fmt.Errorf("delete follows: %w", err)
	}
	return nil
}

func insertFollows(ctx context.Context, tx feed.Tx, some []NewFollow) error {
	if len(some) == 0 {
		return nil
	}
	args := make([]any, 0, 4*len(some))
	for _, n := range some {
		args = append(args, n.ChannelID, n.userID, n.followedAt, n.wantsNotifications)
	}
	_, err := tx.ExecContext(ctx, "INSERT INTO follows (channel_id, user_id, followed_at, is_notification_enabled) VALUES "+
		strings.TrimSuffix(strings.Repeat("(?,?,?,?),", len(some)), ","), args...)
	if err != nil {
		return fmt.Errorf("insert follows: %w", err)
	}
	return nil
}

// countFollows updates the counters of channels, with one statement for channels that
// change by the same amounts.
func countFollows(ctx context.Context, tx feed.Tx, changes map[uid.ID]*counterChange) error {
	type move struct{ followers, newFollowers int }
	alike := map[move][]uid.ID{}
	for id, c := range changes {
		if m := (move{c.followers, c.newFollowers}); m != (move{}) {
			alike[m] = append(alike[m], id)
		}
	}
	for m, all := range alike {
		for ids := range slices.Chunk(all, idsPerStatement) {
			err := tx.Channel.Update().Where(channel.IDIn(ids...)).
				AddFollowerCount(int64(m.followers)).AddNewFollowerCount(int64(m.newFollowers)).
				Exec(ctx)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// distinct returns the ids of follows without duplicates, sorted.
func distinct(wanted []*NewFollow, id func(*NewFollow) uid.ID) []uid.ID {
	ids := make([]uid.ID, len(wanted))
	for i, n := range wanted {
		ids[i] = id(n)
	}
	slices.SortFunc(ids, func(a, b uid.ID) int { return bytes.Compare(a[:], b[:]) })
	return slices.Compact(ids)
}

func toInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
