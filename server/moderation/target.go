package moderation

import (
	"context"
	"strings"

	"github.com/moderato-live/moderato/ent"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/fault"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/users"
	"github.com/moderato-live/moderato/server/validate"
)

// target is whom a ban names: by id or by username.
type target struct {
	id   uid.ID
	slug string
}

// parseTarget reads banUserId and banUsername, of which exactly one is given.
func parseTarget(f *validate.Fields, banUserID, banUsername string) target {
	switch {
	case banUserID == "" && banUsername == "":
		f.Add("banUserId", "is required, or banUsername instead")
	case banUserID != "" && banUsername != "":
		f.Add("banUserId", "must not be given together with banUsername")
		f.Add("banUsername", "must not be given together with banUserId")
	case banUserID != "":
		return target{id: f.UUID("banUserId", banUserID)}
	default:
		return target{slug: strings.ToLower(f.Username("banUsername", banUsername))}
	}
	return target{}
}

// find answers the user; unknown: USER_NOT_FOUND.
func (t target) find(ctx context.Context, tx *ent.Tx) (*ent.User, error) {
	if t.slug != "" {
		return users.BySlug(ctx, tx.User, t.slug)
	}
	return users.Get(ctx, tx.User, t.id)
}

// refuseChannel refuses what cannot be done to the channel itself, whether
// its owner is named by id or by username.
func refuseChannel(channelID, userID uid.ID) error {
	if userID == channelID {
		return fault.New(moderatov1.Reason_REASON_TARGET_IS_CHANNEL)
	}
	return nil
}
