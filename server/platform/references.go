package platform

import (
	"context"
	"fmt"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/application"
	"github.com/moderato-live/moderato/ent/channel"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/apierr"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/users"
)

// A record may refer only to what exists, from an earlier record or from before the
// import.

func (p putter) requireUser(ctx context.Context, id uid.ID) error {
	_, err := users.Get(ctx, p.User, id)
	return err
}

func (p putter) requireChannel(ctx context.Context, id uid.ID) error {
	found, err := p.Channel.Query().Where(channel.ID(id)).Exist(ctx)
	return required(found, err, moderatov1.Reason_REASON_CHANNEL_NOT_FOUND)
}

// requireCategory also keeps the category from being deleted until the transaction
// ends.
func (p putter) requireCategory(ctx context.Context, id int64) error {
	found := false
	err := store.QueryEach(ctx, p.Tx, "SELECT id FROM categories WHERE id = ?"+p.ForShare(), []any{id},
		func(scan func(...any) error) error {
			found = true
			return scan(new(int64))
		})
	return required(found, err, moderatov1.Reason_REASON_CATEGORY_NOT_FOUND)
}

func (p putter) requireCategoryOrNone(ctx context.Context, id int64) error {
	if id == 0 {
		return nil
	}
	return p.requireCategory(ctx, id)
}

func (p putter) requireClient(ctx context.Context, id string) error {
	found, err := p.Application.Query().Where(application.ID(id)).Exist(ctx)
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

// lockChannel locks a channel's row and returns it.
func (p putter) lockChannel(ctx context.Context, id uid.ID) (*ent.Channel, error) {
	return change.LockRow(ctx, p.Store, p.Tx, id)
}
