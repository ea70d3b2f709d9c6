package moderation

import (
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/apierr"
	"github.com/moderato-live/moderato/server/uid"
)

// refuseChannel returns TARGET_IS_CHANNEL if the target is the channel's owner. Requests
// can name the owner by id or by username.
func refuseChannel(channelID, userID uid.ID) error {
	if userID == channelID {
		return apierr.New(moderatov1.Reason_REASON_TARGET_IS_CHANNEL)
	}
	return nil
}
