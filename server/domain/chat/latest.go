package chat

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/user"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/store"
)

const (
	// latestIndex is the index of a user's visible messages, in the order of their list.
	latestIndex = "message_user_id_channel_id_generation_sent_at_id"

	// busyAtOnce is of how many users with many messages one statement reads. SQLite joins
	// at most 500 SELECTs.
	busyAtOnce = 100
)

// latest reads the latest messages of users in a channel, in a transaction.
type latest struct {
	*store.Dialect

	tx        *ent.Tx
	channelID uid.ID
	limit     int
	found     map[uid.ID][]Message // by user
	// channelGeneration is the part of the generation of visible messages that the channel has.
	channelGeneration int64
}

// Latest returns the latest messages of each of some users in a channel, newest first and at most
// limit of each: those that are visible, or were deleted alone and are still stored. It costs the
// same however many messages they have: of a user with more than limit messages, it reads only these.
// A join cannot do that, because MariaDB does not bound the rows of each user. So for several users,
// Latest first runs one statement that returns at most limit messages for each user on average. If
// the users have more messages, Latest then reads those of each user separately.
func Latest(ctx context.Context, tx *ent.Tx, d *store.Dialect, channelID uid.ID, users []uid.ID, limit int) (map[uid.ID][]Message, error) {
	l := &latest{Dialect: d, tx: tx, channelID: channelID, limit: limit, found: map[uid.ID][]Message{}}
	if err := l.read(ctx, users); err != nil {
		return nil, fmt.Errorf("read the latest messages: %w", err)
	}
	l.order()
	return l.found, nil
}

func (l *latest) read(ctx context.Context, users []uid.ID) (err error) {
	if len(users) == 1 {
		return l.readBusy(ctx, users)
	}
	if l.channelGeneration, err = ChannelGeneration(ctx, l.tx, l.channelID); err != nil {
		return err
	}
	most := len(users) * l.limit
	if n, err := l.readAll(ctx, users, store.Limit(most+1)); err != nil || n <= most {
		return err
	}
	clear(l.found)
	few, busy, err := l.sort(ctx, users)
	if err == nil && len(few) > 0 {
		_, err = l.readAll(ctx, few, "")
	}
	if err == nil {
		err = l.readBusy(ctx, busy)
	}
	return err
}

// from returns the FROM clause of users, each three times: with the generation of their visible
// messages, and with those of the messages that were deleted alone. ofGeneration selects the messages m
// of a row, and has the generation of the channel as its argument.
func (l *latest) from() string {
	return users.From(l.Dialect, user.FieldID) + ` LEFT JOIN message_generations g ON g.channel_id = ? AND g.user_id = u.id` +
		l.OrderedJoin() + fmt.Sprintf("(SELECT 0 AS generation UNION ALL SELECT %d UNION ALL SELECT %d) k", deletedByPerson, deletedByRule)
}

const ofGeneration = "m.generation = CASE WHEN k.generation < 0 THEN k.generation ELSE COALESCE(g.generation, 0) + ? END"

// sort returns the users who have messages: those with up to limit of each generation, and those
// with more.
func (l *latest) sort(ctx context.Context, ids []uid.ID) (few, busy []uid.ID, err error) {
	// Scalar subqueries with a LIMIT, which no database turns into a join.
	nth := func(n int) string {
		return `(SELECT m.generation FROM messages m` + l.ByIndex(latestIndex) + `
			WHERE m.user_id = u.id AND m.channel_id = ? AND ` + ofGeneration + `
			LIMIT 1` + fmt.Sprintf(" OFFSET %d", n) + `)`
	}
	isBusy := map[uid.ID]bool{} // of users who have messages
	err = store.QueryEach(ctx, l.tx, "SELECT u.id, "+nth(0)+", "+nth(l.limit)+`
		FROM `+l.from()+` WHERE u.`+users.Exists+" AND u.id IN ("+store.Placeholders(len(ids))+")",
		append([]any{l.channelID, l.channelGeneration, l.channelID, l.channelGeneration, l.channelID}, store.Args(ids)...), func(scan func(...any) error) error {
			var id uid.ID
			var first, further *int64
			err := scan(&id, &first, &further)
			if first != nil {
				isBusy[id] = isBusy[id] || further != nil
			}
			return err
		})
	for id, is := range isBusy {
		if is {
			busy = append(busy, id)
		} else {
			few = append(few, id)
		}
	}
	return few, busy, err
}

// readAll reads the messages of users, up to the LIMIT clause. It returns their number.
func (l *latest) readAll(ctx context.Context, ids []uid.ID, limit string) (int, error) {
	return l.scan(ctx, `SELECT m.user_id, m.id, m.text, m.sent_at
		FROM `+l.from()+l.OrderedJoin()+`messages m`+l.ByIndex(latestIndex)+`
			ON m.user_id = u.id AND m.channel_id = ? AND `+ofGeneration+`
		WHERE u.`+users.Exists+` AND u.id IN (`+store.Placeholders(len(ids))+`)`+limit,
		append([]any{l.channelID, l.channelID, l.channelGeneration}, store.Args(ids)...))
}

// readBusy reads the latest messages of each user.
func (l *latest) readBusy(ctx context.Context, users []uid.ID) error {
	of := func(generation string) string {
		return `SELECT * FROM (SELECT m.user_id, m.id, m.text, m.sent_at FROM messages m` + l.ByIndex(latestIndex) + `
		WHERE m.user_id = ? AND m.channel_id = ? AND m.generation = ` + generation + `
		ORDER BY m.sent_at DESC, m.id DESC` + store.Limit(l.limit) + `) AS t`
	}
	part := of(generation("?", "?")) + " UNION ALL " + of(strconv.Itoa(deletedByPerson)) + " UNION ALL " + of(strconv.Itoa(deletedByRule))
	for some := range slices.Chunk(users, busyAtOnce) {
		var args []any
		for _, id := range some {
			args = append(args, id, l.channelID, l.channelID, id, l.channelID, id, l.channelID, id, l.channelID)
		}
		if _, err := l.scan(ctx, part+strings.Repeat(" UNION ALL "+part, len(some)-1), args); err != nil {
			return err
		}
	}
	return nil
}

// scan adds the messages that a statement returns to those found. It returns their number.
func (l *latest) scan(ctx context.Context, query string, args []any) (n int, err error) {
	err = store.QueryEach(ctx, l.tx, query, args, func(scan func(...any) error) error {
		m := Message{ChannelID: l.channelID}
		err := scan(&m.UserID, &m.ID, &m.Text, &m.SentAt)
		l.found[m.UserID] = append(l.found[m.UserID], m)
		n++
		return err
	})
	return n, err
}

// order sorts the messages of each user, newest first, and applies the limit, which was that of
// each generation.
func (l *latest) order() {
	for id, messages := range l.found {
		slices.SortFunc(messages, func(a, b Message) int {
			return cmp.Or(cmp.Compare(b.SentAt, a.SentAt), bytes.Compare(b.ID[:], a.ID[:]))
		})
		l.found[id] = messages[:min(len(messages), l.limit)]
	}
}
