package main

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"github.com/google/uuid"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

const (
	// readRows and readUsers are Moderato's.
	readRows  = 5000
	readUsers = 500
)

// preview finds the users who posted a phrase and follow since recently, and stores them.
// It returns how many there are.
func (t *tables) preview(ctx context.Context, req *moderatov1.PreviewSweepRequest, token string) (int, error) {
	channel, err := uuid.Parse(req.GetChannelId())
	if err != nil {
		return 0, err
	}
	var now int64
	if err := t.read.QueryRowContext(ctx, "SELECT "+t.now).Scan(&now); err != nil {
		return 0, err
	}
	posted, err := t.search(ctx, channel, req.GetPhrase(), now-req.GetWithinSeconds()*1000)
	if err != nil {
		return 0, err
	}
	var found []uuid.UUID
	for some := range slices.Chunk(posted, readUsers) {
		if found, err = t.judge(ctx, channel, some, now-req.GetFollowedWithinSeconds()*1000, found); err != nil {
			return 0, err
		}
	}
	return len(found), t.change(ctx, req.GetChannelId(), req.GetChannelId(), func(ctx context.Context, c *change) error {
		return c.storeSweep(ctx, token, req.GetPhrase(), found)
	})
}

// search returns the users who posted a phrase.
func (t *tables) search(ctx context.Context, channel uuid.UUID, phrase string, since int64) ([]uuid.UUID, error) {
	later := "(m.sent_at > ? OR (m.sent_at = ? AND m.id > ?))"
	if t.forUpdate == "" {
		later = "(m.sent_at, m.id) > (?, ?)"
	}
	known := map[uuid.UUID]bool{}
	var users []uuid.UUID
	at, last := since, []byte{}
	for n := readRows; n == readRows; {
		args := []any{channel[:], at, at, last}
		if t.forUpdate == "" {
			args = []any{channel[:], at, last}
		}
		n = 0
		err := eachRow(ctx, t.read, "SELECT m.id, m.user_id, m.generation, m.text, m.sent_at FROM messages m"+t.bySent+
			" WHERE m.channel_id = ? AND "+later+" ORDER BY m.sent_at, m.id LIMIT 5000", args, func(scan func(...any) error) error {
			n++
			var user sql.RawBytes
			var generation int64
			var text string
			if err := scan(&last, &user, &generation, &text, &at); err != nil {
				return err
			}
			if id := uuid.UUID(user); !known[id] && strings.Contains(text, phrase) {
				known[id] = true
				users = append(users, id)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return users, nil
}

// judge adds those of some users who match to found.
func (t *tables) judge(ctx context.Context, channel uuid.UUID, some []uuid.UUID, since int64, found []uuid.UUID) ([]uuid.UUID, error) {
	role := func(name string) string {
		return "EXISTS (SELECT 1 FROM roles r" + t.byRole + " WHERE r.channel_id = ? AND r.user_id = u.id AND r.role = '" + name + "')"
	}
	args := []any{channel[:], channel[:], channel[:], channel[:], channel[:], channel[:], channel[:]}
	for _, id := range some {
		args = append(args, id[:])
	}
	matches := map[uuid.UUID]bool{}
	err := eachRow(ctx, t.read, `SELECT u.id, u.username, u.display_name,
			EXISTS (SELECT 1 FROM bans b WHERE b.channel_id = ? AND b.user_id = u.id AND (b.expires_at IS NULL OR b.expires_at > `+t.now+`))
				OR `+role("moderator")+` OR `+role("vip")+` OR `+role("og")+` OR
				EXISTS (SELECT 1 FROM subscriptions s WHERE s.channel_id = ? AND s.user_id = u.id AND s.is_active AND s.expires_at > `+t.now+`),
			COALESCE(f.followed_at, 0), COALESCE(g.generation, 0)
		FROM users u LEFT JOIN follows f`+t.byKey+` ON f.channel_id = ? AND f.user_id = u.id
			LEFT JOIN message_generations g ON g.channel_id = ? AND g.user_id = u.id
		WHERE u.id IN (`+placeholders(len(some), "?")+`) AND u.deleted_at IS NULL`, args, func(scan func(...any) error) error {
		var id sql.RawBytes
		var isExempt bool
		var followedAt int64
		var skip any
		if err := scan(&id, &skip, &skip, &isExempt, &followedAt, &skip); err != nil {
			return err
		}
		matches[uuid.UUID(id)] = !isExempt && followedAt >= since
		return nil
	})
	for _, id := range some {
		if matches[id] {
			found = append(found, id)
		}
	}
	return found, err
}

// storeSweep stores the users whom a preview found.
func (c *change) storeSweep(ctx context.Context, token, phrase string, found []uuid.UUID) error {
	id := sha256.Sum256([]byte(token))
	err := c.exec(ctx, "INSERT INTO sweeps (id, channel_id, user_id, phrase, exempt_follow_age, exempt_subscribers, expires_at, remove_at) VALUES (?, ?, ?, ?, 0, ?, ?, ?)",
		id[:], c.channel[:], c.channel[:], phrase, true, c.now+5*60*1000, c.now+15*60*1000)
	number := 0
	for some := range slices.Chunk(found, bansPerStatement) {
		var joined []byte
		for _, user := range some {
			joined = append(joined, user[:]...)
		}
		if err == nil {
			err = c.exec(ctx, "INSERT INTO sweep_chunks (id, sweep_id, channel_id, number, user_ids) VALUES (?, ?, ?, ?, ?)",
				newID(), id[:], c.channel[:], number, joined)
		}
		number++
	}
	return err
}

// commit bans the users of a sweep, and returns the id of the batch.
func (t *tables) commit(ctx context.Context, channel, token string) (uuid.UUID, error) {
	id, batch := sha256.Sum256([]byte(token)), uuid.Must(uuid.NewV7())
	err := t.change(ctx, channel, channel, func(ctx context.Context, c *change) error {
		err := c.exec(ctx, "UPDATE sweeps SET batch_id = ?, moderator_id = ?, due_at = ?, remove_at = NULL WHERE id = ?", batch[:], c.channel[:], c.now, id[:])
		if err == nil {
			err = c.addBatch(ctx, batch, 0, c.sequence+1)
		}
		return err
	})
	for more := true; more && err == nil; {
		err = t.change(ctx, channel, channel, func(ctx context.Context, c *change) error {
			more, err = c.banChunk(ctx, id[:], batch)
			return err
		})
	}
	return batch, err
}

// banChunk bans the next users of a sweep, and reports whether there were any.
func (c *change) banChunk(ctx context.Context, sweep []byte, batch uuid.UUID) (bool, error) {
	var chunk, joined []byte
	err := c.tx.QueryRowContext(ctx, "SELECT id, user_ids FROM sweep_chunks WHERE sweep_id = ? ORDER BY number LIMIT 1", sweep).Scan(&chunk, &joined)
	if errors.Is(err, sql.ErrNoRows) {
		return false, c.exec(ctx, "UPDATE sweeps SET due_at = NULL, remove_at = ? WHERE id = ?", c.now+day, sweep)
	}
	if err != nil {
		return false, err
	}
	var ids []uuid.UUID
	for id := range slices.Chunk(joined, len(uuid.UUID{})) {
		ids = append(ids, uuid.UUID(id))
	}
	_, err = c.banAll(ctx, ids, batch, func(int64) error {
		return c.exec(ctx, "UPDATE ban_batches SET banned_count = banned_count + ?, last_sequence = ? WHERE id = ?", len(ids), c.sequence, batch[:])
	})
	if err == nil {
		err = c.exec(ctx, "UPDATE sweeps SET banned_count = banned_count + ?, due_at = ? WHERE id = ?", len(ids), c.now+3000, sweep)
	}
	if err == nil {
		err = c.exec(ctx, "DELETE FROM sweep_chunks WHERE id = ?", chunk)
	}
	return true, err
}

// PreviewSweep finds users, and stores them.
func (m moderation) PreviewSweep(ctx context.Context, req *moderatov1.PreviewSweepRequest) (*moderatov1.PreviewSweepResponse, error) {
	token := strings.ReplaceAll(uuid.NewString(), "-", "")
	matched, err := m.preview(ctx, req, token)
	return &moderatov1.PreviewSweepResponse{SweepToken: token, Matched: int32(matched)}, err
}

// CommitSweep bans the users whom a preview found.
func (m moderation) CommitSweep(ctx context.Context, req *moderatov1.CommitSweepRequest) (*moderatov1.CommitSweepResponse, error) {
	batch, err := m.commit(ctx, req.GetChannelId(), req.GetSweepToken())
	return &moderatov1.CommitSweepResponse{BatchId: batch.String(), Status: "COMPLETE"}, err
}
