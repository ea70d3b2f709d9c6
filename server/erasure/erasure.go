// Package erasure forgets users and deletes channels. What is asked for happens
// at once for every caller, in one transaction; the rows that are left, however
// many, are removed or made anonymous in the background, in small transactions
// that can be repeated, so that a crash anywhere only delays them.
package erasure

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/channel"
	"github.com/moderato-live/moderato/ent/grant"
	"github.com/moderato-live/moderato/ent/mute"
	"github.com/moderato-live/moderato/ent/token"
	"github.com/moderato-live/moderato/ent/vote"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/counts"
	"github.com/moderato-live/moderato/server/events"
	"github.com/moderato-live/moderato/server/fault"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/users"
)

// lastLook is how long after the request the eraser looks once more: a call that
// saw the user or channel before may store its row shortly after. Longer than a
// call may take.
const lastLook = 2 * time.Minute

// DoneAfter is the time before which an erasure is not done.
func DoneAfter(e *ent.Erasure) instant.Instant { return e.RequestedAt.Add(lastLook) }

// OfUser forgets a user, and deletes their channel. It answers what is left to
// do; nil when there is no trace of the user.
func OfUser(ctx context.Context, s *store.Store, tx *ent.Tx, id uid.ID, now instant.Instant) (*ent.Erasure, error) {
	if err := users.Lock(ctx, s, tx, id); err != nil {
		return nil, err
	}
	if err := removeChannel(ctx, s, tx, id); err != nil {
		return nil, err
	}
	u, err := users.Get(ctx, tx.User, id)
	if errors.Is(err, fault.New(moderatov1.Reason_REASON_USER_NOT_FOUND)) {
		e, err := tx.Erasure.Get(ctx, id)
		if ent.IsNotFound(err) || (err == nil && !e.IsUser) {
			return nil, nil //nolint:nilnil // there is nothing to do
		}
		return e, err
	}
	if err != nil {
		return nil, err
	}
	if err := hide(ctx, tx, u, now); err != nil {
		return nil, fmt.Errorf("hide user %s: %w", id, err)
	}
	return plan(ctx, tx, id, true, now)
}

// hide takes a user's names and rights away. The row stays, so that the lists
// that name the user stay whole until they do so no longer.
func hide(ctx context.Context, tx *ent.Tx, u *ent.User, now instant.Instant) error {
	// Votes of the name that nobody had when they were recorded are the user's,
	// too; this is the last chance to know.
	err := tx.Vote.Update().Where(vote.Username(u.Username), vote.UserIDIsNil()).SetUserID(u.ID).Exec(ctx)
	if err != nil {
		return err
	}
	if _, err := tx.Token.Delete().Where(token.UserID(u.ID)).Exec(ctx); err != nil {
		return err
	}
	if _, err := tx.Grant.Delete().Where(grant.UserID(u.ID)).Exec(ctx); err != nil {
		return err
	}
	name := users.TemporaryName(u.ID)
	return tx.User.UpdateOne(u).SetUsername(name).SetSlug(name).SetDisplayName(users.DeletedDisplayName).SetAvatarURL("").
		SetDeletedAt(now).
		Exec(ctx)
}

// OfChannel deletes a channel, and leaves its owner.
func OfChannel(ctx context.Context, s *store.Store, tx *ent.Tx, id uid.ID, now instant.Instant) error {
	exists, err := tx.Channel.Query().Where(channel.ID(id)).Exist(ctx)
	if err != nil || !exists {
		return err
	}
	if err := removeChannel(ctx, s, tx, id); err != nil {
		return err
	}
	_, err = plan(ctx, tx, id, false, now)
	return err
}

// removeChannel removes the channel's own row, without which there is no channel
// for any caller, and no change of it.
func removeChannel(ctx context.Context, s *store.Store, tx *ent.Tx, id uid.ID) error {
	var c counts.Bucket
	err := store.QueryRow(ctx, tx, "SELECT category_id, is_live FROM channels WHERE id = ?"+s.ForUpdate(), []any{id}, &c.Category, &c.IsLive)
	if errors.Is(err, store.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	// So that the sweeper has nothing to announce in a channel that is gone.
	if _, err := tx.Mute.Delete().Where(mute.ChannelID(id)).Exec(ctx); err != nil {
		return err
	}
	if _, err := tx.Channel.Delete().Where(channel.ID(id)).Exec(ctx); err != nil {
		return err
	}
	return counts.Move(ctx, tx, &c, nil)
}

// plan has the eraser look at once.
func plan(ctx context.Context, tx *ent.Tx, id uid.ID, isUser bool, now instant.Instant) (*ent.Erasure, error) {
	e, err := schedule(ctx, tx, id, isUser, now)
	if err != nil {
		return nil, err
	}
	// From here on nobody hears of the channel's events.
	return e, events.Rewrite(ctx, tx)
}

func schedule(ctx context.Context, tx *ent.Tx, id uid.ID, isUser bool, now instant.Instant) (*ent.Erasure, error) {
	e, err := tx.Erasure.Get(ctx, id)
	if ent.IsNotFound(err) {
		return tx.Erasure.Create().SetID(id).SetIsUser(isUser).SetRequestedAt(now).SetNextAt(now).Save(ctx)
	}
	if err != nil {
		return nil, err
	}
	return tx.Erasure.UpdateOne(e).SetIsUser(e.IsUser || isUser).SetRequestedAt(now).SetNextAt(now).Save(ctx)
}
