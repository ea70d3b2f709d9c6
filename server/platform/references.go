package platform

import (
	"context"
	"fmt"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/application"
	"github.com/moderato-live/moderato/ent/category"
	"github.com/moderato-live/moderato/ent/channel"
	"github.com/moderato-live/moderato/ent/user"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/fault"
	"github.com/moderato-live/moderato/server/uid"
)

// What a record refers to must be there, from an earlier line or before.

func (p putter) requireUser(ctx context.Context, id uid.ID) error {
	found, err := p.User.Query().Where(user.ID(id)).Exist(ctx)
	return required(found, err, moderatov1.Reason_REASON_USER_NOT_FOUND)
}

func (p putter) requireChannel(ctx context.Context, id uid.ID) error {
	found, err := p.Channel.Query().Where(channel.ID(id)).Exist(ctx)
	return required(found, err, moderatov1.Reason_REASON_CHANNEL_NOT_FOUND)
}

func (p putter) requireCategory(ctx context.Context, id int64) error {
	found, err := p.Category.Query().Where(category.ID(id)).Exist(ctx)
	return required(found, err, moderatov1.Reason_REASON_CATEGORY_NOT_FOUND)
}

func (p putter) requireCategoryOrNone(ctx context.Context, id int64) error {
	if id == 0 {
		return nil
	}
	return p.requireCategory(ctx, id)
}

func (p putter) existingUser(ctx context.Context, id uid.ID) (*ent.User, error) {
	u, err := p.User.Get(ctx, id)
	if ent.IsNotFound(err) {
		return nil, fault.New(moderatov1.Reason_REASON_USER_NOT_FOUND)
	}
	return u, err
}

func (p putter) requireClient(ctx context.Context, id string) error {
	found, err := p.Application.Query().Where(application.ID(id)).Exist(ctx)
	if err == nil && !found {
		return fmt.Errorf("there is no client %q", id)
	}
	return err
}

func required(found bool, err error, reason moderatov1.Reason) error {
	if err == nil && !found {
		return fault.New(reason)
	}
	return err
}
