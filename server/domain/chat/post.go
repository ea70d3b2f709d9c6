package chat

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/message"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/store"
)

// IDTaken returns the error for a message id that belongs to another sender or channel.
func IDTaken() error {
	return apierr.Invalid(apierr.Violation{Field: "messageId", Description: "belongs to another message"})
}

// Post stores a message of a sender whose standing was just read, on behalf of the caller of
// the current call, and reports whether it is new. No lock is needed between the read and Post:
// if the sender was banned or muted since, or the chat was cleared, the message has an old
// generation and is never shown. If the sender's message with this id already exists in the
// channel, Post leaves it unchanged, and returns MESSAGE_BLOCKED if a rule had deleted it. In the transaction, Post assigns the message that exists
// then to stored.
func Post(ctx context.Context, s *store.Store, st *Standing, m Message, stored *Message) (isNew bool, err error) {
	*stored = m
	if s.HasOneWriter() {
		isNew, err = postTogether(ctx, s, st, stored)
	} else {
		isNew, err = postAlone(ctx, s, st, stored)
	}
	if err != nil {
		return false, fmt.Errorf("post message: %w", err)
	}
	return isNew, nil
}

// Admit checks in a transaction that the caller of the current call may post as a user.
func Admit(ctx context.Context, s *store.Store, tx *ent.Tx, userID uid.ID) error {
	if err := authz.Reauthenticate(ctx, s, tx); err != nil {
		return err
	}
	return authz.CheckGrant(ctx, tx.Grant, userID)
}

// postAlone is Post on a database server: mostly one statement, which is a transaction of its
// own. stored is the message.
func postAlone(ctx context.Context, s *store.Store, st *Standing, stored *Message) (isNew bool, err error) {
	m := *stored
	query, args := insertOnce(ctx, s, st, m)
	rows, err := s.WriteAtOnce(ctx, query, args, func(ctx context.Context, tx *ent.Tx, attempt store.Attempt) (err error) {
		if *stored, isNew, err = postIn(ctx, s, tx, st, m, attempt); err == nil && isNew && !st.isChatter && len(st.confirms) == 0 {
			chatted, args := hasChatted(s.Dialect, m.ChannelID, dayOf(m.SentAt), m.UserID)
			_, err = tx.ExecContext(ctx, chatted, args...)
		}
		return err
	})
	if rows == 1 && !st.isChatter {
		// The message is stored. If this fails, the user's next message records the day.
		chatted, args := hasChatted(s.Dialect, m.ChannelID, dayOf(m.SentAt), m.UserID)
		_, _ = s.WriteAtOnce(ctx, chatted, args, func(context.Context, *ent.Tx, store.Attempt) error { return nil })
	}
	return isNew || rows == 1, err
}

// insertOnce returns the statement that stores a new message if the caller may post it;
// empty if one statement cannot decide that.
func insertOnce(ctx context.Context, s *store.Store, st *Standing, m Message) (query string, args []any) {
	if authz.NeedsGrant(ctx, m.UserID) || len(st.confirms) > 0 {
		return "", nil
	}
	from, fromArgs := authz.ReauthenticateIn(ctx, s)
	return "INSERT INTO messages (" + columns + ") SELECT " + store.Placeholders(columnCount) + " " + from,
		append(columnValues(m, st), fromArgs...)
}

// The columns that a post sets.
const (
	columns     = "id, channel_id, user_id, generation, text, sent_at, reply_to_message_id, is_bot"
	columnCount = 8
)

func columnValues(m Message, st *Standing) []any {
	return []any{m.ID, m.ChannelID, m.UserID, st.generation, m.Text, m.SentAt, m.ReplyTo, m.IsBot}
}

// postIn is postAlone in a transaction.
func postIn(ctx context.Context, s *store.Store, tx *ent.Tx, st *Standing, m Message, attempt store.Attempt) (stored Message, isNew bool, err error) {
	if attempt.Unknown {
		// The caller's right may have ended since the attempt that stored the message.
		if isMade, err := isStored(ctx, tx, m); isMade || err != nil {
			return m, isMade, err
		}
	}
	if err := Admit(ctx, s, tx, m.UserID); err != nil {
		return m, false, err
	}
	if len(st.confirms) > 0 {
		// The sender's row orders the posts of the sender on all servers.
		chatted, args := hasChatted(s.Dialect, m.ChannelID, dayOf(m.SentAt), m.UserID)
		if _, err := tx.ExecContext(ctx, chatted, args...); err != nil {
			return m, false, err
		}
		isRepeat, err := tx.Message.Query().Where(message.ID(m.ID)).Exist(ctx)
		if err == nil && !isRepeat {
			err = st.confirm(ctx, tx, m)
		}
		if err != nil {
			return m, false, err
		}
	}
	err = insert(ctx, tx, m, st.generation)
	if !s.IsDuplicate(err) {
		return m, err == nil, err
	}
	earlier, err := tx.Message.Get(ctx, m.ID)
	if err != nil {
		return m, false, err
	}
	switch {
	case earlier.ChannelID != m.ChannelID || earlier.UserID != m.UserID:
		return m, false, IDTaken()
	case earlier.Generation == deletedByRule:
		return m, false, apierr.MessageBlocked("")
	}
	// It may be this very message, if the earlier attempt was still under way.
	isNew = attempt.Unknown && earlier.SentAt == m.SentAt
	m.Text, m.SentAt, m.ReplyTo, m.IsBot = earlier.Text, earlier.SentAt, earlier.ReplyToMessageID, earlier.IsBot
	return m, isNew, nil
}

// insert stores a message with a generation.
func insert(ctx context.Context, tx *ent.Tx, m Message, generation int64) error {
	return tx.Message.Create().SetID(m.ID).SetChannelID(m.ChannelID).SetUserID(m.UserID).
		SetGeneration(generation).SetText(m.Text).SetSentAt(m.SentAt).
		SetNillableReplyToMessageID(m.ReplyTo).SetIsBot(m.IsBot).
		Exec(ctx)
}

// isStored reports whether an earlier attempt stored a message.
func isStored(ctx context.Context, tx *ent.Tx, m Message) (bool, error) {
	return tx.Message.Query().Where(message.ID(m.ID), message.ChannelID(m.ChannelID), message.UserID(m.UserID), message.SentAt(m.SentAt)).Exist(ctx)
}

// posts stores the messages that wait for an embedded database together: each COMMIT waits for
// the disk.
var posts = change.Operation[*post]{
	Make:   makePosts,
	IsMade: func(ctx context.Context, tx *ent.Tx, p *post) (bool, error) { return isStored(ctx, tx, p.message) },
}

// post is a request to store a message.
type post struct {
	standing *Standing
	message  Message
	stored   *Message // the result: the message that exists then
	isNew    bool
	// checkGrant returns an error if the user has not granted that the caller posts as the
	// user. It is nil if the caller needs no grant.
	checkGrant func(*ent.Tx) error
}

// postTogether is Post on an embedded database. stored is the message.
func postTogether(ctx context.Context, s *store.Store, st *Standing, stored *Message) (isNew bool, err error) {
	p := &post{standing: st, message: *stored, stored: stored, isNew: true}
	if authz.NeedsGrant(ctx, stored.UserID) {
		call := context.WithoutCancel(ctx)
		p.checkGrant = func(tx *ent.Tx) error { return authz.CheckGrant(call, tx.Grant, p.message.UserID) }
	}
	err = posts.Do(ctx, s, stored.ChannelID, p)
	return err == nil && p.isNew, err
}

// makePosts stores the messages of requests, in one statement.
func makePosts(ctx context.Context, c *change.Change, requests []*change.Request[*post]) error {
	ids := map[uid.ID]bool{}
	for _, r := range requests {
		ids[r.Of.message.ID] = true
	}
	existing, err := StoredIn(ctx, c.Tx, ids)
	if err != nil {
		return err
	}
	rows := &insertion{chatters: map[uid.ID]bool{}}
	for _, r := range requests {
		p := r.Of
		if p.checkGrant != nil {
			if r.Err = p.checkGrant(c.Tx); r.Err != nil {
				continue
			}
		}
		m := p.message
		earlier, exists := existing[m.ID]
		switch {
		case exists && (earlier.ChannelID != m.ChannelID || earlier.UserID != m.UserID):
			r.Err = IDTaken()
			continue
		case exists && earlier.Generation == deletedByRule:
			r.Err = apierr.MessageBlocked("")
			continue
		}
		if p.isNew = !exists; p.isNew {
			if r.Err, err = rows.add(ctx, c, p); err != nil {
				return err
			}
			if r.Err != nil {
				continue
			}
			earlier = Examined{Message: m}
			existing[m.ID] = earlier
		}
		*p.stored = earlier.Message
	}
	return rows.finish(ctx, c)
}

// insertion holds the messages that one statement stores, and who sent them.
type insertion struct {
	args     []any
	chatters map[uid.ID]bool
}

// add adds the message of a request, unless it is refused. What a Confirm reads has the messages
// before it.
func (i *insertion) add(ctx context.Context, c *change.Change, p *post) (refusal, err error) {
	if len(p.standing.confirms) > 0 {
		if err := i.write(ctx, c); err != nil {
			return nil, err
		}
		err := p.standing.confirm(ctx, c.Tx, p.message)
		var refused *apierr.Error
		if errors.As(err, &refused) {
			return refused, nil
		}
		if err != nil {
			return nil, err
		}
	}
	i.append(p.message, p.standing)
	return nil, nil
}

func (i *insertion) append(m Message, from *Standing) {
	i.args = append(i.args, columnValues(m, from)...)
	if !from.isChatter {
		i.chatters[m.UserID] = true
	}
}

// write stores the messages that were added.
func (i *insertion) write(ctx context.Context, c *change.Change) error {
	if len(i.args) == 0 {
		return nil
	}
	row := ",(" + store.Placeholders(columnCount) + ")"
	_, err := c.Tx.ExecContext(ctx, "INSERT INTO messages ("+columns+") VALUES "+strings.Repeat(row, len(i.args)/columnCount)[1:], i.args...)
	i.args = nil
	return err
}

// finish stores the messages, and records who sent them.
func (i *insertion) finish(ctx context.Context, c *change.Change) error {
	if err := i.write(ctx, c); err != nil || len(i.chatters) == 0 {
		return err
	}
	chatted, args := hasChatted(c.Store.Dialect, c.ChannelID, dayOf(c.Now), slices.Collect(maps.Keys(i.chatters))...)
	_, err := c.Tx.ExecContext(ctx, chatted, args...)
	return err
}

// StoredIn returns those messages with some ids that are stored in any channel, visible or not.
func StoredIn(ctx context.Context, tx *ent.Tx, ids map[uid.ID]bool) (map[uid.ID]Examined, error) {
	found := make(map[uid.ID]Examined, len(ids))
	if len(ids) == 0 {
		return found, nil
	}
	args := store.PaddedArgs(ids)
	err := store.QueryEach(ctx, tx, "SELECT id, channel_id, user_id, generation, text, sent_at, reply_to_message_id, is_bot FROM messages WHERE id IN ("+store.Placeholders(len(args))+")", args,
		func(scan func(...any) error) error {
			var m Examined
			err := scan(&m.ID, &m.ChannelID, &m.UserID, &m.Generation, &m.Text, &m.SentAt, &m.ReplyTo, &m.IsBot)
			found[m.ID] = m
			return err
		})
	return found, err
}
