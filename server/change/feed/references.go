package feed

import (
	"context"
	"fmt"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/application"
	"github.com/moderato-live/moderato/ent/channel"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/store"
)

// A record may refer only to what exists, from an earlier record or from before the
// import.

// RequireUser returns USER_NOT_FOUND unless the user exists.
func (tx Tx) RequireUser(ctx context.Context, id uid.ID) error {
	_, err := users.Get(ctx, tx.User, id)
	return err
}

// RequireChannel returns CHANNEL_NOT_FOUND unless the channel exists.
func (tx Tx) RequireChannel(ctx context.Context, id uid.ID) error {
	found, err := tx.Channel.Query().Where(channel.ID(id)).Exist(ctx)
	return required(found, err, moderatov1.Reason_REASON_CHANNEL_NOT_FOUND)
}

// RequireCategory returns CATEGORY_NOT_FOUND unless the category exists. It keeps the category from being deleted until the transaction
// ends.
func (tx Tx) RequireCategory(ctx context.Context, id int64) error {
	found := false
	err := store.QueryEach(ctx, tx.Tx, "SELECT id FROM categories WHERE id = ?"+tx.Store.ForShare(), []any{id},
		func(scan func(...any) error) error {
			found = true
			return scan(new(int64))
		})
	return required(found, err, moderatov1.Reason_REASON_CATEGORY_NOT_FOUND)
}

// RequireCategoryOrNone is RequireCategory, and accepts 0, which is no category.
func (tx Tx) RequireCategoryOrNone(ctx context.Context, id int64) error {
	if id == 0 {
		return nil
	}
	return tx.RequireCategory(ctx, id)
}

// RequireClient returns CLIENT_NOT_FOUND unless the client exists.
func (tx Tx) RequireClient(ctx context.Context, id string) error {
	found, err := tx.Application.Query().Where(application.ID(id)).Exist(ctx)
	if err == nil && !found {
		return &apierr.Error{Reason: moderatov1.Reason_REASON_CLIENT_NOT_FOUND, Message: fmt.Sprintf("There is no client %q.", id)}
	}
	return err
}

func required(found bool, err error, reason moderatov1.Reason) error {
	if err == nil && !found {
		return apierr.New(reason)
	}
	return err
}

// LockChannel locks a channel's row and returns it.
func (tx Tx) LockChannel(ctx context.Context, id uid.ID) (*ent.Channel, error) {
	return change.LockRow(ctx, tx.Store, tx.Tx, id)
}
