package chat

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/store"
)

// maxExamined bounds the rows that List examines, so that a channel full of deleted
// messages costs no more than a full page.
const maxExamined = 1000

// Place is the position at which a list of messages resumes: after the message with
// this time and id.
type Place struct {
	SentAt instant.Instant
	ID     uid.ID
}

// always is before every message.
const always = instant.Instant(math.MinInt64)

// List returns visible messages of a channel that were sent at an instant or later, newest
// first, and the Place after them; nil when no messages can follow. If after is nil, it begins
// with the newest message.
// It uses one statement, so that a deletion that completed before List began applies to
// the whole page. It leaves out the deleted messages among the rows that it examines, so
// the page may be short or empty.
func List(ctx context.Context, s *store.Store, channelID uid.ID, since instant.Instant, after *Place, limit int) ([]Message, *Place, error) {
	if after == nil {
		after = &Place{SentAt: math.MaxInt64}
	}
	examine := min(maxExamined, 4*limit+20)
	var page []Message
	var last Place
	examined, more := 0, false
	earlier, args := s.Below("m.sent_at", "m.id", after.SentAt, after.ID)
	err := store.QueryEach(ctx, s.Read, `
		SELECT m.id, m.user_id, m.text, m.sent_at, m.reply_to_message_id, m.is_bot, m.generation = `+generation("m.channel_id", "m.user_id")+` AND NOT `+users.Erased("m.user_id")+`
		FROM messages m
		WHERE m.channel_id = ? AND m.sent_at >= ? AND `+earlier+`
		ORDER BY m.sent_at DESC, m.id DESC LIMIT ?`,
		append(append([]any{channelID, since}, args...), examine),
		func(scan func(...any) error) error {
			examined++
			if more = len(page) == limit; more {
				return nil
			}
			m := Message{ChannelID: channelID}
			var visible bool
			if err := scan(&m.ID, &m.UserID, &m.Text, &m.SentAt, &m.ReplyTo, &m.IsBot, &visible); err != nil {
				return err
			}
			last = Place{m.SentAt, m.ID}
			if visible {
				page = append(page, m)
			}
			return nil
		})
	if err != nil {
		return nil, nil, fmt.Errorf("list messages: %w", s.Classify(err))
	}
	if !more && examined < examine {
		return page, nil, nil
	}
	return page, &last, nil
}

// ListOf is List for the messages of one user. It examines visible messages only, so only
// the last page is short.
func ListOf(ctx context.Context, s *store.Store, channelID, userID uid.ID, after *Place, limit int) ([]Message, *Place, error) {
	if after == nil {
		after = &Place{SentAt: math.MaxInt64}
	}
	var page []Message
	earlier, args := s.Below("m.sent_at", "m.id", after.SentAt, after.ID)
	err := store.QueryEach(ctx, s.Read, `
		SELECT m.id, m.text, m.sent_at, m.reply_to_message_id, m.is_bot FROM messages m`+s.ByIndex(latestIndex)+`
		WHERE m.user_id = ? AND m.channel_id = ? AND m.generation = `+generation("?", "?")+` AND NOT `+users.Erased("?")+` AND `+earlier+`
		ORDER BY m.sent_at DESC, m.id DESC`+store.Limit(limit+1),
		append([]any{userID, channelID, channelID, userID, channelID, userID}, args...),
		func(scan func(...any) error) error {
			m := Message{ChannelID: channelID, UserID: userID}
			err := scan(&m.ID, &m.Text, &m.SentAt, &m.ReplyTo, &m.IsBot)
			page = append(page, m)
			return err
		})
	if err != nil {
		return nil, nil, fmt.Errorf("list messages of a user: %w", s.Classify(err))
	}
	if len(page) <= limit {
		return page, nil, nil
	}
	last := page[limit-1]
	return page[:limit], &Place{last.SentAt, last.ID}, nil
}

// FirstOf returns when the first of a user's messages in a channel was posted, of those that
// are stored or that retention removed; nil if there is none. Deleted messages count as long as
// they are stored. Generations are used in ascending order, so it is the first message of the
// first generation, or one that was deleted alone.
func FirstOf(ctx context.Context, s *store.Store, channelID, userID uid.ID) (*instant.Instant, error) {
	messages := " FROM messages m" + s.ByIndex(latestIndex) + " WHERE m.user_id = ? AND m.channel_id = ? AND m.generation "
	first := func(generation string) string {
		return "SELECT * FROM (SELECT m.sent_at" + messages + "= " + generation + " ORDER BY m.sent_at LIMIT 1) AS t"
	}
	var at *instant.Instant
	err := store.QueryRow(ctx, s.Read, "SELECT MIN(sent_at) FROM ("+first(strconv.Itoa(deletedByPerson))+
		" UNION ALL "+first(strconv.Itoa(deletedByRule))+
		" UNION ALL "+first("(SELECT MIN(m.generation)"+messages+">= 0)")+
		" UNION ALL SELECT f.sent_at FROM first_messages f WHERE f.channel_id = ? AND f.user_id = ?) AS firsts",
		[]any{userID, channelID, userID, channelID, userID, channelID, userID, channelID, channelID, userID}, &at)
	if err != nil {
		return nil, fmt.Errorf("find the first message of a user: %w", s.Classify(err))
	}
	return at, nil
}

// MaxVisible is the largest number of ids that Visible takes.
const MaxVisible = 500

// Visible returns which of some messages are visible at present. The messages of a user or
// a channel that is being deleted are not.
func Visible(ctx context.Context, s *store.Store, ids []uid.ID) (map[uid.ID]bool, error) {
	visible := make(map[uid.ID]bool, len(ids))
	err := store.QueryEach(ctx, s.Read, `
		SELECT m.id FROM messages m`+s.ByPrimaryKey("messages")+s.OrderedJoin()+`channels c ON c.id = m.channel_id`+s.OrderedJoin()+`users u ON u.id = m.user_id
		WHERE m.id IN (`+store.Placeholders(len(ids))+`) AND u.`+users.Exists+` AND m.generation = `+generation("m.channel_id", "m.user_id"),
		store.Args(ids), func(scan func(...any) error) error {
			var id uid.ID
			err := scan(&id)
			visible[id] = true
			return err
		})
	if err != nil {
		return nil, fmt.Errorf("find visible messages: %w", s.Classify(err))
	}
	return visible, nil
}
