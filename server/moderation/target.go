package moderation

import (
	"strings"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/apierr"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/users"
	"github.com/moderato-live/moderato/server/validate"
)

// parseTarget reads the target of a ban from banUserId or banUsername. A request must
// have exactly one of them. A username may have a leading @, as in chat.
func parseTarget(f *validate.Fields, banUserID, banUsername string) users.Key {
	switch {
	case banUserID == "" && banUsername == "":
		f.Add("banUserId", "is required, or banUsername instead")
	case banUserID != "" && banUsername != "":
		f.Add("banUserId", "must not be given together with banUsername")
		f.Add("banUsername", "must not be given together with banUserId")
	case banUserID != "":
		return users.Key{ID: f.UUID("banUserId", banUserID)}
	default:
		return users.Key{Slug: strings.ToLower(f.Mention("banUsername", banUsername))}
	}
	return users.Key{}
}

// refuseChannel returns TARGET_IS_CHANNEL if the target is the channel's owner. Requests
// can name the owner by id or by username.
func refuseChannel(channelID, userID uid.ID) error {
	if userID == channelID {
		return apierr.New(moderatov1.Reason_REASON_TARGET_IS_CHANNEL)
	}
	return nil
}
