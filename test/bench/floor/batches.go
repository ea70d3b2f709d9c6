package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

const (
	banned = "channel.ban"
	hidden = "channel.chat.clear_user_messages"
	lifted = "channel.unban"

	// eventsPerStatement and bansPerStatement are Moderato's.
	eventsPerStatement = 100
	bansPerStatement   = 1000

	evidenceSize = 10
	day          = 24 * 60 * 60 * 1000 // milliseconds
	lastLook     = 2 * 60 * 1000
)

// person is a user of a batch.
type person struct {
	id             uuid.UUID
	username, name string
	evidence       []byte // JSON; empty if the user has no messages
	messages       int
}

// placeholders returns n rows of placeholders.
func placeholders(n int, row string) string {
	return strings.TrimSuffix(strings.Repeat(row+",", n), ",")
}

// in returns a list of placeholders for users, and first with their ids as arguments.
func in(users []*person, first ...any) (string, []any) {
	for _, u := range users {
		first = append(first, u.id[:])
	}
	return " IN (" + placeholders(len(users), "?") + ")", first
}

// eachRow calls row for every row of a statement, with the function that scans it.
func eachRow(ctx context.Context, q interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}, text string, args []any, row func(scan func(...any) error) error) error {
	rows, err := q.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// query is eachRow in the transaction.
func (c *change) query(ctx context.Context, text string, args []any, row func(scan func(...any) error) error) error {
	return eachRow(ctx, c.tx, text, args, row)
}

// exec runs a statement.
func (c *change) exec(ctx context.Context, text string, args ...any) error {
	_, err := c.tx.ExecContext(ctx, text, args...)
	return err
}

// banAll bans users of whom none is banned. It returns them in the order of the ids.
func (c *change) banAll(ctx context.Context, ids []uuid.UUID, batch uuid.UUID, add func(first int64) error) ([]*person, error) {
	users, err := c.find(ctx, ids)
	if err != nil {
		return nil, err
	}
	if err := c.keepEvidence(ctx, users); err != nil {
		return nil, err
	}
	first := c.sequence + 1
	for _, u := range users {
		c.note(banned, u, batch, u.evidence)
		c.note(hidden, u, batch, nil)
	}
	list, args := in(users, c.channel[:], c.channel[:], c.now, "", nil, batch[:])
	err = c.exec(ctx, `INSERT INTO bans (channel_id, user_id, moderator_id, banned_at, reason, expires_at, batch_id)
		SELECT ?, id, ?, ?, ?, ?, ? FROM users WHERE id`+list, args...)
	if err == nil {
		err = c.hide(ctx, users)
	}
	if err == nil {
		err = add(first)
	}
	if err == nil {
		err = c.writeNotes(ctx)
	}
	return users, err
}

// find reads the users and their bans.
func (c *change) find(ctx context.Context, ids []uuid.UUID) ([]*person, error) {
	wanted, byID := make([]*person, len(ids)), map[uuid.UUID]*person{}
	for i, id := range ids {
		wanted[i] = &person{id: id}
		byID[id] = wanted[i]
	}
	list, args := in(wanted, c.channel[:], c.channel[:])
	err := c.query(ctx, `SELECT u.id, u.username, u.slug, u.display_name,
			EXISTS (SELECT 1 FROM roles mr WHERE mr.channel_id = ? AND mr.user_id = u.id AND mr.role = 'moderator'),
			b.moderator_id, b.banned_at, b.reason, b.expires_at, b.batch_id
		FROM users u LEFT JOIN bans b ON b.channel_id = ? AND b.user_id = u.id
		WHERE u.id`+list+` AND u.deleted_at IS NULL`, args, func(scan func(...any) error) error {
		var id, moderator []byte
		var username, name string
		var skip any
		if err := scan(&id, &username, &skip, &name, &skip, &moderator, &skip, &skip, &skip, &skip); err != nil {
			return err
		}
		if moderator != nil {
			return fmt.Errorf("%s is banned", username)
		}
		byID[uuid.UUID(id)].username, byID[uuid.UUID(id)].name = username, name
		return nil
	})
	return wanted, err
}

// keepEvidence reads the messages of the users, who have evidenceSize on average at most.
func (c *change) keepEvidence(ctx context.Context, users []*person) error {
	byID := map[uuid.UUID]*person{}
	for _, u := range users {
		byID[u.id] = u
	}
	var generation int64
	err := c.tx.QueryRowContext(ctx, "SELECT generation FROM chat_generations WHERE channel_id = ?", c.channel[:]).Scan(&generation)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	list, args := in(users, c.channel[:], c.channel[:], generation)
	return c.query(ctx, `SELECT m.user_id, m.id, m.text, m.sent_at
		FROM users u LEFT JOIN message_generations g ON g.channel_id = ? AND g.user_id = u.id`+c.then+`messages m`+c.byLatest+`
			ON m.user_id = u.id AND m.channel_id = ? AND m.generation = COALESCE(g.generation, 0) + ?
		WHERE u.id`+list+fmt.Sprintf(" LIMIT %d", evidenceSize*len(users)+1), args, func(scan func(...any) error) error {
		var userID, id []byte
		var text string
		var at int64
		if err := scan(&userID, &id, &text, &at); err != nil {
			return err
		}
		u := byID[uuid.UUID(userID)]
		separator := "["
		if u.messages++; u.messages > 1 {
			separator = ","
			u.evidence = u.evidence[:len(u.evidence)-1]
		}
		u.evidence = fmt.Appendf(u.evidence, `%s{"messageId":%q,"text":%q,"sentAt":%d}]`, separator, uuid.UUID(id), text, at)
		return nil
	})
}

// hide deletes the messages of users so that they can be restored.
func (c *change) hide(ctx context.Context, users []*person) error {
	list, args := in(users, c.channel[:])
	has := map[uuid.UUID]bool{}
	err := c.query(ctx, "SELECT user_id FROM message_generations WHERE channel_id = ? AND user_id"+list, args, func(scan func(...any) error) error {
		var id []byte
		err := scan(&id)
		has[uuid.UUID(id)] = true
		return err
	})
	if err != nil {
		return err
	}
	until := c.now + day
	if len(has) > 0 {
		list, args = in(users, until, c.now, until+lastLook, c.channel[:])
		err = c.exec(ctx, `UPDATE message_generations
			SET restorable = generation, restorable_until = ?, restorable_raised_at = raised_at,
				generation = COALESCE(restored_from, generation) + 4294967296, raised_at = ?, purge_at = COALESCE(purge_at, ?), restored_from = NULL
			WHERE channel_id = ? AND user_id`+list, args...)
	}
	without := slices.DeleteFunc(slices.Clone(users), func(u *person) bool { return has[u.id] })
	if err != nil || len(without) == 0 {
		return err
	}
	list, args = in(without, c.channel[:], 4294967296, c.now, until+lastLook, until)
	return c.exec(ctx, `INSERT INTO message_generations
		(channel_id, user_id, generation, raised_at, purge_at, restorable, restorable_until, restorable_raised_at)
		SELECT ?, id, ?, ?, ?, 0, ?, 0 FROM users WHERE id`+list, args...)
}

// addBatch stores the row of a batch.
func (c *change) addBatch(ctx context.Context, batch uuid.UUID, count int, first int64) error {
	return c.exec(ctx, `INSERT INTO ban_batches (id, channel_id, moderator_id, created_at, reason, banned_count, first_sequence, last_sequence)
		VALUES (?, ?, ?, ?, '', ?, ?, ?)`, batch[:], c.channel[:], c.channel[:], c.now, count, first, c.sequence)
}

// undo lifts the bans of a batch and restores the messages.
func (c *change) undo(ctx context.Context, batch uuid.UUID) ([]*person, error) {
	var firstSequence, lastSequence int64
	err := c.tx.QueryRowContext(ctx, "SELECT first_sequence, last_sequence FROM ban_batches WHERE id = ?", batch[:]).Scan(&firstSequence, &lastSequence)
	if err != nil {
		return nil, err
	}
	var users []*person
	err = c.query(ctx, "SELECT target_id, payload FROM events WHERE channel_id = ? AND type = 'channel.ban' AND sequence BETWEEN ? AND ? ORDER BY sequence",
		[]any{c.channel[:], firstSequence, lastSequence}, func(scan func(...any) error) error {
			var id []byte
			var payload string
			err := scan(&id, &payload)
			users = append(users, &person{id: uuid.UUID(id)})
			return err
		})
	for some := range slices.Chunk(users, bansPerStatement) {
		if err == nil {
			err = c.liftSome(ctx, batch, some)
		}
	}
	if err == nil {
		err = c.writeNotes(ctx)
	}
	return users, err
}

func (c *change) liftSome(ctx context.Context, batch uuid.UUID, users []*person) error {
	byID := map[uuid.UUID]*person{}
	for _, u := range users {
		byID[u.id] = u
	}
	list, args := in(users)
	err := c.query(ctx, "SELECT id, username FROM users WHERE id"+list+" AND deleted_at IS NULL ORDER BY id"+c.forShare, args, func(scan func(...any) error) error {
		var id []byte
		var username string
		err := scan(&id, &username)
		byID[uuid.UUID(id)].username = username
		return err
	})
	if err != nil {
		return err
	}
	list, args = in(users, c.channel[:])
	err = c.query(ctx, `SELECT b.user_id, b.moderator_id, b.banned_at, b.reason, b.expires_at, b.batch_id, u.display_name,
			EXISTS (SELECT 1 FROM roles mr WHERE mr.channel_id = b.channel_id AND mr.user_id = b.user_id AND mr.role = 'moderator')
		FROM bans b JOIN users u ON u.id = b.user_id WHERE b.channel_id = ?
			AND (b.expires_at IS NULL OR b.expires_at > `+c.tables.now+`) AND b.user_id`+list+` ORDER BY b.user_id`, args, func(scan func(...any) error) error {
		var id []byte
		var name string
		var skip any
		err := scan(&id, &skip, &skip, &skip, &skip, &skip, &name, &skip)
		byID[uuid.UUID(id)].name = name
		return err
	})
	if err != nil {
		return err
	}
	for _, u := range users {
		c.note(lifted, u, batch, nil)
	}
	list, args = in(users, c.channel[:])
	if err := c.exec(ctx, "DELETE FROM bans WHERE channel_id = ? AND user_id"+list, args...); err != nil {
		return err
	}
	list, args = in(users, c.now+lastLook, c.channel[:], c.now)
	return c.exec(ctx, `UPDATE message_generations
		SET restored_from = generation, generation = restorable, raised_at = restorable_raised_at, purge_at = ?,
			restorable = NULL, restorable_until = NULL, restorable_raised_at = NULL
		WHERE channel_id = ? AND restorable_until > ? AND user_id`+list, args...)
}

// note adds an event about a user, which writeNotes writes.
func (c *change) note(kind string, u *person, batch uuid.UUID, evidence []byte) {
	const at = "2026-01-01T00:00:00.000Z"
	payload := fmt.Sprintf(`{"channelId":%q,"moderatorId":%q,"clientId":"bench","targetUserId":%q,"clearedAt":%q}`, c.channel, c.channel, u.id, at)
	if kind != hidden {
		payload = fmt.Sprintf(`{"channelId":%q,"moderatorId":%q,"clientId":"bench","bannedUserId":%q,"bannedUserDisplayName":%q,"bannedAt":%q,"reason":null,"expiresAt":null,"batchId":%q,"cause":"batch"}`,
			c.channel, c.channel, u.id, u.name, at, batch)
	}
	var kept any
	if len(evidence) > 0 {
		kept = string(evidence)
	}
	c.sequence++
	c.notes = append(c.notes, []any{
		c.channel[:], c.channel[:], "bench", newID(), c.now, nil, payload, "01a1fd4c-22f7-76c8-8199-6a1fa4e229c1", c.sequence, u.id[:], kind, kept,
	})
}

func (c *change) writeNotes(ctx context.Context) error {
	operation := newID()
	for some := range slices.Chunk(c.notes, eventsPerStatement) {
		var args []any
		for _, row := range some {
			row[5] = operation
			args = append(args, row...)
		}
		err := c.exec(ctx, `INSERT INTO events
			(actor_id, channel_id, client_id, id, occurred_at, operation_id, payload, request_id, sequence, target_id, type, evidence) VALUES `+
			placeholders(len(some), "(?,?,?,?,?,?,?,?,?,?,?,?)"), args...)
		if err != nil {
			return err
		}
	}
	return nil
}

// BanUsers bans a batch of users.
func (m moderation) BanUsers(ctx context.Context, req *moderatov1.BanUsersRequest) (*moderatov1.BanUsersResponse, error) {
	ids := make([]uuid.UUID, len(req.GetUsers()))
	for i, u := range req.GetUsers() {
		var err error
		if ids[i], err = uuid.Parse(u.GetUserId()); err != nil {
			return nil, err
		}
	}
	batch := uuid.Must(uuid.NewV7())
	text := batch.String()
	response := &moderatov1.BanUsersResponse{BatchId: &text, Counts: &moderatov1.BatchCounts{Banned: int32(len(ids))}}
	err := m.change(ctx, req.GetChannelId(), req.GetChannelId(), func(ctx context.Context, c *change) error {
		users, err := c.banAll(ctx, ids, batch, func(first int64) error { return c.addBatch(ctx, batch, len(ids), first) })
		response.Results = results(users, "BANNED")
		return err
	})
	return response, err
}

// UndoBanBatch lifts the bans of a batch.
func (m moderation) UndoBanBatch(ctx context.Context, req *moderatov1.UndoBanBatchRequest) (*moderatov1.UndoBanBatchResponse, error) {
	batch, err := uuid.Parse(req.GetBatchId())
	if err != nil {
		return nil, err
	}
	response := &moderatov1.UndoBanBatchResponse{}
	err = m.change(ctx, req.GetChannelId(), req.GetChannelId(), func(ctx context.Context, c *change) error {
		users, err := c.undo(ctx, batch)
		response.Counts, response.Results = &moderatov1.UndoCounts{Unbanned: int32(len(users))}, results(users, "UNBANNED")
		return err
	})
	return response, err
}

// results returns a result for each user.
func results(users []*person, status string) []*moderatov1.BatchResult {
	all := make([]*moderatov1.BatchResult, len(users))
	for i, u := range users {
		id := u.id.String()
		all[i] = &moderatov1.BatchResult{UserId: &id, Username: &u.username, Status: status}
	}
	return all
}
