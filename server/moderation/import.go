package moderation

import (
	"context"
	"errors"

	"github.com/moderato-live/moderato/ent/role"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/apierr"
	"github.com/moderato-live/moderato/server/feed"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/validate"
)

func putRole(ctx context.Context, tx feed.Tx, r *platformv1.RoleRecord) error {
	f := validate.Of(r)
	channelID := f.UUID("channelId", r.GetChannelId())
	userID := f.UUID("userId", r.GetUserId())
	name := f.Choice("role", r.GetRole())
	if err := f.Err(); err != nil {
		return err
	}
	if channelID == userID {
		return apierr.New(moderatov1.Reason_REASON_TARGET_IS_CHANNEL)
	}
	_, err := tx.LockChannel(ctx, channelID) // see authz.RightsChanged
	if err := errors.Join(err, tx.RequireUser(ctx, userID)); err != nil {
		return err
	}
	held, err := tx.Role.Query().Where(role.ChannelID(channelID), role.UserID(userID), role.Role(name)).Exist(ctx)
	if err != nil || held {
		return err
	}
	err = tx.Role.Create().SetID(uid.New()).SetChannelID(channelID).SetUserID(userID).
		SetRole(name).SetCreatedAt(tx.Now).
		Exec(ctx)
	if err != nil || name != Moderator.Name {
		return err
	}
	return tx.RightsChanged(ctx, userID)
}
