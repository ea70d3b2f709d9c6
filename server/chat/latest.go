package chat

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/user"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/users"
)

const (
	// latestIndex is the index of a user's visible messages, in the order of their list.
	latestIndex = "message_user_id_channel_id_generation_sent_at_id"

	// busyAtOnce is of how many chatters with many messages one statement reads. SQLite joins
	// at most 500 SELECTs.
	busyAtOnce = 100
)

// latest reads the latest visible messages of chatters, in a transaction.
type latest struct {
	*store.Dialect

	tx    *ent.Tx
	limit int
	found map[Chatter][]Message
	// If all chatters are of one channel, these are the channel, and the part of the generation
	// of visible messages that it has.
	channelID         uid.ID
	channelGeneration int64
}

// Latest returns the latest visible messages of each of some chatters, newest first and at
// most limit of each. It costs the same however many messages they have: of a chatter with
// more than limit messages, it reads only these. A join cannot do that, because MariaDB does
// not bound the rows of each user. So for several chatters, Latest first runs one statement that
// returns at most limit messages for each chatter on average. If the chatters have more messages,
// Latest then reads those of each chatter separately.
func Latest(ctx context.Context, tx *ent.Tx, d *store.Dialect, chatters []Chatter, limit int) (map[Chatter][]Message, error) {
	l := &latest{Dialect: d, tx: tx, limit: limit, found: map[Chatter][]Message{}}
	if err := l.read(ctx, chatters); err != nil {
		return nil, fmt.Errorf("read the latest messages: %w", err)
	}
	l.order()
	return l.found, nil
}

func (l *latest) read(ctx context.Context, chatters []Chatter) error {
	channels := byChannel(chatters)
	switch {
	case len(chatters) == 1:
		return l.readBusy(ctx, chatters)
	case len(channels) == 1:
		l.channelID = channels[0].id
		return l.readChannel(ctx, channels[0].users)
	}
	for some := range slices.Chunk(chatters, busyAtOnce) {
		if err := l.readChannels(ctx, some); err != nil {
			return err
		}
	}
	return nil
}

// readChannels reads the messages of chatters in several channels. Most have none, or few.
func (l *latest) readChannels(ctx context.Context, chatters []Chatter) error {
	id, most := l.IDColumn(), len(chatters)*l.limit
	var args []any
	for _, x := range chatters {
		args = append(args, x.ChannelID, x.UserID)
	}
	n, err := l.scan(ctx, `SELECT m.user_id, m.channel_id, m.id, m.text, m.sent_at
		FROM (SELECT `+id+` AS channel_id, `+id+` AS user_id`+strings.Repeat(" UNION ALL SELECT "+id+", "+id, len(chatters)-1)+`) x
			LEFT JOIN message_generations g ON g.channel_id = x.channel_id AND g.user_id = x.user_id
			LEFT JOIN chat_generations cg ON cg.channel_id = x.channel_id`+l.OrderedJoin()+`messages m`+l.ByIndex(latestIndex)+`
			ON m.user_id = x.user_id AND m.channel_id = x.channel_id AND m.generation = COALESCE(g.generation, 0) + COALESCE(cg.generation, 0)`+store.Limit(most+1), args)
	if err != nil || n <= most {
		return err
	}
	for _, x := range chatters {
		delete(l.found, x)
	}
	return l.readBusy(ctx, chatters)
}

// readChannel reads the messages of users in one channel.
func (l *latest) readChannel(ctx context.Context, users []uid.ID) (err error) {
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
		err = l.readBusy(ctx, ChattersOf(l.channelID, busy))
	}
	return err
}

// sort returns the users who have messages: those with up to limit, and those with more.
func (l *latest) sort(ctx context.Context, ids []uid.ID) (few, busy []uid.ID, err error) {
	// Scalar subqueries with a LIMIT, which no database turns into a join.
	nth := func(n int) string {
		return `(SELECT m.generation FROM messages m` + l.ByIndex(latestIndex) + `
			WHERE m.user_id = u.id AND m.channel_id = ? AND m.generation = COALESCE(g.generation, 0) + ?
			LIMIT 1` + fmt.Sprintf(" OFFSET %d", n) + `)`
	}
	err = store.QueryEach(ctx, l.tx, "SELECT u.id, "+nth(0)+", "+nth(l.limit)+`
		FROM `+users.From(l.Dialect, user.FieldID)+` LEFT JOIN message_generations g ON g.channel_id = ? AND g.user_id = u.id WHERE u.`+users.Exists+" AND u.id IN ("+store.Placeholders(len(ids))+")",
		append([]any{l.channelID, l.channelGeneration, l.channelID, l.channelGeneration, l.channelID}, store.Args(ids)...), func(scan func(...any) error) error {
			var id uid.ID
			var first, further *int64
			err := scan(&id, &first, &further)
			switch {
			case further != nil:
				busy = append(busy, id)
			case first != nil:
				few = append(few, id)
			}
			return err
		})
	return few, busy, err
}

// readAll reads the messages of users, up to the LIMIT clause. It returns their number.
func (l *latest) readAll(ctx context.Context, ids []uid.ID, limit string) (int, error) {
	return l.scan(ctx, `SELECT m.user_id, m.channel_id, m.id, m.text, m.sent_at
		FROM `+users.From(l.Dialect, user.FieldID)+` LEFT JOIN message_generations g ON g.channel_id = ? AND g.user_id = u.id`+l.OrderedJoin()+`messages m`+l.ByIndex(latestIndex)+`
			ON m.user_id = u.id AND m.channel_id = ? AND m.generation = COALESCE(g.generation, 0) + ?
		WHERE u.`+users.Exists+` AND u.id IN (`+store.Placeholders(len(ids))+`)`+limit,
		append([]any{l.channelID, l.channelID, l.channelGeneration}, store.Args(ids)...))
}

// readBusy reads the latest messages of each chatter.
func (l *latest) readBusy(ctx context.Context, chatters []Chatter) error {
	part := `SELECT * FROM (SELECT m.user_id, m.channel_id, m.id, m.text, m.sent_at FROM messages m` + l.ByIndex(latestIndex) + `
		WHERE m.user_id = ? AND m.channel_id = ? AND m.generation = ` + generation("?", "?") + `
		ORDER BY m.sent_at DESC, m.id DESC` + store.Limit(l.limit) + `) AS t`
	for some := range slices.Chunk(chatters, busyAtOnce) {
		var args []any
		for _, x := range some {
			args = append(args, x.UserID, x.ChannelID, x.ChannelID, x.UserID, x.ChannelID)
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
		var m Message
		err := scan(&m.UserID, &m.ChannelID, &m.ID, &m.Text, &m.SentAt)
		from := Chatter{m.ChannelID, m.UserID}
		l.found[from] = append(l.found[from], m)
		n++
		return err
	})
	return n, err
}

// order sorts the messages of each chatter, newest first, and applies the limit: a message that
// was posted between the statements may exceed it.
func (l *latest) order() {
	for id, messages := range l.found {
		slices.SortFunc(messages, func(a, b Message) int {
			return cmp.Or(cmp.Compare(b.SentAt, a.SentAt), bytes.Compare(b.ID[:], a.ID[:]))
		})
		l.found[id] = messages[:min(len(messages), l.limit)]
	}
}
