// Package erasure erases users, deletes channels, and exports what there is about a user.
// One transaction makes a deletion take effect for every caller. The remaining rows, however
// many, are removed or anonymized in the background, in small transactions. These can be
// repeated, so that a crash at any point only delays them.
package erasure

import (
	"context"
	"errors"
	"fmt"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/channel"
	"github.com/moderato-live/moderato/ent/grant"
	"github.com/moderato-live/moderato/ent/mute"
	"github.com/moderato-live/moderato/ent/sweep"
	"github.com/moderato-live/moderato/ent/token"
	"github.com/moderato-live/moderato/ent/vote"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/counts"
)

// lastLook is how long after the request the eraser runs for the last time.
const lastLook = tables.LastErasure

// DoneAfter returns the time before which an erasure is not done.
func DoneAfter(e *ent.Erasure) instant.Instant { return e.RequestedAt.Add(lastLook) }

// OfUser erases a user and deletes their channel. It returns the erasure that is still to
// be done, or nil if there is no trace of the user.
func OfUser(ctx context.Context, s *store.Store, tx *ent.Tx, id uid.ID, now instant.Instant) (*ent.Erasure, error) {
	if err := users.Lock(ctx, s, tx, id); err != nil {
		return nil, err
	}
	if err := removeChannel(ctx, s, tx, id, now); err != nil {
		return nil, err
	}
	u, err := users.Get(ctx, tx.User, id)
	if errors.Is(err, apierr.New(moderatov1.Reason_REASON_USER_NOT_FOUND)) {
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

// Erase is OfUser in a transaction of its own, for operators.
func Erase(ctx context.Context, s *store.Store, id uid.ID) (pending *ent.Erasure, err error) {
	err = s.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		now, err := s.Clock.Now(ctx, tx)
		if err != nil {
			return err
		}
		pending, err = OfUser(ctx, s, tx, id, now)
		return err
	})
	return pending, err
}

// hide removes a user's names, tokens and grants. The user's row is kept, so that lists
// that name the user stay complete until the eraser has removed the user from them.
func hide(ctx context.Context, tx *ent.Tx, u *ent.User, now instant.Instant) error {
	// Votes that were recorded when no user had the username belong to the user too.
	// They can be attributed only now, because the username is about to be removed.
	err := tx.Vote.Update().Where(vote.UsernameIn(u.Username, u.Slug), vote.UserIDIsNil()).SetUserID(u.ID).Exec(ctx)
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
		SetDeletedAt(now).ClearAccountCreatedAt().
		Exec(ctx)
}

// OfChannel deletes a channel and keeps its owner. It does nothing if the channel does not
// exist.
func OfChannel(ctx context.Context, s *store.Store, tx *ent.Tx, id uid.ID, now instant.Instant) error {
	exists, err := tx.Channel.Query().Where(channel.ID(id)).Exist(ctx)
	if err != nil || !exists {
		return err
	}
	if err := removeChannel(ctx, s, tx, id, now); err != nil {
		return err
	}
	_, err = plan(ctx, tx, id, false, now)
	return err
}

// removeChannel removes the channel's own row. Without that row the channel does not exist
// for any caller, and nothing can change it.
func removeChannel(ctx context.Context, s *store.Store, tx *ent.Tx, id uid.ID, now instant.Instant) error {
	row, err := change.LockRow(ctx, s, tx, id)
	if errors.Is(err, apierr.New(moderatov1.Reason_REASON_CHANNEL_NOT_FOUND)) {
		return nil
	}
	if err != nil {
		return err
	}
	// Nobody can complete a sweep of a deleted channel.
	err = tx.Sweep.Update().Where(sweep.ChannelID(id)).ClearDueAt().ClearAfterglowUntil().SetRemoveAt(now).Exec(ctx)
	if err != nil {
		return err
	}
	// The expirer of mutes must have nothing to announce in a deleted channel.
	if _, err := tx.Mute.Delete().Where(mute.ChannelID(id)).Exec(ctx); err != nil {
		return err
	}
	if _, err := tx.Channel.Delete().Where(channel.ID(id)).Exec(ctx); err != nil {
		return err
	}
	return counts.Move(ctx, tx, counts.Of(row), nil)
}

// plan schedules the erasure to run immediately.
func plan(ctx context.Context, tx *ent.Tx, id uid.ID, isUser bool, now instant.Instant) (*ent.Erasure, error) {
	e, err := schedule(ctx, tx, id, isUser, now)
	if err != nil {
		return nil, err
	}
	// From here on, listeners no longer receive the channel's events.
	return e, outbox.Rewrite(ctx, tx)
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
