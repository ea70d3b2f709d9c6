package main

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"google.golang.org/grpc/metadata"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

// moderation serves bans, with the statements that Moderato runs for them.
type moderation struct {
	moderatov1.UnimplementedModerationServiceServer
	*tables
}

// change is a transaction that changes the bans of a channel.
type change struct {
	*tables

	tx            *sql.Tx
	channel, user uuid.UUID
	name          string
	sequence, now int64
	notes         [][]any // the events, as rows
}

// change runs body between the statements with which every change begins and ends.
func (t *tables) change(ctx context.Context, channelID, userID string, body func(context.Context, *change) error) error {
	c := &change{tables: t}
	var err error
	if c.channel, err = uuid.Parse(channelID); err != nil {
		return err
	}
	if c.user, err = uuid.Parse(userID); err != nil {
		return err
	}
	if c.tx, err = t.write.BeginTx(ctx, nil); err != nil {
		return err
	}
	defer func() { _ = c.tx.Rollback() }()
	if err := c.begin(ctx); err != nil {
		return err
	}
	if err := body(ctx, c); err != nil {
		return err
	}
	if _, err := c.tx.ExecContext(ctx, "UPDATE channels SET event_sequence = ? WHERE id = ?", c.sequence, c.channel[:]); err != nil {
		return err
	}
	return c.tx.Commit()
}

func (c *change) begin(ctx context.Context) error {
	var skip any
	err := c.tx.QueryRowContext(ctx, "SELECT event_sequence, activity_number, live_started_at FROM channels WHERE id = ?"+c.forUpdate, c.channel[:]).
		Scan(&c.sequence, &skip, &skip)
	if err != nil {
		return err
	}
	md, _ := metadata.FromIncomingContext(ctx)
	token := sha256.Sum256([]byte(strings.TrimPrefix(md.Get("authorization")[0], "Bearer ")))
	return c.tx.QueryRowContext(ctx, `
		SELECT `+c.tables.now+`, t.revoked_at, t.expires_at,
			(EXISTS (SELECT 1 FROM roles r WHERE r.channel_id = ? AND r.user_id = ? AND r.role = 'moderator')
				AND NOT EXISTS (SELECT 1 FROM bans b WHERE b.channel_id = ? AND b.user_id = ? AND (b.expires_at IS NULL OR b.expires_at > `+c.tables.now+`))
				AND EXISTS (SELECT 1 FROM users m WHERE m.id = ? AND m.deleted_at IS NULL)),
			u.id, u.username, u.slug, u.display_name, u.avatar_url, u.created_at
		FROM tokens t LEFT JOIN users u ON u.id = ? AND u.deleted_at IS NULL WHERE t.id = ?`,
		c.channel[:], c.channel[:], c.channel[:], c.channel[:], c.channel[:], c.user[:], token[:]).
		Scan(&c.now, &skip, &skip, &skip, &skip, &skip, &skip, &c.name, &skip, &skip)
}

func newID() []byte {
	id := uuid.Must(uuid.NewV7())
	return id[:]
}

// BanUser bans a user.
func (m moderation) BanUser(ctx context.Context, req *moderatov1.BanUserRequest) (*moderatov1.BanUserResponse, error) {
	var result *moderatov1.BanUserResponse
	err := m.change(ctx, req.GetChannelId(), req.GetBanUserId(), func(ctx context.Context, c *change) error {
		var id []byte
		err := c.tx.QueryRowContext(ctx, "SELECT moderator_id FROM bans WHERE channel_id = ? AND user_id = ?", c.channel[:], c.user[:]).Scan(&id)
		if err == nil {
			return fmt.Errorf("%s is banned", c.user)
		}
		if _, err := c.tx.ExecContext(ctx, "INSERT INTO bans (channel_id, user_id, moderator_id, banned_at, reason) VALUES (?, ?, ?, ?, '')",
			c.channel[:], c.user[:], c.channel[:], c.now); err != nil {
			return err
		}
		if err := c.clear(ctx); err != nil {
			return err
		}
		result = &moderatov1.BanUserResponse{
			ChannelId: c.channel.String(), ModeratorId: c.channel.String(), BannedUserId: c.user.String(),
			BannedUserDisplayName: c.name, BannedAt: stamp(c.now),
		}
		c.note(banned, &person{id: c.user, name: c.name}, uuid.Nil, nil)
		c.note(hidden, &person{id: c.user}, uuid.Nil, nil)
		return c.writeNotes(ctx)
	})
	return result, err
}

// clear hides the user's messages.
func (c *change) clear(ctx context.Context) error {
	until, purgeAt := c.now+24*60*60*1000, c.now+(24*60+2)*60*1000
	raised, err := c.tx.ExecContext(ctx, `UPDATE message_generations SET
			earlier = CASE WHEN restorable_by_mute THEN restorable END, earlier_until = CASE WHEN restorable_by_mute THEN restorable_until END,
			earlier_raised_at = CASE WHEN restorable_by_mute THEN restorable_raised_at END,
			restorable = generation, restorable_until = ?, restorable_raised_at = raised_at, restorable_by_mute = FALSE,
			generation = COALESCE(restored_from, generation) + 4294967296, raised_at = ?, purge_at = COALESCE(purge_at, ?), restored_from = NULL
		WHERE channel_id = ? AND user_id = ?`, until, c.now, purgeAt, c.channel[:], c.user[:])
	if err != nil {
		return err
	}
	if n, err := raised.RowsAffected(); err != nil || n > 0 {
		return err
	}
	_, err = c.tx.ExecContext(ctx, `INSERT INTO message_generations (channel_id, user_id, generation, raised_at, purge_at, restorable, restorable_until, restorable_raised_at)
		VALUES (?, ?, 4294967296, ?, ?, 0, ?, 0)`, c.channel[:], c.user[:], c.now, purgeAt, until)
	return err
}

// RemoveBan lifts a ban.
func (m moderation) RemoveBan(ctx context.Context, req *moderatov1.RemoveBanRequest) (*moderatov1.RemoveBanResponse, error) {
	err := m.change(ctx, req.GetChannelId(), req.GetBanUserId(), func(ctx context.Context, c *change) error {
		removed, err := c.tx.ExecContext(ctx, "DELETE FROM bans WHERE channel_id = ? AND user_id = ?", c.channel[:], c.user[:])
		if err != nil {
			return err
		}
		if n, err := removed.RowsAffected(); err != nil || n == 0 {
			return fmt.Errorf("%s is not banned: %w", c.user, err)
		}
		c.note(lifted, &person{id: c.user, name: c.name}, uuid.Nil, nil)
		return c.writeNotes(ctx)
	})
	return &moderatov1.RemoveBanResponse{}, err
}
